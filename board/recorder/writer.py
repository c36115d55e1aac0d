"""What happens to one row after another: redacted, encoded, held until its step ends if there is a budget, written.

Called by one thread. Whatever a hook, a value or a disk does wrong is a counted loss.
"""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
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
        self._held: list[budget.Candidate] = []

    def shard(self, step: int) -> ShardFile:
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
        """Write the rows held back, tell the tracker, bring the account up to date and, where the file gets no more, mark its end."""
        self._release()
        if self.tracking is not None:
            self.tracking.close() if closing else self.tracking.end_step()
        self._end(closing=closing)

    def _end(self, *, closing: bool = False) -> None:
        """Write the rows held back; where the file holds one step, or none will follow, mark its end."""
        self._release()
        self._shard.note(ended=closing or self.file_per == "step")

    def _begin(self, step: int) -> None:
        """End the step before; whoever reads the rollouts is told first which tokens pad, unless a file for that is there."""
        self._end()
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

    def _candidate(self, row: dict[str, Any], parts: Parts) -> budget.Candidate:
        """A row that is held; one too odd to be measured is written whole."""
        pads = COMMON_PADS | set(self.pads)
        try:
            return budget.hold(unpadded(row, pads, PADDED), parts, pads)
        except FAILURES:  # its values may be any objects, and fail in any way
            return budget.Candidate(parts)

    def _release(self) -> None:
        """Write the rows held back in the order they came, with as many token arrays as the budget allows."""
        held, self._held = self._held, []
        for parts in budget.within(held, self.step_bytes or 0, f"{self.seed} rank_{self.rank} {self._step}"):
            self._append(parts)

    def _append(self, parts: Parts) -> None:
        self._shard.append(line(parts), left_out=LEFT_OUT in parts)
