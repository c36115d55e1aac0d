"""AReaL's rollout dump (`rollout.dump_to_file`): one file per prompt group, in a folder per weight version; text only.

Knows AReaL's keys.
"""

from typing import Final

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.filename_hints import split_in, step_in
from board.formats.renaming import need
from board.formats.validation import whole_or_none, without
from board.sources.json_record import Record

NAME: Final = "AReaL"
FAMILY: Final = "AReaL"

_KEYS: Final = {"task_id", "sample_idx", "completion", "tail_version"}


def recognise(head: Head) -> bool:
    """By the weight versions next to a completion."""
    return head.has(_KEYS)


def rollouts(record: Record, place: Place) -> list[Record]:
    """One sample of a group. Its step is the newest weight version that wrote a token of it, in the row or as the folder's name."""
    need(record, "completion")
    folder, _, _ = place.name.rpartition("/")  # the file's own name is the task
    step = whole_or_none(record, "tail_version")
    step = step_in(f"{folder}/") if step is None else step
    if step is None:
        raise RowRefused("has no `tail_version`, and no folder of its path is a step")
    return [
        {
            **without(record, "completion", "task_id", "sample_idx", "tail_version"),
            "step": step,
            "response": record["completion"],
            "group_id": record.get("task_id"),
            "sample_id": record.get("sample_idx"),
            "split": split_in(place.name),
        }
    ]


def note(head: Head) -> str:
    """Where a multi-turn response may seem to begin too late."""
    return "Prompt and completion are cut where the number of trained tokens says, which is not the true border in a response of several turns."
