"""board.formats.trainers.miles_trajectory and miles_columns: what miles writes beside its torch dumps; and miles itself, which writes these."""

import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from environments import packages_in
from golden_runs import mapped_one

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import miles_columns, miles_trajectory

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "formats" / "golden"
TRAJECTORY = "trajectory/12.jsonl"
COLUMNS = "dashboard_columns/rollout_12.parquet"
tokens = partial(mapped_one, miles_columns, name=COLUMNS)


def conversations(name: str = TRAJECTORY) -> list[dict[str, Any]]:
    """The records of a trajectory file of the golden run."""
    return [json.loads(line) for line in (GOLDEN / "miles_trajectory" / name).read_text(encoding="utf-8").splitlines()]


def rows(name: str = COLUMNS) -> list[dict[str, Any]]:
    """The records of a Parquet file of the golden run."""
    found: list[dict[str, Any]] = pq.read_table(GOLDEN / "miles_columns" / name).to_pylist()
    return found


def test_a_conversation() -> None:
    """What follows the prompt is the response, calls as calls; the file's name is the step."""
    (row,) = formats.read(conversations()[0], miles_trajectory, Place(TRAJECTORY, 1))

    assert row.step == 12
    assert row.ids == {"group_id": "96", "sample_id": "768"}
    assert row.texts["prompt"] == "user:\n2+2?"
    assert row.texts["response"] == 'assistant:\n→ add({"a": 2})\n\ntool:\n4\n\nassistant:\n4 ✓'
    assert row.texts["status"] == "completed"
    assert row.numbers == {"reward": 1.0, "sample_occurrence": 0.0}


def test_a_prompt_that_is_text() -> None:
    """The response begins where the assistant does; a reward that is null is missing."""
    (row,) = formats.read(conversations()[1], miles_trajectory, Place(TRAJECTORY, 2))

    assert (row.texts["prompt"], row.texts["response"]) == ("user:\n2+2?", "5 <b>no</b>")
    assert "reward" not in row.numbers


def test_an_answer_put_into_the_prompt() -> None:
    """Messages of an assistant that were given are prompt."""
    asked = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    record = {**conversations()[0], "prompt": asked, "messages": [*asked, {"role": "assistant", "content": "d"}]}

    (rollout,) = miles_trajectory.rollouts(record, Place(TRAJECTORY, 1))

    assert (rollout["prompt"].endswith("user:\nc"), rollout["response"]) == (True, "d")


def test_evaluations_of_both() -> None:
    """An evaluation is told by its file's name, and so is its step."""
    (talk,) = miles_trajectory.rollouts(conversations("trajectory/eval_12.jsonl")[0], Place("trajectory/eval_12.jsonl", 1))
    columns = tokens(rows("dashboard_columns/rollout_eval_12.parquet")[0], name="dashboard_columns/rollout_eval_12.parquet")

    assert [(one["step"], one["split"]) for one in (talk, columns)] == [(12, "evaluation")] * 2
    assert math.isnan(talk["reward"])


@pytest.mark.parametrize("messages", [None, [], "x", [{"content": "no role"}], 3], ids=str)
def test_conversations_that_are_none(messages: Any) -> None:
    """A row without messages is refused by name."""
    with pytest.raises(RowRefused, match="`messages` is"):
        miles_trajectory.rollouts({**conversations()[0], "messages": messages}, Place(TRAJECTORY, 1))


def test_a_row_of_columns() -> None:
    """Ids cut at the response; a tool's token has no logprob, and one that is not a number stays one."""
    rollout = tokens(rows()[0])

    assert (rollout["step"], rollout["sample_id"], rollout["loss_mask"]) == (12, 768, [1, 0, 1, 1])
    assert (rollout["prompt_token_ids"], rollout["response_token_ids"]) == ([1, 17], [30, 6, 19, 2])
    assert rollout["rollout_logprobs"][:3] == [-0.5, None, -0.125]
    assert math.isnan(rollout["rollout_logprobs"][3])
    assert not {"response", "response_tokens", "reward"} & rollout.keys()


def test_a_row_without_mask_and_logprobs() -> None:
    """What is null is not there."""
    rollout = tokens(rows()[1])

    assert rollout["response_token_ids"] == [20]
    assert not {"loss_mask", "rollout_logprobs"} & rollout.keys()


def test_logprobs_that_came_as_float32() -> None:
    """An array is masked as a list is, and what was given is left as it was."""
    given = np.array([-0.5, 0, -0.125, -0.25], np.float32)

    found = tokens({**rows()[0], "rollout_log_probs": given})["rollout_logprobs"]

    np.testing.assert_array_equal(found, np.array([-0.5, np.nan, -0.125, -0.25], np.float32))
    assert given[1] == 0


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no ids": ({"tokens": None}, "`tokens` is null, fewer than the 4"),
    "too few ids": ({"tokens": [1]}, r"`tokens` is \[1\], fewer than the 4"),
    "ids that are no list": ({"tokens": 1}, "`tokens` is 1, not a list"),
    "no length": ({"response_length": None}, "`response_length` is null, not a whole number"),
    "a mask that is none": ({"loss_mask": "x"}, '`loss_mask` is "x", not a list'),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damage_is_named(fields: dict[str, Any], reason: str) -> None:
    """A row that is not as it should be is refused with the field and what stands there."""
    with pytest.raises(RowRefused, match=reason):
        tokens({**rows()[0], **fields})


def test_recognised_by_keys() -> None:
    """Neither is taken for the other, nor a row of text for one of them."""
    talk, columns = tuple(conversations()), tuple(rows())

    assert miles_trajectory.recognise(Head("x.jsonl", talk))
    assert miles_columns.recognise(Head("x.parquet", columns))
    assert not miles_trajectory.recognise(Head(TRAJECTORY, columns))
    assert not miles_columns.recognise(Head(COLUMNS, talk))


def test_notes() -> None:
    """Said is what is missing: text and reward, and a step where the name has none."""
    assert "neither text nor reward" in miles_columns.note(Head(COLUMNS, tuple(rows())))
    assert "it is 0 for all" in miles_columns.note(Head("x.parquet", tuple(rows())))
    assert "from the names" in miles_trajectory.note(Head(TRAJECTORY, tuple(conversations())))
    assert "it is 0 for all" in miles_trajectory.note(Head("x.jsonl", tuple(conversations())))


@pytest.mark.installs
def test_miles_itself(tmp_path: Path) -> None:
    """What miles writes opens whole, and what it removed is discarded. RL_BOARD_MILES_0_0_2_PACKAGES names a folder that has it."""
    pytest.importorskip("torch")
    packages = packages_in(tmp_path / "packages", "RL_BOARD_MILES_0_0_2_PACKAGES", "miles-rl==0.0.2")
    writer = [sys.executable, str(ROOT / "tests/writers/miles_dump.py"), str(tmp_path / "run")]
    subprocess.run(writer, check=True, timeout=300, env=os.environ | {"PYTHONPATH": packages})

    run = open_run(tmp_path / "run")

    assert (run.report.formats, run.report.problems) == ({"slime dump": 3}, [])
    assert run.frame["reward"].groupby(run.frame["split"].astype(object).fillna("train")).apply(list).to_dict() == {
        "train": [1.0, 0.5, 0.0] * 2,
        "discarded": [0.0] * 2,
        "evaluation": [1.0],
    }
    assert {run.rollout(key)["response"] for key in run.of_split("discarded").frame.index} == {"five"}
