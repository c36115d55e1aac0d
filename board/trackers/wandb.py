"""W&B: offline and local runs read from their transaction logs, runs written with its own library, online or offline.

WANDB_MODE, WANDB_PROJECT, WANDB_ENTITY and the rest of W&B's environment count as ever. Runs are begun next to whatever run the trainer has
open, print nothing on standard output, ask nothing, and log neither the machine nor its code.

In a log a value is stored as JSON or as a typed field, its name as one key or as a path. A metric's step is W&B's count of rows (`_step`), or
the value of the metric that the trainer defined as its step, as the Hugging Face trainers do with train/global_step.
"""

import itertools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from board.errors import BoardError
from board.sources.flatten import number
from board.sources.nearby_files import checked_writable
from board.trackers.contract import Curves, Example, Points, TrackerWriter, library, plain, table
from board.trackers.transaction_logs import LogKind

LOGS: Final = LogKind("W&B", ".wandb", (b":W&B", 0xBEE1, 0), "wandb.proto.wandb_internal_pb2", ("run", "display_name"))

TITLE_LETTERS: Final = 63
"""W&B refuses longer titles of alerts."""

ALERT_SECONDS: Final = 0.001
"""Between two alerts of one title; W&B would leave out what comes within a minute, and for 0 too."""

_SETTINGS: Final[dict[str, Any]] = {
    "silent": True,
    "console": "off",  # standard output stays the caller's
    "reinit": "create_new",  # the trainer may have a run of its own
    "disable_git": True,
    "disable_code": True,
    "save_code": False,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
    "x_transaction_log_flush_interval": 1.0,  # seconds of work that a kill may cost
    "init_timeout": 60.0,
    "finish_timeout": 60.0,  # what is not uploaded by then stays on disk for `wandb sync`
    "finish_timeout_raises": True,
}

_ROW_STEP: Final = "_step"
_MEDIA: Final = object()
"""Stands for a table, an image or a histogram."""

find, runs = LOGS.find, LOGS.runs


def read(path: Path, within: Path | None = None) -> Curves:
    """The values of a run's history by name, nested ones joined by "/", given its transaction log or the folder that has it.

    Steps are W&B's own, or those of the metric that the trainer defined as a metric's step. What the run logged before it was gone on with
    is read too. Raises BoardError that names the file for one that is damaged, and where there is none; TrackerMissing without W&B.
    """
    logs = LOGS.parts(path)
    history = _History(Points(logs[-1]))
    for record in itertools.chain.from_iterable(LOGS.messages(log, within) for log in logs):
        history.add(record)
    return history.points.curves()


