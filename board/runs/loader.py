"""Which stretches of a run's shards are not kept yet, and having them parsed: here when they are small, else with the help of processes.

Knows stretches, the store and how far a load has come; knows neither what a row means nor what a run is.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Final

from board import formats
from board.errors import BoardError, RunNotFound
from board.runs import dump_beside, part_builder, worker_pool
from board.runs.byte_range import ByteRange, parse
from board.runs.format_detection import Identity, check_one_family, format_of, identify, joined, sidecars, suggested_mapping
from board.runs.load_report import LoadReport
from board.runs.parts import Part, with_lines_after
from board.runs.read_options import ReadOptions
from board.runs.sealed_file import Damaged
from board.runs.store import Manifest, Piece, Store
from board.runs.worker_pool import Outcome
from board.sources import shards
from board.sources.shards import Problem, Shard
from board.text.counting import plural

STRETCH_BYTES: Final = 16_000_000
"""Bytes of a plain shard that are parsed at once."""

SMALL_BYTES: Final = 64_000_000
"""Less than this is parsed sooner here than with the help of processes that must start first."""

_COMPRESSION: Final = 6
"""How many bytes of rollouts a byte of a compressed shard is taken for."""

_SAVE_SECONDS: Final = 2.0


@dataclass
class ParsedShard:
    """What is parsed of one shard: pieces in the store, and parts that could not be written there and stay in memory."""

    shard: Shard
    identity: Identity
    pieces: list[Piece]
    in_memory: dict[int, list[Part]] = field(default_factory=dict)
    """By the start of their piece."""
    broken: list[Problem] = field(default_factory=list)
    """Why a stretch could not be read at all."""

    def add(self, piece: Piece) -> None:
        """Take in a piece, in the order of the bytes."""
        self.pieces = sorted([*self.pieces, piece], key=lambda one: one.start)


def missing(kept: ParsedShard) -> list[ByteRange]:
    """The stretches of a shard that are not kept, cut to size. A short last piece is parsed again with what follows it."""
    shard, kind = kept.shard, format_of(kept.identity)
    if not shards.is_plain(shard):
        return [] if kept.pieces else [ByteRange(shard, 0, shard.size, kind)]
    end = shards.last_line_end(shard)
    if kept.pieces and kept.pieces[-1].stop < end and kept.pieces[-1].stop - kept.pieces[-1].start < STRETCH_BYTES // 4:
        kept.pieces = kept.pieces[:-1]
    stops = [0, *(piece.stop for piece in kept.pieces)]
    starts = [*(piece.start for piece in kept.pieces), end]
    gaps = [(start, stop) for start, stop in zip(stops, starts, strict=True) if start < stop]
    return [ByteRange(shard, *cut, kind) for gap in gaps for cut in shards.cuts(shard, *gap, STRETCH_BYTES)]


class Loader:
    """One load of a run: finds what is missing, has it parsed, keeps it, and tells how far it is.

    Interrupted at any place, even by an exception out of `on_progress`, it keeps what was parsed so far.
    """

    def __init__(
        self, found: Sequence[Shard], store: Store, reading: ReadOptions, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.store, self.reading, self.on_progress = store, reading, on_progress
        self.cache_note = _unwritable(store)
        self.writable = not self.cache_note
        self._damaged: list[str] = []
        """Shards whose manifest was damaged."""
        kept = {shard.name: self._known(shard) for shard in joined(found)}
        identities = {name: one.identity for name, one in kept.items()}
        self.skipped = sidecars(identities)
        """Shards without rollouts, by name, and why they are left out."""
        recording = dump_beside.recorded(found)
        self.dumps = dump_beside.dumped(
            {name: kept[name].identity for name in kept if name not in self.skipped}, recording, reading.mapping
        )
        """By trainer the shards of its own dump beside this recording."""
        beside = {name for names in self.dumps.values() for name in names}
        chosen = {*self.dumps.get(reading.family, ())} if reading.family else kept.keys() - beside
        self.kept = {name: one for name, one in kept.items() if name in chosen and name not in self.skipped}
        check_one_family({name: one.identity for name, one in self.kept.items()}, reading.mapping)
        self._under_way: dict[str, int] = {}
        self._unsaved: set[str] = set()
        self._flushes: dict[tuple[str, int], Future[None]] = {}
        """By shard and start of the piece, until a manifest names it."""
        self._saved_at = time.monotonic()

    def _known(self, shard: Shard) -> ParsedShard:
        """What is kept of a shard, and whose it is."""
        manifest = self._manifest(shard)
        if manifest and manifest.format:
            identity = Identity(manifest.format, manifest.note, manifest.objects)
            return ParsedShard(replace(shard, objects=manifest.objects), identity, [*manifest.pieces])
        # Nobody knew it, perhaps because its first record was not written yet: what was read then counts only if it is as unknown now.
        identity = identify(shard, self.reading.mapping)
        unchanged = manifest and (manifest.format, manifest.objects) == (identity.format, identity.objects)
        return ParsedShard(
            replace(shard, objects=identity.objects), identity, [*manifest.pieces] if manifest and unchanged else []
        )

    def _manifest(self, shard: Shard) -> Manifest | None:
        try:
            return self.store.manifest(shard)
        except Damaged:
            self._damaged.append(shard.name)
            return None

    def run(self) -> None:
        """Parse and keep what is missing."""
        work = [stretch for kept in self.kept.values() for stretch in self._missing(kept)]
        with ThreadPoolExecutor(1) as self._disk:  # the disk is waited for beside the parsing
            try:
                for stretch, outcome in self._outcomes(work):
                    self._take(stretch, outcome)
                    self._tell()
            finally:
                wait(self._flushes.values())
                self._save()
        if self.writable:
            self.store.clean({file.name for kept in self.kept.values() for piece in kept.pieces for file in piece.files})

    def parts(self, report: LoadReport) -> Iterator[Part]:
        """The run's parts in the order of shards and lines, what reading them found going into the report."""
        report.cache_note = self.cache_note if any(kept.in_memory for kept in self.kept.values()) else ""
        report.skipped = self.skipped
        report.mended = [*self._damaged]
        identities = [kept.identity for kept in self.kept.values()]
        report.formats = dict(Counter(one.format for one in identities if one.format))
        unknown = next((kept.shard for kept in self.kept.values() if kept.identity.keys), None)
        report.suggested_mapping = suggested_mapping(unknown) if unknown and not report.formats else ""
        report.notes = dict(Counter(one.note for one in identities if one.note))
        if not self.reading.family:
            report.notes |= {_left_aside(family, names): len(names) for family, names in self.dumps.items()}
            report.aside = dump_beside.places(self.dumps, self.kept)
        for kept in self.kept.values():
            yield from self._parts(kept, report)

    def _missing(self, kept: ParsedShard) -> list[ByteRange]:
        try:
            return missing(kept)
        except OSError as error:
            kept.broken.append(Problem(kept.shard.name, None, f"cannot be read: {error.strerror}", "refused"))
            return []

    def _outcomes(self, work: list[ByteRange]) -> Iterator[tuple[ByteRange, Outcome]]:
        if not self.writable or sum(map(_expected_bytes, work)) <= SMALL_BYTES:
            yield from ((stretch, self._here(stretch)) for stretch in work)
            return
        count = min(len(work), os.cpu_count() or 1)
        with worker_pool.helpers(count, self.store, self.reading, self._here, self._under_way) as submit:
            yield from worker_pool.outcomes(submit, work, self._tell)

    def _here(self, stretch: ByteRange) -> Outcome:
        if not self.writable:
            return OSError(self.cache_note)
        try:
            return parse(stretch, self.reading, self.store.write)
        except (RunNotFound, OSError) as error:
            return error

    def _take(self, stretch: ByteRange, outcome: Outcome) -> None:
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
        self._flushes[kept.shard.name, outcome.start] = self._disk.submit(self.store.flush, outcome)
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self._save()

    def _hold(self, kept: ParsedShard, stretch: ByteRange) -> None:
        """Parse a stretch into memory, for this load alone."""
        held: list[Part] = []
        try:
            kept.add(parse(stretch, self.reading, held.append))
            kept.in_memory[stretch.start] = held
        except RunNotFound as error:
            kept.broken.append(Problem(kept.shard.name, None, str(error), "refused"))

    def _tell(self) -> None:
        if self.on_progress:
            done = [piece for kept in self.kept.values() for piece in kept.pieces]
            size = sum(piece.stop - piece.start for piece in done) + sum(self._under_way.copy().values())
            self.on_progress(size, sum(piece.rows for piece in done))

    def _save(self) -> None:
        """Write the manifests of shards that have new pieces, as far as these are on the disk.

        A cache that cannot be written costs only the next load's time.
        """
        for name in self._unsaved.copy() if self.writable else ():
            kept = self.kept[name]
            pieces = tuple(piece for piece in kept.pieces if piece.start not in kept.in_memory and self._is_safe(name, piece))
            if len(pieces) == len(kept.pieces):
                self._unsaved.discard(name)
            with suppress(OSError):
                self.store.keep(kept.shard, Manifest(kept.identity.format, kept.identity.note, kept.identity.objects, pieces))
        self._saved_at = time.monotonic()

    def _is_safe(self, shard: str, piece: Piece) -> bool:
        """Whether the piece is on the disk: flushed by now, or named by an earlier load's manifest."""
        flush = self._flushes.get((shard, piece.start))
        return flush is None or (flush.done() and flush.exception() is None)

    def _parts(self, kept: ParsedShard, report: LoadReport) -> Iterator[Part]:
        shard, first_line = kept.shard, 0
        for piece in _from_the_start(kept):
            held = kept.in_memory.get(piece.start)
            try:
                found = held if held is not None else self._read(kept, piece, report)
            except RunNotFound as error:  # and where the lines behind it stand is not known any more
                kept.broken.append(Problem(shard.name, None, str(error), "refused"))
                break
            yield from (_moved(part, first_line) for part in found)
            piece.report_to(report, shard.name, first_line)
            first_line += piece.lines
        for problem in kept.broken:
            report.add(problem)
        yield from self._last_line(kept, first_line, report)

    def _read(self, kept: ParsedShard, piece: Piece, report: LoadReport) -> list[Part]:
        """The parts of a piece out of the store; parsed again when they are damaged, now or later, or were deleted a moment ago.

        Raises RunNotFound when the shard does not hold those bytes any more either.
        """
        again = _Again(ByteRange(kept.shard, piece.start, piece.stop, format_of(kept.identity)), piece, self.reading)

        def mended(at: int) -> Part:
            self._mend(kept, piece, report)
            return again.parts[at]

        try:
            return [self.store.read(file, kept.shard.name, partial(mended, at)) for at, file in enumerate(piece.files)]
        except Damaged:
            self._mend(kept, piece, report)
        except OSError:
            self.store.forget(piece)
        return again.parts

    def _mend(self, kept: ParsedShard, piece: Piece, report: LoadReport) -> None:
        """Say that a shard's part was damaged; the next load keeps it anew."""
        self.store.forget(piece)
        if kept.shard.name not in report.mended:
            report.mended.append(kept.shard.name)

    def _last_line(self, kept: ParsedShard, first_line: int, report: LoadReport) -> list[Part]:
        """What stands behind the last line end: a whole row whose line end is still to come, or half of one. Never kept."""
        end = kept.pieces[-1].stop if kept.pieces else 0
        if not shards.is_plain(kept.shard) or end >= kept.shard.size or kept.broken:
            return []
        own = LoadReport()
        found: list[Part] = []
        try:
            lines = [*shards.read_tail(kept.shard, end)]
        except RunNotFound:
            return []
        kind = formats.by_name(format_of(kept.identity), self.reading.mapping)
        part_builder.read_parts(lines, kept.shard.name, kind, self.reading, own, found.append)
        for problem in own.problems:
            report.add(Problem(problem.shard, (problem.line or 0) + first_line, problem.reason, problem.severity))
        report.rows += own.rows
        report.unfinished += own.unfinished
        return [_moved(part, first_line) for part in found]


