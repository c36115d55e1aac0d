"""Tests of lighteval's details."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_runs import GOLDEN

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Place
from board.formats.evaluations import lighteval

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


OLDER: list[dict[str, Any]] = [
    {
        "example": f"{at}+{at}?",
        "instruction": "Add.",
        "full_prompt": f"Add.\n{at}+{at}?",
        "predictions": [f"It is {2 * at}."],
        "input_tokens": [[1, 2]],
        "cont_tokens": [[3, 4]],
        "gold": [str(2 * at)],
        "choices": [],
        "gold_index": [],
        "metrics": {"qem": float(at % 2), "f1": 0.5},
    }
    for at in range(2)
]
CHOSEN = OLDER[0] | {"predictions": [(-1.5, False), (-0.5, True)], "choices": [" A", " B"], "gold_index": [0], "gold": []}


@pytest.mark.parametrize("written", [lambda value: value, str], ids=["as lists", "written out"])
def test_columns_of_older_releases(tmp_path: Path, written: Callable[[Any], Any]) -> None:
    """Predictions, gold and metrics beside each other, also where each value is as Python writes it out."""
    name = "details_lighteval|sums|0_2024-11-25T10-54-57.092379.parquet"
    pq.write_table(pa.Table.from_pylist([{key: written(value) for key, value in row.items()} for row in OLDER]), tmp_path / name)

    run = open_run(tmp_path)

    assert (run.splits, list(run.frame["reward"]), list(run.frame["reward.f1"])) == (("evaluation",), [0.0, 1.0], [0.5, 0.5])
    assert {*run.frame["data_source"]} == {"lighteval|sums|0"}
    said = run.rollout(int(run.frame.index[1]))
    assert (said["prompt"], said["response"], said["ground_truth"]) == ("Add.\n1+1?", "It is 2.", "2")


def test_a_choice_of_older_releases() -> None:
    """The likeliest is the response; what cannot be read back is refused by its key."""
    place = Place("details_sums_2024-11-25T10-54-57.092379.parquet", 1)

    (chosen,) = formats.read({key: str(value) for key, value in CHOSEN.items()}, lighteval, place)

    assert (chosen.texts["response"], chosen.texts["ground_truth"]) == (" B", " A")
    with pytest.raises(RowRefused, match=r"`predictions` is \"\[array"):
        formats.read(CHOSEN | {"predictions": "[array([1.0])]"}, lighteval, place)


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
