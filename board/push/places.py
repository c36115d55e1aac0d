"""Where a run is pushed to, and how far it has come there: options of the command line → arguments of a tracker's writer.

The last step that a place has stands in one small file per run, tracker, target and names in the user's state folder, never in the run's; it is
replaced at once and never half written.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import orjson
from filelock import FileLock, Timeout

from board import atomic_write, trackers
from board.errors import BoardError
from board.settings import user_folders
from board.trackers.contract import TrackerWriter

LOG_DIR: Final = "board_metrics"
"""TensorBoard's folder unless another is given."""

_BY_ID: Final = ("wandb", "swanlab", "mlflow")
"""Trackers that know a run by an id, so that two may have the same name; the others need to know whether to begin a run or to go on with it."""

_NO_PLACE: Final = ("mode", "tags", "notes")
"""Options that make no other place of it."""


@dataclass(frozen=True)
class Target:
    """A place in a tracker."""

    tracker: str
    options: Mapping[str, Any]
    """For its writer."""
    where: str
    """Tells the place from others of the tracker."""

    def opened(self, name: str, run_id: str, *, begins: bool) -> TrackerWriter:
        """A run that `begins` there, under another name where that one is taken, or goes on. Raises whatever its library raises."""
        known: dict[str, Any] = {"run_id": run_id} if self.tracker in _BY_ID else {}
        if self.tracker in ("tensorboard", "trackio"):
            known["resume"] = "never" if begins else "allow"
        return trackers.tracker(self.tracker).open_writer(name, **self.options, **known)


def target(tracker: str, chosen: Mapping[str, Any]) -> Target:
    """The place that the options name: `chosen` are log_dir, project, mode, tags, notes and format, each None where it is not.

    Raises BoardError for something that the tracker does not take.
    """
    takes = trackers.OPTIONS[tracker]
    given = {option: value for option, value in chosen.items() if value is not None}
    if odd := [option for option in given if option not in takes]:
        taken = ", ".join(f"--{option.replace('_', '-')}" for option in takes)
        raise BoardError(f"{tracker} takes no --{odd[0].replace('_', '-')}, only {taken}.")
    if "log_dir" in takes and (tracker == "tensorboard" or "log_dir" in given):
        given["log_dir"] = str(Path(given.get("log_dir", LOG_DIR)).expanduser().resolve())
    if tracker == "stdout":
        given.setdefault("format", "table")
    where = " ".join(f"{option}={value}" for option, value in sorted(given.items()) if option not in _NO_PLACE)
    options: dict[str, Any] = {takes[option]: value for option, value in given.items()}
    return Target(tracker, options, where)


@dataclass
class State:
    """What is known of one run in one place."""

    what: Mapping[str, str]
    """Run, tracker, target and names, for a human reader of the file."""
    path: Path | None = None
    """The file of this state; None for a state that is gone with the process."""
    run_id: str = field(default_factory=lambda: uuid4().hex[:12])
    """By which a tracker that can go on with a run knows it."""
    name: str = ""
    """What the run is called in the tracker; empty until it is there."""
    last: int | None = None
    """The last step that it has: pushing goes forward only, as some trackers refuse to go back."""
    told: dict[str, int] = field(default_factory=dict)
    """Kinds of findings that were reported to it, and the last step that the run had then."""

    def save(self) -> None:
        """Replace the file. Raises BoardError when the disk refuses."""
        if self.path is None:
            return
        try:
            atomic_write.write(self.path, orjson.dumps(vars(self) | {"path": None}))
        except OSError as error:
            raise _unwritable(self.path, error) from error


@contextmanager
def state_of(what: Mapping[str, str], *, again: bool, stored: bool = True) -> Iterator[State]:
    """The state of one run in one place, locked for other processes meanwhile; a new one if there is none, or with `again`.

    One that is not `stored` is new each time. Raises BoardError when it is damaged or cannot be written, or when another process pushes the
    same there.
    """
    if not stored:
        yield State(what)
        return
    digest = blake2b(orjson.dumps(what, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()
    path = user_folders.state() / "push" / f"{digest}.json"
    lock = FileLock(path.with_suffix(".lock"), blocking=False)  # given back when its process ends, however it ends
    try:
        user_folders.make_private(path.parent, user_folders.state())
        lock.acquire()
    except Timeout as error:
        raise BoardError(f"Another process is pushing {what.get('run', 'this run')} to the same place.") from error
    except OSError as error:
        raise _unwritable(path.parent, error) from error
    try:
        yield State(what, path) if again or not path.exists() else _read(what, path)
    finally:
        lock.release()


def _read(what: Mapping[str, str], path: Path) -> State:
    try:
        found = orjson.loads(path.read_bytes())
        last = None if found["last"] is None else int(found["last"])
        return State(what, path, str(found["run_id"]), str(found["name"]), last, dict(found["told"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BoardError(f"What was pushed before cannot be read from {path}: --again pushes all steps anew.") from error


def _unwritable(path: Path, error: OSError) -> BoardError:
    return BoardError(f"What was pushed cannot be noted in {path}: {error.strerror}.")
