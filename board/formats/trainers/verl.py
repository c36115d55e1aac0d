"""verl's rollout and validation files: `trainer.rollout_data_dir`, `trainer.validation_data_dir`, a file a step.

Reads what both its trainers write: V1 names the group in `uid`, the older one adds what the reward function returned. No token arrays.
"""

import re
from typing import Any, Final

from board.formats.aliases import set_of
from board.formats.common_fields import given
from board.formats.contract import Head, Place
from board.formats.filename_hints import split_in
from board.formats.renaming import need, renamed, same
from board.sources.json_record import Record

NAME: Final = "verl"
FAMILY: Final = "verl"

_NAMES: Final = {"input": "prompt", "output": "response", "gts": "ground_truth", "score": "reward"}
_TEXTS: Final = set_of("input output gts uid request_id pred prediction answer extracted_answer")
"""Keys whose value may look like a number and is none."""

_UID: Final = re.compile(r"(?P<group>.+)_[0-9]+_[0-9]+")
"""V1's: the group, then the number of the rollout in it, then that of the output in the rollout."""

_NUMBER: Final = re.compile(r"-?(?:(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|[1-9][0-9]{15}\.[0-9]+|inf)|nan")
"""A whole number of more than 15 digits may be an id, which a float would spoil; numpy before 2 wrote floats out up to 10 to the 16th."""
_TRUTH: Final = {"True": True, "False": False}


def recognise(head: Head) -> bool:
    """Whether a record has an input, an output and a score."""
    return head.has({"input", "output", "score", "step"})


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout on a line. Raises RowRefused when it has no step or no output."""
    need(record, "step", "output")
    fields = {key: _number(key, value) for key, value in record.items()}
    split = split_in(place.name)
    if "reward" in fields and same(fields["reward"], fields.get("score")):  # only validation says the score again
        del fields["reward"]
        split = "evaluation"
    found = {"split": split, "group_id": _group(record.get("uid"))}
    rollout = renamed(fields, {**_NAMES, "uid" if "uid" in fields else "request_id": "sample_id"}, found)
    return [rollout | given(**found)]


def note(head: Head) -> str:
    """That numbers may have been texts, where they are."""
    read = any(_number(key, value) is not value for record in head.records for key, value in record.items())
    return "Numbers that verl wrote as text are read as numbers." if read else ""


def _group(uid: Any) -> str | None:
    found = _UID.fullmatch(uid) if isinstance(uid, str) else None
    return found["group"] if found else None


def _number(key: str, value: Any) -> Any:
    """A number that was written as text, as the older trainer does with numpy's; anything else as it is."""
    if key in _TEXTS or not isinstance(value, str):
        return value
    return _TRUTH.get(value, float(value) if _NUMBER.fullmatch(value) else value)
