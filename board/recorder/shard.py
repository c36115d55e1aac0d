"""One file of whole lines, and beside it an account of what was written and lost. Knows nothing of rows, steps or threads.

A line is one append to the file: a killed process leaves at most one cut last line, and whoever opens the file again begins on a
line of its own. Nothing is fsynced. The account, `<shard>.account.json`, is replaced at once and never half written:

    {"rows": 512, "lost": {"queue": 3}, "token_arrays_left_out": 448, "ended": true}

`rows` are those the account's writers know of (a killed one may have left a few more), `lost` is counted by reason, and `ended`
says that nobody is writing: it is the end marker of a file that holds one step.
"""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import orjson


class Shard:
    """Appends lines to a file, making it and its folder at the first. Every method may raise OSError, and may be tried again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._line_is_cut = False
        self._account: dict[str, Any] | None = None

    def append(self, line: bytes) -> None:
        """Write one line, which ends in a newline. After a cut one (a kill, a full disk) a newline first: only that row is lost."""
        descriptor = self._open()
        rest = memoryview(b"\n" + line if self._line_is_cut else line)
        while rest:
            written = os.write(descriptor, rest)
            self._line_is_cut = written < len(rest)
            rest = rest[written:]

    def note(self, rows: int, lost: Counter[str], left_out: int, *, ended: bool) -> None:
        """Add to the account: rows written, losses by reason, and rows written without their token arrays."""
        account = self._account = self._account or _read_account(account_path(self.path))
        account["rows"] += rows
        account["token_arrays_left_out"] += left_out
        account["lost"] = dict(Counter(account["lost"]) + lost)
        account["ended"] = ended
        final = account_path(self.path)
        final.parent.mkdir(parents=True, exist_ok=True)
        passing = final.with_name(f".{final.name}.{os.getpid()}")
        passing.write_bytes(orjson.dumps(account))
        passing.replace(final)

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def _open(self) -> int:
        """The open descriptor; notes when an earlier process was killed in the middle of its last line."""
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            size = os.fstat(descriptor).st_size
            self._line_is_cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            self._descriptor = descriptor
        return self._descriptor


def account_path(shard: Path) -> Path:
    """Where the account of a shard is kept: a name no board takes for a shard."""
    return shard.with_name(f"{shard.name}.account.json")


def _read_account(path: Path) -> dict[str, Any]:
    """The account an earlier process left, or an empty one; one that is damaged counts as empty."""
    empty: dict[str, Any] = {"rows": 0, "lost": {}, "token_arrays_left_out": 0, "ended": False}
    try:
        found = orjson.loads(path.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return empty
    known = isinstance(found, dict) and all(type(found.get(key)) is type(value) for key, value in empty.items())
    return found if known else empty
