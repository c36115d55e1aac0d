"""What happens to one row after another: redacted, encoded, held until its step ends if there is a budget, written to a new file.

Called by one thread. Whatever a hook, a value or a disk does wrong is a counted loss.

A file has one writer, which made it, so nothing is locked: where the name is taken, be it by a process that had the same id before (in
containers many have 1), a number is put behind it. A line is one append: a killed process leaves at most one cut last line. Nothing is
fsynced. The account next to it, `<shard>.account.json`, is replaced at once and never half written:

    {"lost": {"queue": 3}, "token_arrays_left_out": 448, "ended": true}

`lost` is counted by reason, and `ended` says that no process is writing: it is the end mark of a file that holds one step.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import orjson

from board import atomic_write
from board.recorder import token_budget
from board.recorder.loss_counts import FAILURES, Losses, described
from board.recorder.values import Parts, compact, encode, is_per_token, line, whole
from board.schema import LEFT_OUT, PADDED, TOKENS
from board.text.padding import COMMON_PADS, unpadded

if TYPE_CHECKING:
    from board.recorder.tracking import Tracking

PADS_FILE: Final = "rollouts.toml"
"""Where readers of the rollouts look for the pads of the run."""

LATE_STEPS: Final = 64
"""To the files of so many steps late rows are added; those for a step before these get another file."""

Redact = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Given a row that is its own to change, returns the row to write."""


@dataclass
class RowWriter:
    """Rows of one process to its own shards, as `board.recorder.RolloutRecorder` explains."""

    folder: Path
    rank: int
    file_per: Literal["rank", "step"]
    step_bytes: int | None
    seed: int
    redact: Redact | None
    pads: tuple[str, ...]
    losses: Losses
    tracking: "Tracking | None" = None

    def __post_init__(self) -> None:
        """Nothing is written yet."""
        self._step: int | None = None
        self._new_shard = lru_cache(LATE_STEPS)(partial(ShardFile, self.losses))
        self._shard = self.shard(0)
        self._held: list[token_budget.Candidate] = []

    def shard(self, step: int) -> "ShardFile":
        """The shard for rows of a step."""
        folder = self.folder / f"step_{step}" if self.file_per == "step" else self.folder
        return self._new_shard(folder / f"rank_{self.rank}.{os.getpid()}.jsonl")

    def write(self, row: dict[str, Any]) -> None:
        """Write a row, or hold it until its step ends. Raises whatever its step raises where that is no whole number."""
        try:
            row = row if self.redact is None else dict(self.redact(row))
        except BaseException as error:  # noqa: BLE001 - the user's own function, whose message may quote the row
            self.losses.add("redaction", type(error).__name__)
            return
        step = whole(row.get("step"))
        if step != self._step:
            self._begin(step)
        parts = self._encoded({**row, "step": step})
        if self.tracking is not None:
            self.tracking.row(step, parts)
        if self.step_bytes is None:
            self._append(parts)
        else:
            self._held.append(self._candidate(row, parts))

    def end_step(self, *, closing: bool = False) -> None:
        """Write the rows held back, notify the tracker, bring the account up to date and, where the file gets no more, mark its end."""
        self._release()
        if self.tracking is not None:
            self.tracking.close() if closing else self.tracking.end_step()
        self._shard.note(ended=closing or self.file_per == "step")

    def _begin(self, step: int) -> None:
        """End the file's step before; a file for readers of the rollouts first names the tokens that pad, unless there is one."""
        self._release()
        self._shard.note(ended=self.file_per == "step")
        if self._step is None and self.pads:
            file = self.folder / PADS_FILE
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError), file.open("x", encoding="utf-8") as stream:
                    stream.write(f"pads = {json.dumps(self.pads, ensure_ascii=False)}\n")
            except OSError as error:
                self.losses.add("account", described(error), count=0)
        self._step, self._shard = step, self.shard(step)

    def _encoded(self, row: Mapping[str, Any]) -> Parts:
        """The row's values as JSON, without those that cannot be written."""
        parts: Parts = {}
        tokens = row.get(TOKENS)
        length = len(tokens) if isinstance(tokens, list) else None
        for name, value in row.items():
            try:
                parts[str(name)] = encode(compact(value) if is_per_token(name, value, length) else value)
            except FAILURES as error:  # a value may be any object, and fail in any way
                self.losses.add("value", f"{name!r}: {described(error)}")
        return parts

    def _candidate(self, row: dict[str, Any], parts: Parts) -> token_budget.Candidate:
        """A row that is held; one too odd to be measured is written whole."""
        pads = COMMON_PADS | set(self.pads)
        try:
            return token_budget.hold(unpadded(row, pads, PADDED), parts, pads)
        except FAILURES:  # its values may be any objects, and fail in any way
            return token_budget.Candidate(parts)

    def _release(self) -> None:
        """Write the rows held back in the order they came, with as many token arrays as the budget allows."""
        held, self._held = self._held, []
        chosen = token_budget.choose(held, self.step_bytes or 0, f"{self.seed} rank_{self.rank} {self._step}")
        for at, candidate in enumerate(held):
            self._append(candidate.parts if at in chosen else candidate.bare)

    def _append(self, parts: Parts) -> None:
        self._shard.append(line(parts), left_out=LEFT_OUT in parts)


class ShardFile:
    """Appends lines to a file, which the first makes. It never raises: what the disk refuses is a counted loss."""

    def __init__(self, losses: Losses, path: Path) -> None:
        self.path = self._requested = path
        """Where the file is; before it is made, where it is to be."""
        self._losses = losses
        self._lost: Counter[str] = Counter()
        self._descriptor: int | None = None
        self._line_is_cut = False
        self._left_out = 0
        self._account = b""
        """As it was last written; empty before the file is made."""

    def append(self, line: bytes, *, left_out: bool) -> None:
        """Write one line, which ends in a newline; before the first the account says that a process is writing.

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
        self._lost += self._losses.take_new()
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
            self._requested.parent.mkdir(parents=True, exist_ok=True)
            self.path, self._descriptor = _new(self._requested, flags)
            self._line_is_cut, self._left_out, self._account = False, 0, b""
        self.note(ended=False)
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


def account_path(shard: Path) -> Path:
    """The file of a shard's account: a name no board takes for a shard."""
    return shard.with_name(f"{shard.name}.account.json")


def _new(requested: Path, flags: int) -> tuple[Path, int]:
    """A new file, open, and its path. Raises OSError."""
    path, number = requested, 1
    while True:
        try:
            return path, os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:  # whatever it is, a pipe or a folder, too: it is somebody else's
            number += 1
            path = requested.with_name(f"{requested.stem}-{number}{requested.suffix}")
