"""The numbers a recorder computes as it writes are those of the board that opens what was written."""

import gzip
import io
import math
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest
from golden_runs import FOLDERS, GOLDEN

from board import open_run
from board.analysis.step_metrics import per_step_values
from board.metrics.declared import METRICS
from board.recorder import RolloutRecorder
from board.recorder.step_aggregator import AT_ONCE, STREAMED, StepSums
from board.runs.run import Run
from board.schema import TOKEN_METRICS

SAMPLES = Path(__file__).parents[2] / "rollout_samples"
SAMPLE = SAMPLES / "tiny_ppo_rhyme"

RNG = np.random.default_rng(7)

ARRAYS = (
    *("logprobs", "ref_logprobs", "rollout_logprobs", "old_logprobs"),
    *("values", "returns", "advantages", "entropies", "token_rewards"),
)


def rollout(length: int, group: str, pads: int = 0, **fields: Any) -> dict[str, Any]:
    """A rollout with every token array that metrics are computed from, padded at the end."""
    size = length + pads
    arrays = {name: RNG.normal(size=size).astype(np.float32) / 4 for name in ARRAYS}
    tokens = ["t"] * length + ["<pad>"] * pads
    return {"group_id": group, "response_tokens": tokens, "response": "t" * length, **arrays, **fields}


