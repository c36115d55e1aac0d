"""Tests of what the board computes of odd runs, and of odd runs that are made here."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odd_cases import CASES, ODD_RUNS, opened, record
from rows import row, token_row, write_run

from board import open_run
from board.analysis.steps import histograms, step_stats
from board.errors import RunNotFound
from board.metrics import formulas
from board.runs.library import list_runs, resolve
from board.text.display import visible
from board.text.format_number import fmt

NAN = math.nan

MADE_BY_TESTS = {"61_no_jsonl", "71_dangling_symlink"}
"""Folders with a test of their own below instead of a row in the table."""


def test_every_folder_has_a_row_or_a_test() -> None:
    """No case lies there unread, and none is asked for that is not there."""
    assert {path.name for path in ODD_RUNS.iterdir() if path.is_dir()} == CASES.keys() | MADE_BY_TESTS


@pytest.mark.parametrize("case", [case for case, seen in CASES.items() if seen.rows])
def test_every_row_of_an_odd_run_can_be_opened(case: str) -> None:
    """Each rollout has its arrays as long as its tokens, its raw line, and a place that leads back to it."""
    run = opened(case)

    for key in run.frame.index:
        rollout = run.rollout(int(key))
        length = len(rollout.counts)
        assert {len(array) for array in rollout.arrays.values()} <= {length}
        assert rollout.tokens is None or len(rollout.tokens) == length
        assert json.loads(run.raw(int(key)))["step"] in (rollout.step, str(rollout.step))
        assert run.key_of(rollout.source) == key
    assert len(run.to_pandas()) == len(run.frame)


def test_more_samples_than_a_page_shows_are_all_loaded(tmp_path: Path) -> None:
    """01: 300 samples in each step; whatever the screen leaves out and says so, the run holds them all."""
    rows = [token_row(step, reward=sample / 300) for step in (0, 1) for sample in range(300)]

    run = open_run(write_run(tmp_path, {"data.jsonl": rows}))

    assert step_stats.per_step(run.frame, "reward")["count"].tolist() == [300, 300]
    assert run.report.problems == []


def test_many_steps(tmp_path: Path) -> None:
    """73: 5,000 steps of one row stay 5,000 points, and none is taken for written twice."""
    run = open_run(write_run(tmp_path, {"data.jsonl": [row(step, prompt="p", reward=step % 97 / 97) for step in range(5_000)]}))

    stats = step_stats.per_step(run.frame, "reward")
    assert run.steps.tolist() == list(range(5_000))
    assert stats["mean"].to_numpy() == pytest.approx([step % 97 / 97 for step in range(5_000)])
    assert run.report.problems == []


def test_very_long_response(tmp_path: Path) -> None:
    """76: 33,000 tokens with all their numbers."""
    size = 33_000
    fields: dict[str, Any] = {
        "response": " w" * size,
        "response_tokens": [" w"] * size,
        "values": [0.0] * size,
        "token_rewards": [0.0] * size,
    }
    long = token_row(**fields, logprobs=[-0.1] * size, ref_logprobs=[-0.2] * size)

    run = open_run(write_run(tmp_path, {"data.jsonl": [long]}))

    rollout = run.rollout(0)
    assert (len(rollout.tokens or []), rollout["logprobs"].size, run.frame["response_length"].tolist()) == (size, size, [size])
    assert run.frame["log_ratio_mean"].iloc[0] == pytest.approx(0.1, rel=1e-6)


def test_empty_folder_is_said(tmp_path: Path) -> None:
    """59: a folder with nothing in it says so."""
    with pytest.raises(RunNotFound, match="It is empty"):
        open_run(tmp_path)


def test_folder_of_other_files_is_said() -> None:
    """61: only notes.txt: the message says which kinds are looked for and what is there."""
    with pytest.raises(RunNotFound, match=r"\*\.jsonl, \*\.jsonl\.gz, \*\.jsonl\.zst.* at any depth\. It holds notes\.txt\."):
        opened("61_no_jsonl")


def test_dangling_link_is_reported_and_the_rest_loaded(tmp_path: Path) -> None:
    """71: a link to nowhere beside a good file is one refused shard."""
    run = write_run(tmp_path, {"data.jsonl": (ODD_RUNS / "71_dangling_symlink/data.jsonl").read_bytes()})
    (run / "rank_9.jsonl").symlink_to("nowhere.jsonl")

    loaded = open_run(run)

    assert loaded.report.rows == 1
    assert [str(one) for one in loaded.report.problems] == ["rank_9.jsonl: cannot be read: No such file or directory"]


def test_odd_name_is_shown_and_opened_by_exactly_that_name(tmp_path: Path) -> None:
    """75: markup, quotes and dollars in the name of a run folder."""
    name = '75_<b>name & "quotes" $x$'
    write_run(tmp_path / name, {"data.jsonl": [row()]})

    assert [run.name for run in list_runs(tmp_path)] == [name]
    assert open_run(resolve(tmp_path, name)).name == name


@pytest.mark.parametrize("root", ["/", "/etc"])
def test_only_the_root_is_served(tmp_path: Path, root: str) -> None:
    """A path elsewhere on the machine cannot be named as a run."""
    with pytest.raises(RunNotFound):
        resolve(tmp_path, root)


def test_kl_outlier_has_the_k3_of_schulman() -> None:
    """58: where the policy is e^8 times likelier, k3 is e^-8 - 1 + 8 = 7.0003, in the token view and in the frame's maximum."""
    run = opened("58_kl_outlier_token")
    frame = run.frame
    (key,) = frame.index[(frame["step"] == 1) & (frame["line"] == 5)]

    kl = formulas.token_arrays(run.rollout(int(key)).arrays)["kl"]

    assert kl.tolist() == pytest.approx([0, 0, 0, math.exp(-8) - 1 + 8], abs=1e-5)
    assert f"{kl[3]:.4f}" == "7.0003"
    assert frame.loc[key, "kl_k3_max"] == pytest.approx(7.0003354, rel=1e-6)
    assert frame.loc[key, "kl_k3_mean"] == pytest.approx(7.0003354 / 4, rel=1e-6)
    assert frame["kl_k3_max"].drop(key).max() < 1e-3


