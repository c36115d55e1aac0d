"""What happens to one row after another: redacted, encoded, held until its step ends if there is a budget, written.

Called by one thread at a time. It never raises: whatever a hook, a value or a disk does wrong is a counted loss.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from board.recorder import budget
from board.recorder.losses import FAILURES, Losses, described
from board.recorder.shard_file import ShardFile
from board.recorder.values import Parts, compact, encode, is_per_token, line, whole
from board.schema import LEFT_OUT, PADDED, TOKENS
from board.text.padding import COMMON_PADS, unpadded

if TYPE_CHECKING:
    from board.recorder.tracking import Tracking

PADS_FILE: Final = "rollouts.toml"
"""Where whoever reads the rollouts looks for the pads of the run."""

LATE_STEPS: Final = 64
"""To the files of so many steps late rows are added; those for a step before these get another file."""

Redact = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Given a row that is its own to change, returns the row to write."""


@dataclass(frozen=True)
class Settings:
    """How a run is recorded; `board.recorder.RolloutRecorder` explains each."""

    folder: Path
    rank: int
    file_per: Literal["rank", "step"]
    step_bytes: int | None
    seed: int
    redact: Redact | None
    pads: tuple[str, ...]


class RowWriter:
    """Rows of one process to its own shards. At the end of each step the account beside the shard is brought up to date."""

    def __init__(self, settings: Settings, losses: Losses, tracking: "Tracking | None") -> None:
        self._settings = settings
        self._losses = losses
        self._tracking = tracking
        self._step: int | None = None
        self._name = f"rank_{settings.rank}.{os.getpid()}.jsonl"
        self._shards: dict[Path, ShardFile] = {}
        self._shard = self.shard(0)
        self._named = not settings.pads
        self._held: list[budget.Candidate] = []

    def shard(self, step: int) -> ShardFile:
        """The shard for rows of a step."""
        folder = self._settings.folder
        folder = folder / f"step_{step}" if self._settings.file_per == "step" else folder
        return self._shards.get(folder) or ShardFile(folder / self._name)

    def write(self, row: dict[str, Any]) -> None:
        """Write a row, or hold it until its step ends."""
        redact = self._settings.redact
        try:
            redacted = row if redact is None else dict(redact(row))
        except BaseException as error:  # the user's own function, whose message may quote the row
            self._losses.add("redaction", type(error).__name__)
            if not isinstance(error, FAILURES):
                raise
            return
        try:
            self._take(redacted)
        except FAILURES as error:  # the boundary to training: a step may be any object, and fail in any way
            self._losses.add("row", described(error))

    def end_step(self, *, closing: bool = False) -> None:
        """Write the rows held back, tell the tracker, bring the account up to date and, where the file gets no more, mark its end."""
        self._release()
        if self._tracking is not None:
            self._tracking.close() if closing else self._tracking.end_step()
        self._end(closing=closing)

    def _end(self, *, closing: bool = False) -> None:
        """Bring the account up to date and, where a file holds one step, or none will follow, mark its end."""
        if not self._shard.is_open:
            return
        self._notice()
        ended = closing or self._settings.file_per == "step"
        if self._shard.path.parent.is_dir():  # one that was removed is not made again for an account alone
            self._note(ended=ended)
        if ended:
            self._shard.close()
            self._step = None

    def _note(self, *, ended: bool) -> None:
        """Bring the account up to date. One that cannot be kept costs no row."""
        self._shard.lost += self._losses.untold()
        try:
            self._shard.note(ended=ended)
        except OSError as error:
            self._losses.add("account", described(error), count=0)

    def _notice(self) -> None:
        """Count the rows that somebody took away with their file."""
        if gone := self._shard.gone():
            self._losses.add("removed", str(self._shard.path), gone)

    def _take(self, row: Mapping[str, Any]) -> None:
        step = whole(row.get("step"))
        if step != self._step:
            self._release()
            self._end()
            self._name_pads()
            self._step, self._shard = step, self.shard(step)
            self._shards[self._shard.path.parent] = self._shard
            if len(self._shards) > LATE_STEPS:
                del self._shards[next(iter(self._shards))]
        parts = self._encoded({**row, "step": step})
        if self._tracking is not None:
            self._tracking.row(step, parts)
        if self._settings.step_bytes is None:
            self._append(parts)
        else:
            self._hold(row, parts)

    def _name_pads(self) -> None:
        """Say beside the rollouts which tokens pad, so that whoever reads them knows it. What stands there is left as it is."""
        if self._named:
            return
        self._named, pads, file = True, self._settings.pads, self._settings.folder / PADS_FILE
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError), file.open("x", encoding="utf-8") as stream:
                stream.write(f"pads = {json.dumps(pads, ensure_ascii=False)}\n")
            said = file.read_text(encoding="utf-8", errors="replace")
            if not all(json.dumps(pad, ensure_ascii=False) in said for pad in pads):
                logging.getLogger(__name__).warning("%s is there and does not name all pads %s: add them.", file, pads)
        except OSError as error:
            self._losses.add("account", described(error), count=0)

    def _encoded(self, row: Mapping[str, Any]) -> Parts:
        """The row's values as JSON, without those that cannot be written."""
        parts: Parts = {}
        tokens = row.get(TOKENS)
        length = len(tokens) if isinstance(tokens, list) else None
        for name, value in row.items():
            try:
                parts[str(name)] = encode(compact(value) if is_per_token(name, value, length) else value)
            except FAILURES as error:  # a value may be any object, and fail in any way
                self._losses.add("value", f"{name!r}: {described(error)}")
        return parts

    def _hold(self, row: Mapping[str, Any], parts: Parts) -> None:
        try:
            pads = COMMON_PADS | set(self._settings.pads)
            self._held.append(budget.hold(unpadded(dict(row), pads, PADDED), parts, pads))
        except FAILURES as error:  # a row too odd to be measured is written whole
            self._losses.add("budget", described(error), count=0)
            self._append(parts)

    def _release(self) -> None:
        """Write the rows held back in the order they came, with as many token arrays as the budget allows."""
        held, self._held = self._held, []
        limit, seed = self._settings.step_bytes or 0, self._settings.seed
        for parts in budget.within(held, limit, f"{seed} rank_{self._settings.rank} {self._step}"):
            self._append(parts)

    def _append(self, parts: Parts) -> None:
        """Write a row; before the first of a file, the account says that somebody is writing."""
        self._notice()
        try:
            if not self._shard.is_open:
                self._shard.open()
                self._note(ended=False)
            self._shard.append(line(parts), left_out=LEFT_OUT in parts)
        except OSError as error:
            self._losses.add("disk", described(error))
