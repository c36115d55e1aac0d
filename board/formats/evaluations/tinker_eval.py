"""tinker-cookbook's benchmark runs (`trajectories.jsonl`): a line per example, as turns of text.

Knows their keys.
"""

from typing import Final

from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.validation import checked_list, spoken, without
from board.sources.json_record import Record

NAME: Final = "tinker-cookbook evaluation"
FAMILY: Final = "tinker-cookbook"

_KEYS: Final = {"benchmark", "example_id", "turns"}
_NAMES: Final = {"benchmark": "data_source", "example_id": "group_id", "idx": "sample_id"}
"""Theirs → ours."""


def recognise(head: Head) -> bool:
    """By turns and the benchmark they are of."""
    return head.has(_KEYS)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The example's turns as prompt and response."""
    said = checked_list(record, "turns", dict)
    prompt, response = spoken(said, "turns")
    return [
        {
            **{_NAMES.get(key, key): value for key, value in without(record, "turns").items()},
            **step_and_split(place.name, split="evaluation"),
            "prompt_id": record.get("example_id"),
            "prompt": prompt,
            "response": response,
        }
    ]


def note(head: Head) -> str:
    """That a benchmark has no step of its own."""
    return step_note(head.name)
