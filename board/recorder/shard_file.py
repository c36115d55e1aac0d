"""A new file of whole lines, and beside it an account of what was written and lost. Knows nothing of rows, steps or threads.

A file has one writer, which made it, so nothing is locked: where the name is taken, be it by a process that had the same id before (in
containers many have 1), a number is put behind it. A line is one append: a killed process leaves at most one cut last line. Nothing is
fsynced. The account, `<shard>.account.json`, is replaced at once and never half written:

    {"rows": 512, "lost": {"queue": 3}, "token_arrays_left_out": 448, "ended": true}

`rows` are those known at the end of a step (a kill may have left a few more), `lost` is counted by reason, and `ended` says that
nobody is writing: it is the end marker of a file that holds one step.
"""

import os
from collections import Counter
from itertools import count
from pathlib import Path

import orjson

from board.system import atomic_write


class ShardFile:
    """Appends lines to a file, making it and its folder at the first. Methods that open or write may raise OSError, and be tried again."""

    def __init__(self, path: Path) -> None:
        self.path = self._wanted = path
        """Where the file is; before it is made, where it is to be."""
        self.lost: Counter[str] = Counter()
        self._identity = (0, 0)
        self._descriptor: int | None = None
        self._line_is_cut = False
        self._rows = self._left_out = 0

    @property
    def is_open(self) -> bool:
        """Whether lines can be appended at once."""
        return self._descriptor is not None

    def open(self) -> None:
        """Make the file, or go on with it where it was made before."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._status() is not None:
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        else:
            self.path, self._descriptor = _new(self._wanted)
            self._line_is_cut, self._rows, self._left_out = False, 0, 0
            status = os.fstat(self._descriptor)
            self._identity = (status.st_dev, status.st_ino)

    def append(self, line: bytes, *, left_out: bool = False) -> None:
        """Write one line, which ends in a newline. After a cut one (a full disk) a newline first: only that row is lost."""
        if self._descriptor is None:
            self.open()
        assert self._descriptor is not None
        rest = memoryview(b"\n" + line if self._line_is_cut else line)
        while rest:
            written = os.write(self._descriptor, rest)
            self._line_is_cut = written < len(rest)
            rest = rest[written:]
        self._rows += 1
        self._left_out += left_out

    def gone(self) -> int:
        """How many lines went with the file, if somebody removed it, moved it away or emptied it since it was opened: it is closed then."""
        status = self._status()
        if self._descriptor is None or (status is not None and (status.st_size or not self._rows)):
            return 0
        gone, self._rows, self._left_out, self._line_is_cut = self._rows, 0, 0, False
        self.close()
        return gone

    def note(self, *, ended: bool) -> None:
        """Bring the account up to date."""
        account = {"rows": self._rows, "lost": self.lost, "token_arrays_left_out": self._left_out, "ended": ended}
        atomic_write.write(account_path(self.path), orjson.dumps(account))

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def _status(self) -> os.stat_result | None:
        """Of the file that was made, if it still stands at its path."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found if (found.st_dev, found.st_ino) == self._identity else None


def account_path(shard: Path) -> Path:
    """Where the account of a shard is kept: a name no board takes for a shard."""
    return shard.with_name(f"{shard.name}.account.json")


def _new(wanted: Path) -> tuple[Path, int]:
    """A file that nobody had before, open, and its path. Raises OSError."""
    for number in count(1):
        path = wanted if number == 1 else wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
        try:
            return path, os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:  # whatever it is, a pipe or a folder, too: it is somebody else's
            continue
    raise AssertionError("there is always one more number")
