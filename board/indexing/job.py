"""A run made into an index, or one brought up to date: what of it is missing is parsed, what is kept is verified, what is gone goes.

Stopped at any instant it goes on where it was when it is started again. The index holds what the cache would hold of the run, and its file
says the rest. Knows which ranges there are and what became of them; knows neither who parses them nor what a row means.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from board.errors import BoardError
from board.indexing import frame_writer
from board.indexing.engine import Engine, FinishedTask
from board.indexing.index_account import FailedRange, IndexAccount
from board.indexing.progress import FrameProgress, IndexProgress, Tally
from board.indexing.range_task import RangeTask, Site, keep
from board.indexing.target import IndexTarget
from board.runs.byte_range import ByteRange, parse_tail
from board.runs.kept_run import KeptRun
from board.runs.line_counts import LineCounts
from board.runs.manifest_saver import ManifestSaver
from board.runs.parsed_shard import ParsedShard
from board.runs.part_folder import Piece
from board.sources import shards

TRIES: Final = 3
"""So often a range is given to a worker that fails, or ends, before it counts as failed."""

Tell = Callable[[IndexProgress], None]


@dataclass
class IndexResult:
    """What a run of the command did."""

    shards: int = 0
    rollouts: int = 0
    bytes: int = 0
    """Of the shards."""
    ranges_parsed: int = 0
    ranges_kept: int = 0
    """That were there, as they were written."""
    ranges_mended: int = 0
    """That were there, and were damaged: parsed again."""
    shards_gone: list[str] = field(default_factory=list)
    """That the index held, and the run no longer has."""
    shards_changed: list[str] = field(default_factory=list)
    """That were replaced or went while they were read, and were looked at again."""
    bad_lines: int = 0
    failed: list[FailedRange] = field(default_factory=list)
    seconds: float = 0.0
    seconds_alone: float = 0.0
    """Of them, those in which this process worked and no worker had anything to do."""
    progress: IndexProgress | None = None

    @property
    def has_faults(self) -> bool:
        """Whether lines were refused, or ranges failed."""
        return bool(self.bad_lines or self.failed)


class IndexJob:
    """One run of the command: `target` says which run, how it is read and where the index is."""

    def __init__(self, target: IndexTarget, engine: Engine, tell: Tell | None = None, *, verify: bool | None = None) -> None:
        """`verify` says whether what is kept is read against its checksums, which is left out in a store unless it is asked for; without it
        what is kept is taken as it is wherever its files are there."""
        self._target, self._engine, self._tell, self._verify = target, engine, tell, verify
        self._folder = target.destination.parts(target.owner)
        self._failed: dict[tuple[str, int], FailedRange] = {}
        self._result = IndexResult()

    def run(self) -> IndexResult:
        """Bring the index up to date. Raises BoardError where the run cannot be opened, OSError where the index cannot be written."""
        began = time.monotonic()
        run = KeptRun(self._target.found, self._folder, self._target.reading)
        account = IndexAccount(self._target, run)
        self._result.shards_gone = account.gone
        run.doubted()  # what is to be read anew is missing then
        tasks = self._tasks(run)
        if account.is_first() or any(task.kept is None for task in tasks):
            account.write(complete=False)  # before there is a part: by it the folder is known as an index
        self._folder.open()
        worked = self._work(run, tasks)
        while again := run.doubted():
            worked += self._work(run, [*map(RangeTask, again)])
        tails = {name: tail for name, kept in run.kept.items() if (tail := self._tail(run, kept, account.tail(name))) is not None}
        self._count_lines(run)
        used = {file.name for piece in (*_pieces(run), *tails.values()) for file in piece.files}
        self._folder.settle(used)
        account.write(complete=not self._failed, tails=tails, failed=[*self._failed.values()])
        if not self._failed:
            with self._target.destination.frame_place() as places:
                if places:
                    frame_writer.bring_up_to_date(*places, run.reading, self._say_frame, verify=self._verify is not False)
        self._folder.clean(used, older_than=0)
        self._finish(run, tails, began, worked)
        return self._result

    def _tasks(self, run: KeptRun) -> list[RangeTask]:
        """What is missing, in the order of shards and bytes, then what is to be verified."""
        tasks = [RangeTask(one) for one in run.missing().waiting()]
        for name, kept in run.kept.items():
            for problem in kept.broken:  # nobody could look where its lines end
                self._failed[name, -1] = FailedRange(name, kept.tail_range().start, kept.shard.size, problem.reason)
        there = [(kept, piece) for kept in run.kept.values() for piece in kept.pieces]
        wanted = [(kept, piece) for kept, piece in there if self._folder.is_to_be_verified(piece, self._verify)]
        self._result.ranges_kept = len(there) - len(wanted)
        return tasks + [RangeTask(kept.range_of(piece), piece) for kept, piece in wanted]

    def _work(self, run: KeptRun, tasks: Sequence[RangeTask]) -> float:
        """Have the tasks done, those that fail again, and note what became of each; seconds in which workers were at it."""
        began = time.monotonic()
        tally = Tally(sum(task.byte_range.stop - task.byte_range.start for task in tasks))
        waiting = [*tasks]
        site = Site(self._target.destination.order(), self._target.owner, run.reading)
        with ManifestSaver(self._folder) as saver:
            for attempt in range(TRIES):
                again: list[RangeTask] = []
                for finished in self._engine.outcomes(waiting, site, lambda: self._say(tally)):
                    tally.add(finished)
                    again += self._take(run, finished, saver, last=attempt == TRIES - 1)
                    self._say(tally)
                waiting = again
                if not waiting:
                    break
        self._result.progress = tally.progress(len(self._failed))
        return time.monotonic() - began

    def _say(self, tally: Tally) -> None:
        if self._tell:
            self._tell(tally.progress(len(self._failed)))

    def _say_frame(self, frame: FrameProgress) -> None:
        if self._tell and self._result.progress:
            self._tell(replace(self._result.progress, frame=frame))

    def _take(self, run: KeptRun, finished: FinishedTask, saver: ManifestSaver, *, last: bool) -> list[RangeTask]:
        """Note what became of a task; the task, where it is to be tried again."""
        task, outcome = finished.task, finished.outcome
        kept, place = run.kept[task.byte_range.shard.name], (task.byte_range.shard.name, task.byte_range.start)
        self._failed.pop(place, None)
        if isinstance(outcome, Piece):
            self._result.ranges_kept += outcome == task.kept
            self._result.ranges_mended += task.kept not in (None, outcome)
            self._result.ranges_parsed += task.kept is None
            if outcome != task.kept:
                kept.pieces = [piece for piece in kept.pieces if piece.start != outcome.start]
                kept.add(outcome)
                saver.add(kept, outcome)
            return []
        self._failed[place] = FailedRange.of(task.byte_range, str(outcome))
        kept.pieces = [piece for piece in kept.pieces if piece.start != task.byte_range.start]
        return [] if last or isinstance(outcome, BoardError) else [replace(task, kept=None)]

    def _tail(self, run: KeptRun, kept: ParsedShard, before: Piece | None) -> Piece | None:
        """What stands behind a shard's last line end, as a piece; that of `before` where it is the same."""
        failed = [one.stop for one in self._failed.values() if one.shard == kept.shard.name]
        byte_range = kept.tail_range()
        byte_range = replace(byte_range, start=max([byte_range.start, *failed]))
        if not shards.is_plain(kept.shard) or byte_range.start >= kept.shard.size:
            return None
        with suppress(BoardError):  # a shard that is gone by now: the next run of the command sees it
            place = (byte_range.start, byte_range.stop, shards.seal(kept.shard, byte_range.start, byte_range.stop))
            if before and (before.start, before.stop, before.seal) == place and self._folder.is_sound(before, self._verify):
                return before
            tail = parse_tail(byte_range, run.reading, lambda part: keep(self._folder, part))
            self._folder.publish(tail)
            return tail
        return None

    def _count_lines(self, run: KeptRun) -> None:
        """Count the lines of plain ranges that failed, so that it is known where those behind them stand."""
        counts = LineCounts()
        for place, failed in self._failed.items():
            shard = run.kept[failed.shard].shard
            if shards.is_plain(shard):
                lines = counts.of(ByteRange(shard, failed.start, failed.stop, ""))
                self._failed[place] = replace(failed, lines=lines)

    def _finish(self, run: KeptRun, tails: dict[str, Piece], began: float, worked: float) -> None:
        held = [*_pieces(run), *tails.values()]
        self._result.shards = len(run.kept)
        self._result.bytes = sum(kept.shard.size for kept in run.kept.values())
        self._result.rollouts = sum(piece.rows for piece in held)
        self._result.bad_lines = sum(piece.counts.get("refused", 0) for piece in held)
        self._result.failed = [*self._failed.values()]
        self._result.seconds = time.monotonic() - began
        self._result.seconds_alone = self._result.seconds - worked


def _pieces(run: KeptRun) -> list[Piece]:
    return [piece for kept in run.kept.values() for piece in kept.pieces]
