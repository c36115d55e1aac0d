"""One file of whole lines, and beside it an account of what was written and lost. Knows nothing of rows, steps or threads.

A line is one append to the file: a killed process leaves at most one cut last line, and whoever opens the file again begins on a
line of its own. Nothing is fsynced. The account, `<shard>.account.json`, is replaced at once and never half written:

    {"rows": 512, "lost": {"queue": 3}, "token_arrays_left_out": 448, "ended": true}

`rows` are those the account's writers know of (a killed one may have left a few more), `lost` is counted by reason, and `ended`
says that nobody is writing: it is the end marker of a file that holds one step. Several processes that write one file, which they should
not, keep one account together, each in its turn.
"""

import errno
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Any, Final

import orjson

from board.recorder import turns
from board.sources import run_files
from board.system import atomic_write

_MOST_BYTES: Final = 65_536
_MOST_ROWS: Final = 2**53
"""What an account says beyond this it does not know."""


class ShardFile:
    """Appends lines to a file, making it and its folder at the first. Every method may raise OSError, and may be tried again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._identity = (0, 0)
        self._descriptor: int | None = None
        self._line_is_cut = False
        self._appended = 0
        self._untold: Counter[str] = Counter()
        self._untold_rows = self._untold_left_out = 0

    def open(self) -> None:
        """Make the file, or go on with the one that is there. OSError for what is none, as a pipe, which would be waited for."""
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o644)
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                os.close(descriptor)
                raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
            turns.begin(descriptor)
            self._line_is_cut = status.st_size > 0 and os.pread(descriptor, 1, status.st_size - 1) != b"\n"
            self._descriptor, self._appended = descriptor, 0
            self._identity = (status.st_dev, status.st_ino)

    def append(self, line: bytes) -> None:
        """Write one line, which ends in a newline. After a cut one (a kill, a full disk) a newline first: only that row is lost."""
        self.open()
        assert self._descriptor is not None
        rest = memoryview(b"\n" + line if self._line_is_cut else line)
        while rest:
            written = os.write(self._descriptor, rest)
            self._line_is_cut = written < len(rest)
            rest = rest[written:]
        self._appended += 1

    def gone(self) -> int:
        """How many lines went with the file, if somebody removed it, moved it away or emptied it since it was opened: it is closed then."""
        if self._descriptor is None or self._is_there():
            return 0
        gone, self._untold_rows, self._untold_left_out = self._appended, 0, 0
        self.close()
        return gone

    def _is_there(self) -> bool:
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return (found.st_dev, found.st_ino) == self._identity and not (self._appended and found.st_size == 0)

    def note(self, rows: int, lost: Counter[str], left_out: int, *, ended: bool) -> None:
        """Add to the account: rows written, losses by reason, and rows written without their token arrays.

        What could not be noted is noted with the next.
        """
        self._untold_rows += rows
        self._untold_left_out += left_out
        self._untold += lost
        self.open()
        assert self._descriptor is not None
        with turns.turn(self._descriptor):
            account = _read_account(account_path(self.path))
            if not os.fstat(self._descriptor).st_size:  # whatever was counted, it is not there
                account["rows"] = account["token_arrays_left_out"] = 0
            account["rows"] += self._untold_rows
            account["token_arrays_left_out"] += self._untold_left_out
            account["lost"] = dict(Counter(account["lost"]) + self._untold)
            account["ended"] = ended and turns.end(self._descriptor)
            atomic_write.write(account_path(self.path), orjson.dumps(account))
        self._untold_rows, self._untold_left_out, self._untold = 0, 0, Counter()

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


def account_path(shard: Path) -> Path:
    """Where the account of a shard is kept: a name no board takes for a shard."""
    return shard.with_name(f"{shard.name}.account.json")


def _read_account(path: Path) -> dict[str, Any]:
    """The account an earlier process left, or an empty one; one that is damaged counts as empty. Raises OSError for what is no file."""
    empty: dict[str, Any] = {"rows": 0, "lost": {}, "token_arrays_left_out": 0, "ended": False}
    try:
        found = orjson.loads(run_files.whole(path, most=_MOST_BYTES))
    except (FileNotFoundError, orjson.JSONDecodeError):
        return empty
    known = isinstance(found, dict) and all(type(found.get(key)) is type(value) for key, value in empty.items())
    return found if known and all(map(_is_count, _counts(found))) else empty


def _counts(account: dict[str, Any]) -> list[object]:
    return [account["rows"], account["token_arrays_left_out"], *account["lost"].values()]


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST_ROWS
