"""The history in a W&B run's transaction log as curves: which step a number belongs to, and what each entry is. Writes nothing.

A value is kept as JSON or as a typed field, its name as one key or as a path. A metric's step is W&B's count of rows (`_step`), or the
value of the metric that the trainer defined as its step, as the Hugging Face trainers do with train/global_step.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from board.errors import BoardError
from board.sources.flatten import SPECIAL
from board.trackers.contract import Curves, missing
from board.trackers.curves import Points
from board.trackers.leveldb_log import WANDB, records

if TYPE_CHECKING:
    from wandb.proto.wandb_internal_pb2 import HistoryItem, HistoryRecord, MetricRecord, Record

_BEGINNING: Final = 50
"""Records at a log's beginning among which the run's is; W&B writes it second."""

_ROW_STEP: Final = "_step"
_MEDIA: Final = object()
"""Stands for a table, an image or a histogram."""


class History:
    """The points of one run, gathered from its transaction logs in the order in which they are read."""

    def __init__(self, source: object) -> None:
        self._points = Points(source)
        self._axis_of: dict[str, str] = {}
        self._axis_of_names_from: dict[str, str] = {}
        self._reached: dict[str, int] = {}

    def read(self, log: Path, within: Path | None = None) -> None:
        """Add one log's history. Raises BoardError that names the file for one that is damaged, TrackerMissing without W&B."""
        for record in _messages(log, within):
            kind = record.WhichOneof("record_type")
            if kind == "metric":
                self._define(record.metric)
            elif kind == "history":
                self._add(record.history)

    def curves(self) -> Curves:
        """What was logged, by name."""
        return self._points.curves()

    def _define(self, metric: "MetricRecord") -> None:
        """Note which metric is the step of a name, or of the names that begin so; most runs define none."""
        if metric.step_metric and metric.name:
            self._axis_of[metric.name] = metric.step_metric
        elif metric.step_metric and metric.glob_name.endswith("*"):
            self._axis_of_names_from[metric.glob_name.removesuffix("*")] = metric.step_metric

    def _add(self, history: "HistoryRecord") -> None:
        """Add one row. A number whose own step is not in the row belongs to the step that was reached before."""
        row = _values(history)
        step = history.step.num if history.HasField("step") else _whole(row.get(_ROW_STEP)) or 0
        for axis in {*self._axis_of.values(), *self._axis_of_names_from.values()} & row.keys():
            self._reached[axis] = step if (own := _whole(row[axis])) is None else own
        for name, value in row.items():
            if not name.startswith("_"):
                self._points.note(name, self._reached.get(self._axis(name), step), value)

    def _axis(self, name: str) -> str:
        """The metric that is a metric's step, W&B's own where none was defined."""
        if name in self._axis_of:
            return self._axis_of[name]
        beginning = max((start for start in self._axis_of_names_from if name.startswith(start)), key=len, default="")
        return self._axis_of_names_from.get(beginning, _ROW_STEP)


def display_name(log: Path, within: Path | None = None) -> str:
    """What a run is called, from the beginning of its log; "" where that does not say. Raises as History.read does."""
    named = (record.run.display_name for record in itertools.islice(_messages(log, within), _BEGINNING) if record.HasField("run"))
    return next(named, "")


def _messages(log: Path, within: Path | None) -> "Iterator[Record]":
    """The records of a log as W&B's protobufs."""
    try:
        from google.protobuf.message import DecodeError
        from wandb.proto.wandb_internal_pb2 import Record
    except ImportError as error:
        raise missing("wandb", "W&B") from error
    for data in records(log, WANDB, within):
        try:
            yield Record.FromString(data)
        except DecodeError as error:
            raise BoardError(f"{log}: a record is none of W&B: {error}") from error


def _values(history: "HistoryRecord") -> dict[str, object]:
    """The values of a row by name. What has a `_type` beside it describes a table, an image or a histogram."""
    values = {tuple(item.nested_key) or (item.key,): item for item in history.item}
    media = {path[:-1] for path in values if path[-1] == "_type"}
    found = {"/".join(path): _MEDIA for path in media}
    single = ((path, _value(item)) for path, item in values.items() if not any(path[: len(thing)] == thing for thing in media))
    return found | {"/".join(path): value for path, value in single if value is not None}


def _value(item: "HistoryItem") -> object:
    """What an entry is: a number, a text, or anything else; None where it is nothing, or no JSON."""
    typed = item.WhichOneof("value")
    if typed in ("number", "integer", "boolean"):
        return float(getattr(item, typed))
    if typed == "text":
        return str(item.text)
    try:
        value = json.loads(item.value_json)
    except (ValueError, RecursionError):
        return None
    return SPECIAL.get(value, value) if isinstance(value, str) else _as_float(value)


def _as_float(value: object) -> object:
    """The number as float; what is none as it is, an integer that no float reaches as nothing."""
    try:
        return float(value) if isinstance(value, int | float) else value
    except OverflowError:
        return None


def _whole(value: object) -> int | None:
    """The value as an integer where it is one."""
    return int(value) if isinstance(value, float) and value.is_integer() else None