class _Again:
    """A stretch parsed anew, when somebody asks for it and once for all who do: in place of parts that are damaged."""

    def __init__(self, stretch: ByteRange, piece: Piece, reading: ReadOptions) -> None:
        self._stretch, self._piece, self._reading = stretch, piece, reading
        self._turn = threading.Lock()
        self._parts: list[Part] = []

    @property
    def parts(self) -> list[Part]:
        """The parts of the piece. Raises RunNotFound when the shard does not hold those bytes any more."""
        with self._turn:
            if not self._parts:
                held: list[Part] = []
                again = parse(self._stretch, self._reading, held.append)
                if again.seal != self._piece.seal or len(held) != len(self._piece.files):
                    raise RunNotFound("was rewritten while it was being read: load the run again")
                self._parts = held
            return self._parts


def _left_aside(family: str, names: Sequence[str]) -> str:
    return (
        f"Beside this recording lies {family}'s own dump ({plural(len(names), 'file')}, such as {names[0]}). "
        "It is left aside, and opens as a run of its own."
    )


def _expected_bytes(stretch: ByteRange) -> int:
    """Bytes of rollouts in a stretch; a guess when the shard is compressed."""
    return (stretch.stop - stretch.start) * (1 if shards.is_plain(stretch.shard) else _COMPRESSION)


def _from_the_start(kept: ParsedShard) -> list[Piece]:
    """The pieces up to the first stretch of a plain shard that could not be read: nobody knows how many lines that one has."""
    starts = [0, *(piece.stop for piece in kept.pieces)]
    return [piece for piece, _ in takewhile(lambda pair: pair[0].start == pair[1], zip(kept.pieces, starts, strict=False))]


def _moved(part: Part, first_line: int) -> Part:
    return replace(part, scalars=with_lines_after(part.scalars, first_line))


def _unwritable(store: Store) -> str:
    """Why the cache cannot be written; empty when it can."""
    try:
        store.open()
    except OSError as error:
        return str(error)
    return ""
