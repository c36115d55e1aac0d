"""Parts on disk: a folder of Arrow IPC files, with a manifest for each shard.

A manifest says which bytes of its shard the files cover. Nothing in the folder is trusted blindly: a byte range whose bytes no longer look
the same is forgotten. Files are written under a temporary name and renamed, so that a process that is killed at any instant leaves a folder
that opens and is right. A manifest holds its own sum and those of its parts (`board.runs.cache.sealed_file`): what is not as it was written,
as after a crash of the machine, is never used.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa

from board import atomic_write
from board.errors import RunNotFound
from board.runs.cache import sealed_file
from board.runs.cache.columns import ColumnInFile, Columns, Overlaid
from board.runs.cache.part_tables import part_of
from board.runs.cache.parts import Part
from board.runs.cache.sealed_file import HEAD, Damaged, Sealed, Sum
from board.runs.load_report import LoadReport
from board.sources import presence, run_files, sealed_json, shards
from board.sources.json_shape import MapOf, fits
from board.sources.shards import Problem, Shard

_KINDS: Final = ("scalars", "texts", "tokens", "moments", "summaries")
"""The tables of a part, in the order in which their columns lie in its file; every open reads the first of them."""

ORPHAN_SECONDS: Final = 86_400
"""A file that no manifest names may belong to a load that is under way; after a day it does not."""

_NAME: Final = re.compile(r"[0-9a-f]{32}\.arrow")
"""Of a part's file: a manifest leads nowhere else."""


_MOST_MANIFEST: Final = 1_000_000_000
"""Bytes of a manifest."""


@dataclass(frozen=True)
class File:
    """The file of a stored part."""

    name: str
    sums: tuple[Sum, ...]


UNFINISHED: Final = "unfinished"
"""Stands as the severity of a problem for a last line that is still being written, in one of many files that are read together."""


@dataclass(frozen=True)
class Piece:
    """A byte range of a shard as it is stored: its parts, and what reading it found. Line numbers count from the byte range's first line."""

    start: int
    stop: int
    """Bytes of the file, from `start` to before `stop`."""
    lines: int
    files: tuple[File, ...]
    rows: int
    seal: str
    problems: tuple[tuple[int | None, str, str], ...] = ()
    """(line, reason, severity) of the problems that are listed."""
    counts: dict[str, int] = field(default_factory=dict)
    """All problems by severity."""

    unfinished: bool = False
    """Whether the last line is half-written; of a compressed shard only, a plain one's pieces end at line ends."""
    trains_ends: bool = False
    doubts_ends: bool = False

    def written(self) -> dict[str, Any]:
        """As JSON holds it, and `piece_from` reads it: `asdict` would copy every sum of every file, at each save anew."""
        return {**vars(self), "files": [vars(file) for file in self.files]}

    def report_to(self, into: LoadReport, shard: Shard, first_line: int) -> None:
        """Add what reading found to a report; the byte range starts after `first_line` lines of its shard."""
        for line, reason, severity in self.problems:
            place = shard.place(None if line is None else line + first_line)
            if severity == UNFINISHED:
                into.unfinished.append(place[0])
            else:
                into.add_counted(Problem(*place, reason, "refused" if severity == "refused" else "flagged"))
        into.counts.update(self.counts)
        into.rows += self.rows
        into.unfinished += [shard.name] if self.unfinished else []


@dataclass(frozen=True)
class Manifest:
    """What is stored of a shard."""

    format: str
    """Name of the format it was read with."""
    note: str
    """What a reader must know of its numbers."""
    objects: bool
    """Whether its records take several lines each."""
    pieces: tuple[Piece, ...]
    """In order of their bytes; not necessarily all of the shard."""


_SHAPE: Final = {
    "start": int,
    "stop": int,
    "lines": int,
    "files": [{"name": str, "sums": [[int]]}],
    "rows": int,
    "seal": str,
    "problems": [[(int, str, None)]],
    "counts": MapOf(int),
    "unfinished": bool,
    "trains_ends": bool,
    "doubts_ends": bool,
}
"""Of a piece in JSON."""


