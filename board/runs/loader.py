"""One load of a run: which of the found shards are its own, what of them is missing, and what became of it once it was parsed.

Knows byte ranges, the store and how far a load has come; knows neither what a row means nor what a run is.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from board.errors import BoardError, RunNotFound
from board.runs import dump_beside
from board.runs.byte_range import ByteRange, parse
from board.runs.format_detection import batches, check_one_family, joined, sidecars, suggested_mapping
from board.runs.load_report import LoadReport
from board.runs.manifest_saver import ManifestSaver
from board.runs.parsed_shard import ParsedShard, as_kept, missing
from board.runs.part_reader import PartReader
from board.runs.parts import Part
from board.runs.range_parsing import RangeParser
from board.runs.read_options import ReadOptions
from board.runs.sealed_file import Damaged
from board.runs.store import Manifest, Store
from board.runs.work_queue import WorkQueue
from board.runs.worker_pool import Outcome
from board.sources.shards import Shard
from board.text.counting import plural


class Loader:
    """Finds what is missing, has it parsed, keeps it, and tells how far it is.

    Interrupted at any place, even by an exception out of `on_progress`, it keeps what was parsed so far.
    """

    def __init__(
        self, found: Sequence[Shard], store: Store, reading: ReadOptions, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.store, self.reading, self._on_progress = store, reading, on_progress
        unwritable = _unwritable(store)
        self.cache_note = unwritable
        self._parser = RangeParser(store, reading, unwritable)
        self._writable = not unwritable
        self._damaged: list[str] = []
        """Shards whose manifest was damaged."""
        kept = {shard.name: as_kept(shard, self._manifest(shard), reading.mapping) for shard in joined(found)}
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
        self.batches = batches(identities)
        """Of shards of a trainer that writes both, whether they hold a batch that was trained on, or all that was sampled for one."""
        check_one_family({name: one.identity for name, one in self.kept.items()}, reading.mapping)

    def _manifest(self, shard: Shard) -> Manifest | None:
        try:
            return self.store.manifest(shard)
        except Damaged:
            self._damaged.append(shard.name)
            return None

    def missing(self) -> WorkQueue:
        """The byte ranges that are missing, in the order of shards and bytes."""
        return WorkQueue(byte_range for kept in self.kept.values() for byte_range in _missing(kept))

    def run(self, work: WorkQueue | None = None, *, aside: bool = False) -> None:
        """Parse and keep what is missing, which is all of `work` where that is given; `aside` as `RangeParser.outcomes` takes it."""
        work = self.missing() if work is None else work
        with ManifestSaver(self.store) as saver:
            for byte_range, outcome in self._parser.outcomes(work, self._tell, aside=aside):
                self._take(byte_range, outcome, saver)
                self._tell()
        if self._writable:
            self.store.clean({file.name for kept in self.kept.values() for piece in kept.pieces for file in piece.files})

    def _take(self, byte_range: ByteRange, outcome: Outcome, saver: ManifestSaver) -> None:
        """Note what became of a range."""
        kept = self.kept[byte_range.shard.name]
        self._parser.under_way.pop(kept.shard.name, None)
        if isinstance(outcome, BoardError):
            kept.refuse(str(outcome))
        elif isinstance(outcome, OSError):  # the disk is full, or the cache is not ours to write
            self.cache_note = self.cache_note or str(outcome)
            self.hold(byte_range)
        else:
            kept.add(outcome)
            saver.add(kept, outcome)

    def hold(self, byte_range: ByteRange) -> None:
        """Parse a byte range into memory, for this load alone."""
        kept, held = self.kept[byte_range.shard.name], list[Part]()
        try:
            kept.add(parse(byte_range, self.reading, held.append))
            kept.in_memory[byte_range.start] = held
        except RunNotFound as error:
            kept.refuse(str(error))

    def _tell(self) -> None:
        if self._on_progress:
            self._on_progress(*self.done())

    def done(self) -> tuple[int, int]:
        """How many bytes have been read so far, by this load or an earlier one, and how many rollouts there are in them."""
        done = [piece for kept in self.kept.values() for piece in kept.pieces]
        size = sum(piece.stop - piece.start for piece in done) + sum(self._parser.under_way.copy().values())
        return size, sum(piece.rows for piece in done)

    def parts(self, report: LoadReport) -> Iterator[Part]:
        """The run's parts in the order of shards and lines, what reading them found going into the report."""
        self.describe(report)
        reader = PartReader(self.store, self.reading, report)
        for kept in self.kept.values():
            yield from reader.parts(kept)

    def describe(self, report: LoadReport) -> None:
        """Say whose the shards are, and what was left out or could not be kept."""
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


def _missing(kept: ParsedShard) -> list[ByteRange]:
    """The missing ranges of a shard, none where it cannot be read."""
    try:
        return missing(kept)
    except OSError as error:
        kept.refuse(f"cannot be read: {error.strerror}")
        return []


def _left_aside(family: str, names: Sequence[str]) -> str:
    return (
        f"Beside this recording lies {family}'s own dump ({plural(len(names), 'file')}, such as {names[0]}). "
        "It is left aside, and opens as a run of its own."
    )


def _unwritable(store: Store) -> str:
    """Why the cache cannot be written; empty when it can."""
    try:
        store.open()
    except OSError as error:
        return str(error)
    return ""
