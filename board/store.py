"""Parts on disk: every stretch of a shard is parsed once into Arrow IPC files, and a manifest says which bytes they cover.

The cache may be deleted at any time and is never trusted blindly: a stretch whose bytes no longer look the same is forgotten. Files are
written under a temporary name and renamed, and flushed before a manifest names them, so that whatever is killed at any instant leaves a
cache that opens and is right. The run folder is never written to. Knows parts and bytes; knows neither JSON nor rollouts.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa

from board import shards
from board.errors import RunNotFound
from board.parts import Part
from board.report import LoadReport
from board.shards import Problem, Shard

MAKERS: Final = (
    "containers.py",
    "ingest.py",
    "loading.py",
    "parts.py",
    "reading.py",
    "metrics.py",
    "moments.py",
    "padding.py",
    "recognition.py",
    "records.py",
    "report.py",
    "run_files.py",
    "shards.py",
    "store.py",
    "streams.py",
    "stretches.py",
    "schema.py",
    "formats",
)
"""The sources that decide what a part holds. Another text of any of them makes another cache: no number outlives the code that made it."""

_ORPHAN_SECONDS: Final = 86_400
"""A file that no manifest names may belong to a load that is under way; after a day it does not."""

_OUTLIVED_SECONDS: Final = 14 * 86_400
"""A cache of another version of the board is removed when it has not been written to for so long."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a shard as it is kept: its parts, and what reading it found. Line numbers count from the stretch's first line."""

    start: int
    stop: int
    """Bytes of the file, from `start` to before `stop`."""
    lines: int
    files: tuple[str, ...]
    rows: int
    seal: str
    problems: tuple[tuple[int | None, str, str], ...] = ()
    """(line, reason, severity) of the problems that were kept."""
    counts: dict[str, int] = field(default_factory=dict)
    """All problems by severity."""

    unfinished: bool = False
    """Whether the last line is half-written; of a compressed shard only, a plain one's pieces end at line ends."""

    def report_to(self, into: LoadReport, shard: str, first_line: int) -> None:
        """Add what reading found to a report; the stretch starts after `first_line` lines of its shard."""
        for line, reason, severity in self.problems:
            number = None if line is None else line + first_line
            into.keep(Problem(shard, number, reason, "refused" if severity == "refused" else "flagged"))
        into.counts.update(self.counts)
        into.rows += self.rows
        into.unfinished += [shard] if self.unfinished else []


@dataclass(frozen=True)
class Manifest:
    """What is kept of a shard."""

    format: str
    """Name of the format it was read with."""
    note: str
    """What a reader must know of its numbers."""
    objects: bool
    """Whether its records take several lines each."""
    pieces: tuple[Piece, ...]
    """In order of their bytes; not necessarily all of the shard."""


