"""tinker-cookbook's rollout summaries (`rollout_json_export`): rewards and sizes of every trajectory, and no text.

Knows their keys.
"""

from typing import Any, Final

from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.row_reader import as_number
from board.formats.validation import checked_list, split_at, without
from board.sources.json_record import Record, as_text

NAME: Final = "tinker-cookbook summaries"
FAMILY: Final = "tinker-cookbook"

_KEYS: Final = {"iteration", "group_idx", "traj_idx", "total_reward", "steps"}
_NAMES: Final = {
    "group_idx": "group_id",
    "traj_idx": "sample_id",
    "total_reward": "reward",
    "trajectory_metrics": "metrics",
}
"""Theirs → ours."""


def recognise(head: Head) -> bool:
    """By a trajectory's total reward and its steps."""
    return head.has(_KEYS)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The trajectory. What it said was not saved: its steps, as they were logged, stand for the response."""
    steps = checked_list(record, "steps", dict)
    tags = record.get("tags")
    return [
        {
            **{_NAMES.get(key, key): value for key, value in without(record, "iteration", "steps", "split", "tags").items()},
            **step_and_split(place.name, record.get("iteration"), split_at(place, record.get("split"))),
            "data_source": ", ".join(map(as_text, tags)) if isinstance(tags, list) and tags else tags or None,
            "response": "\n".join(map(as_text, steps)),
            "num_steps": len(steps),
            "ac_len": _total(steps, "ac_len"),
        }
    ]


def _total(steps: list[Record], key: str) -> Any:
    """The sum over all steps; None when one of them does not say."""
    numbers = [as_number(step.get(key)) for step in steps]
    return None if None in numbers else sum(number for number in numbers if number is not None)


def note(head: Head) -> str:
    """That there is no text."""
    return "These files hold no text: what stands as the response is the log of its steps, and `ac_len` counts its tokens."
