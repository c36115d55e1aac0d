"""What was pushed where: one small file per run, tracker, target and names in the user's state folder, never in the run's.

The file is replaced at once and never half written. Knows steps and texts; knows no run, no metric and no tracker.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final
from uuid import uuid4

import orjson

from board.errors import BoardError

VERSION: Final = 1

NO_STEP: Final = -1
"""What a writer says where the run is there, and holds no step."""


@dataclass
class State:
    """What is known of one run in one place."""

    what: dict[str, str]
    """Run, tracker, target and names, for whoever reads the file."""
    run_id: str = field(default_factory=lambda: uuid4().hex[:12])
    """By which a tracker that can go on with a run knows it."""
    name: str = ""
    """What the run is called in the tracker; empty until it is there."""
    last: int | None = None
    """The last step that was pushed: pushing goes forward only, as some trackers refuse to go back."""
    going: int | None = None
    """The step that is being handed over: whether it arrived is not known to this file."""
    findings: list[str] = field(default_factory=list)
    """Texts of the findings that were handed over."""
    version: int = VERSION


class StateFile:
    """The state of one run in one place, held by one process at a time."""

    def __init__(self, path: Path, state: State) -> None:
        self.path = path
        self.state = state

    def save(self) -> None:
        """Replace the file. Raises BoardError when the disk refuses: what is not noted would be pushed again."""
        passing = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            passing.write_bytes(orjson.dumps(asdict(self.state)))
            passing.replace(self.path)
        except OSError as error:
            raise BoardError(f"What was pushed cannot be noted in {self.path}: {error.strerror}.") from error

    def begin(self, step: int) -> None:
        """Note that a step is about to be handed over."""
        self.state.going = step
        self.save()

    def end(self) -> None:
        """Note that it was; in the file with the next `begin` or `save`."""
        self.state.last, self.state.going = self.state.going, None

    def settle(self, last_step: int | None, *, tells: bool) -> int | None:
        """Make the state agree with a tracker that holds steps up to `last_step`, which is as a writer says it.

        `tells` is False for a tracker that may hold a run and not know of it, for which None does not mean that there is none.
        A step it does not hold was not pushed, whatever the file says. Returns the step an earlier process was stopped in, if nobody can
        say whether it arrived: it counts as pushed, as no step may be pushed twice.
        """
        state, interrupted = self.state, self.state.going
        state.going = None
        if last_step == NO_STEP or (tells and last_step is None):
            state.last = None
            return None
        state.last = state.last if interrupted is None else interrupted
        if last_step is None or state.last is None:
            return interrupted
        state.last = min(state.last, last_step)
        return None


@contextmanager
def state_of(what: Mapping[str, str], *, again: bool) -> Iterator[StateFile]:
    """The state of one run in one place, kept from other processes meanwhile; a new one if there is none, or with `again`.

    Raises BoardError when it is damaged or cannot be written, or when another process pushes the same there.
    """
    digest = blake2b(orjson.dumps(what, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()
    path = state_root() / "push" / f"{digest}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("a")
    except OSError as error:
        raise BoardError(f"What was pushed cannot be noted in {path.parent}: {error.strerror}.") from error
    with lock:
        _lock(lock.fileno(), what)
        new = again or not path.exists()
        yield StateFile(path, State(dict(what)) if new else _read(path))


def _read(path: Path) -> State:
    try:
        found = orjson.loads(path.read_bytes())
        state = State(**found)
    except (OSError, ValueError, TypeError) as error:
        raise _damaged(path) from error
    sound = isinstance(state.what, dict) and isinstance(state.run_id, str) and isinstance(state.name, str)
    whole = isinstance(state.last, int | None) and isinstance(state.going, int | None)
    if not (sound and whole and isinstance(state.findings, list) and state.version == VERSION):
        raise _damaged(path)
    return state


def _damaged(path: Path) -> BoardError:
    return BoardError(f"What was pushed before cannot be read from {path}: --again pushes all steps anew.")


def _lock(descriptor: int, what: Mapping[str, str]) -> None:
    """Take the lock, which a killed process gives back; where the system has none (Windows), two processes are not told apart."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BoardError(f"Another process is pushing {what.get('run', 'this run')} to the same place.") from error


def state_root() -> Path:
    """RL_BOARD_STATE, else the user's state folder."""
    given = os.environ.get("RL_BOARD_STATE")
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(given) if given else base / "rl-logging-board"
