"""Tests of tinker-cookbook's rollout summaries."""

from functools import partial
from typing import Any

import pytest
from golden_runs import read_one

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import tinker_summaries

STEP: dict[str, Any] = {
    "step_idx": 0,
    "ob_len": 4,
    "ac_len": 2,
    "reward": 1.0,
    "metrics": {"correct": 1.0},
    "logs": {"said": "4 ✓"},
}
RECORD: dict[str, Any] = {
    "schema_version": 1,
    "split": "train",
    "iteration": 10,
    "group_idx": 0,
    "traj_idx": 3,
    "tags": ["math", "gsm8k"],
    "sampling_client_step": None,
    "total_reward": 1.0,
    "final_reward": 0.0,
    "trajectory_metrics": {"correct": 1.0},
    "steps": [STEP, {**STEP, "step_idx": 1, "ac_len": 5}],
    "final_ob_len": 6,
}
NAME = "iteration_000010/train_rollout_summaries.jsonl"
read = partial(read_one, tinker_summaries, name=NAME)


def test_fields() -> None:
    """Rewards, metrics and sizes are numbers; the trajectory has its group and its place in it."""
    row = read(RECORD)

    assert row.step == 10
    assert row.ids == {"group_id": "0", "sample_id": "3", "data_source": "math, gsm8k", "split": "train"}
    assert row.numbers == {
        "reward": 1.0,
        "final_reward": 0.0,
        "metrics.correct": 1.0,
        "schema_version": 1.0,
        "final_ob_len": 6.0,
        "num_steps": 2.0,
        "ac_len": 7.0,
    }
    assert row.flags == []


def test_logged_steps_stand_for_the_response() -> None:
    """No text is saved, so what was logged of each step is shown, a line each, and the reader is told."""
    lines = read(RECORD).texts["response"].splitlines()

    assert len(lines) == 2
    assert '"said": "4 ✓"' in lines[0]
    assert "no text" in tinker_summaries.note(Head(NAME, (RECORD,)))


def test_evaluation_is_told_by_the_row() -> None:
    """A split that is not training is an evaluation, whatever it is called."""
    assert read({**RECORD, "split": "eval/gsm8k"}).ids["split"] == "evaluation"
    assert read({**RECORD, "split": None}, name="iteration_000010/eval_x.jsonl").ids["split"] == "evaluation"


def test_step_of_the_folder_when_the_row_has_none() -> None:
    """The iteration is in the path too."""
    assert read({**RECORD, "iteration": None}).step == 10


def test_unknown_sizes_are_not_summed() -> None:
    """A step that does not say its tokens leaves the sum unknown, not smaller."""
    assert "ac_len" not in read({**RECORD, "steps": [STEP, {**STEP, "ac_len": None}]}).numbers


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "no steps": ({**RECORD, "steps": None}, "`steps` is null, not a list"),
    "steps of numbers": ({**RECORD, "steps": [1]}, "`steps` holds 1 at position 0, not an object"),
    "an iteration that is none": ({**RECORD, "iteration": "ten"}, "`step` is "),
}


@pytest.mark.parametrize(("record", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_records_are_refused_by_their_key(record: dict[str, Any], reason: str) -> None:
    """Without its steps or its iteration a summary says nothing."""
    with pytest.raises(RowRefused, match=reason):
        read(record)
