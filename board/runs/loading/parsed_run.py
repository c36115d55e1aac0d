"""What is cached of a run: which shards are its own, and their parts in order."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from xxhash import xxh32_intdigest

from board.errors import RunNotFound
from board.runs.cache.part_folder import Manifest, PartFolder
from board.runs.cache.parts import Part
from board.runs.cache.sealed_file import Damaged
from board.runs.load_report import NAMED, LoadReport
from board.runs.parsing import part_builder, recorder_account, trainer_dumps
from board.runs.parsing.byte_range import ByteRange, parse
from board.runs.parsing.format_detection import batches, check_one_family, joined, sidecars, suggested_mapping
from board.runs.parsing.parsed_shard import ParsedShard, from_cache, gathered, missing
from board.runs.parsing.part_reader import PartReader
from board.runs.parsing.range_parsing import Rank, WorkQueue
from board.runs.read_options import ReadOptions
from board.sources import presence, sqlite_files
from board.sources.shards import Shard
from board.text.counting import plural

MANY_FILES: Final = 1_000
"""So many small files are read together, as each by itself takes longer than what is in it."""

SMALL_FILE: Final = 65_536
"""Bytes of a file that is small."""

TOGETHER: Final = 256
"""So many small files are read together, more or less."""


class ParsedRun:
    """The shards of a run, each with what its folder of parts holds of it."""

    shards: dict[str, ParsedShard]
    """By name the shards that are the run's own, in their order."""
    wanted: frozenset[tuple[str, int]] = frozenset()
    """Shards and starts of byte ranges that a sample has before any other."""
    range_bytes = 0
    """Of ranges that are missing, about; 0 for the usual size."""
    batches: Mapping[str, bool]
    """Of shards of a trainer that writes both, whether they hold a batch that was trained on, or all that was sampled for one."""

    def __init__(self, found: Sequence[Shard], store: PartFolder, reading: ReadOptions) -> None:
        """Looks into the beginning of shards that are not in the cache. Raises RunNotFound where they are of several trainers."""
        self.store, self.reading = store, reading
        self._damaged: list[str] = []
        """Shards whose manifest was damaged."""
        shards = presence.ahead(
            joined(found), lambda one: [] if store.has_manifest(one) else presence.ends_of(one.path, one.size)
        )
        parsed = {shard.name: from_cache(shard, self._manifest(shard), reading.mapping) for shard in shards}
        identities = {name: one.identity for name, one in parsed.items()}
        self.skipped = sidecars(identities)
        """Shards without rollouts, by name, and why they are left out."""
        recording = trainer_dumps.recorded(found)
        self.dumps = trainer_dumps.dumped(
            {name: parsed[name].identity for name in parsed if name not in self.skipped}, recording, reading.mapping
        )
        """By trainer the shards of its own dump in the folder of this recording."""
        dumped = {name for names in self.dumps.values() for name in names}
        chosen = {*self.dumps.get(reading.family, ())} if reading.family else parsed.keys() - dumped
        self.shards = {name: one for name, one in parsed.items() if name in chosen and name not in self.skipped}
        self.batches = batches(identities)
        check_one_family({name: one.identity for name, one in self.shards.items()}, reading.mapping)

    @property
    def by_file(self) -> dict[str, Shard]:
        """By name the files of the run, in their order."""
        return {file.name: file for one in self.shards.values() for file in one.shard.files}

    def gather(self) -> None:
        """Where there are very many small files, have those that follow each other and are alike read and stored together.

        What is stored of a file of its own stays. Names alone decide where a group ends, so that one file more changes one group.
        """
        small = {name for name, one in self.shards.items() if _is_small(one)}
        if len(small) < MANY_FILES:
            return
        groups: dict[tuple[object, ...], list[ParsedShard]] = {}
        turn = 0
        for name, one in self.shards.items():
            turn += name not in small or not xxh32_intdigest(name.encode()) % TOGETHER
            alike = (turn, one.identity.format, one.identity.note, one.identity.objects, part_builder.rank_of(name))
            groups.setdefault(alike if name in small else (name,), []).append(one)
        self.shards = {one.shard.name: one for one in map(self._together, groups.values())}

    def _together(self, members: Sequence[ParsedShard]) -> ParsedShard:
        if len(members) == 1:
            return members[0]
        shard, identity = gathered([one.shard for one in members]), members[0].identity
        manifest = self._manifest(shard)
        is_its_own = manifest and (manifest.format, manifest.note) == (identity.format, identity.note)
        return ParsedShard(shard, identity, [*manifest.pieces] if manifest and is_its_own else [])

    def _manifest(self, shard: Shard) -> Manifest | None:
        try:
            return self.store.manifest(shard) if self.store.has_manifest(shard) else None
        except Damaged:
            self._damaged.append(shard.name)
            return None

    def missing_now(self, name: str) -> list[ByteRange] | None:
        """Take what the folder holds of a shard by now: the ranges that are missing then; None where it holds no more than was known."""
        old = self.shards[name]
        try:
            manifest = self.store.manifest(old.shard)
        except Damaged:
            return None
        known = {(piece.start, piece.seal) for piece in old.pieces}
        if manifest is None or old.in_memory or old.broken or all((one.start, one.seal) in known for one in manifest.pieces):
            return None
        found = replace(old.shard, objects=False)  # as it was before anyone looked into it
        self.shards[name] = from_cache(found, manifest, self.reading.mapping)
        return missing_of(self.shards[name], self.range_bytes)

    def missing(self) -> WorkQueue:
        """The byte ranges that are missing, in the order of shards and bytes."""
        return WorkQueue(one for parsed in self.shards.values() for one in missing_of(parsed, self.range_bytes))

    def beyond(self) -> list[Rank]:
        """The parsed pieces that are left out of what is opened, rising: here none."""
        return []

    def doubted(self) -> list[ByteRange]:
        """Where the loss mask trains on end tokens anywhere in the run, the ranges with some that pad then, which are to be read anew."""
        if not any(piece.trains_ends for parsed in self.shards.values() for piece in parsed.pieces):
            return []
        self.reading = replace(self.reading, trains_ends=True)
        again: list[ByteRange] = []
        for parsed in self.shards.values():
            sure, parsed.tail = [piece for piece in parsed.pieces if not piece.doubts_ends], None
            if len(sure) < len(parsed.pieces):
                parsed.pieces = sure
                again += missing_of(parsed)
        return again

    def hold(self, byte_range: ByteRange) -> None:
        """Parse a byte range into memory, for this load alone."""
        parsed, held = self.shards[byte_range.shard.name], list[Part]()
        try:
            parsed.add(parse(byte_range, self.reading, held.append))
            parsed.in_memory[byte_range.start] = held
        except RunNotFound as error:
            parsed.refuse(str(error))

    @contextmanager
    def loading(self, work: WorkQueue | None = None, *, only_helpers: bool = False) -> Iterator[None]:
        """Parse what is missing: nothing here, the stored parts are all there is."""
        yield

    def done(self) -> tuple[int, int]:
        """How many bytes have been read so far, by this load or an earlier one, and how many rollouts there are in them."""
        done = [parsed.done() for parsed in self.shards.values()]
        return sum(size for size, _ in done), sum(rows for _, rows in done)

    def parts(self, report: LoadReport) -> Iterator[Part]:
        """The run's parts in the order of shards and lines, what reading them found going into the report."""
        self.describe(report)
        reader = PartReader(self.store, self.reading, report)
        for parsed in self.shards.values():
            yield from reader.parts(parsed)

    def describe(self, report: LoadReport) -> None:
        """Say whose the shards are, and what was left out."""
        report.skipped = self.skipped
        report.mended = [*self._damaged]
        report.recording = recorder_account.loss_sentences([*self.by_file.values()])
        identities = [parsed.identity for parsed in self.shards.values() for _ in parsed.shard.files]
        report.formats = dict(Counter(one.format for one in identities if one.format))
        unknown = [] if report.formats else [parsed for parsed in self.shards.values() if parsed.identity.keys][:NAMED]
        report.keys = unknown[0].identity.keys[:12] if unknown else ()
        report.suggested_mapping = suggested_mapping(*(parsed.shard for parsed in unknown))
        report.notes = dict(Counter(one.note for one in identities if one.note))
        if not self.reading.family:
            report.notes |= {_dump_note(family, names): len(names) for family, names in self.dumps.items()}
            report.aside = trainer_dumps.places(self.dumps, self.by_file)


def _is_small(parsed: ParsedShard) -> bool:
    """Whether a file may be read together with others, if there are very many."""
    shard = parsed.shard
    is_one = not (parsed.pieces or shard.companions or shard.name.endswith(sqlite_files.ENDING) or presence.is_remote(shard.path))
    return is_one and bool(parsed.identity.format) and shard.size <= SMALL_FILE


def missing_of(parsed: ParsedShard, size: int = 0) -> list[ByteRange]:
    """The missing ranges of a shard, none where it cannot be read; `size` as in `missing`."""
    try:
        return missing(parsed, size)
    except OSError as error:
        parsed.refuse(f"cannot be read: {error.strerror}")
        return []


def _dump_note(family: str, names: Sequence[str]) -> str:
    return (
        f"This recording's folder also holds {family}'s own dump ({plural(len(names), 'file')}, such as {names[0]}). "
        "The dump is not read with the recording: it opens as a run of its own."
    )
