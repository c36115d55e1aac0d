"""trackio's traces, and the tables of completions that TRL logs to it, out of a project's database.

A trace is a list of messages with what its trainer says of it: TRL's async GRPO logs a few rollouts of some steps so, with reward, parts,
advantage and group. A row of a table is what TRL's own file has (`board.formats.trainers.trl`); TRL's RLOO keeps its rollouts nowhere else.
"""

from typing import Any, Final

from board.formats.common_fields import given, other_fields
from board.formats.contract import Head, Place
from board.formats.renaming import left_out, need
from board.formats.trainers import trl
from board.formats.validation import nested, objects, spoken
from board.sources.flatten import SPECIAL
from board.sources.json_record import Record
from board.sources.trackio_rollouts import TABLE, TRACE

NAME: Final = "trackio"
FAMILY: Final = "trackio"

_METADATA: Final = {
    "reward": "reward",
    "advantage": "advantage",
    "group_id": "group_id",
    "ground_truth": "ground_truth",
    "data_source": "data_source",
    "prompt_tokens": "prompt_length",
}
"""What trainers say of a trace that has a name here."""

_NUMBERS: Final = {"reward", "advantage", "reward_std"}
_PART: Final = "rewards/"

_TEXTS: Final = {"step", "prompt", "completion"}
"""Columns of a table whose words are the model's, whatever they spell."""


def recognise(head: Head) -> bool:
    """Whether a record is a trace or a table of trackio's."""
    return any(_is_trace(record) or _is_table(record) for record in head.records)


def _is_trace(record: Record) -> bool:
    return record.get("_type") == TRACE and isinstance(record.get("messages"), list)


def _is_table(record: Record) -> bool:
    rows = record.get("rows")
    return record.get("_type") == TABLE and isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout that a trace is, or those of a table. Raises RowRefused where there are no messages, or no row is an object."""
    if record.get("_type") == TRACE:
        return [_trace(record)]
    return [one for row in _rows(record) for one in trl.rollouts(row, place)]


def note(head: Head) -> str:
    """That traces are what was chosen, and where they are cut; that rewards of tables are sums, and what tables do not tell."""
    tables = [record for record in head.records if _is_table(record)]
    first = tuple(row for record in tables for row in _rows(record)[:8])
    said = [trl.note(Head(head.name, first)) if first else ""]
    said += ["A table of trackio does not tell an evaluation's completions from those of training."] if tables else []
    chosen = (
        "Traces are those that the trainer chose to log, which may be a few of a step; the response begins at the first message of "
        "the assistant."
    )
    said += [chosen] if any(map(_is_trace, head.records)) else []
    return " ".join(filter(None, said))


def _trace(record: Record) -> Record:
    need(record, "step")
    messages = objects(record, "messages")
    prompt, response = spoken(messages, "messages")
    metadata = {key: _number(value) if _is_number(key) else value for key, value in nested(record, "metadata").items()}
    parts = {f"reward.{key.removeprefix(_PART)}": value for key, value in metadata.items() if key.startswith(_PART)}
    placed = {*_METADATA, *(key for key in metadata if key.startswith(_PART))}
    own = {ours: metadata[key] for key, ours in _METADATA.items() if metadata.get(key) is not None}
    said = {**other_fields(metadata, placed), **parts, **left_out(parts), **own}
    trace = given(trace=record.get("key"), spans=record.get("spans") or None)
    return {**said, **trace, "step": record["step"], "prompt": prompt, "response": response}


def _is_number(key: str) -> bool:
    return key in _NUMBERS or key.startswith(_PART)


def _number(value: Any) -> Any:
    """A number that JSON has none for, which trackio writes as a word."""
    return SPECIAL.get(value, value) if isinstance(value, str) else value


def _rows(record: Record) -> list[Record]:
    """The rows of a table, with the step that it was logged at where they have none of their own."""
    rows = objects(record, "rows")
    numeric = {key for row in rows for key in row if key not in _TEXTS and all(_is_float(one.get(key)) for one in rows)}
    logged = given(step=record.get("step"))
    return [logged | {key: _number(value) if key in numeric else value for key, value in row.items()} for row in rows]


def _is_float(value: Any) -> bool:
    return value is None or isinstance(value, float) or (isinstance(value, str) and value in SPECIAL)