def computed(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The numbers of rows of one step."""
    sums = StepSums()
    for row in rows:
        sums.add(row, str(row.get("group_id")).encode())
    return sums.values()


ROWS = [
    rollout(5, "a", reward=1.0, ref_reward=0.5, valid_reward=2.0, finish_reason="length"),
    rollout(3, "a", pads=4, reward=-1.0, ref_reward=0.0, finish_reason="stop"),
    rollout(4, "b", reward=0.5, loss_mask=[1, 0, 1, 1], finish_reason="stop"),
    rollout(2, "b", reward=0.5, finish_reason="stop"),
    rollout(6, "c", reward=math.nan, finish_reason="stop"),
]
"""Of one step: padding, a masked token, a row without a finite reward, a group whose rewards are equal."""


def opened(folder: Path, rows: list[dict[str, Any]]) -> Run:
    """The rows as the board opens what the recorder wrote of them."""
    with RolloutRecorder(folder) as recorder:
        for row in rows:
            recorder.write(step=3, **row)
    assert recorder.dropped == 0
    return open_run(folder)


def over_tokens(run: Run) -> dict[str, np.ndarray]:
    """Token arrays of the whole run end to end in float64, counted tokens alone."""
    pieces = [run.rollout(int(key)) for key in run.frame.index]
    return {name: np.concatenate([one.arrays[name].astype(np.float64)[one.counts] for one in pieces]) for name in ARRAYS}


def test_numbers_over_tokens(tmp_path: Path) -> None:
    """Means, deviations and extremes over tokens are numpy's over all counted tokens of the run as it is opened."""
    tokens, found = over_tokens(opened(tmp_path, ROWS)), computed(ROWS)
    d = tokens["logprobs"] - tokens["ref_logprobs"]
    k3, bias = np.exp(-d) - 1 + d, tokens["values"] - tokens["returns"]
    mismatch = tokens["old_logprobs"] - tokens["rollout_logprobs"]
    ratio = np.exp(tokens["logprobs"] - tokens["old_logprobs"])
    weights = np.exp(mismatch)
    expected = {
        "kl/k1_mean": d.mean(),
        "kl/k2_mean": (d**2 / 2).mean(),
        "kl/k3_mean": k3.mean(),
        "kl/k3_max": k3.max(),
        "policy/entropy_mean": tokens["entropies"].mean(),
        "policy/logprob_mean": tokens["logprobs"].mean(),
        "advantage/mean": tokens["advantages"].mean(),
        "advantage/std": tokens["advantages"].std(),
        "returns/max": tokens["returns"].max(),
        "critic/value_mean": tokens["values"].mean(),
        "critic/bias": bias.mean(),
        "critic/error": (bias**2).mean(),
        "critic/explained_variance": 1 - bias.var() / tokens["returns"].var(),
        "mismatch/abs_mean": np.abs(mismatch).mean(),
        "mismatch/kl": (-mismatch).mean(),
        "mismatch/k3": (weights - mismatch - 1).mean(),
        "mismatch/ppl_ratio": np.exp(tokens["rollout_logprobs"].mean() - tokens["old_logprobs"].mean()),
        "mismatch/chi2": (weights**2).mean() - 1,
        "mismatch/ess": weights.sum() ** 2 / (weights.size * (weights**2).sum()),
        "update/ratio_variance": ratio.var(),
        "update/clip_low_share": (ratio < 0.8).mean(),
        "update/clip_share": ((ratio < 0.8) | (ratio > 1.2)).mean(),
        "update/approxkl": (np.log(ratio) ** 2 / 2).mean(),
        "counts/tokens": d.size,
    }

    assert {key: found[key] for key in expected} == pytest.approx(expected, rel=1e-9)
    assert d.size == 5 + 3 + 3 + 2 + 6


def test_numbers_over_rollouts(tmp_path: Path) -> None:
    """Rewards, lengths and KL per rollout are those of the frame that the board makes of the run."""
    frame, found = opened(tmp_path, ROWS).frame, computed(ROWS)
    finite = frame["reward"][np.isfinite(frame["reward"])]
    sequence = np.exp([(row["old_logprobs"].astype(float) - row["rollout_logprobs"])[_counted(row)].sum() for row in ROWS])
    expected = {
        "reward/mean": finite.mean(),
        "reward/std": finite.std(ddof=0),
        "reward/max": 1.0,
        "reward/min": -1.0,
        "reward/sum": 1.0,
        "reward/gap_mean": -0.25,
        "reward/win_rate": 0.5,
        "reward/reference_mean": 0.25,
        "reward/validation_mean": 2.0,
        "reward/shaped_mean": frame["token_reward_sum"].mean(),
        "reward/penalty_mean": (frame["token_reward_sum"] - frame["reward"])[finite.index].mean(),
        "kl/k1_sum_mean": frame["log_ratio_sum"].mean(),
        "kl/k3_sum_mean": frame["kl_k3_sum"].mean(),
        "kl/k3_rollout_mean": frame["kl_k3_mean"].mean(),
        "kl/k3_rollout_std": frame["kl_k3_mean"].std(ddof=0),
        "kl/k1_rollout_max": frame["log_ratio_mean"].max(),
        "kl/negative_share": (frame["log_ratio_sum"] < 0).mean(),
        "length/mean": frame["response_length"].mean(),
        "length/std": frame["response_length"].std(ddof=0),
        "length/max": 6,
        "length/chars_mean": frame["response_chars"].mean(),
        "length/truncated_share": 0.2,
        "length/empty_share": 0.0,
        "groups/zero_std_share": 0.5,
        "groups/std_mean": 0.5,
        "mismatch/is_sequence_mean": sequence.mean(),
        "counts/rollouts": 5,
    }

    assert {key: found[key] for key in expected} == pytest.approx(expected, rel=1e-6)


def _counted(row: Mapping[str, Any]) -> np.ndarray:
    mask = np.array(row.get("loss_mask", [1] * len(row["response_tokens"])), bool)
    return mask & (np.array(row["response_tokens"]) != "<pad>")


def test_the_sample_as_it_is_recorded_again(tmp_path: Path) -> None:
    """Every number that reached the tracker is the one that the board computes of the same step, of real rollouts."""
    shards = [gzip.decompress(path.read_bytes()) for path in sorted(SAMPLE.glob("*.gz"))]
    rows = sorted((orjson.loads(line) for shard in shards for line in shard.splitlines()), key=lambda row: row["step"])
    stream = io.StringIO()
    options: dict[str, Any] = {"track_with": "stdout", "tracker_kwargs": {"stream": stream, "format": "jsonl"}}
    with RolloutRecorder(tmp_path, **options) as recorder:
        for row in rows[:960]:
            recorder.write(**row)
    values = per_step_values(open_run(tmp_path))
    found = pd.DataFrame([orjson.loads(line) for line in stream.getvalue().splitlines()]).set_index("step")
    found.columns = found.columns.str.removeprefix("board/")

    assert len(found.columns) > 40
    assert recorder.untracked == 0
    pd.testing.assert_frame_equal(found.astype(float), values[found.columns], rtol=1e-9, check_names=False)


RUNS = [pytest.param(path, id=path.name) for path in (*sorted(SAMPLES.iterdir()), *(GOLDEN / name for name in FOLDERS))]

FIELDS = (*TOKEN_METRICS, "response_tokens", "response", "finish_reason")
NUMBERS = ("reward", "ref_reward", "valid_reward", "prompt_length", "truncated")


def row_of(run: Run, key: int) -> dict[str, Any]:
    """A rollout of an opened run as a trainer would hand it to the recorder."""
    one, scalars = run.rollout(key), run.frame.loc[key]
    numbers = {name: scalars[name] for name in NUMBERS if name in scalars and pd.notna(scalars[name])}
    return {name: one[name] for name in FIELDS if one[name] is not None} | numbers | {"split": scalars.get("split")}


def streamed(run: Run, step: int) -> dict[str, float]:
    """A step's numbers as the recorder gives them; those of training over all rollouts where all are of an evaluation."""
    frame = run.frame[run.frame["step"] == step]
    groups = frame["group"] if "group" in frame else pd.Series(math.nan, frame.index)
    by_split, without = StepSums(), StepSums()
    for key, group in zip(frame.index.tolist(), groups.tolist(), strict=True):
        row, name = row_of(run, key), None if math.isnan(group) else str(group).encode()
        by_split.add(row, name)
        without.add({**row, "split": None}, name)
    return by_split.values() if run.splits != ("evaluation",) else without.values() | by_split.values()


@pytest.mark.parametrize("folder", RUNS)
def test_board_and_recorder_compute_the_same_metrics(folder: Path) -> None:
    """Of every sample and golden run, each metric that can be streamed is there and equal both ways, and no other.

    The recorder sees one step: where no group of it has a second member, it says nothing of groups, whatever other steps have.
    """
    run = open_run(folder)
    computed = per_step_values(run)
    steps = run.steps[:: max(1, len(run.steps) // 6)].tolist()
    for step in steps:
        found = streamed(run, step)
        grouped = any(key.startswith("groups/") for key in found)
        values = computed.loc[step].dropna() if step in computed.index else {}
        expected = {
            key: value for key, value in values.items() if key in STREAMED and (grouped or METRICS[key].family != "groups")
        }

        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), step


def test_a_full_row_has_every_metric(tmp_path: Path) -> None:
    """Of rows with every field each metric is there both ways that its kind of statistic allows; of none that failed nothing is left out."""
    rows = [{**row, "prompt_length": 7, "ref_reward": 0.5, "valid_reward": 1.0} for row in ROWS]
    rows += [{**row, "split": "evaluation"} for row in rows]
    found = computed(rows)
    values = per_step_values(opened(tmp_path, rows))

    assert set(found) == set(STREAMED)
    assert set(values) == {key for key, metric in METRICS.items() if metric.computation is not None} - {
        "reward/mean_without_failed"
    }
    assert found == pytest.approx({key: values[key].iloc[0] for key in found}, rel=1e-6)


SPARSE: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a text alone": ({"response": "ab"}, {"counts/rollouts", "length/chars_mean"}),
    "neither response nor tokens": ({"reward": 1.0}, set()),
    "tokens that are all masked": (
        {"response_tokens": ["a"], "loss_mask": [0], "logprobs": [-1.0]},
        {"counts/rollouts", "counts/tokens", "length/mean", "length/std", "length/max", "length/min", "length/empty_share"},
    ),
    "an evaluation": (
        {"response": "ab", "reward": 1.0, "split": "evaluation"},
        {"evaluation/mean", "evaluation/max", "evaluation/min"},
    ),
}


@pytest.mark.parametrize(("row", "expected"), SPARSE.values(), ids=SPARSE)
def test_what_a_row_lacks_is_missing(row: dict[str, Any], expected: set[str]) -> None:
    """A metric without its field is not there: no zero is invented, and an evaluation is none of the training."""
    assert set(computed([row])) == expected


def test_no_rollout_is_held() -> None:
    """However many rollouts a step has, no more of them are in memory than are summed up at once."""
    sums, tokens = StepSums(), 20_000
    tracemalloc.start()
    for _ in range(20 * AT_ONCE):
        sums.add({"response": "a", "values": np.ones(tokens, np.float32), "reward": 1.0}, None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20 * AT_ONCE * tokens * 4
    assert sums.values()["counts/rollouts"] == 20 * AT_ONCE


HUGE = {
    "logprobs": [-3e38, 3e38],
    "rollout_logprobs": [3e38, -3e38],
    "values": [3e38, -3e38],
    "returns": [-3e38, 3e38],
    "reward": 1e300,
}


def test_numbers_that_overflow_are_missing_and_warn_of_nothing() -> None:
    """A metric beyond what a float holds is left out, and the others stay."""
    row = {"response": "ab", "response_tokens": ["a", "b"], **HUGE}
    found = computed([row, row])

    assert all(map(math.isfinite, found.values()))
    assert (found["reward/mean"], found["length/mean"]) == (1e300, 2)
