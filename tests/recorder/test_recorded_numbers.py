"""The numbers a recorder hands to a tracker are those of the board that opens what was written, padding left out, and so are its examples."""

import gzip
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest
from golden_runs import FOLDERS, GOLDEN
from recorded import shard_of, to

from board import open_run
from board.analysis.steps.step_metrics import of_step_alone, per_step_values
from board.metrics.declared import METRICS
from board.metrics.declared.computation import SoFar
from board.push.recorder_numbers import RecordedSteps
from board.recorder import RolloutRecorder
from board.recorder.values import encode
from board.runs.run import Run
from board.schema import TOKEN_METRICS

SAMPLES = Path(__file__).parents[2] / "rollout_samples"
SAMPLE = SAMPLES / "tiny_ppo_rhyme"

RNG = np.random.default_rng(7)

ARRAYS = (
    *("logprobs", "ref_logprobs", "rollout_logprobs", "old_logprobs"),
    *("values", "returns", "advantages", "entropies", "token_rewards"),
)

ALONE = {key for key, metric in METRICS.items() if of_step_alone(key) and not isinstance(metric.computation, SoFar)}
"""Metrics that one step's rollouts can give."""
WITHOUT_FAILED = "reward/mean_without_failed"


def rollout(length: int, group: str, pads: int = 0, **fields: Any) -> dict[str, Any]:
    """A rollout with every token array that metrics are computed from, padded at the end."""
    size = length + pads
    arrays = {name: RNG.normal(size=size).astype(np.float32) / 4 for name in ARRAYS}
    tokens = ["t"] * length + ["<pad>"] * pads
    return {"group_id": group, "response_tokens": tokens, "response": "t" * length, **arrays, **fields}