class PartFolder:
    """A folder of parts. `owner` is whose its manifests say they are: those of another are not used."""

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder, self.owner = folder, owner

    def open(self) -> None:
        """Make the folder, if it is not there. Raises OSError where it cannot be written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.probe()

    def probe(self) -> None:
        """Raises OSError where the folder cannot be written."""
        probe = self.folder / f"{uuid4().hex}.tmp"
        probe.touch()
        probe.unlink()

    def manifest(self, shard: Shard) -> Manifest | None:
        """What is stored of a shard as it is now; None when it shrank or was rewritten, or nothing is.

        Raises Damaged when the manifest is not as it was written, or is another's.
        """
        try:
            written = sealed_json.loads(run_files.whole(self._manifest(shard), most=_MOST_MANIFEST))
            if (written["folder"], written["shard"]) != (self.owner, shard.name):
                raise Damaged(f"the manifest of {shard.name} is another's")
            shard = replace(shard, objects=bool(written["objects"]))
            pieces = [piece_from(one) for one in written["pieces"]]
            if not self._fits(shard, written, pieces):
                return None
            found = tuple(piece for piece in pieces if self._has(piece))
            return Manifest(str(written["format"]), str(written["note"]), shard.objects, found)
        except sealed_json.Unsound as error:
            raise Damaged(f"the manifest of {shard.name} is not as it was written") from error
        except (RunNotFound, OSError, ValueError, KeyError, TypeError):  # no manifest, none of this version, or the shard is gone
            return None

    def has_manifest(self, shard: Shard) -> bool:
        """Whether something may be stored of a shard; `manifest` says what."""
        return self._manifest(shard).is_file()

    def _fits(self, shard: Shard, written: dict[str, Any], pieces: Sequence[Piece]) -> bool:
        """Whether the shard is the one that was parsed, or that one and more. Raises RunNotFound when it cannot be read."""
        same = (written["size"], written["mtime_ns"]) == (shard.size, shard.mtime_ns)
        grown = shards.is_plain(shard) and written["size"] < shard.size
        if presence.is_remote(
            shard.path
        ):  # whose time is another one for another version; of one that has grown two pieces are looked at
            pieces = [] if same else [*pieces[:1], *pieces[1:][-1:]]
        return (same or grown) and all(shards.seal(shard, piece.start, piece.stop) == piece.seal for piece in pieces)

    def _has(self, piece: Piece) -> bool:
        return all((self.folder / file.name).is_file() for file in piece.files)

    def write_manifest(self, shard: Shard, manifest: Manifest) -> None:
        """Write a shard's manifest. It need not be flushed: one that the machine's fall spoils does not fit its digest. Raises OSError."""
        identity = {"folder": self.owner, "shard": shard.name}
        pieces = [piece.written() for piece in manifest.pieces]
        written = {**identity, "size": shard.size, "mtime_ns": shard.mtime_ns, **vars(manifest), "pieces": pieces}
        atomic_write.write(self._manifest(shard), sealed_json.dumps(written))

    def _manifest(self, shard: Shard) -> Path:
        return self.folder / f"{blake2b(shard.name.encode(), digest_size=12).hexdigest()}.json"

    def write(self, part: Part, *, with_shard: bool = False) -> File:
        """Write a part; the file that holds it. Raises OSError.

        The shard of each row is written `with_shard`; else the reader of the part says of which it is.
        """
        name = f"{uuid4().hex}.arrow"
        table = _table(part, with_shard=with_shard)
        with atomic_write.replacing(self.folder / name) as stream, pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
        return File(name, sealed_file.sums(self.folder / name, sum(not _is_head(column) for column in table.column_names)))

    def read(self, file: File, shard: str | None, again: Callable[[], Part]) -> Part:
        """A stored part, its texts and arrays mapped, not read; lines count from the byte range's first. None for a part with its shards.

        A column that turns out to be damaged when it is touched is taken from what `again` gives instead: the part parsed anew. Raises
        Damaged when the scalars, which every open reads, are damaged already; OSError when the part is gone.
        """
        mapped = Sealed(self.folder / file.name, file.sums)
        table = pa.ipc.open_file(mapped.whole).read_all()
        stretches: dict[str, dict[str, int]] = {kind: {} for kind in _KINDS}
        lazy = 0
        for column in table.column_names:
            kind, _, name = column.partition("/")
            is_head = _is_head(column)
            lazy += not is_head
            stretches.setdefault(kind, {})[name] = HEAD if is_head else lazy
        if len(file.sums) != lazy + 2:
            raise Damaged(f"{file.name} has other columns than were written")
        scalars, *others = (_Verified(kind, table, mapped, stretches[kind], again) for kind in _KINDS)
        texts, tokens, moments, summaries = others
        if shard is None:
            return Part(scalars, texts, tokens, moments, summaries, file=mapped.path)
        names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(table), np.int32)), pa.array([shard]))
        return Part(Overlaid(scalars, {"shard": pa.chunked_array([names])}), texts, tokens, moments, summaries, file=mapped.path)

    def forget(self, piece: Piece) -> None:
        """Remove a piece's parts, one of which is damaged, and what was made of them: the next load parses the byte range again."""
        with suppress(OSError):
            for file in piece.files:
                (self.folder / file.name).unlink(missing_ok=True)
                for made in self.folder.glob(f"{Path(file.name).stem}.*"):
                    made.unlink(missing_ok=True)

    def clean(self, used: AbstractSet[str], older_than: float = ORPHAN_SECONDS) -> None:
        """Remove parts that are not `used`, and what was made of them, if they are older than so many seconds."""
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.suffix != ".json" and part_of(path.name) not in used and age(path) > older_than:
                    path.unlink(missing_ok=True)