class _History:
    """The points of one run, gathered from the records of its logs in their order."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self._axes: dict[tuple[str, bool], str] = {}
        """By name, and by the beginning of names, whether it is a whole one."""
        self._reached: dict[str, int] = {}

    def add(self, record: Any) -> None:
        """Add a record of any kind: a row of the history, or which metric is the step of a name, or of the names that begin so."""
        kind = record.WhichOneof("record_type")
        if kind == "history":
            self._add_row(record.history)
        elif kind == "metric" and record.metric.step_metric:
            name, beginning = record.metric.name, record.metric.glob_name
            if name or beginning.endswith("*"):
                self._axes[name or beginning[:-1], bool(name)] = record.metric.step_metric

    def _add_row(self, history: Any) -> None:
        """A number whose own step is not in the row belongs to the step that was reached before."""
        row = _values(history)
        step = history.step.num if history.HasField("step") else _whole(row.get(_ROW_STEP)) or 0
        for axis in set(self._axes.values()) & row.keys():
            self._reached[axis] = step if (own := _whole(row[axis])) is None else own
        for name, value in row.items():
            if not name.startswith("_"):
                self.points.add(name, self._reached.get(self._axis(name), step), value)

    def _axis(self, name: str) -> str:
        """The metric that is a metric's step, W&B's own where none was defined."""
        if (name, True) in self._axes:
            return self._axes[name, True]
        beginnings = (start for start, is_whole in self._axes if not is_whole and name.startswith(start))
        return self._axes.get((max(beginnings, key=len, default=""), False), _ROW_STEP)


def _values(history: Any) -> dict[str, object]:
    """The values of a row by name. What has a `_type` next to it describes a table, an image or a histogram."""
    values = {tuple(item.nested_key) or (item.key,): item for item in history.item}
    media = {path[:-1] for path in values if path[-1] == "_type"}
    found = {"/".join(path): _MEDIA for path in media}
    single = {path: item for path, item in values.items() if not any(path[: len(thing)] == thing for thing in media)}
    return found | {"/".join(path): _value(item) for path, item in single.items()}


def _value(item: Any) -> object:
    """What an entry is: a number, a text, or anything else; None where it is nothing, no JSON, or an integer that no float reaches."""
    typed = item.WhichOneof("value")
    if typed in ("number", "integer", "boolean"):
        return float(getattr(item, typed))
    if typed == "text":
        return str(item.text)
    try:
        return number(json.loads(item.value_json))
    except (ValueError, RecursionError):
        return None


def _whole(value: object) -> int | None:
    """The value as an integer where it is one."""
    return int(value) if isinstance(value, float) and value.is_integer() else None


def open_writer(
    run: str,
    *,
    api_key: str | None = None,
    dir: str | Path | None = None,
    mode: Literal["online", "offline", "disabled"] | None = None,
    run_id: str | None = None,
    **options: Any,
) -> "WandbWriter":
    """Begin a run that is called `run`; with `run_id`, which the caller keeps, go on with it where there is one.

    `options` are further ones of `wandb.init`, and count before these: name, project, entity, notes, tags. What is not given is what W&B's
    environment says, and then what W&B does by itself. With `mode="offline"` nothing is sent anywhere. Raises TrackerMissing without W&B,
    BoardError without a key where one is needed and for a folder that cannot be written to, and what W&B raises.
    """
    offline = (mode or os.environ.get("WANDB_MODE")) in ("offline", "disabled", "dryrun")
    _check_folder(mode, dir)
    if mode == "offline":
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    wandb = library("wandb", LOGS.tracker)
    if not offline and api_key is None and not wandb.login(prompt=False, verify=False):
        raise BoardError("W&B has no key: give api_key, set WANDB_API_KEY, run `wandb login`, or use mode offline.")
    place = {"name": plain(run), "dir": dir, "mode": mode, "id": run_id, "resume": "allow" if run_id else None}
    given = {key: value for key, value in options.items() if value is not None}
    return WandbWriter(wandb.init(**{**place, "settings": wandb.Settings(**_SETTINGS, api_key=api_key), **given}))


def _check_folder(mode: str | None, folder: str | Path | None) -> None:
    """Refuse a given folder, or WANDB_DIR, that cannot be written to: W&B itself would take a temporary one, and say nothing."""
    given = folder or os.environ.get("WANDB_DIR")
    if given and (mode or os.environ.get("WANDB_MODE")) != "disabled":
        hidden = Path(given).expanduser() / ".wandb"
        checked_writable(hidden if hidden.exists() else hidden.with_name("wandb"))


class WandbWriter(TrackerWriter):
    """An open run of W&B. It passes over steps that are not in rising order; a step's numbers and examples become one row with the next step."""

    def __init__(self, run: Any) -> None:
        folder = Path(run.dir).parent
        self.name, self.place = run.name, str(folder if run.offline or run.disabled else run.url)
        self._run = run

    def alert(self, title: str, text: str, *, error: bool) -> None:
        """One of W&B's alerts, which goes where the reader's settings there say; a title that W&B would refuse is cut."""
        level = "ERROR" if error else "WARN"
        self._run.alert(title=plain(title)[:TITLE_LETTERS], text=plain(text), level=level, wait_duration=ALERT_SECONDS)

    def close(self) -> None:
        """Write what is pending and end the run; W&B's own process writes the last of it until this one ends."""
        self._run.finish(exit_code=0)

    def _log(self, step: int, values: Mapping[str, Any]) -> None:
        self._run.log(values, step=step)

    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None:
        self._log(step, {name: library("wandb", LOGS.tracker).Table(**table(rows))})
