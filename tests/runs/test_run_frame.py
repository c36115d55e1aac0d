"""Tests of a run's frame: which columns there are, of what type, and what enters their numbers."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from assert_arrays import assert_same_array
from rows import row, token_row, write_run

from board import open_run
from board.runs.prompt_keys import NO_PROMPT, prompt_key

Rows = list[dict[str, Any]]

NAN = math.nan

COLUMNS: dict[str, tuple[Rows, set[str]]] = {
    "response alone": ([row()], {"response_chars"}),
    "tokens alone": ([{"step": 0, "response_tokens": ["a"]}], {"response_length"}),
    "reward": ([row(reward=0.0)], {"reward", "response_chars"}),
    "null reward": ([row(reward=None)], {"response_chars"}),
    "not a number in all rows": ([row(reward=NAN), row(reward=NAN)], {"response_chars"}),
    "reference in one row of two": (
        [row(reward=1.0, ref_reward=1.0), row(reward=1.0)],
        {"reward", "ref_reward", "reward_gap", "response_chars"},
    ),
    "reference in the other row": ([row(reward=1.0), row(ref_reward=1.0)], {"reward", "ref_reward", "response_chars"}),
    "logprobs without reference": (
        [row(logprobs=[-1.0])],
        {"logprob_mean", "nonfinite_tokens", "response_chars", "response_length"},
    ),
    "ids and unknown": (
        [row(group_id=1, rank=0, score={"format": 1}, n=2)],
        {"group_id", "rank", "score.format", "n", "response_chars"},
    ),
}


@pytest.mark.parametrize(("rows", "columns"), COLUMNS.values(), ids=COLUMNS)
def test_columns_exist_only_where_a_row_has_a_value(tmp_path: Path, rows: Rows, columns: set[str]) -> None:
    """No column of nothing, no invented zero."""
    frame = open_run(write_run(tmp_path, {"a.jsonl": rows})).frame

    assert set(frame.columns) == {"step", "shard", "line"} | columns


def test_types_and_order_of_columns(tmp_path: Path) -> None:
    """Place, ids, declared numbers, then the rest; integers, categories and float64."""
    frame = open_run(write_run(tmp_path, {"rank_0.jsonl": [token_row(zzz=1, group_id="g", ref_reward=0.5)]})).frame

    assert list(frame.columns)[:7] == ["step", "shard", "line", "group_id", "rank", "reward", "ref_reward"]
    assert frame[["step", "line"]].dtypes.astype(str).tolist() == ["int64", "int64"]
    assert all(isinstance(frame[name].dtype, pd.CategoricalDtype) for name in ("shard", "group_id", "rank"))
    assert set(frame.iloc[:, 5:].dtypes.astype(str)) == {"float64"}


def test_missing_numbers_are_missing(tmp_path: Path) -> None:
    """A row that lacks a field has NaN there, also in what is derived from it."""
    frame = open_run(write_run(tmp_path, {"a.jsonl": [token_row(ref_reward=0.0), row()]})).frame

    assert frame.iloc[1].drop(["step", "shard", "line", "response_chars"]).isna().all()
    assert frame["nonfinite_tokens"].iloc[0] == 0


def test_own_pads_change_the_statistics(tmp_path: Path) -> None:
    """Token texts named as padding enter no length and no mean; are no tokens of the rollout."""
    folder = write_run(tmp_path, {"a.jsonl": [row(response_tokens=["a", "~", "~"], logprobs=[-1.0, -9.0, -9.0])]})

    plain, padded = open_run(folder), open_run(folder, extra_pads=["~"])

    assert plain.frame[["response_length", "logprob_mean"]].to_numpy().tolist() == [[3, pytest.approx(-19 / 3)]]
    assert padded.frame[["response_length", "logprob_mean"]].to_numpy().tolist() == [[1, -1]]
    assert padded.rollout(0).tokens == ["a"]
    assert padded.rollout(0).pads.tolist() == [False]
    assert plain.rollout(0).pads.tolist() == [False, False, False]


def test_masked_tokens_enter_no_mean(tmp_path: Path) -> None:
    """Every statistic of the row leaves them out; the arrays keep their numbers."""
    masked = token_row(loss_mask=[1, 0], entropies=[1.0, 9.0], ref_logprobs=[-1.5, -9.0])
    run = open_run(write_run(tmp_path, {"a.jsonl": [masked]}))

    one = run.frame.iloc[0]
    assert one[["response_length", "logprob_mean", "value_mean", "token_reward_sum", "entropy_mean"]].tolist() == [
        1,
        -1,
        0.5,
        0,
        1,
    ]
    assert one[["log_ratio_mean", "log_ratio_sum", "log_ratio_max"]].tolist() == [0.5, 0.5, 0.5]
    assert run.rollout(0).counts.tolist() == [True, False]
    assert_same_array(run.rollout(0)["entropies"], [1, 9])


def test_token_metrics_of_the_boards_own_names_do_no_harm(tmp_path: Path) -> None:
    """A trainer may log `counts`, `pads`, `position`, `token`, `kl` or `kl_k3`: all are kept, none is mistaken for ours."""
    fields: dict[str, Any] = {name: [5.0, 6.0] for name in ("counts", "pads", "position", "token", "kl", "kl_k3")}
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(**fields)]}))
    rollout = run.rollout(0)

    assert rollout.counts.tolist() == [True, True]
    assert rollout.pads.tolist() == [False, False]
    assert {name for name in rollout.arrays if name not in token_row()} == {
        "counts (logged)",
        "pads (logged)",
        "position (logged)",
        "token (logged)",
        "kl (logged)",
        "kl_k3",
    }
    assert run.frame["kl_k3_mean"].iloc[0] == pytest.approx(math.exp(-0.5) - 0.5)
    assert run.frame["kl (logged)_mean"].iloc[0] == 5.5


def test_logged_scalars_stand_beside_ours(tmp_path: Path) -> None:
    """A trainer's `response_length`, `shard` or `offset` is kept under `(logged)`."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(response_length=99, shard=7, line=8, offset=9, prompt_key=10)]}))

    assert run.frame["response_length"].tolist() == [2]
    assert run.frame["shard"].tolist() == ["a.jsonl"]
    logged = {name: run.frame[name].iloc[0] for name in run.frame.columns if name.endswith("(logged)")}
    assert logged == {
        "response_length (logged)": 99,
        "shard (logged)": 7,
        "line (logged)": 8,
        "offset (logged)": 9,
        "prompt_key (logged)": 10,
    }


