"""What happens to one row after another: redacted, encoded, held until its step ends if there is a budget, written.

Called by one thread at a time. It never raises: whatever a hook, a value or a disk does wrong is a counted loss.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from board.recorder import budget
from board.recorder.drop_log import FAILURES, Losses, described
from board.recorder.encoding import Parts, compact, encode, key_text, line
from board.recorder.shard_file import ShardFile
from board.recorder.snapshot import to_numpy
from board.recorder.token_arrays import Held, hold
from board.schema import LEFT_OUT, PADDED, TOKEN_METRICS, TOKENS
from board.text.padding import COMMON_PADS, unpadded

PADS_FILE: Final = "rollouts.toml"
"""Where whoever reads the rollouts looks for the pads of the run."""

if TYPE_CHECKING:
    from board.recorder.tracking import Tracking

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
    pads: tuple[str, ...] = ()

    @property
    def all_pads(self) -> frozenset[str]:
        """The common pads and the run's own."""
        return COMMON_PADS | set(self.pads)


class RowWriter:
    """Rows of one process to its own shards. At the end of each step the account beside the shard is brought up to date."""

    def __init__(self, settings: Settings, losses: Losses, tracking: "Tracking | None" = None) -> None:
        self.settings = settings
        self.losses = losses
        self._tracking = tracking
        self._step: int | None = None
        self._name = f"rank_{settings.rank}.{os.getpid()}.jsonl"
        self._shards: dict[int, ShardFile] = {}
        self._shard = ShardFile(settings.folder / self._name)
        self._named = False
        self._held: list[Held] = []

    def shard(self, step: int) -> ShardFile:
        """The shard for rows of a step."""
        by_step = self.settings.file_per == "step"
        folder = self.settings.folder / f"step_{step}" if by_step else self.settings.folder
        return self._shards.setdefault(step if by_step else 0, ShardFile(folder / self._name))

    def write(self, row: dict[str, Any]) -> None:
        """Write a row, or hold it until its step ends."""
        try:
            redacted = self._redacted(row)
            if redacted is not None:
                self._write(redacted)
        except FAILURES as error:  # the boundary to training: a step may be any object, and fail in any way
            self.losses.add("row", described(error))

    def end_step(self) -> None:
        """Write the rows held back, tell the tracker, bring the account up to date and, where a file holds one step, mark its end."""
        self._release()
        if self._tracking is not None:
            self._tracking.end_step()
        self._end()

    def close(self) -> None:
        """End the step, the tracker and the shard."""
        self._release()
        if self._tracking is not None:
            self._tracking.close()
        self._end(closing=True)

    def track(self, step: Any, values: Mapping[str, Any]) -> None:
        """Hand numbers of the trainer's own to the tracker."""
        if self._tracking is None:
            return
        try:
            self._tracking.given(_whole(step), values)
        except FAILURES as error:  # the boundary to training, as in `write`
            self.losses.add("tracker_value", described(error))

    def _end(self, *, closing: bool = False) -> None:
        """Bring the account up to date and, where a file holds one step, or none will follow, mark its end."""
        if not self._shard.is_open:
            return
        self._notice()
        ended = closing or self.settings.file_per == "step"
        if self._shard.path.parent.is_dir():  # one that was removed is not made again for an account alone
            self._note(ended=ended)
        if ended:
            self._shard.close()
            self._step = None

    def _note(self, *, ended: bool) -> None:
        """Bring the account up to date. One that cannot be kept costs no row."""
        self._shard.lost += self.losses.untold()
        try:
            self._shard.note(ended=ended)
        except OSError as error:
            self.losses.add("account", described(error), count=0)

    def _notice(self) -> None:
        """Count the rows that somebody took away with their file."""
        try:
            gone = self._shard.gone()
        except OSError as error:
            self.losses.add("account", described(error), count=0)
            return
        if gone:
            self.losses.add("removed", str(self._shard.path), gone)

    def _write(self, row: Mapping[str, Any]) -> None:
        step = _whole(row.get("step"))
        if step != self._step:
            self._release()
            self._end()
            self._begin(step)
        parts = self._encoded({**row, "step": step})
        if self._tracking is not None:
            self._tracking.row(step, parts)
        if self.settings.step_bytes is None:
            self._append(parts)
        else:
            self._hold(unpadded(dict(row), self.settings.all_pads, PADDED), parts)

    def _name_pads(self) -> None:
        """Say beside the rollouts which tokens pad, so that whoever reads them knows it. What stands there is left as it is."""
        if not self.settings.pads:
            return
        file = self.settings.folder / PADS_FILE
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as stream:
                stream.write(f"pads = {json.dumps(self.settings.pads, ensure_ascii=False)}\n")
        except FileExistsError:
            if not all(json.dumps(pad, ensure_ascii=False) in file.read_text(encoding="utf-8") for pad in self.settings.pads):
                logging.getLogger(__name__).warning(
                    "%s is there and does not name all pads %s: add them.", file, self.settings.pads
                )
        except OSError as error:
            self.losses.add("account", described(error), count=0)

    def _begin(self, step: int) -> None:
        if self._step is None and not self._named:
            self._name_pads()
            self._named = True
        self._step, self._shard = step, self.shard(step)

    def _redacted(self, row: dict[str, Any]) -> Mapping[str, Any] | None:
        """The row as it may be written; None, and counted, if the hook failed. Its message may quote the row, so it is not logged."""
        if self.settings.redact is None:
            return row
        try:
            return dict(self.settings.redact(row))
        except FAILURES as error:  # the user's own function
            self.losses.add("redaction", type(error).__name__)
            return None
        except BaseException as error:
            self.losses.add("redaction", type(error).__name__)
            raise

    def _encoded(self, row: Mapping[str, Any]) -> Parts:
        """The row's values as JSON, without those that cannot be written."""
        parts: Parts = {}
        tokens = row.get(TOKENS)
        length = len(tokens) if isinstance(tokens, list) else None
        for name, value in row.items():
            try:
                key_text(name)
                parts[name] = encode(compact(value) if _is_per_token(name, value, length) else value)
            except FAILURES as error:  # a value may be any object, and fail in any way
                self.losses.add("value", f"{name!r}: {described(error)}")
        return parts

    def _hold(self, row: Mapping[str, Any], parts: Parts) -> None:
        try:
            self._held.append(hold(row, parts, self.settings.all_pads))
        except FAILURES as error:  # a row too odd to be measured is written whole
            self.losses.add("budget", described(error), count=0)
            self._append(parts)

    def _release(self) -> None:
        """Write the rows held back in the order they came, with as many token arrays as the budget allows."""
        held, self._held = self._held, []
        limit = self.settings.step_bytes
        if not held or limit is None:
            return
        try:
            rows = budget.within(held, limit, f"{self.settings.seed} rank_{self.settings.rank} {self._step}")
        except FAILURES as error:  # rows come before the budget
            self.losses.add("budget", described(error), count=0)
            rows = [one.parts for one in held]
        for parts in rows:
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
            self.losses.add("disk", described(error))


def _whole(value: Any) -> int:
    """A step as an integer; raises ValueError for what is no whole number, as the board would refuse the row."""
    plain = to_numpy(value)
    if plain is None:
        raise ValueError("it has no step")
    step = int(plain)
    if plain != step or not -(2**63) <= step < 2**63:
        raise ValueError("its step is not a whole number")
    return step


def _is_per_token(name: str, value: object, length: int | None) -> bool:
    """Whether the board keeps the value as one float32 per response token."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and (name in TOKEN_METRICS or value.size == length)
    return isinstance(value, list) and (name in TOKEN_METRICS or len(value) == length)
