"""ms-swift's `completions.jsonl` of GRPO: a line a step whose values are columns; with Ray, a line a rollout.

The reward functions stand in columns of their own; the total is stored with Ray alone. No token arrays.
"""

from typing import Any, Final

from board.formats.contract import Head, Place
from board.formats.renaming import left_out, need, parts_between, renamed, rows, sum_note, total
from board.sources.json_record import Record

NAME: Final = "ms-swift"
FAMILY: Final = "ms-swift"

_NAMES: Final = {
    "completion": "response",
    "advantages": "advantage",
    "solution": "ground_truth",
}


def recognise(head: Head) -> bool:
    """Whether a record is a step of completions in columns, or a completion with the step that generated it."""
    return any(
        "completion" in record and ("gen_step" in record or (_is_columns(record) and isinstance(record.get("step"), list)))
        for record in head.records
    )


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollouts on a line. Raises RowRefused when it has no step or no completions, or columns that do not fit together."""
    step = "step" if "step" in record else "gen_step"
    need(record, step, "completion")
    names = {**_NAMES, step: "step", **({"messages": "prompt"} if "prompt" not in record else {})}
    return [_rollout(row, names) for row in (rows(record, "completion") if _is_columns(record) else [record])]


def note(head: Head) -> str:
    """That rewards are sums, and of what."""
    return sum_note(name for record in head.records if _is_columns(record) for name in _summed(_sample(record)))


def _is_columns(record: Record) -> bool:
    return isinstance(record.get("completion"), list)


def _sample(columns: Record) -> Record:
    """Of each column a float if it holds one, else its first value."""
    lists = {name: column for name, column in columns.items() if isinstance(column, list) and column}
    return {name: next((value for value in column if isinstance(value, float)), column[0]) for name, column in lists.items()}


def _rollout(row: Record, names: dict[str, str]) -> Record:
    parts = _summed(row)
    if not parts:
        return renamed(row, names)
    return renamed(row, names, ["reward"]) | left_out(parts) | {"reward": total(parts.values())}


def _summed(row: Record) -> dict[str, Any]:
    """What the reward functions gave, which ms-swift puts between the completion and the advantages; nothing where the total stands there."""
    parts = parts_between(row, "completion", "advantages")
    return {} if parts.keys() <= {"reward"} else parts
