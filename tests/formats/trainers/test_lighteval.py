"""Tests of lighteval's details."""

from typing import Any

import pytest
from golden_runs import GOLDEN

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Place
from board.formats.trainers import lighteval

DOC: dict[str, Any] = {"query": "2+2?", "choices": ["4"], "gold_index": 0, "id": "0", "task_name": "sums|0"}


def test_a_run_opens_as_evaluation() -> None:
    """Three tasks at step 0: one answer is rewarded by the first metric, two of one example are not, and a choice is the likeliest."""
    run = open_run(GOLDEN / "lighteval")
    by_task = {str(name): rows for name, rows in run.frame.groupby("data_source", observed=True)}

    assert run.splits == ("evaluation",)
    assert set(run.frame["step"]) == {0}
    assert run.report.problems == []
    assert list(by_task["sums|0"]["reward"]) == [1.0, 0.0]
    assert list(by_task["sums|0"]["reward.length"]) == [1.0, 1.0]
    assert list(by_task["sums_avg|0"]["metrics.avg@n:n=2"]) == [0.5, 0.5]
    assert by_task["sums_avg|0"]["reward"].count() == 0
    said = run.rollout(int(by_task["sums|0"].index[0]))
    assert (said["prompt"], said["response"], said["ground_truth"], said["answer"]) == (
        "user:\n2+2?",
        "<think>x</think>4",
        "4",
        "4",
    )
    chosen = run.rollout(int(by_task["capitals|0"].index[0]))
    assert (chosen["response"], chosen["ground_truth"]) == ("Paris", "Madrid")


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an answer that is no list": ({"text": "4"}, '`text` is "4", not a list'),
    "choices that are no list": ({"logprobs": 3}, "`logprobs` is 3, not a list"),
}


@pytest.mark.parametrize(("answered", "reason"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused(answered: dict[str, Any], reason: str) -> None:
    """By its key."""
    record = {"doc": DOC, "model_response": answered, "metric": {"em": 1.0}}

    with pytest.raises(RowRefused) as refused:
        formats.read(record, lighteval, Place("details_sums.parquet", 1))

    assert str(refused.value) == reason
