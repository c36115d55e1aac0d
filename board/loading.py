"""Which stretches of a run's shards are not kept yet, and having them parsed: here when they are small, else by worker processes.

Knows stretches, the store and how far a load has come; knows neither what a row means nor what a run is.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from board import ingest, shards
from board.errors import BoardError, RunNotFound
from board.parts import Part, moved
from board.report import LoadReport
from board.shards import Problem, Shard
from board.store import Piece, Store, piece_from

STRETCH_BYTES: Final = 16_000_000
"""Bytes of a plain shard that are parsed at once."""

SMALL_BYTES: Final = 64_000_000
"""Less than this is parsed sooner here than by processes that must start first."""

_SAVE_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Stretch:
    """Bytes of a shard to be parsed, from `start` to before `stop`."""

    shard: Shard
    start: int
    stop: int


@dataclass
class Kept:
    """What is parsed of one shard: pieces in the store, and parts that could not be written there and stay in memory."""

    shard: Shard
    pieces: list[Piece]
    in_memory: dict[int, list[Part]] = field(default_factory=dict)
    """By the start of their piece."""
    broken: list[Problem] = field(default_factory=list)
    """Why a stretch could not be read at all."""

    def add(self, piece: Piece) -> None:
        """Take in a piece, in the order of the bytes."""
        self.pieces = sorted([*self.pieces, piece], key=lambda one: one.start)


def missing(kept: Kept) -> list[Stretch]:
    """The stretches of a shard that are not kept, cut to size. A short last piece is parsed again with what follows it."""
    shard = kept.shard
    if not shards.is_plain(shard):
        return [] if kept.pieces else [Stretch(shard, 0, shard.size)]
    end = shards.last_line_end(shard)
    if kept.pieces and kept.pieces[-1].stop < end and kept.pieces[-1].stop - kept.pieces[-1].start < STRETCH_BYTES // 4:
        kept.pieces = kept.pieces[:-1]
    stops = [0, *(piece.stop for piece in kept.pieces)]
    starts = [*(piece.start for piece in kept.pieces), end]
    gaps = [(start, stop) for start, stop in zip(stops, starts, strict=True) if start < stop]
    return [Stretch(shard, *cut) for gap in gaps for cut in shards.cuts(shard, *gap, STRETCH_BYTES)]


def parse(
    stretch: Stretch, pads: AbstractSet[str], keep: Callable[[Part], str | None], on_bytes: Callable[[int], None] | None = None
) -> Piece:
    """Parse a stretch, handing its parts to `keep`, which names the file it wrote. Raises OSError from `keep`, RunNotFound.

    `on_bytes` is called now and then with the number of file bytes read of a compressed shard, whose stretch is the whole.
    """
    shard, report, files = stretch.shard, LoadReport(), []

    def kept(part: Part) -> None:
        files.append(keep(part))

    if shards.is_plain(shard):
        lines, count = shards.read_stretch(shard, stretch.start, stretch.stop)
        ingest.read_parts(lines, shard.name, pads, report, kept)
    else:
        count = 0
        ingest.read_parts(shards.read_lines(shard, on_bytes), shard.name, pads, report, kept)
    return Piece(
        start=stretch.start,
        stop=stretch.stop,
        lines=count,
        files=tuple(name for name in files if name),
        rows=report.rows,
        seal=shards.seal(shard, stretch.start, stretch.stop),
        problems=tuple((one.line, one.reason, one.severity) for one in report.problems),
        counts=dict(report.counts),
        unfinished=bool(report.unfinished),
    )


class Loader:
    """One load of a run: finds what is missing, has it parsed, keeps it, and tells how far it is.

    Interrupted at any place, even by an exception out of `on_progress`, it keeps what was parsed so far.
    """

    def __init__(
        self, found: Sequence[Shard], store: Store, pads: AbstractSet[str], on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.store, self.pads, self.on_progress = store, pads, on_progress
        self.cache_note = _unwritable(store)
        self.writable = not self.cache_note
        self.kept = {shard.name: Kept(shard, store.pieces(shard) if self.writable else []) for shard in found}
        self._under_way: dict[str, int] = {}
        self._unsaved: set[str] = set()
        self._saved_at = time.monotonic()

    def run(self) -> None:
        """Parse and keep what is missing."""
        work = [stretch for kept in self.kept.values() for stretch in self._missing(kept)]
        try:
            for stretch, outcome in self._outcomes(work):
                self._take(stretch, outcome)
                self._tell()
        finally:
            self._save()
        if self.writable:
            self.store.clean({name for kept in self.kept.values() for piece in kept.pieces for name in piece.files})

    def parts(self, report: LoadReport) -> Iterator[Part]:
        """The run's parts in the order of shards and lines, what reading them found going into the report."""
        report.cache_note = self.cache_note
        for kept in self.kept.values():
            yield from self._parts(kept, report)

    def _missing(self, kept: Kept) -> list[Stretch]:
        try:
            return missing(kept)
        except OSError as error:
            kept.broken.append(Problem(kept.shard.name, None, f"cannot be read: {error.strerror}", "refused"))
            return []

    def _outcomes(self, work: list[Stretch]) -> Iterator[tuple[Stretch, Piece | BoardError | OSError]]:
        size = sum(stretch.stop - stretch.start for stretch in work)
        if self.writable and size > SMALL_BYTES:
            with workers(min(len(work), os.cpu_count() or 1), self.store, self.pads, self._under_way) as submit:
                yield from _as_completed(submit, work, self._tell)
            return
        for stretch in work:
            yield stretch, self._here(stretch)

    def _here(self, stretch: Stretch) -> Piece | BoardError | OSError:
        if not self.writable:
            return OSError(self.cache_note)
        try:
            return parse(stretch, self.pads, self.store.write)
        except (RunNotFound, OSError) as error:
            return error

    def _take(self, stretch: Stretch, outcome: Piece | BoardError | OSError) -> None:
        kept = self.kept[stretch.shard.name]
        self._under_way.pop(kept.shard.name, None)
        if isinstance(outcome, BoardError):
            kept.broken.append(Problem(kept.shard.name, None, str(outcome), "refused"))
            return
        if isinstance(outcome, OSError):  # the disk is full, or the cache is not ours to write
            self.cache_note = self.cache_note or str(outcome)
            self._hold(kept, stretch)
            return
        kept.add(outcome)
        self._unsaved.add(stretch.shard.name)
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self._save()

    def _hold(self, kept: Kept, stretch: Stretch) -> None:
        """Parse a stretch into memory, for this load alone."""
        held: list[Part] = []
        try:
            kept.add(parse(stretch, self.pads, held.append))
            kept.in_memory[stretch.start] = held
        except RunNotFound as error:
            kept.broken.append(Problem(kept.shard.name, None, str(error), "refused"))

    def _tell(self) -> None:
        if self.on_progress:
            done = [piece for kept in self.kept.values() for piece in kept.pieces]
            size = sum(piece.stop - piece.start for piece in done) + sum(self._under_way.copy().values())
            self.on_progress(size, sum(piece.rows for piece in done))

    def _save(self) -> None:
        """Write the manifests of shards that have new pieces; a cache that cannot be written costs only the next load's time."""
        for name in self._unsaved if self.writable else ():
            kept = self.kept[name]
            with suppress(OSError):
                self.store.keep(kept.shard, [piece for piece in kept.pieces if piece.start not in kept.in_memory])
        self._unsaved.clear()
        self._saved_at = time.monotonic()

    def _parts(self, kept: Kept, report: LoadReport) -> Iterator[Part]:
        shard, first_line = kept.shard, 0
        for piece in _from_the_start(kept):
            held = kept.in_memory.get(piece.start)
            try:
                found = held if held is not None else self._read(kept, piece)
            except RunNotFound as error:  # and where the lines behind it stand is not known any more
                kept.broken.append(Problem(shard.name, None, str(error), "refused"))
                break
            yield from (_moved(part, first_line) for part in found)
            piece.report_to(report, shard.name, first_line)
            first_line += piece.lines
        for problem in kept.broken:
            report.add(problem)
        yield from self._last_line(kept, first_line, report)

    def _read(self, kept: Kept, piece: Piece) -> list[Part]:
        """The parts of a piece out of the store; parsed again when they are damaged or were deleted a moment ago.

        Raises RunNotFound when the shard does not hold those bytes any more either.
        """
        try:
            return [self.store.read(name, kept.shard.name) for name in piece.files]
        except RunNotFound:
            self.store.forget(piece)
            held: list[Part] = []
            again = parse(Stretch(kept.shard, piece.start, piece.stop), self.pads, held.append)
            if again.seal != piece.seal:
                raise RunNotFound("was rewritten while it was being read: load the run again") from None
            return held

    def _last_line(self, kept: Kept, first_line: int, report: LoadReport) -> list[Part]:
        """What stands behind the last line end: a whole row whose line end is still to come, or half of one. Never kept."""
        end = kept.pieces[-1].stop if kept.pieces else 0
        if not shards.is_plain(kept.shard) or end >= kept.shard.size or kept.broken:
            return []
        own = LoadReport()
        found: list[Part] = []
        try:
            lines, _ = shards.read_stretch(kept.shard, end, kept.shard.size)
        except RunNotFound:
            return []
        ingest.read_parts(lines, kept.shard.name, self.pads, own, found.append)
        for problem in own.problems:
            report.add(Problem(problem.shard, (problem.line or 0) + first_line, problem.reason, problem.severity))
        report.rows += own.rows
        report.unfinished += own.unfinished
        return [_moved(part, first_line) for part in found]


