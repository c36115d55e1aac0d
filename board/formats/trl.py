"""TRL's completions of GRPO: `completions/completions_00025.parquet`, a file a step, with `log_completions=True`.

The reward functions stand in columns of their own, unweighted; the total that was optimised is not stored. An evaluation
replaces the file of its step, and nothing in it says so. No token arrays.
"""

from typing import Any, Final

from board.formats.contract import Head, Place
from board.formats.keys import need, parts_between, renamed, sum_note, total
from board.records import Record

NAME: Final = "TRL GRPO"
FAMILY: Final = "TRL"
ARRAYS: Final[frozenset[str]] = frozenset()

_NAMES: Final = {"step": "step", "prompt": "prompt", "completion": "response", "advantage": "advantage"}


def recognise(head: Head) -> bool:
    """Whether a record is a completion with its advantage."""
    return any(_NAMES.keys() <= record.keys() and not isinstance(record["completion"], list) for record in head.records)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout in a row. Raises RowRefused when it has no step or no completion."""
    need(record, "step", "completion")
    return [renamed(record, _NAMES, ["reward"]) | {"reward": total(_parts(record).values())}]


def note(head: Head) -> str:
    """That rewards are sums, and of what."""
    return sum_note(name for record in head.records for name in _parts(record))


def _parts(record: Record) -> dict[str, Any]:
    """What the reward functions gave: the floats between the completion and the advantage, the order being TRL's."""
    return parts_between(record, "completion", "advantage")
