"""Relax's rollout results: one sample a line, with its tokens in some versions.

Knows these rows; Relax's torch dumps are `slime`'s.
"""

from typing import Final

from board.formats.common_fields import given, hidden, other_fields, reward_note, rewarded, step_and_split
from board.formats.contract import Head, Place
from board.formats.renaming import list_or_none
from board.sources.json_record import Record

NAME: Final = "Relax"
FAMILY: Final = "Relax"

_LOGPROBS: Final = "response_rollout_log_probs"
_MASK: Final = "response_rollout_log_probs_mask"

_NAMES: Final = {
    "prompt": "prompt",
    "response": "response",
    "response_token_ids": "response_token_ids",
    "label": "ground_truth",
    "group_index": "group_id",
    "sample_index": "sample_id",
    "dataset": "data_source",
}
_PLACED: Final = frozenset({"rollout_id", "reward", _LOGPROBS, _MASK, *_NAMES})


def recognise(head: Head) -> bool:
    """Whether every record is a step's numbered sample with its lengths and its text."""
    needed = {"rollout_id", "sample_index", "response", "response_length", "total_length"}
    return head.all_have(needed)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout in a row; an evaluation names its data set. Raises RowRefused naming the field that is not as it should be."""
    logprobs, mask = list_or_none(record, _LOGPROBS), list_or_none(record, _MASK)
    split = "evaluation" if record.get("dataset") is not None else None
    return [
        {
            **other_fields(record, _PLACED),
            **given(**{ours: record.get(theirs) for theirs, ours in _NAMES.items()}),
            **step_and_split(place.name, record.get("rollout_id"), split),
            **rewarded(record.get("reward")),
            **given(rollout_logprobs=hidden(logprobs, mask), loss_mask=mask),
        }
    ]


def note(head: Head) -> str:
    """Where the total of several rewards comes from."""
    return reward_note(record.get("reward") for record in head.records)
