"""Rows of the viewer diatkinson/rollout_viz: tokens, and lists of numbers about them under any name.

Knows its keys.
"""

from typing import Final

from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.renaming import need
from board.formats.validation import checked_list, nested, without
from board.schema import BY_NAME, NATIVE
from board.sources.json_record import Record

NAME: Final = "rollout_viz"
FAMILY: Final = "rollout_viz"

_OURS: Final = {column.label: column.name for column in NATIVE if column.kind == "token_metric" and column.label} | {
    "reward": "token_rewards"
}
"""A metric's singular name → ours."""


def recognise(head: Head) -> bool:
    """By tokens as text and an object of metrics."""
    return any(isinstance(one.get("metrics"), dict) and _are_texts(one.get("tokens")) for one in head.records)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The row's tokens, each metric under our name for it or its own."""
    tokens = checked_list(record, "tokens", str)
    need(record, "metrics")
    metrics = nested(record, "metrics")
    columns = {name: checked_list(metrics, name, object, len(tokens)) for name in metrics}
    return [
        {
            **step_and_split(place.name),
            **without(record, "tokens", "metrics"),
            **{_name(name, record, columns): values for name, values in columns.items()},
            "response_tokens": tokens,
        }
    ]


def _name(name: str, record: Record, metrics: Record) -> str:
    """What a metric is called here: as ours, unless the row has both; with a suffix where its own name means something else."""
    ours = _OURS.get(name)
    if ours and ours not in metrics and ours not in record:
        return ours
    column = BY_NAME.get(name)
    clashes = ours or name in record or (column and column.kind != "token_metric")
    return f"metrics.{name}" if clashes else name


def note(head: Head) -> str:
    """That prompt and response are not separated, and that steps are missing."""
    return f"These rows do not say where the prompt ends: all tokens count as the response. {step_note(head.name)}"
