"""tau-bench's trajectories: a list of attempts at tasks, each with its conversation, its reward and what is known of it.

Attempts that ended in an error are written with reward 0 and no conversation. Knows these keys.
"""

from typing import Any, Final

from board.formats.common_fields import beside, given, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.json_paths import found
from board.formats.validation import nested, spoken
from board.schema import EVALUATION
from board.sources.json_record import Record

NAME: Final = "tau-bench"
FAMILY: Final = NAME
ARRAYS: Final[frozenset[str]] = frozenset()

_KEYS: Final = frozenset({"task_id", "trial", "reward", "traj"})
_PATHS: Final = {
    "error": "error",
    "instruction": "task.instruction",
    "ground_truth": "task.actions",
    "user_cost": "user_cost",
    "reward.actions": "reward_info.info.r_actions",
    "reward.outputs": "reward_info.info.r_outputs",
}
"""What `info` tells, under our names."""


def recognise(head: Head) -> bool:
    """Whether every record is an attempt at a task."""
    return all(record.keys() >= _KEYS for record in head.records)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The attempt. Raises RowRefused when its conversation is none."""
    info, task, said = nested(record, "info"), record.get("task_id"), record.get("traj")
    prompt, response = ("", "") if said == [] else spoken(said, "traj")
    return [
        {
            **beside(record, _KEYS),
            **step_and_split(place.name, split=EVALUATION),
            **given(group_id=task, prompt_id=task, sample_id=record.get("trial"), reward=record.get("reward")),
            **given(**{name: _known(info, path) for name, path in _PATHS.items()}),
            "prompt": prompt or _known(info, "task.instruction") or "",
            "response": response,
        }
    ]


def note(head: Head) -> str:
    """What is in the mean that is no success or failure of the model."""
    return f"An attempt that ended in an error is written with reward 0 and counts in the mean; `error` says which. {step_note(head.name)}"


def _known(info: Record, path: str) -> Any:
    value = found(info, path)
    return value if value not in ({}, []) else None