def test_kl_of_an_unchanged_policy_is_a_point_at_zero() -> None:
    """56: every estimator has a value of exactly 0 at step 0, with all rows counted."""
    for name in formulas.ESTIMATORS:
        stats = step_stats.per_step(opened("56_kl_zero_first_step").frame, formulas.kl_column(name))

        assert list(stats.loc[0, ["mean", "count", "missing"]]) == [0, 3, 0]
        assert (stats["mean"].iloc[1:] > 0).all()


@pytest.mark.parametrize("case", ["46_steps_unordered", "87_shards_out_of_order"])
def test_steps_out_of_order_make_one_rising_line(case: str) -> None:
    """46, 87: whatever order steps and files come in, the reward of a step is the step."""
    stats = step_stats.per_step(opened(case).frame, "reward")

    assert stats.index.tolist() == sorted(stats.index)
    assert stats["mean"].tolist() == stats.index.tolist()
    assert stats["std"].tolist() == [0] * len(stats)


def test_shards_out_of_order_know_their_rank() -> None:
    """87: one file per rank and step: the rank is in the name, and names are in natural order."""
    frame = opened("87_shards_out_of_order").frame

    assert frame["rank"].unique().tolist() == ["0"]
    assert frame["shard"].unique().tolist() == [f"rollout_data_rank_0_{step}.jsonl" for step in range(12)]


CURVES: dict[str, tuple[str, list[float], list[int], list[int]]] = {
    "gap where no row has a reward": ("10_step_without_reward", [0.25, NAN, 0], [2, 0, 1], [0, 2, 0]),
    "not a number is missing": ("15_nan_reward", [0.5, 0], [1, 1], [1, 0]),
    "null is missing": ("16_null_reward", [0.5, 0], [1, 1], [1, 0]),
    "one step is one point": ("52_one_step", [0.375], [4], [0]),
    "one sample is one point": ("53_one_sample", [0], [1], [0]),
    "equal rewards": ("20_equal_rewards", [1, 1], [4, 4], [0, 0]),
    "batches of different size": ("55_batch_size_changes", [0.4, 0], [5, 1], [0, 0]),
}


@pytest.mark.parametrize(("case", "means", "counts", "missing"), CURVES.values(), ids=CURVES)
def test_reward_curves(case: str, means: list[float], counts: list[int], missing: list[int]) -> None:
    """Mean over what is finite, and how many rows that is and is not."""
    stats = step_stats.per_step(opened(case).frame, "reward")

    assert stats["mean"].tolist() == pytest.approx(means, nan_ok=True)
    assert (stats["count"].tolist(), stats["missing"].tolist()) == (counts, missing)
    assert not stats.loc[stats["count"] > 0].isna().to_numpy().any()


HISTOGRAMS: dict[str, tuple[str, int, Callable[[list[int]], bool]]] = {
    "binary rewards are two bars": ("84_binary_rewards", 2, lambda counts: counts == [4, 6]),
    "equal rewards are one bar": ("20_equal_rewards", 1, lambda counts: counts == [4]),
    "a wide range has few bins": (
        "19_wide_reward_range",
        histograms.MAX_BINS,
        lambda counts: sum(counts) == 4 and counts[0] == counts[-1] == 1,
    ),
}


@pytest.mark.parametrize(("case", "at_most", "right"), HISTOGRAMS.values(), ids=HISTOGRAMS)
def test_reward_distributions(case: str, at_most: int, right: Callable[[list[int]], bool]) -> None:
    """84, 20, 19: the distribution of step 0 by itself and beside the other steps; every reward is counted."""
    frame = opened(case).frame

    rewards = frame.loc[frame["step"] == 0, "reward"].to_numpy()
    edges = histograms.bin_edges(rewards)
    counts = histograms.bin_counts(rewards, edges)
    _, all_steps, by_step = histograms.histogram_by_step(frame, "reward")

    assert len(counts) == len(edges) - 1 <= at_most
    assert right(counts.tolist())
    assert all_steps.tolist() == [0, 1]
    assert by_step.sum() == len(frame)


def test_precision_is_that_of_float32() -> None:
    """81: the nearest float32, tiny numbers are not zero and do not read as 0, minus zero keeps its sign."""
    found = opened("81_float_text_precision").rollout(0)["logprobs"]
    written = record("81_float_text_precision", 1)["logprobs"]

    assert found.tolist() == np.array(written, np.float32).tolist()
    assert found[0] == -4.847491264343262
    assert found[2] == np.float32(-1e-30) != 0
    assert math.copysign(1, found[3]) == -1
    assert [fmt(float(one)) for one in found] == ["-4.85", "-2.30e-5", "-1.00e-30", "0"]


def test_whitespace_tokens_are_visible_and_distinct() -> None:
    """35: a line break, a tab and spaces are each to be seen, and told apart."""
    tokens = opened("35_whitespace_tokens").rollout(0).tokens or []

    shown = [visible(token) for token in tokens]

    assert shown == ["a", "↵↵", "→", "b", "··", "c", "·"]
    assert len(set(shown)) == len(set(tokens))