def cache_root() -> Path:
    """RL_BOARD_CACHE, else the user's cache folder."""
    given = os.environ.get("RL_BOARD_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else base / "rl-logging-board"


@cache
def version() -> str:
    """Names what this board's parts hold and how."""
    digest = blake2b(digest_size=8)
    for name in MAKERS:
        path = Path(__file__).with_name(name)
        for source in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(source.read_bytes())
    return f"v-{digest.hexdigest()}"


class Store:
    """The kept parts of one run, read in one way, which `key` names."""

    def __init__(self, location: Path, key: str = "", root: Path | None = None) -> None:
        self.location = location.resolve()
        name = json.dumps([str(self.location), key])
        folder = f"{blake2b(name.encode(), digest_size=12).hexdigest()}-{self.location.name[:40]}"
        self.folder = (root or cache_root()) / version() / folder

    def open(self) -> None:
        """Make the folder, for this user alone. Raises OSError where it cannot be written."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = self.folder / f"{uuid4().hex}.tmp"
        probe.touch()
        probe.unlink()

    def manifest(self, shard: Shard) -> Manifest | None:
        """What is kept of a shard as it is now; None when it shrank or was rewritten, or nothing is."""
        try:
            digest, _, text = self._manifest(shard).read_bytes().partition(b"\n")
            if digest.decode() != _digest(text):
                return None
            written = json.loads(text)
            shard = replace(shard, objects=bool(written["objects"]))
            pieces = [piece_from(one) for one in written["pieces"]]
            if not self._fits(shard, written, pieces):
                return None
            kept = tuple(piece for piece in pieces if self._has(piece))
            return Manifest(str(written["format"]), str(written["note"]), shard.objects, kept)
        except (RunNotFound, OSError, ValueError, KeyError, TypeError):  # no manifest, none of this version, or the shard is gone
            return None

    def _fits(self, shard: Shard, written: dict[str, Any], pieces: Sequence[Piece]) -> bool:
        """Whether the shard is the one that was parsed, or that one and more. Raises RunNotFound when it cannot be read."""
        same = (written["size"], written["mtime_ns"]) == (shard.size, shard.mtime_ns)
        grown = shards.is_plain(shard) and written["size"] < shard.size
        return (same or grown) and all(shards.seal(shard, piece.start, piece.stop) == piece.seal for piece in pieces)

    def _has(self, piece: Piece) -> bool:
        return all((self.folder / name).is_file() for name in piece.files)

    def keep(self, shard: Shard, manifest: Manifest) -> None:
        """Write a shard's manifest. It need not be flushed: one that the machine's fall spoils does not fit its digest. Raises OSError."""
        written = {"shard": shard.name, "size": shard.size, "mtime_ns": shard.mtime_ns, **asdict(manifest)}
        with _written(self._manifest(shard)) as stream:
            text = json.dumps(written).encode()
            stream.write(_digest(text).encode() + b"\n" + text)

    def _manifest(self, shard: Shard) -> Path:
        return self.folder / f"{blake2b(shard.name.encode(), digest_size=12).hexdigest()}.json"

    def write(self, part: Part) -> str:
        """Keep a part; the name it is kept under. It is safe from the machine's fall once it is flushed. Raises OSError."""
        name = f"{uuid4().hex}.arrow"
        table = _table(part)
        with _written(self.folder / name) as stream, pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
        return name

    def flush(self, piece: Piece) -> None:
        """Wait until a piece's parts are on the disk: only then may a manifest name them. Raises OSError."""
        for name in piece.files:
            with (self.folder / name).open("rb") as stream:
                os.fsync(stream.fileno())

    def read(self, name: str, shard: str) -> Part:
        """A kept part, its texts and arrays mapped, not read; lines count from the stretch's first. Raises RunNotFound when damaged."""
        try:
            with pa.memory_map(str(self.folder / name)) as source:
                table = pa.ipc.open_file(source).read_all()
            return _part(table, shard)
        except (OSError, pa.ArrowException, KeyError) as error:
            raise RunNotFound(f"{name} in the cache cannot be read: {error}") from error

    def forget(self, piece: Piece) -> None:
        """Remove a piece's parts, one of which is damaged: the next load parses the stretch again."""
        with suppress(OSError):
            for name in piece.files:
                (self.folder / name).unlink(missing_ok=True)

    def clean(self, used: AbstractSet[str]) -> None:
        """Remove parts of days ago that are not `used`, and the caches of other versions of the board that nobody writes to."""
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.suffix != ".json" and path.name not in used and _age(path) > _ORPHAN_SECONDS:
                    path.unlink(missing_ok=True)
            for other in self.folder.parent.parent.glob("v-*"):
                if other != self.folder.parent and min(map(_age, [other, *other.iterdir()])) > _OUTLIVED_SECONDS:
                    shutil.rmtree(other, ignore_errors=True)


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime


def piece_from(written: dict[str, Any]) -> Piece:
    """A piece out of its JSON. Raises KeyError or TypeError for anything else."""
    problems = tuple((line, str(reason), str(severity)) for line, reason, severity in written["problems"])
    return Piece(**{**written, "files": tuple(written["files"]), "problems": problems})


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=16).hexdigest()


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """A file to be written: under that name stands the whole of it or nothing, whatever happens meanwhile."""
    unfinished = path.with_name(f"{uuid4().hex}.tmp")
    try:
        with unfinished.open("wb") as stream:
            yield stream
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _table(part: Part) -> pa.Table:
    """The tables of a part as one, their names before the columns'. The shard is left out: the manifest knows it."""
    columns = {
        f"{kind}/{name}": table.column(name)
        for kind, table in {
            "scalars": part.scalars.drop_columns("shard"),
            "texts": part.texts,
            "tokens": part.tokens,
            "moments": part.moments,
        }.items()
        for name in table.column_names
    }
    return pa.table(columns)


def _part(table: pa.Table, shard: str) -> Part:
    kinds: dict[str, dict[str, pa.ChunkedArray]] = {"scalars": {}, "texts": {}, "tokens": {}, "moments": {}}
    for name in table.column_names:
        kind, _, column = name.partition("/")
        kinds[kind][column] = table.column(name)
    scalars = pa.table(kinds["scalars"])
    name = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(scalars), np.int32)), pa.array([shard]))
    others = (pa.table(kinds[kind]) for kind in ("texts", "tokens", "moments"))
    return Part(scalars.add_column(1, "shard", name), *others)
