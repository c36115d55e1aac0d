"""miles' trajectories: one conversation a line, as messages, of the samples that have theirs.

Knows these rows. The same samples, with tokens, are in miles' torch dumps (`slime`) and columns (`miles_columns`).
"""

from typing import Any, Final

from board.errors import RowRefused
from board.formats.chat import is_chat, parted, turns
from board.formats.common_fields import given, other_fields, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.row_reader import shown
from board.sources.json_record import Record

NAME: Final = "miles trajectories"
FAMILY: Final = "miles trajectories"

_NAMES: Final = {"group_index": "group_id", "sample_index": "sample_id", "reward": "reward"}


def recognise(head: Head) -> bool:
    """Whether every record is a numbered sample with its messages and status."""
    return head.all_have({"sample_index", "group_index", "status", "messages"})


def rollouts(record: Record, place: Place) -> list[Record]:
    """The conversation of a sample. Raises RowRefused when there is none."""
    messages: Any = record.get("messages")
    prompt: Any = record.get("prompt")
    if not is_chat(messages):
        raise RowRefused(f"`messages` is {shown(messages)}, not a list of messages with roles")
    continues = is_chat(prompt) and messages[: len(prompt)] == prompt
    question, answer = parted(messages, len(prompt)) if continues else turns(messages)
    named = given(**{ours: record.get(theirs) for theirs, ours in _NAMES.items()})
    others = other_fields(record, {"messages", "prompt", *_NAMES})
    return [{**others, **named, **step_and_split(place.name), "prompt": question, "response": answer}]


def note(head: Head) -> str:
    """Where the step is from."""
    return step_note(head.name)
