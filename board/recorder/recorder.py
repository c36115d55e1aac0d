"""The recorder as a training loop sees it: takes rows from any thread, and hands them on. Knows nothing of JSON or files."""

import atexit
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from board.errors import missing_library
from board.recorder.losses import FAILURES, Losses, Reason, described
from board.recorder.queue import Work, WriteQueue
from board.recorder.values import rows, snapshot, weigh, whole
from board.recorder.writer import Redact, RowWriter, Settings

QUEUE_BYTES: Final = 256 * 2**20
TRACKER_SECONDS: Final = 30.0


class RolloutRecorder:
    """Writes the rollouts of one data-parallel rank, as JSON lines, without making training wait or fail.

    Numbers may be Python's, numpy's or tensors of any device and dtype. One number per token is written with float32's shortest
    digits, as the board keeps them; everything else exactly, NaN and the infinities as the literals NaN, Infinity and -Infinity.

    A row is copied when it is given, so training may change its tensors at once, and is written by a thread of its own. What cannot
    be written is counted in `dropped`, warned about once per reason by `logging`, and told in the account beside the shard
    (`board/recorder/shard_file.py`). Closing writes all that waits; so does the end of the interpreter, but not a kill, and not wholly the
    end of a process forked by multiprocessing, which skips exit handlers: close it there. Threads may share a recorder. In a forked
    process it begins anew: every process has shards of its own, and goes on in nobody's.
    """

    _closed = False

    def __init__(
        self,
        folder: str | os.PathLike[str],
        rank: int = 0,
        *,
        wait: bool = False,
        queue_bytes: int = QUEUE_BYTES,
        file_per: Literal["rank", "step"] = "rank",
        step_bytes: int | None = None,
        seed: int = 0,
        redact: Redact | None = None,
        track_with: str | None = None,
        tracker_kwargs: Mapping[str, Any] | None = None,
        tracker_seconds: float = TRACKER_SECONDS,
        examples_per_step: int = 0,
        pads: Sequence[str] = (),
        names: str = "board",
    ) -> None:
        """Nothing is written before the first row, nor is a tracker opened before the first step has ended.

        `wait`: write before `write` returns, in the caller's thread: slower, but a kill loses no row it had returned from.
        `queue_bytes`: memory that rows may take that wait for the disk, and again those that wait for the tracker; while it is full,
        further ones are dropped.
        `file_per`: "rank" makes one new file, `rank_<rank>.<process id>.jsonl`; "step" one a step, in `step_<step>/`, whose account
        says `"ended": true` as soon as a row of another step comes, or `end_step` is called.
        `step_bytes`: what the token arrays of this rank may take per step. Rows are then held until their step ends, and only a
        sample keeps its token arrays (`board/recorder/budget.py`, by `seed`); the others keep texts and scalars, with the arrays'
        means, and are marked `token_arrays_left_out`.
        `redact`: called on every row (a dict of copies) before it is measured or written; what it returns is written. If it raises,
        the row is not written.
        `track_with`: a tracker that gets each step's numbers as it ends, those that `push` computes of one step, and what `track` is
        given: "tensorboard", "wandb", "swanlab", "trackio", "mlflow" or "stdout"; None for none. Rank 0 alone tracks, and its numbers are of
        its own rows, which are held until these have left; so does no process forked from it. It needs all that the board needs.
        `tracker_kwargs`: what its writer takes (`board/trackers/`): a mapping, whose lists and dicts are Python's own.
        `tracker_seconds`: how long closing waits for a tracker at most.
        `examples_per_step`: rollouts of each step that go to the tracker as text, as they are written (after `redact`): the best, the
        worst, and any further ones at random, by `seed`. None unless asked for, as a tracker may be on another machine.
        `pads`: tokens that pad beside the common ones ("<pad>", "[PAD]", …). Rows are written as they are given; no number counts padding at
        the ends of a prompt or a response, and a `rollouts.toml` beside the rows names these, so that the board reads them so.
        `names`: whose names the numbers of the rows get at the tracker: "roll", "trl", "trl-grpo", "re-grpo" or "verl", where those have
        one, else `board/…`, as all do with "board". Your own keep theirs, and count where both are logged under one name.

        Raises ValueError for a `file_per` that is neither, and for a tracker or names that nobody knows; ImportError where `track_with` is
        given and something of the board is not installed.
        """
        if file_per not in ("rank", "step"):
            raise ValueError(f"file_per is 'rank' or 'step', not {file_per!r}")
        self.rank = rank
        self._settings = Settings(Path(folder), rank, file_per, step_bytes, seed, redact, tuple(pads))
        self._queue_bytes, self._tracker_bytes = None if wait else queue_bytes, queue_bytes
        self._new_tracking: Callable[[Losses], Any] | None = None
        if track_with is not None and rank == 0:
            how = {"names": names, "pads": tuple(pads), "examples": examples_per_step, "seed": seed}
            self._new_tracking = self._tracked(track_with, tracker_kwargs or {}, how, tracker_seconds)
        self._begin()

    @property
    def dropped(self) -> int:
        """Things not written so far: a row, or one value of a row that was written without it; and rows that somebody removed with
        their file while it was open. Final once closed or flushed.
        """
        return self._losses.total(tracker=False)

    @property
    def untracked(self) -> int:
        """Things the tracker did not get so far: the numbers of a step, a number, a row in its step's. Final once closed."""
        return self._losses.total(tracker=True)

    def path(self, step: int = 0) -> Path:
        """The shard that rows of a step go to: `rank_<rank>.<process>.jsonl`, with a number behind it where somebody has that name."""
        return self._writer.shard(step).path

    def write(self, *, step: int, **fields: object) -> None:
        """Record one rollout: `step`, then any fields; `board/schema.py` lists those the board knows by name.

        Token arrays are one number per response token. `rank` is added unless given. A value that cannot be written as JSON
        is left out of its row; a row whose `step` is no whole number is dropped whole.
        """
        try:
            at = whole(step)
            self._put([{"step": at, **self._copied({"rank": self.rank, **fields}, "value")}])
        except FAILURES as error:  # the boundary to training: a step may be any object, and fail in any way
            self._losses.add("row", described(error))

    def write_batch(self, *, step: object, **columns: object) -> None:
        """Record a batch: each field is a column with one entry per rollout, or one scalar (a number, text, dict) for all.

        A column is a list, a tuple, or an array or tensor of at least one dimension; all must be equally long. Rows of a padded
        (batch, tokens) tensor are written padding included, which is told by `response_tokens` alone: cut them to the response first.
        """
        try:
            batch = {name: snapshot(column) for name, column in {"step": step, "rank": self.rank, **columns}.items()}
            self._put(list(rows(batch)))
        except FAILURES as error:  # the boundary to training, as in `write`
            lengths = [len(column) for column in columns.values() if isinstance(column, list | tuple)]
            self._losses.add("row", described(error), max(lengths, default=1))

    def track(self, step: int, scalars: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Hand numbers and texts of the trainer's own to the tracker: a dict of them, or by name, or both; nothing without `track_with`.

        Numbers may be Python's, numpy's or tensors of one element; true and false become 1 and 0. They leave together
        with those of the step's rows.
        """
        if self._tracking is None:
            return
        values = self._copied({**(scalars or {}), **named}, "tracker_value")
        try:
            if not self._do(partial(self._tracking.given, whole(step), values)):
                self._losses.add("tracker", "the recorder is closed")
        except FAILURES as error:  # the boundary to training, as in `write`
            self._losses.add("tracker_value", described(error))

    def end_step(self) -> None:
        """Say that the step is complete on this rank, rather than leave it to be seen from the next step's first row."""
        self._do(self._writer.end_step)

    def flush(self) -> None:
        """Wait until every row given so far was handed to the operating system, but those held back by `step_bytes`."""
        done = threading.Event()
        if self._do(done.set):
            done.wait()

    def close(self) -> None:
        """Write all that waits and close the shard. Later writes are dropped and counted; closing twice is harmless."""
        with self._lock:
            if not self._do(partial(self._writer.end_step, closing=True)):
                return
            self._closed = True
            _OPEN.pop(self, None)
        self._queue.close()

    def __enter__(self) -> Self:
        """The recorder itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close; an exception of the training loop passes through."""
        self.close()

    def _begin(self) -> None:
        """Start with nothing waiting, nothing open and nothing lost."""
        self._lock = threading.RLock()
        self._closed = False
        self._losses: Losses = Losses(self._settings.folder)
        self._tracking = None if self._new_tracking is None else self._new_tracking(self._losses)
        self._writer: RowWriter = RowWriter(self._settings, self._losses, self._tracking)
        self._queue: WriteQueue = WriteQueue(self._queue_bytes)
        _OPEN[self] = self._begin_in_child

    def _tracked(self, name: str, kwargs: Mapping[str, Any], how: dict[str, Any], seconds: float) -> Callable[[Losses], Any]:
        try:
            from board.recorder import tracking  # with all of the board
        except ModuleNotFoundError as error:
            raise ImportError(missing_library(error, "track_with")) from error
        opening = tracking.opening(self._settings.folder.resolve().name, name, kwargs, how["names"])
        return partial(tracking.Tracking, opening, seconds, self._tracker_bytes, how)

    def _copied(self, values: Mapping[str, Any], reason: Reason) -> dict[str, Any]:
        """The values as they are now; one that cannot be copied is left out and counted under its reason."""
        copies: dict[str, Any] = {}
        for name, value in values.items():
            try:
                copies[name] = snapshot(value)
            except FAILURES as error:  # the boundary to training: a value may fail in any way
                self._losses.add(reason, f"{name!r}: {described(error)}")
        return copies

    def _put(self, found: list[dict[str, Any]]) -> None:
        """Hand rows on, and count those that nobody takes."""
        with self._lock:
            taken = [self._queue.put(partial(self._writer.write, row), weigh(row)) for row in found if not self._closed]
            lost: Reason = "closed" if self._closed else "queue"
        if missing := len(found) - sum(taken):
            self._losses.add(lost, count=missing)

    def _do(self, work: Work) -> bool:
        """Have something done after all rows given so far; False once the recorder is closed."""
        with self._lock:
            return not self._closed and self._queue.put(work)

    def _begin_in_child(self) -> None:
        """After a fork: what waits is the parent's to write, its thread and its locks are gone, and its shard has one writer."""
        self._new_tracking = None
        self._begin()


_OPEN: Final[dict[RolloutRecorder, Callable[[], None]]] = {}
"""Recorders not closed yet, kept alive so that their last rows are written when the interpreter ends; what each does first in a fork."""


def _close_all() -> None:
    for recorder in list(_OPEN):
        recorder.close()


def _begin_all_in_child() -> None:
    for begin_in_child in list(_OPEN.values()):
        begin_in_child()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_begin_all_in_child)
