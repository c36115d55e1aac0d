"""board.formats.trainers.token_export: prime-rl's sequences of ids, cut to the response."""

from functools import partial
from typing import Any

import pytest
from golden_runs import golden_records, mapped_one
from hypothesis import given
from hypothesis import strategies as st

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import token_export

FIRST = "token_exports/step_12/rank_0.jsonl"
SECOND = "token_exports/step_12/rank_1.jsonl"
OLD = "token_exports/step_4/rank_0.jsonl"
records = partial(golden_records, token_export)
mapped = partial(mapped_one, token_export, name=FIRST)


def test_a_sequence() -> None:
    """Ids and every array cut to the trained tokens, under our names; lists of nulls stay away."""
    rollout = mapped(records(FIRST)[0])

    assert rollout == {
        "step": 12,
        "rank": 0,
        "micro_step": 0,
        "sample_id": "0.0",
        "data_source": "sums",
        "prompt_token_ids": [1, 17],
        "response_token_ids": [19, 2],
        "loss_mask": [1, 1],
        "logprobs": [-0.3125, None],
        "rollout_logprobs": [-0.25, -0.0625],
        "entropies": [0.5, 0.5],
        "advantages": [0.75, 0.75],
        "mismatch_kl": [0.0, 0.00005],
        "log_importance_ratio": [0.0, -0.01],
        "importance_ratio": [1.0, 1.0],
        "prob_delta": [0.0, 0.0],
        "is_masked": [False, True],
        "is_masked_high": [False, False],
        "is_masked_low": [False, True],
    }


def test_a_tool_within_the_response() -> None:
    """What nobody sampled has no logprob of the inference engine, but the trainer's, which is real."""
    rollout = mapped(records(FIRST)[1])

    assert rollout["loss_mask"] == [1, 0, 1, 1]
    assert rollout["rollout_logprobs"] == [-0.5, None, -0.125, -0.25]
    assert rollout["logprobs"] == [-0.5, -4.0, -0.125, -0.25]


def test_a_sequence_trained_from_its_first_token() -> None:
    """Nothing predicts the first token: the trainer's filler there is no number."""
    rollout = mapped(records(SECOND)[0])

    assert rollout["sample_id"] == "1.0"
    assert rollout["logprobs"] == [None, -0.25]
    assert rollout["entropies"] == [None, 0.5]
    assert rollout["rollout_logprobs"] == [-0.5, -0.25]


def test_old_rewards() -> None:
    """A reward repeated at every token is that of the sequence; one that differs by token is the tokens'."""
    old = records(OLD)[0]

    assert (mapped(old)["reward"], "token_rewards" in mapped(old)) == (1.0, False)
    differing = mapped({**old, "rewards": [0.0, 0.0, 0.25, 0.75]})
    assert (differing["token_rewards"], "reward" in differing) == ([0.25, 0.75], False)
    unknown = mapped({**old, "rewards": [None] * 4})
    assert not {"reward", "token_rewards"} & unknown.keys()


def test_step_of_the_folder() -> None:
    """A record without a step has its folder's."""
    record = {key: value for key, value in records(FIRST)[0].items() if key != "step"}

    assert mapped(record)["step"] == 12


def test_recognised_by_keys() -> None:
    """Ids beside logprobs of both engines; a step and ids alone are not enough."""
    assert token_export.recognise(Head("x.jsonl", tuple(records(FIRST))))
    assert not token_export.recognise(Head(FIRST, ({"step": 1, "token_ids": [1], "loss_mask": [True]},)))


def test_notes() -> None:
    """Said is that there is no text, and no reward where there is none."""
    assert "neither text nor reward" in token_export.note(Head(FIRST, tuple(records(FIRST))))
    assert "reward" not in token_export.note(Head(OLD, tuple(records(OLD))))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no ids": ({"token_ids": None}, "has no `token_ids`"),
    "no mask": ({"loss_mask": None}, "has no `loss_mask`"),
    "ids that are no list": ({"token_ids": 3}, "`token_ids` is 3, not a list"),
    "a mask of another length": ({"loss_mask": [True]}, "`loss_mask` has 1 number for 4 tokens"),
    "an array of another length": ({"trainer_logprobs": [-0.5]}, "`trainer_logprobs` has 1 number for 4 tokens"),
    "an array that is no list": ({"entropy": "high"}, '`entropy` is "high", not a list'),
    "nothing trained": ({"loss_mask": [False] * 4}, "`loss_mask` has no trained token"),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damage_is_named(fields: dict[str, Any], reason: str) -> None:
    """A sequence whose parts do not fit each other is refused with the field: no number is put at another's token."""
    with pytest.raises(RowRefused, match=reason):
        mapped({**records(FIRST)[0], **fields})


@given(st.lists(st.booleans(), min_size=1, max_size=30).filter(any))
def test_numbers_stay_at_their_tokens(mask: list[bool]) -> None:
    """Whatever the mask: each id of the response has the number that stood at it, or none where it was not sampled."""
    ids = list(range(len(mask)))
    numbers = [-float(token) for token in ids]
    record = {"step": 0, "token_ids": ids, "loss_mask": mask, "trainer_logprobs": numbers, "inference_logprobs": numbers}

    rollout = mapped(record)

    response = rollout["response_token_ids"]
    assert rollout["prompt_token_ids"] + response == ids[: len(rollout["prompt_token_ids"]) + len(response)]
    assert rollout["loss_mask"] == [int(mask[token]) for token in response]
    assert rollout["rollout_logprobs"] == [-float(token) if mask[token] else None for token in response]
    assert rollout["logprobs"] == [-float(token) if token else None for token in response]
    assert sum(rollout["loss_mask"]) == sum(mask)
