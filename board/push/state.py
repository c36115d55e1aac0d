"""What was pushed where: one small file per run, tracker, target and names in the user's state folder, never in the run's.

The file is replaced at once and never half written. Knows steps and texts; knows no run, no metric and no tracker.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final
from uuid import uuid4

import orjson
from filelock import FileLock, Timeout

from board.errors import BoardError
from board.system import atomic_write
from board.user_files import private_folders, user_folders

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
    """The last step that the tracker has: pushing goes forward only, as some trackers refuse to go back."""
    going: int | None = None
    """The last step that is being or was handed over since: whether it arrived is not known to this file until the tracker has ended its run
    or is asked."""
    findings: list[str] = field(default_factory=list)
    """Names of the findings that arrived."""
    telling: dict[str, int] = field(default_factory=dict)
    """Names of those that were handed over since, and with which step."""
    version: int = VERSION

    def arrived(self, last: int | None) -> None:
        """The tracker has the steps up to `last`, and what was told with them; nothing else is on its way."""
        self.findings += [text for text, step in self.telling.items() if last is not None and step <= last]
        self.last, self.going, self.telling = last, None, {}


class StateFile:
    """The state of one run in one place, held by one process at a time."""

    def __init__(self, path: Path, state: State) -> None:
        self.path = path
        self.state = state
        self.handed: int | None = state.last
        """The last step that this process handed over, or an earlier one whose steps arrived."""

    def save(self) -> None:
        """Replace the file. Raises BoardError when the disk refuses: what is not noted would be pushed again."""
        try:
            atomic_write.write(self.path, orjson.dumps(asdict(self.state)))
        except OSError as error:
            raise BoardError(f"What was pushed cannot be noted in {self.path}: {error.strerror}.") from error

    def begin(self, step: int, findings: Iterable[str] = ()) -> None:
        """Note that a step is about to be handed over, and the findings that go with it."""
        self.state.going = step
        self.state.telling |= dict.fromkeys(findings, step)
        self.save()

    def end(self) -> None:
        """Note, for this process, that it was handed over without an error."""
        self.handed = self.state.going

    def confirm(self) -> None:
        """Note that all that was handed over has arrived: the tracker has ended its run, or has said that the rest was not taken."""
        self.state.arrived(self.handed)
        self.save()

    def settle(self, last_step: int | None, *, tells: bool) -> int | None:
        """Make the state agree with a tracker that holds steps up to `last_step`, which is as a writer says it.

        `tells` is False for a tracker that may hold a run and not know of it, for which None does not mean that there is none.
        A step it does not hold was not pushed, whatever the file says. Returns the step an earlier process was stopped in, if nobody can
        say whether it arrived: it counts as pushed, as no step may be pushed twice.
        """
        interrupted = self.state.going
        reached = self.state.last if interrupted is None else interrupted
        if last_step == NO_STEP or (tells and last_step is None):
            reached = interrupted = None
        elif last_step is not None and reached is not None:
            reached, interrupted = min(reached, last_step), None
        self.state.arrived(reached)
        self.handed = reached
        return interrupted


class Forgotten(StateFile):
    """A state that is gone with the process."""

    def __init__(self, what: Mapping[str, str]) -> None:
        super().__init__(Path(os.devnull), State(dict(what)))

    def save(self) -> None:
        """Nothing is kept."""


@contextmanager
def state_of(what: Mapping[str, str], *, again: bool, kept: bool = True) -> Iterator[StateFile]:
    """The state of one run in one place, kept from other processes meanwhile; a new one if there is none, or with `again`.

    One that is not `kept` is new each time. Raises BoardError when it is damaged or cannot be written, or when another process pushes the
    same there.
    """
    if not kept:
        yield Forgotten(what)
        return
    digest = blake2b(orjson.dumps(what, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()
    path = user_folders.state() / "push" / f"{digest}.json"
    lock = FileLock(path.with_suffix(".lock"), blocking=False)  # given back when its process ends, however it ends
    try:
        private_folders.made(path.parent, user_folders.state())
        lock.acquire()
    except Timeout as error:
        raise BoardError(f"Another process is pushing {what.get('run', 'this run')} to the same place.") from error
    except OSError as error:
        raise BoardError(f"What was pushed cannot be noted in {path.parent}: {error.strerror}.") from error
    try:
        new = again or not path.exists()
        yield StateFile(path, State(dict(what)) if new else _read(path))
    finally:
        lock.release()


def _read(path: Path) -> State:
    try:
        found = orjson.loads(path.read_bytes())
        state = State(**found)
    except (OSError, ValueError, TypeError) as error:
        raise _damaged(path) from error
    sound = isinstance(state.what, dict) and isinstance(state.run_id, str) and isinstance(state.name, str)
    whole = isinstance(state.last, int | None) and isinstance(state.going, int | None)
    told = isinstance(state.findings, list) and isinstance(state.telling, dict)
    if not (sound and whole and told and state.version == VERSION):
        raise _damaged(path)
    return state


def _damaged(path: Path) -> BoardError:
    return BoardError(f"What was pushed before cannot be read from {path}: --again pushes all steps anew.")