def age(path: Path) -> float:
    """Seconds since a file was written to. Raises OSError."""
    return time.time() - path.stat().st_mtime


def piece_from(written: dict[str, Any]) -> Piece:
    """A piece out of its JSON. Raises KeyError, TypeError or ValueError for anything else."""
    if not fits(written, _SHAPE):
        raise ValueError("this is no piece")
    problems = tuple((line, str(reason), str(severity)) for line, reason, severity in written["problems"])
    files = tuple(
        File(_part_name(one["name"]), tuple((stop, digest) for stop, digest in one["sums"])) for one in written["files"]
    )
    return Piece(**{**written, "files": files, "problems": problems})


def _part_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no part's name")
    return name


def _table(part: Part, *, with_shard: bool) -> pa.Table:
    """The tables of a part as one, their names before the columns'. The shard is left out where the manifest knows it."""
    kinds: dict[str, Columns] = {kind: getattr(part, kind) for kind in _KINDS}
    columns = {f"{kind}/{name}": columns.column(name) for kind, columns in kinds.items() for name in columns.column_names}
    if not with_shard:
        del columns["scalars/shard"]
    return pa.table(columns)


def _is_head(column: str) -> bool:
    """Whether a column of a file is read by every open, and verified then."""
    return column.startswith(f"{_KINDS[0]}/")


class _Verified:
    """One table of a stored part: each column verified when it is touched, or taken from the part parsed again."""

    def __init__(
        self, kind: str, table: pa.Table, mapped: Sealed, stretches: Mapping[str, int], again: Callable[[], Part]
    ) -> None:
        self._kind, self._table, self._mapped, self._stretches, self._again = kind, table, mapped, stretches, again
        self.column_names = [*stretches]

    @property
    def num_rows(self) -> int:
        """How many rows each column has."""
        return int(self._table.num_rows)

    def column(self, name: str) -> pa.ChunkedArray:
        """A column as it was written. Raises RunNotFound where it is damaged and its shard has been rewritten."""
        if not self._mapped.is_sound(self._stretches[name]):
            again: Columns = getattr(self._again(), self._kind)
            return again.column(name)
        return self._table.column(f"{self._kind}/{name}")

    def in_file(self, name: str) -> ColumnInFile | None:
        """Where a column lies in the part's file, once it is verified; None where it is damaged, or the file is gone."""
        sound = self._mapped.is_sound(self._stretches[name]) and self._mapped.is_there()
        return ColumnInFile(self._mapped.path, f"{self._kind}/{name}", self._mapped.inode) if sound else None
