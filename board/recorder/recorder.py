"""The recorder as a training loop sees it: takes rows from any thread and writes them in one of its own."""

import atexit
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Self

from board.errors import missing_library
from board.recorder.loss_counts import FAILURES, Losses, described
from board.recorder.values import copies, rows, weigh
from board.recorder.write_queue import Work, WriteQueue
from board.recorder.writer import Redact, RowWriter

QUEUE_BYTES: Final = 256 * 2**20
TRACKER_SECONDS: Final = 30.0


class RolloutRecorder:
    """Writes the rollouts of one data-parallel rank, as JSON lines, without making training wait or fail.

    Numbers may be Python's, numpy's or tensors of any device and dtype. One number per token is written with float32's shortest
    digits, as the board keeps them; everything else exactly, NaN and the infinities as the literals NaN, Infinity and -Infinity.

    A row is copied when it is given, so training may change its tensors at once, and is written by a thread of its own. What cannot
    be written is counted in `dropped`, warned about once per reason by `logging`, and noted in the account next to the shard
    (`board/recorder/writer.py`). Closing writes all that waits; so does the end of the interpreter, but not a kill, and not wholly the
    end of a process forked by multiprocessing, which skips exit handlers: close it there. Threads may share a recorder. In a forked
    process it begins anew: every process has shards of its own, and continues none of another's.
    """

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

        `wait`: write before `write` returns: slower, but a kill loses no row it had returned from.
        `queue_bytes`: memory that rows may take that wait for the disk, and again those that wait for the tracker; while it is full,
        further ones are dropped.
        `file_per`: "rank" makes one new file, `rank_<rank>.<process id>.jsonl`; "step" one a step, in `step_<step>/`, whose account
        says `"ended": true` as soon as a row of another step comes, or `end_step` is called.
        `step_bytes`: what the token arrays of this rank may take per step. Rows are then held until their step ends, and only a
        sample keeps its token arrays (`board/recorder/token_budget.py`, by `seed`); the others keep texts and scalars, with the arrays'
        means, and are marked `token_arrays_left_out`.
        `redact`: called on every row (a dict of copies) before it is measured or written; what it returns is written. If it raises,
        the row is not written.
        `track_with`: a tracker that gets each step's numbers as it ends, those that `push` computes of one step, and what `track` is
        given: "tensorboard", "wandb", "swanlab", "trackio", "mlflow" or "stdout"; None for none. Rank 0 alone tracks, and its numbers are of
        its own rows, which are held until these have left; so does no process forked from it. It needs all that the board needs.
        `tracker_kwargs`: what its writer takes (`board/trackers/`): a mapping, whose lists and dicts are Python's own.
        `tracker_seconds`: how long closing waits for a tracker at most.
        `examples_per_step`: rollouts of each step that go to the tracker as text, as they are written (after `redact`): the best, the
        worst, and any further ones at random, by `seed`. None by default, as a tracker may be on another machine.
        `pads`: tokens that pad, besides the common ones ("<pad>", "[PAD]", …). Rows are written as they are given; no number counts padding at
        the ends of a prompt or a response, and a `rollouts.toml` next to the rows names these, so that the board reads them so.
        `names`: whose names the numbers of the rows get at the tracker: "roll", "trl", "trl-grpo", "re-grpo" or "verl", where those have
        one, else `board/…`, as all do with "board". Your own keep theirs, and count where both are logged under one name.

        Raises ValueError for a `file_per` that is neither, and for a tracker or names that are unknown; ImportError where `track_with` is
        given and something of the board is not installed.
        """
        if file_per not in ("rank", "step"):
            raise ValueError(f"file_per is 'rank' or 'step', not {file_per!r}")
        self.rank = rank
        self._folder = Path(folder)
        self._limit, self._wait = math.inf if wait else queue_bytes, wait
        self._new_writer = partial(RowWriter, self._folder, rank, file_per, step_bytes, seed, redact, tuple(pads))
        self._closed = False
        self._begin()
        if track_with is not None and rank == 0:
            where = {"tracker": track_with, "kwargs": tracker_kwargs or {}, "limit": queue_bytes, "seconds": tracker_seconds}
            self._track(**where, names=names, pads=tuple(pads), examples=examples_per_step, seed=seed)

    @property
    def dropped(self) -> int:
        """Things not written so far: a row, or one value of a row that was written without it. Final once closed or flushed."""
        return self._losses.total(tracker=False)

    @property
    def untracked(self) -> int:
        """Things the tracker did not get so far: the numbers of a step, a number, a row in its step's. Final once closed."""
        return self._losses.total(tracker=True)

    def path(self, step: int = 0) -> Path:
        """The shard that rows of a step go to: `rank_<rank>.<process>.jsonl`, with a number behind it where that name is taken."""
        return self._writer.shard(step).path

    def write(self, *, step: int, **fields: object) -> None:
        """Record one rollout: `step`, then any fields; `board/schema.py` lists those the board knows by name.

        Token arrays are one number per response token. `rank` is added unless given. A value that cannot be written as JSON
        is left out of its row; a row whose `step` is no whole number is dropped whole.
        """
        self._put([copies({"step": step, "rank": self.rank, **fields})])

    def write_batch(self, *, step: object, **columns: object) -> None:
        """Record a batch: each field is a column with one entry per rollout, or one scalar (a number, text, dict) for all.

        A column is a list, a tuple, or an array or tensor of at least one dimension; all must be equally long. Rows of a padded
        (batch, tokens) tensor are written padding included, which only `response_tokens` show: cut them to the response first.
        """
        batch = copies({"step": step, "rank": self.rank, **columns})
        try:
            self._put([*rows(batch)])
        except FAILURES as error:  # the boundary to training
            lengths = [len(column) for column in batch.values() if isinstance(column, list)]
            self._losses.add("row", described(error), max(lengths, default=1))

    def track(self, step: int, scalars: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Hand numbers and texts of the trainer's own to the tracker: a dict of them, or by name, or both; nothing without `track_with`.

        Numbers may be Python's, numpy's or tensors of one element; true and false become 1 and 0. They leave together
        with those of the step's rows.
        """
        if self._writer.tracking is not None:
            values = copies({**(scalars or {}), **named})
            if not self._do(partial(self._writer.tracking.given, values=values, **copies({"step": step}))):
                self._losses.add("tracker", "the recorder is closed")

    def end_step(self) -> None:
        """Say that the step is complete on this rank, rather than leave it to be seen from the next step's first row."""
        self._do(self._writer.end_step)

    def flush(self) -> None:
        """Wait until every row given so far was handed to the operating system, but those held back by `step_bytes`."""
        self._queue.finish()

    def close(self) -> None:
        """Write all that waits and close the shard. Later writes are dropped and counted; closing twice is harmless."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            _OPEN.pop(self, None)
            self._queue.put(partial(self._writer.end_step, closing=True))
        self._queue.finish()

    def __enter__(self) -> Self:
        """The recorder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close; an exception of the training loop passes through."""
        self.close()

    def _begin(self) -> None:
        """Start with nothing waiting, nothing open and nothing lost; so does a fork, as its parent's thread and locks are gone."""
        self._lock = threading.RLock()  # a signal handler may close the recorder
        self._closed = False
        self._losses: Losses = Losses(self._folder)
        self._writer: RowWriter = self._new_writer(self._losses)
        self._queue: WriteQueue = WriteQueue(self._limit, self._losses)
        _OPEN[self] = self._begin

    def _track(self, **how: Any) -> None:
        try:
            from board.recorder.tracking import Tracking  # with all of the board
        except ModuleNotFoundError as error:
            raise ImportError(missing_library(error, "track_with")) from error
        self._writer.tracking = Tracking(self._folder.resolve().name, self._losses, **how)

    def _put(self, found: list[dict[str, Any]]) -> None:
        for row in found:
            if not self._do(partial(self._writer.write, row), weigh(row)):
                self._losses.add("closed")

    def _do(self, work: Work, weight: int = 0) -> bool:
        """Have something done after all rows given so far, if there is room for it; False once the recorder is closed."""
        with self._lock:
            if self._closed:
                return False
            self._queue.put(work, weight)
        if self._wait:
            self._queue.finish()
        return True


_OPEN: Final[dict[RolloutRecorder, Callable[[], None]]] = {}
"""Recorders not closed yet, referenced here so that their last rows are written when the interpreter ends; what each does first in a fork."""


def _close_all() -> None:
    for recorder in list(_OPEN):
        recorder.close()


def _begin_all_in_child() -> None:
    for begin in list(_OPEN.values()):
        begin()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_begin_all_in_child)
