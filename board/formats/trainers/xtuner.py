"""XTuner's rollouts of RL training: a record of statistics, then one per rollout; one line each, or (older) indented over many.

Knows XTuner's keys, of today and of before 2026-06.
"""

from typing import Final

from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.renaming import need
from board.formats.validation import without
from board.sources.json_record import Record

NAME: Final = "XTuner"
FAMILY: Final = "XTuner"

_SUMMARY: Final = {"reward_mean", "response_len_mean", "total_len"}
_SHAPES: Final[tuple[set[str], ...]] = (
    {"rollout_id", "group_id", "response", "reward_payload"},
    {"action_id", "response", "response_len", "label"},
    _SUMMARY,
)
"""Keys by which today's rollout, the older one, and the statistics before them are known."""


def recognise(head: Head) -> bool:
    """By one record of any of its shapes: a file that just begins has the statistics alone."""
    return head.has(*_SHAPES)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout in a record; none in the statistics."""
    if record.keys() >= _SUMMARY:
        return []
    need(record, "response")
    sample = "rollout_id" if "rollout_id" in record else "action_id"
    return [
        {
            **without(record, "label", "reward_payload", sample),
            **_parts(record),
            **step_and_split(place.name),
            "ground_truth": record.get("label"),
            "sample_id": record.get(sample),
        }
    ]


def _parts(record: Record) -> Record:
    """What the reward is made of; anything but an object stays as it is."""
    payload = record.get("reward_payload")
    if not isinstance(payload, dict):
        return {"reward_payload": payload}
    return {f"reward.{name}": value for name, value in payload.items()}


def note(head: Head) -> str:
    """That steps are missing, when the file's name has lost its number."""
    return step_note(head.name)
