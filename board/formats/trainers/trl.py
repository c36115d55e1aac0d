"""TRL's completions of GRPO and of distillation: `completions/completions_00025.parquet`, a file a step, with `log_completions=True`.

Prompt and completion are text, or messages where the data set is conversational. The reward functions stand in columns of their own,
unweighted; the total that was optimised is not stored, and distillation has none. An evaluation replaces the file of its step, and
nothing in it says so. No token arrays.
"""

import re
from typing import Any, Final

from board.formats.contract import Head, Place
from board.formats.renaming import left_out, need, parts_between, renamed, sum_note, total
from board.sources.json_record import Record

NAME: Final = "TRL GRPO"
FAMILY: Final = "TRL"

_NAMES: Final = {"completion": "response"}
_SAID: Final = {"step", "prompt", "completion"}
"""All that a row of distillation has."""

_FILE: Final = re.compile(r"(?:^|/)completions_[0-9]+\.parquet$")


def recognise(head: Head) -> bool:
    """Whether a record is a completion with its advantage; without one, by having nothing else and TRL's name for the file."""
    return any(
        record.keys() >= _SAID
        and not isinstance(record["step"], list)  # ms-swift's rows are whole steps
        and ("advantage" in record or (record.keys() == _SAID and _FILE.search(head.name) is not None))
        for record in head.records
    )


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout in a row. Raises RowRefused when it has no step or no completion."""
    need(record, "step", "completion")
    parts = _parts(record)
    return [renamed(record, _NAMES, ["reward"]) | left_out(parts) | {"reward": total(parts.values())}]


def note(head: Head) -> str:
    """That rewards are sums, and of what."""
    return sum_note(name for record in head.records for name in _parts(record))


def _parts(record: Record) -> dict[str, Any]:
    """What the reward functions gave: the floats between the completion and the advantage, the order being TRL's."""
    return parts_between(record, "completion", "advantage")
