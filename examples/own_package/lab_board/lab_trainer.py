"""Our trainer's rollouts: a line of JSON each, with the keys `iteration`, `question`, `answer`, `score` and `group`."""

from typing import Any

from board.formats.contract import Head, Place

NAME = "lab trainer"
FAMILY = "lab"

_NAMES = {"iteration": "step", "question": "prompt", "answer": "response", "score": "reward", "group": "group_id"}
"""Our keys and what the board calls them (`board/schema.py`)."""


def recognise(head: Head) -> bool:
    """By all keys of a rollout: a format must not take the files of another."""
    return head.all_have(_NAMES.keys())


def rollouts(record: dict[str, Any], place: Place) -> list[dict[str, Any]]:
    """One rollout a record. Keys that have no name here keep theirs."""
    return [{_NAMES.get(key, key): value for key, value in record.items()}]


def note(head: Head) -> str:
    """Nothing that a reader must know of these numbers."""
    return ""
