"""A new file of whole lines, and beside it an account of what was lost or left out. Knows nothing of rows, steps or threads.

A file has one writer, which made it, so nothing is locked: where the name is taken, be it by a process that had the same id before (in
containers many have 1), a number is put behind it. A line is one append: a killed process leaves at most one cut last line. Nothing is
fsynced. The account, `<shard>.account.json`, is replaced at once and never half written:

    {"lost": {"queue": 3}, "token_arrays_left_out": 448, "ended": true}

`lost` is counted by reason, and `ended` says that nobody is writing: it is the end marker of a file that holds one step.
"""

import os
from collections import Counter
from pathlib import Path

import orjson

from board.recorder.losses import Losses, described
from board.schema import LEFT_OUT
from board.system import atomic_write


class ShardFile:
    """Appends lines to a file, which the first makes. It never raises: what the disk refuses is a counted loss."""

    def __init__(self, losses: Losses, path: Path) -> None:
        self.path = self._wanted = path
        """Where the file is; before it is made, where it is to be."""
        self._losses = losses
        self._lost: Counter[str] = Counter()
        self._descriptor: int | None = None
        self._line_is_cut = False
        self._left_out = 0
        self._account = b""
        """As it was last written; empty before the file is made."""

    def append(self, line: bytes, *, left_out: bool) -> None:
        """Write one line, which ends in a newline; before the first the account says that somebody is writing.

        After a cut one (a full disk) a newline comes first: only that row is lost.
        """
        try:
            descriptor = self._descriptor
            if descriptor is None or not self.path.exists():  # not open, or removed or moved away by somebody
                descriptor = self._open()
            rest = b"\n" + line if self._line_is_cut else line
            while rest:
                rest = rest[os.write(descriptor, rest) :]
                self._line_is_cut = bool(rest)
            self._left_out += left_out
        except OSError as error:
            self._losses.add("disk", described(error))

    def note(self, *, ended: bool) -> None:
        """Bring the account of an open file up to date, where there is anything new. `ended` closes the file, until another line comes."""
        if self._descriptor is None or not self.path.exists():
            return
        self._lost += self._losses.untold()
        account = orjson.dumps({"lost": self._lost, LEFT_OUT: self._left_out, "ended": ended})
        if account != self._account:
            self._account = account
            try:
                atomic_write.write(account_path(self.path), account)
            except OSError as error:
                self._losses.add("account", described(error), count=0)
        if ended:
            self._close()

    def _open(self) -> int:
        """Make the file and its folder, or go on with it where it was made before and still is there."""
        self._close()
        flags = os.O_WRONLY | os.O_APPEND
        if self._account and self.path.exists():
            self._descriptor = os.open(self.path, flags)
        else:
            self._wanted.parent.mkdir(parents=True, exist_ok=True)
            self.path, self._descriptor = _new(self._wanted, flags)
            self._line_is_cut, self._left_out, self._account = False, 0, b""
        self.note(ended=False)
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


def account_path(shard: Path) -> Path:
    """Where the account of a shard is kept: a name no board takes for a shard."""
    return shard.with_name(f"{shard.name}.account.json")


def _new(wanted: Path, flags: int) -> tuple[Path, int]:
    """A file that nobody had before, open, and its path. Raises OSError."""
    path, number = wanted, 1
    while True:
        try:
            return path, os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:  # whatever it is, a pipe or a folder, too: it is somebody else's
            number += 1
            path = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