def computed(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The numbers of rows of one step, by key."""
    values, _, _ = RecordedSteps("board", (), 0, 0).of([encode({"step": 3, **row}) for row in rows])
    return {name.removeprefix("board/"): value for name, value in values.items()}


ROWS = [
    rollout(5, "a", reward=1.0, ref_reward=0.5, valid_reward=2.0, finish_reason="length"),
    rollout(3, "a", pads=4, reward=-1.0, ref_reward=0.0, finish_reason="stop"),
    rollout(4, "b", reward=0.5, loss_mask=[1, 0, 1, 1], finish_reason="stop"),
    rollout(2, "b", reward=0.5, finish_reason="stop"),
    rollout(6, "c", reward=math.nan, finish_reason="stop"),
]
"""Of one step: padding, a masked token, a row without a finite reward, a group whose rewards are equal."""


def told(folder: Path, rows: Sequence[Mapping[str, Any]], **options: Any) -> pd.DataFrame:
    """What the tracker is told of rows that are recorded, a row a step."""
    stream = io.StringIO()
    with RolloutRecorder(folder, **to(stream), **options) as recorder:
        for row in rows:
            recorder.write(**row)
    assert (recorder.dropped, recorder.untracked) == (0, 0)
    found = pd.DataFrame([orjson.loads(line) for line in stream.getvalue().splitlines()]).set_index("step")
    found.columns = found.columns.str.removeprefix("board/")
    return found.astype(float)


@pytest.mark.parametrize("step_bytes", [None, 0], ids=["arrays", "arrays left out"])
def test_the_sample_as_it_is_recorded_again(tmp_path: Path, step_bytes: int | None) -> None:
    """Every number of a step alone reaches the tracker, as the board computes it of real rollouts, also where arrays are then left out."""
    shards = [gzip.decompress(path.read_bytes()) for path in sorted(SAMPLE.glob("*.gz"))]
    rows = sorted((orjson.loads(line) for shard in shards for line in shard.splitlines()), key=lambda row: row["step"])[:960]
    found = told(tmp_path / "run", rows, step_bytes=step_bytes)
    told(tmp_path / "whole", rows)
    values = per_step_values(open_run(tmp_path / "whole"))

    assert {*found.columns} == {key for key in values.columns if key in ALONE or key not in METRICS}
    assert len(found.columns) > 40
    pd.testing.assert_frame_equal(found, values[found.columns], rtol=1e-9, check_names=False)


RUNS = [pytest.param(path, id=path.name) for path in (*sorted(SAMPLES.iterdir()), *(GOLDEN / name for name in FOLDERS))]

FIELDS = (*TOKEN_METRICS, "response_tokens", "response", "finish_reason", "prompt")
NUMBERS = ("reward", "ref_reward", "valid_reward", "prompt_length", "truncated")


def row_of(run: Run, key: int) -> dict[str, Any]:
    """A rollout of an opened run as a trainer would hand it to the recorder; `group_id` is the group the board found it in."""
    one, scalars = run.rollout(key), run.frame.loc[key]
    numbers = {name: scalars[name] for name in NUMBERS if name in scalars and pd.notna(scalars[name])}
    group = {"group_id": str(scalars["group"])} if pd.notna(scalars.get("group", math.nan)) else {}
    return {name: one[name] for name in FIELDS if one[name] is not None} | numbers | group | {"split": scalars.get("split")}


@pytest.mark.parametrize("folder", RUNS)
def test_board_and_recorder_compute_the_same_metrics(folder: Path) -> None:
    """Of every sample and golden run, each metric of a step alone is there and equal both ways, and no other.

    The recorder sees one step: where no group of it has a second member, it says nothing of groups, whatever other steps have; where all
    are of an evaluation, it takes them for none of the training; and where none failed, it has no mean without those that did.
    """
    run = open_run(folder)
    values = per_step_values(run)
    for step in run.steps[:: max(1, len(run.steps) // 6)].tolist():
        found = computed([row_of(run, key) for key in run.of_steps(step, step).frame.index])
        grouped = any(key.startswith("groups/") for key in found)
        there = values.loc[step].dropna() if step in values.index else pd.Series(dtype=float)
        held = run.of_steps(step, step).splits == ("evaluation",)
        expected = {
            key: value
            for key, value in there.items()
            if key in ALONE - {WITHOUT_FAILED}
            and (grouped or METRICS[key].family != "groups")
            and (not held or METRICS[key].family == "evaluation")
        }

        assert {key: one for key, one in found.items() if key in METRICS and key != WITHOUT_FAILED} == pytest.approx(
            expected, rel=1e-6, abs=1e-9
        ), step


def test_a_full_row_has_every_metric(tmp_path: Path) -> None:
    """Of rows with every field each metric is there that a step alone can give; of none that failed nothing is left out."""
    rows = [{**row, "prompt_length": 7, "ref_reward": 0.5, "valid_reward": 1.0} for row in ROWS]
    rows += [{**row, "split": "evaluation"} for row in rows]
    (found,) = told(tmp_path, [{"step": 3, **row} for row in rows]).to_dict("records")
    values = per_step_values(open_run(tmp_path)).iloc[0].to_dict()
    every = {key for key, metric in METRICS.items() if metric.computation is not None} - {WITHOUT_FAILED}

    assert set(values) == every
    assert found == pytest.approx({key: values[key] for key in every & ALONE}, rel=1e-9)


SPARSE: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a text alone": ({"response": "ab"}, {"counts/rollouts", "length/chars_mean"}),
    "neither response nor tokens": ({"reward": 1.0}, set()),
    "discarded": ({"response": "ab", "reward": 1.0, "split": "discarded"}, set()),
    "tokens that are all masked": (
        {"response_tokens": ["a"], "loss_mask": [0], "logprobs": [-1.0]},
        {
            "counts/rollouts",
            "counts/tokens",
            "length/mean",
            "length/std",
            "length/max",
            "length/min",
            "length/median",
            "length/empty_share",
        },
    ),
    "an evaluation": (
        {"response": "ab", "reward": 1.0, "split": "evaluation"},
        {"evaluation/mean", "evaluation/max", "evaluation/min"},
    ),
    "a number of the trainer's own": (
        {"response": "ab", "own": 2.0},
        {"counts/rollouts", "length/chars_mean", "column/own/mean"},
    ),
}


@pytest.mark.parametrize(("row", "expected"), SPARSE.values(), ids=SPARSE)
def test_what_a_row_lacks_is_missing(row: dict[str, Any], expected: set[str]) -> None:
    """A metric without its field is not there: no zero is invented, and an evaluation is none of the training."""
    assert set(computed([row])) == expected


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


PAD = "<|extra_0|>"


def _recorded(folder: Path, pads: int, step_bytes: int | None) -> list[str]:
    """What the tracker is told of two groups whose rows have so many pads at both ends, or up to that."""
    stream = io.StringIO()
    with RolloutRecorder(folder, step_bytes=step_bytes, pads=[PAD], **to(stream)) as recorder:
        for at in range(8):
            left, right = at % (pads + 1), (at // 2) % (pads + 1)
            recorder.write(
                step=1,
                prompt=PAD * left + f"Q{at % 2}",
                response=PAD * left + "ab" + "<pad>" * right,
                response_tokens=[PAD] * left + ["a", "b"] + ["<pad>"] * right,
                logprobs=[9.0] * left + [-1.0, -2.0 - at] + [9.0] * right,
                ref_logprobs=[0.0] * left + [-1.5, -2.0] + [0.0] * right,
                reward=float(at),
            )
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("step_bytes", [None, 0], ids=["arrays", "arrays left out"])
def test_padding_enters_no_number(tmp_path: Path, step_bytes: int | None) -> None:
    """The tracker is told what it is told of the rows without padding, and so is whoever opens the run; the rows stand as given."""
    plain, padded = (_recorded(tmp_path / name, pads, step_bytes) for name, pads in (("plain", 0), ("padded", 3)))

    assert padded == plain
    one, other = (open_run(tmp_path / name).frame.drop(columns=["offset"], errors="ignore") for name in ("plain", "padded"))
    pd.testing.assert_frame_equal(one, other)
    assert (tmp_path / "padded" / "rollouts.toml").read_text(encoding="utf-8") == 'pads = ["<|extra_0|>"]\n'
    assert PAD in shard_of(tmp_path / "padded").read_text(encoding="utf-8")


def test_a_mapping_that_is_there_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What somebody wrote beside the rows is left alone."""
    (tmp_path / "rollouts.toml").write_text('pads = ["<x>"]\n', encoding="utf-8")

    with RolloutRecorder(tmp_path, pads=["<y>"]) as recorder:
        recorder.write(step=1, response="a")

    assert not caplog.records
    assert (tmp_path / "rollouts.toml").read_text(encoding="utf-8") == 'pads = ["<x>"]\n'


def shown(count: int, rows: list[dict[str, Any]], seed: int = 0) -> list[dict[str, Any]]:
    """The rollouts of a step that are shown."""
    return [dict(row) for row in RecordedSteps("board", (), count, seed).of([encode({"step": 1, **row}) for row in rows])[1]]


def chosen(count: int, rewards: list[float | None], seed: int = 0) -> list[tuple[Any, Any]]:
    """Which rollouts of a step are shown, and why."""
    rows = shown(count, [{"response": f"r{number}", "reward": reward} for number, reward in enumerate(rewards)], seed)
    return [(row["which"], row["response"]) for row in rows]


CASES: dict[str, tuple[int, list[float | None], list[tuple[str, str]]]] = {
    "none asked for": (0, [1.0], []),
    "one": (1, [0.5, 2.0, -1.0], [("best", "r1")]),
    "two": (2, [0.5, 2.0, -1.0], [("best", "r1"), ("worst", "r2")]),
    "three of three": (3, [0.5, 2.0, -1.0], [("best", "r1"), ("worst", "r2"), ("random", "r0")]),
    "more than there are": (5, [2.0, -1.0], [("best", "r0"), ("worst", "r1")]),
    "the only one": (2, [2.0], [("best", "r0")]),
    "no reward": (1, [None], [("random", "r0")]),
    "the first of equals": (1, [1.0, 1.0], [("best", "r0")]),
    "no rollout": (2, [], []),
}


@pytest.mark.parametrize(("count", "rewards", "expected"), CASES.values(), ids=CASES)
def test_which_are_shown(count: int, rewards: list[float | None], expected: list[tuple[str, str]]) -> None:
    """The best, then the worst, then others; each once and no more than asked for."""
    assert chosen(count, rewards) == expected


def test_the_seed_draws() -> None:
    """Whether a rollout comes early or late, it can be drawn; the same seed draws the same, each rollout once."""
    drawn = [chosen(3, [None] * 10, seed) for seed in range(60)]

    assert {row for rows in drawn for _, row in rows} == {f"r{number}" for number in range(10)}
    assert all(len({row for _, row in rows}) == 3 for rows in drawn)
    assert chosen(3, [None] * 50, 7) == chosen(3, [None] * 50, 7)


def test_messages_are_text_and_tokens_stand_in_for_a_response() -> None:
    """A list of messages is shown as the board shows it; a response that is tokens alone as their text."""
    messages = [{"role": "user", "content": "hi"}]
    (row,) = shown(1, [{"prompt": messages, "response_tokens": ["a", "bc"]}])

    assert (row["prompt"], row["response"]) == ("user:\nhi", "abc")


def test_they_reach_the_tracker_as_they_were_redacted(tmp_path: Path) -> None:
    """Beside its numbers each step has its examples, of the rows as they are written."""
    with (tmp_path / "out").open("w") as stream:
        options = to(stream) | {"examples_per_step": 2, "redact": lambda row: {**row, "prompt": "X"}}
        with RolloutRecorder(tmp_path / "run", **options) as recorder:
            for step in range(2):
                recorder.write_batch(step=step, prompt=["Alice"] * 3, response=["a", "b", "c"], reward=[1.0, 3.0, 2.0])
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    expected = [
        {"which": "best", "reward": 3.0, "prompt": "X", "response": "b"},
        {"which": "worst", "reward": 1.0, "prompt": "X", "response": "a"},
    ]

    assert [line["step"] for line in lines] == [0, 0, 1, 1]
    assert [(line["examples"], line["rows"]) for line in lines[1::2]] == [("board/rollouts", expected)] * 2
