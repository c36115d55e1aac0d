"""board.formats.trainers.relax: Relax's rollout results, with and without tokens."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from golden_runs import golden, golden_records, mapped_one

from board import formats
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import relax

TRAIN = "rollout_result/train/12.jsonl"
LATER = "rollout_result/train/13.jsonl"
EVALUATION = "rollout_result/eval/12.jsonl"
read, records = partial(golden, relax), partial(golden_records, relax)
mapped = partial(mapped_one, relax, name=TRAIN)


def test_a_row_with_tokens() -> None:
    """Every field under our name; a token whose logprob does not count has none."""
    rollout = mapped(records(TRAIN)[0])
    row = read(TRAIN)[0]

    assert (row.step, row.ids) == (12, {"group_id": "96", "sample_id": "0"})
    assert (row.texts["prompt"], row.texts["response"], row.texts["ground_truth"]) == ("2+2?", "4<|im_end|>", "4")
    assert row.texts["status"] == "completed"
    assert (row.numbers["reward"], row.numbers["agent_turns"]) == (1.0, 1.0)
    assert rollout["response_token_ids"] == [19, 2]
    assert rollout["rollout_logprobs"] == [-0.25, None]
    assert rollout["loss_mask"] == [True, False]
    assert not {"rollout_id", "response_rollout_log_probs", "response_rollout_log_probs_mask"} & rollout.keys()


def test_several_rewards() -> None:
    """A dict keeps its parts and has as its total what is called so; a logprob that is not a number stays one."""
    row = read(TRAIN)[1]

    assert (row.numbers["reward"], row.numbers["reward.score"], row.numbers["reward.format"]) == (0.25, 0.25, 1.0)
    assert row.texts["reward.why"] == "wrong"
    assert math.isnan(row.arrays["rollout_logprobs"][1])
    assert "loss_mask" not in row.arrays


def test_rows_without_tokens() -> None:
    """Other versions have none, and other fields instead; a reward that is null is missing, and a prompt may be messages."""
    first, aborted = read(LATER)

    assert first.texts["response"] == "<b>4</b>"
    assert first.texts["weight_versions"] == '["13"]'
    assert first.numbers["latency_trace.queue"] == 0.5
    assert not first.arrays
    assert (aborted.texts["prompt"], aborted.texts["response"]) == ("user:\n2+2?", "")
    assert "reward" not in aborted.numbers


def test_evaluations() -> None:
    """A row that names its data set is of an evaluation, and so is one in the folder of that name."""
    (row,) = read(EVALUATION)
    unnamed = {key: value for key, value in records(EVALUATION)[0].items() if key != "dataset"}

    assert row.ids == {"group_id": "96", "sample_id": "0", "data_source": "aime", "split": "evaluation"}
    assert mapped(records(EVALUATION)[0], name="x/12.jsonl")["split"] == "evaluation"
    assert mapped(unnamed, name=EVALUATION)["split"] == "evaluation"
    assert "split" not in mapped(records(TRAIN)[0])


def test_arrays_that_came_as_float32() -> None:
    """Logprobs that were parsed into an array are masked as a list is."""
    arrays = {"response_rollout_log_probs": np.array([-0.25, -0.5], np.float32)}
    masks = {"response_rollout_log_probs_mask": np.array([1, 0], np.float32)}

    rollout = mapped({**records(TRAIN)[0], **arrays, **masks})

    np.testing.assert_array_equal(rollout["rollout_logprobs"], np.array([-0.25, np.nan], np.float32))
    assert rollout["loss_mask"].tolist() == [1, 0]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "logprobs that are none": ({"response_rollout_log_probs": 0.5}, "`response_rollout_log_probs` is 0.5, not a list"),
    "a mask that is none": ({"response_rollout_log_probs_mask": "x"}, '`response_rollout_log_probs_mask` is "x", not a list'),
    "a step that is none": ({"rollout_id": "last"}, '`step` is "last", which is not a whole number'),
    "no response": ({"response": None, "response_token_ids": None}, "has no `response`"),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damage_is_named(fields: dict[str, Any], reason: str) -> None:
    """A row that is not as it should be is refused with the field and what stands there."""
    with pytest.raises(RowRefused, match=reason):
        formats.read({**records(TRAIN)[0], **fields}, relax, Place(TRAIN, 1))


def test_recognised_by_keys() -> None:
    """A numbered sample of a step with text and lengths; what else lies beside it is none."""
    assert relax.recognise(Head("x.jsonl", tuple(records(LATER))))
    assert not relax.recognise(Head(TRAIN, ({"rollout_id": 12, "event": "reward"},)))


def test_notes() -> None:
    """Said is where a total comes from when rewards are dicts."""
    assert "the first of its entries score, reward, total" in relax.note(Head(TRAIN, tuple(records(TRAIN))))
    assert relax.note(Head(LATER, tuple(records(LATER)))) == ""