def _from_the_start(kept: Kept) -> list[Piece]:
    """The pieces up to the first stretch of a plain shard that could not be read: nobody knows how many lines that one has."""
    starts = [0, *(piece.stop for piece in kept.pieces)]
    return [piece for piece, _ in takewhile(lambda pair: pair[0].start == pair[1], zip(kept.pieces, starts, strict=False))]


def _moved(part: Part, first_line: int) -> Part:
    return replace(part, scalars=moved(part.scalars, first_line))


def _unwritable(store: Store) -> str:
    """Why the cache cannot be written; empty when it can."""
    try:
        store.open()
    except OSError as error:
        return str(error)
    return ""


Submit = Callable[[Stretch], "Future[Piece | BoardError | OSError]"]


def _as_completed(
    submit: Submit, work: list[Stretch], tick: Callable[[], None]
) -> Iterator[tuple[Stretch, Piece | BoardError | OSError]]:
    """The outcomes as they come, `tick` called while waiting so that a reader who leaves is heard."""
    waiting = {submit(stretch): stretch for stretch in work}
    while waiting:
        done, _ = wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            yield waiting.pop(future), future.result()
        if not done:
            tick()


@contextmanager
def workers(count: int, store: Store, pads: AbstractSet[str], under_way: dict[str, int]) -> Iterator[Submit]:
    """`count` processes that parse stretches; all of them are gone when the context ends, finished or not.

    `under_way` is told how many bytes of a compressed shard, by name, have been read.
    Plain processes spoken to in lines of JSON: a pool of `multiprocessing` would run the server's script again in each.
    """
    local, started = threading.local(), []
    order = {"location": str(store.location), "cache": str(store.folder.parent.parent), "pads": sorted(pads)}

    def parsed(stretch: Stretch) -> Piece | BoardError | OSError:
        if getattr(local, "process", None) is None or local.process.poll() is not None:  # none yet, or it was killed
            try:
                local.process = _worker()
            except OSError as error:
                return error
            started.append(local.process)
        return _answer(local.process, order | {"stretch": asdict(stretch)}, under_way)

    pool = ThreadPoolExecutor(count)
    try:
        yield lambda stretch: pool.submit(parsed, stretch)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in started:
            process.kill()
        pool.shutdown(wait=True)
        for process in started:
            process.communicate()


def _worker() -> "subprocess.Popen[str]":
    package = str(Path(__file__).parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-m", "board.worker"],
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def _answer(process: "subprocess.Popen[str]", order: dict[str, Any], under_way: dict[str, int]) -> Piece | BoardError | OSError:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order, default=str) + "\n")
        process.stdin.flush()
        while "bytes" in (answer := json.loads(process.stdout.readline() or "{}")):
            under_way[order["stretch"]["shard"]["name"]] = answer["bytes"]
    except (OSError, ValueError) as error:
        return OSError(f"a parsing process ended: {error}")
    if "piece" in answer:
        return piece_from(answer["piece"])
    if "refused" in answer:
        return RunNotFound(answer["refused"])
    return OSError(answer.get("failed", "a parsing process ended"))