RANKS: dict[str, tuple[str, dict[str, Any], str | None]] = {
    "from the file name": ("rank_3.jsonl", {}, "3"),
    "from the folder": ("step_1/rank-12/data.jsonl", {}, "12"),
    "joined": ("rank7.jsonl.gz", {}, "7"),
    "with the step behind": ("rollout_data_rank_0_12.jsonl", {}, "0"),
    "the row knows better": ("rank_3.jsonl", {"rank": 5}, "5"),
    "null in the row": ("rank_3.jsonl", {"rank": None}, "3"),
    "none": ("data.jsonl", {}, None),
}


@pytest.mark.parametrize(("name", "fields", "rank"), RANKS.values(), ids=RANKS)
def test_rank_comes_from_the_row_or_the_name(tmp_path: Path, name: str, fields: dict[str, Any], rank: str | None) -> None:
    """What the row says counts, else the name of its shard."""
    frame = open_run(write_run(tmp_path, {name: [row(**fields)]})).frame

    assert (frame["rank"].tolist() if "rank" in frame else [None]) == [rank]


def test_ids_are_categories_in_natural_order(tmp_path: Path) -> None:
    """So that sorting by them counts as people do; odd names included."""
    ids = ["10", "2", "²", "1" * 5_000, "b", "", None]
    frame = open_run(write_run(tmp_path, {"a.jsonl": [row(group_id=one) for one in ids]})).frame

    assert frame["group_id"].cat.categories.tolist() == ["", "2", "10", "1" * 5_000, "b", "²"]
    assert frame["group_id"].isna().tolist() == [False] * 6 + [True]


