"""Build the index of a run, or bring one up to date.

Sources that are not in the index are parsed, and what curves need is summed up. A build that was stopped goes on where it was when it is
started again: the file that names all others is written last, and until then another file next to it names the sources that are done.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from board.analysis.rollouts import kl_concentration
from board.analysis.texts import text_health
from board.cli.indexing import source_writer
from board.cli.indexing.destination import options
from board.cli.indexing.engines import Engine
from board.cli.indexing.step_sums import IndexRows, step_sums
from board.cli.indexing.target import Entry, IndexTarget
from board.errors import BoardError, RunNotFound
from board.formats import trace_updates
from board.runs.cache.code_version import version
from board.runs.cache.part_folder import PartFolder
from board.runs.indexed.index_rows import RowFiles, sum_of_footer
from board.runs.indexed.indexed_run import REPORTED
from board.runs.load_report import LoadReport
from board.runs.loading.parsed_run import ParsedRun
from board.runs.progress import Progress, lasting
from board.runs.read_options import ReadOptions
from board.sources import index_file, shards
from board.sources.shards import Shard
from board.text.path_names import shown

_PLACES_ROWS: Final = 16_384
"""Rows of a row group of the tables of all rollouts: what a step of them costs to read."""

_SAVE_SECONDS: Final = 5.0
"""What is done is written down no sooner again: so much work is lost at most when the command is stopped."""


@dataclass(frozen=True)
class IndexProgress:
    """How far an index is. Bytes are those of sources that are parsed by this run of the command."""

    read: Progress
    bad_lines: int
    failed: int
    """Sources."""
    summed: int = 0
    """Rollouts of which what curves need is summed up, once all are parsed."""

    def words(self) -> str:
        """In a line."""
        if self.summed:
            return f"summed up: {self.summed:,} of {self.read.rows:,} rollouts"
        left = f", {lasting(self.read.seconds_left)} left" if 0 < self.read.seconds_left < float("inf") else ""
        failed = f", {self.failed:,} sources failed" if self.failed else ""
        return (
            f"{self.read.share:.0%}: {self.read.bytes_done / 1e6:,.0f} of {self.read.bytes_total / 1e6:,.0f} MB, "
            f"{self.read.rows:,} rollouts, {self.read.rate / 1e6:,.1f} MB/s{left}, {self.bad_lines:,} bad lines{failed}"
        )


@dataclass
class IndexResult:
    """What a run of the command did."""

    shards: int = 0
    rollouts: int = 0
    bytes: int = 0
    """Of the shards."""
    parsed: int = 0
    """Sources."""
    kept: int = 0
    """That were there, as they were written."""
    mended: int = 0
    """That were there, and were damaged: parsed again."""
    gone: list[str] = field(default_factory=list)
    """Sources that the index held, and the run no longer has."""
    bad_lines: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """By source why it could not be parsed."""
    seconds: float = 0.0

    @property
    def has_faults(self) -> bool:
        """Whether lines were refused, or sources failed."""
        return bool(self.bad_lines or self.failed)


Tell = Callable[[IndexProgress], None]


def build(target: IndexTarget, engine: Engine, tell: Tell = lambda _: None, *, verify: bool = False) -> IndexResult:
    """Bring the index up to date. A source is reused where its files have the size and the end they were written with; `verify` reads all.

    Raises BoardError where the run cannot be opened, or the index is of another one; OSError where it cannot be written.
    """
    return _Building(target, engine, tell).run(verify=verify)


class _Building:
    """One run of the command."""

    def __init__(self, target: IndexTarget, engine: Engine, tell: Tell) -> None:
        self._target, self._engine, self._tell = target, engine, tell
        self._run = ParsedRun(target.found, _Nothing(), target.reading)
        self._run.gather()
        self._entries: dict[str, Entry] = {}
        self._saved_at, self._began, self._bytes = 0.0, time.monotonic(), 0

    def run(self, *, verify: bool) -> IndexResult:
        """As `build`."""
        before = self._target.before
        sizes = self._target.destination.sizes()
        seals = {name: _seal(parsed.shard) for name, parsed in self._run.shards.items()}
        same = {name: one for name, one in before.items() if self._is_same(name, one, seals)}
        self._entries = {name: one for name, one in same.items() if self._is_sound(one, sizes, verify)}
        sound = dict(self._entries)
        self._save()
        reading = replace(self._target.reading, trains_ends=any(one["trains_ends"] for one in self._entries.values()))
        names = [
            name
            for name in self._run.shards
            if name not in self._entries or (reading.trains_ends and self._entries[name]["doubts_ends"])
        ]
        while names:
            self._parse(names, seals, reading, 1 + max((one["number"] for one in before.values()), default=-1))
            before = before | self._entries
            names = []
            if not reading.trains_ends and any(one["trains_ends"] for one in self._entries.values()):
                reading = replace(reading, trains_ends=True)
                names = [name for name, one in self._entries.items() if one["doubts_ends"]]
        self._finish(sizes)
        held = self._entries.values()
        kept = sum(self._entries[name] is one for name, one in sound.items())
        return IndexResult(
            shards=len(self._target.found),
            rollouts=sum(one["rows"] for one in held),
            bytes=sum(one["size"] for one in held),
            parsed=len(self._run.shards) - kept,
            kept=kept,
            mended=len(same) - len(sound),
            gone=[name for name in before if name not in self._run.shards],
            bad_lines=sum(one["counts"].get("refused", 0) for one in held),
            failed={name: one["failed"] for name, one in self._entries.items() if one["failed"]},
            seconds=time.monotonic() - self._began,
        )

    def _is_same(self, name: str, entry: Entry, seals: Mapping[str, str]) -> bool:
        """Whether a source is the one that was parsed."""
        parsed = self._run.shards.get(name)
        if parsed is None:
            return False
        return (entry["size"], entry["seal"], entry["format"]) == (parsed.shard.size, seals[name], parsed.identity.format)

    def _is_sound(self, entry: Entry, sizes: Mapping[str, int], verify: bool) -> bool:
        """Whether the files of a source are as they were written: as long, with such an end, and, with `verify`, to the last byte."""
        if any(sizes.get(f"{index_file.ROWS}/{file['name']}") != file["size"] for file in entry["files"]):
            return False
        return _is_whole(RowFiles({"": entry}, self._target.destination.opened), verify=verify)

    def _parse(self, names: Sequence[str], seals: Mapping[str, str], reading: ReadOptions, number: int) -> None:
        """Have sources parsed, the largest first."""
        found = self._run.shards
        ordered = sorted(names, key=lambda name: -found[name].shard.size)
        sources = {number + at: name for at, name in enumerate(ordered)}
        total = sum(found[name].shard.size for name in names)
        orders = [
            source_writer.order_for(
                self._target.destination,
                found[name].shard,
                found[name].identity,
                at,
                reading,
                seal=seals[name],
                in_order=not trace_updates.is_stream(name) and self._run.batches.get(name, True),
            )
            for at, name in sources.items()
        ]
        self._bytes = 0
        self._say(total)
        for order, said in self._engine.answers(orders, lambda read: self._say(total, read=read)):
            name = sources[order["number"]]
            self._entries[name] = _entry(order, said, found[name].shard, self._target.location)
            self._bytes += found[name].shard.size
            self._say(total)
            if time.monotonic() > self._saved_at + _SAVE_SECONDS:
                self._save()
        self._save()

    def _say(self, total: int, summed: int = 0, read: int = 0) -> None:
        held = self._entries.values()
        done = Progress(self._bytes + read, total, sum(one["rows"] for one in held), time.monotonic() - self._began)
        bad, failed = sum(one["counts"].get("refused", 0) for one in held), sum(bool(one["failed"]) for one in held)
        self._tell(IndexProgress(done, bad, failed, summed))

    def _save(self) -> None:
        """Write down what is done so far. Raises OSError."""
        self._saved_at = time.monotonic()
        self._target.destination.write(index_file.UNFINISHED, index_file.written(self._index()))

    def _finish(self, sizes: Mapping[str, int]) -> None:
        """Sum up, say what there is, and remove what nothing names. Raises OSError, RunNotFound where what was written cannot be read."""
        destination = self._target.destination
        index = self._index()
        data = destination.read(index_file.NAME)
        with suppress(RunNotFound):
            before = index_file.parsed(data, destination.named) if data else {}
            now = index_file.parsed(index_file.written(index), destination.named)
            if (
                before
                and {**before, "sums": None, "places": None} == now
                and all(map(self._has, (before["sums"], before["places"])))
            ):
                destination.remove([index_file.UNFINISHED])
                return
        rows = IndexRows(RowFiles(index["sources"], destination.opened), index["batches"], index["flags"], [*self._run.by_file])
        try:
            sums, places = step_sums(rows, lambda done, total: self._say(total, done))
        except (ValueError, pa.ArrowException) as error:
            raise OSError(f"what is there of the index cannot be read: {error}. Run the command again with --verify.") from error
        files = {name: self._written(name, table) for name, table in (("sums", sums), ("places", places))}
        destination.write(index_file.NAME, index_file.written(self._index(**files)))
        used = {*(one["name"] for one in files.values()), *_names(self._entries)}
        named = _names(self._target.before)
        # in a store, a file that no index names may be one that another command is about to name
        left = destination.sizes() if destination.is_local else [name for name in sizes if name in named or "/" not in name]
        destination.remove([index_file.UNFINISHED, *(name for name in left if name.endswith(".parquet") and name not in used)])

    def _written(self, kind: str, table: pa.Table) -> dict[str, Any]:
        """Write a table of its own file; what the file of the index says of it. Raises OSError."""
        stream = pa.BufferOutputStream()
        pq.write_table(table, stream, row_group_size=_PLACES_ROWS, **options())
        data = stream.getvalue()
        name = f"{kind}-{uuid4().hex[:12]}.parquet"
        self._target.destination.write(name, data.to_pybytes())
        return {"name": name, "size": data.size, "sum": sum_of_footer(pa.BufferReader(data)), "rows": len(table)}

    def _has(self, file: Mapping[str, Any] | None) -> bool:
        """Whether a table is as it was written."""
        files = RowFiles({"": {"number": 0, "files": [file] if file else []}}, self._target.destination.opened, "")
        return file is not None and _is_whole(files)

    def _index(self, sums: Mapping[str, Any] | None = None, places: Mapping[str, Any] | None = None) -> dict[str, Any]:
        report = LoadReport()
        self._run.describe(report)
        known = [name for one in self._entries.values() for name in one["flags"]]
        flags = [name for name in dict.fromkeys(known) if all(one["flags"].get(name, True) for one in self._entries.values())]
        return {
            "store": version(),
            "location": self._target.named,
            "reading": self._target.reading.written(),
            "key": self._target.key,
            "shards": [{"name": one.name, "size": one.size, "mtime_ns": one.mtime_ns} for one in self._target.found],
            "problems": [asdict(one) for one in self._target.problems],
            "sources": {name: self._entries[name] for name in self._run.shards if name in self._entries},
            "batches": dict(self._run.batches),
            "flags": sorted(flags),
            "measures": {
                "text_health": [one.name for one in text_health.COLUMNS],
                kl_concentration.NAME: [*kl_concentration.COLUMNS],
            },
            "sums": sums,
            "places": places,
            "report": {name: getattr(report, name) for name in REPORTED},
        }


def _names(entries: Mapping[str, Entry]) -> set[str]:
    """The files of rows of some sources."""
    return {f"{index_file.ROWS}/{file['name']}" for entry in entries.values() for file in entry["files"]}


def _is_whole(files: RowFiles, *, verify: bool = True) -> bool:
    """Whether files are as they were written: their ends, or, with `verify`, all of them."""
    try:
        for file in files.files:
            files.check(file)
        for _ in files.scan([*files.columns()]) if verify else ():
            pass
    except (OSError, ValueError, pa.ArrowException):
        return False
    return True


class _Nothing(PartFolder):
    """Stores nothing of any shard: what an index has of a source goes by the source, and not by its bytes."""

    def __init__(self) -> None:
        super().__init__(Path(), "")

    def has_manifest(self, shard: Shard) -> bool:
        """Never."""
        return False


def _seal(shard: Shard) -> str:
    with suppress(BoardError):  # who parses it says what is wrong
        return shards.seal(shard, 0, shard.size)
    return ""


def _entry(order: Mapping[str, Any], said: Entry, shard: Shard, location: Path) -> Entry:
    """What the file of the index says of a source."""
    nothing = {
        "number": order["number"],
        "size": shard.size,
        "seal": order["seal"],
        **order["identity"],
        "rows": 0,
        "files": [],
        "problems": [],
        "counts": {},
        "unfinished": [],
        "flags": {},
        "trains_ends": False,
        "doubts_ends": False,
    }
    return {
        **nothing,
        **said,
        "companions": [shown(Path(path).relative_to(location)) for path in shard.companions],
        "members": [one.name for one in shard.members],
    }