def test_arrays_are_views(tmp_path: Path) -> None:
    """Two looks at one rollout share their memory: nothing is copied."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(), token_row()]}))

    assert np.shares_memory(run.rollout(1)["logprobs"], run.rollout(1)["logprobs"])


def test_alternatives_lead_from_the_row_to_the_token(tmp_path: Path) -> None:
    """Each rollout has its own, a row without the field none; they are no token metric, and a malformed field is text."""
    others = [[["a", -0.5], ["c", -1.0]], None]
    rows = [token_row(top_logprobs=others), token_row(), token_row(top_logprobs="odd"), token_row(top_logprobs=others[:1])]
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows}))

    found = [run.rollout(int(key)) for key in run.frame.index]

    expected = [[("a", -0.5), ("c", -1.0)], None]
    assert [one.alternatives and list(one.alternatives) for one in found] == [expected, None, None, expected]
    assert [one["top_logprobs"] and list(one["top_logprobs"]) for one in found] == [expected, None, list("odd"), expected]
    assert "top_logprobs" not in run.token_metrics
    assert run.to_pandas()["top_logprobs"].tolist()[:2] == [expected, None]
    assert [problem.line for problem in run.report.problems] == [3, 4]


def test_training_and_evaluations_are_told_apart(tmp_path: Path) -> None:
    """Rows that name no split are of training; each side alone keeps its keys, texts and tokens, and is named as another load."""
    rows = [
        token_row(0, reward=0.0),
        token_row(0, split="evaluation", reward=5.0, prompt="e"),
        token_row(1, split="train", reward=1.0),
    ]
    run = open_run(write_run(tmp_path, {"a.jsonl": rows}))

    assert run.splits == ("train", "evaluation")
    training, evaluated = run.of_split("train"), run.of_split("evaluation")
    assert training.frame["reward"].tolist() == [0.0, 1.0]
    assert evaluated.frame.index.tolist() == [1]
    assert evaluated.rollout(1)["prompt"] == "e"
    assert evaluated.steps.tolist() == [0]
    assert len({run.load_id, training.load_id, evaluated.load_id}) == 3
    assert evaluated.of_split("evaluation") is evaluated


def test_run_of_one_split_is_itself(tmp_path: Path) -> None:
    """Nothing is filtered, and nothing named anew, where there is nothing to tell apart."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(0)]}))

    assert run.splits == ("train",)
    assert run.of_split("train") is run


def test_keys_of_prompts_stand_in_the_order_of_the_frame(tmp_path: Path) -> None:
    """One key for a prompt at whatever step and in whatever shard, by its id, its messages or its text; a part of the run has its rows' keys."""
    chat = [{"role": "user", "content": "1 + 1"}]
    shards = {
        "b.jsonl": [row(1, prompt="say  hi\n"), row(0, prompt=[one | {"name": "me"} for one in chat])],
        "a.jsonl": [row(1, prompt=chat), row(0, prompt="say hi"), row(0), row(1, prompt="x", prompt_id=3), row(0, prompt_id=3)],
    }
    run = open_run(write_run(tmp_path, shards))

    names = {prompt_key("say hi"): "hi", prompt_key("user:\n1 + 1"): "sum", NO_PROMPT: "none"}
    named = [names.get(key, "by id") for key in run.prompt_keys.tolist()]
    assert run.frame["step"].tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert named == ["hi", "none", "by id", "sum", "sum", "by id", "hi"]
    assert len(set(run.prompt_keys.tolist())) == 4
    assert run.of_steps(1, 1).prompt_keys.tolist() == run.prompt_keys[4:].tolist()


@pytest.mark.parametrize(("prompts", "expected"), [pytest.param(3, 60, id="groups"), pytest.param(4, 80, id="two-ranks")])
def test_a_padded_prompt_is_the_same_prompt(tmp_path: Path, prompts: int, expected: int) -> None:
    """Whatever pads are in front of it: its groups, its key and so its history are those of the prompt."""
    rows = [
        {"step": step, "prompt": "<PAD>" * ((step + sample) % 5) + f"Q{prompt}?", "response": "x", "reward": float(sample)}
        for step in range(20)
        for prompt in range(prompts)
        for sample in range(3)
    ]
    shards = {"rank_0.jsonl": rows[::2], "rank_1.jsonl": rows[1::2]}
    run = open_run(write_run(tmp_path / "run", shards))

    assert len(np.unique(run.prompt_keys)) == prompts
    assert len(run.frame.groupby(["step", "group"])) == expected
    assert set(run.texts("prompt", run.frame.index.to_numpy()).to_pylist()) == {f"Q{one}?" for one in range(prompts)}
