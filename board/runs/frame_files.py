"""The frame of an index as it lies on the disk: all rollouts merged and in order of steps, written once, read by steps and columns.

Parquet files of whole steps (`rows-*.parquet`), a sample of them (`sample.arrow`), what curves need of each step (`steps-*.arrow`), where the
rollouts of each part are (`parts.arrow`), and `frame.json`, which vouches for itself and for what it names, and says of which state of the
index all this is. Columns are named by what they are: `frame/reward`, `source/offset`, `moment/kl/mean`, `measured/words`. Knows files and
columns; knows no run.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from board.errors import RunNotFound
from board.remote.object_store import RemoteTrouble
from board.runs.sealed_file import mapped
from board.sources import presence, run_files, sealed_json
from board.sources.json_shape import MapOf, fits
from board.sources.shards import Problem
from board.system import atomic_write
from board.text.path_names import shown
from board.user_files import user_folders

FOLDER: Final = "frame"
"""Beside the parts of an index."""

NAME: Final = "frame.json"
KEY: Final = "rollout"
"""The column of the rollouts' keys."""
SAMPLED: Final = "sampled"
"""The column of booleans: whether a rollout is in the sample."""

LAYOUT: Final = 5

_MOST_BYTES: Final = 1_000_000_000
_PIECE: Final = 4_000_000

_SHAPE: Final = {
    "of": str,
    "rows": int,
    "columns": [str],
    "ids": MapOf([str]),
    "shards": [str],
    "shard_rows": [int],
    "measured": [str],
    "moments": [str],
    "token_metrics": [str],
    "text_columns": [str],
    "has_tokens": bool,
    "has_alternatives": bool,
    "splits": MapOf(int),
    "flags": [str],
    "problems": [{"shard": str, "line": (int, None), "reason": str, "severity": str}],
    "counts": MapOf(int),
    "unfinished": [str],
    "stretches": [{"file": str, "rows": int, "sum": int, "footer": int}],
    "sums": MapOf(int),
}


@dataclass(frozen=True)
class Stretch:
    """A file of whole steps."""

    file: str
    first: int
    """Step."""
    last: int
    rows: int
    sum: int
    """Of the whole file."""
    footer: int
    """What `sum_of_footer` gave: pages have checksums of their own."""


@dataclass(frozen=True)
class FrameAccount:
    """What `frame.json` says."""

    of: str
    """The state of the index that it was made of (`index_file.stamp`)."""
    rows: int
    columns: tuple[str, ...]
    """Of the run's frame, in order."""
    ids: dict[str, tuple[str, ...]]
    """The values of each column of ids, in order."""
    shards: tuple[str, ...]
    """In natural order."""
    shard_rows: tuple[int, ...]
    """How many rollouts of each shard are in the frame."""
    measured: tuple[str, ...]
    moments: tuple[str, ...]
    token_metrics: tuple[str, ...]
    text_columns: tuple[str, ...]
    has_tokens: bool
    has_alternatives: bool
    splits: dict[str, int]
    """How many rollouts each has."""
    flags: tuple[str, ...]
    """The columns that mark what was discarded."""
    problems: tuple[Problem, ...]
    """The first of those that loading found, and all steps that are there twice."""
    counts: dict[str, int]
    """All problems by severity."""
    unfinished: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    """In order of steps."""
    sums: dict[str, int]
    """By name the sum of each file but the stretches."""


class FrameFiles:
    """The files of a frame. Each is verified before it is used; one that is gone or damaged raises RunNotFound, which names it."""

    def __init__(self, folder: Path, account: FrameAccount) -> None:
        self.folder, self.account = folder, account
        self._held: dict[str, pa.Table] = {}

    @cached_property
    def sample(self) -> pa.Table:
        """The rows of the sample, mapped, in the frame's order."""
        return self._mapped("sample.arrow")

    @cached_property
    def parts(self) -> pa.Table:
        """A row for each part, in the order of keys: `start`, `rows`, `shard` (by number), `piece`, `nth`, `first_line` and the ends of
        `line`, `offset` and `step`."""
        return self._mapped("parts.arrow")

    def steps(self, split: str) -> pa.Table:
        """What curves need of the rollouts of a split, mapped: `step` (rising), `rows`, `value/<key>` and `stat/<column>/<statistic>`."""
        return self._mapped(f"steps-{split}.arrow")

    def is_sound(self) -> bool:
        """Whether all files are as they were written, to the last byte."""
        try:
            return all(
                sum_of(self.folder / name) == said
                for name, said in {**self.account.sums, **{one.file: one.sum for one in self.account.stretches}}.items()
            )
        except OSError:
            return False

    def rows(self, columns: Sequence[str], first: int | None = None, last: int | None = None) -> pa.Table:
        """Some columns of the steps from `first` to `last`, of all where neither is given, in the frame's order."""
        wanted = [
            one for one in self.account.stretches if (last is None or one.first <= last) and (first is None or one.last >= first)
        ]
        pieces = [piece for one in wanted for piece in self._of_stretch(one, columns, first, last)]
        return pa.concat_tables(pieces) if pieces else self.sample.select(columns).slice(0, 0)

    def rows_at(self, keys: NDArray[np.int64], columns: Sequence[str]) -> pa.Table:
        """Some columns of the rollouts with these keys, in the frame's order; memory for a row group at a time, beside what is found."""
        wanted, pieces = np.sort(keys), list[pa.Table]()
        for stretch in self.account.stretches:
            with self._opened(stretch) as file:
                for group in range(file.groups):
                    there = np.isin(file.read(group, [KEY]).column(KEY).to_numpy(), wanted, assume_unique=True)
                    if there.any():
                        pieces.append(file.read(group, columns).filter(pa.array(there)))
        return pa.concat_tables(pieces) if pieces else self.sample.select(columns).slice(0, 0)

    @contextmanager
    def paths(self, columns: Sequence[str]) -> Iterator[list[Path]]:
        """The files of all rows, in order of steps; of an index that lies elsewhere files of these columns, until the context ends."""
        stretches = self.account.stretches
        if not presence.is_remote(self.folder):
            for one in stretches:
                with self._opened(one):  # its footer is verified here, and by nobody else
                    pass
            yield [self.folder / one.file for one in stretches]
            return
        import pyarrow.parquet as pq

        cache = user_folders.cache()
        with user_folders.temporary(cache / FOLDER, cache, FOLDER) as folder:
            for one in stretches:
                pq.write_table(
                    pa.concat_tables(self._of_stretch(one, columns, None, None)), folder / one.file, write_page_checksum=True
                )
            yield [folder / one.file for one in stretches]

    def _of_stretch(self, stretch: Stretch, columns: Sequence[str], first: int | None, last: int | None) -> Iterator[pa.Table]:
        named = list(dict.fromkeys([*columns, "frame/step"]))
        with self._opened(stretch) as file:
            for group in range(file.groups):
                least, most = file.ends(group, "frame/step")
                if (last is not None and least > last) or (first is not None and most < first):
                    continue
                found = file.read(group, named)
                steps = found.column("frame/step").to_numpy()
                start = 0 if first is None else int(np.searchsorted(steps, first))
                stop = len(steps) if last is None else int(np.searchsorted(steps, last, side="right"))
                yield found.select(list(columns)).slice(start, stop - start)

    @contextmanager
    def _opened(self, stretch: Stretch) -> Iterator["_RowsFile"]:
        with self._sound(stretch.file) as (path, size):
            file = _RowsFile(path, size, stretch)
            if file.rows != stretch.rows:
                raise ValueError("it has other rows than were written")
            yield file

    @contextmanager
    def _sound(self, name: str) -> Iterator[tuple[Path, int]]:
        """The path and size of a file that is about to be read. What goes wrong while it is read is raised as RunNotFound."""
        try:
            path = self.folder / name
            yield path, run_files.check(path, within=self.folder).st_size
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            raise unusable(self.folder.parent, name, error) from error

    def _mapped(self, name: str) -> pa.Table:
        """A file of Arrow, verified once."""
        if name not in self._held:
            self._held[name] = self._verified(name)
        return self._held[name]

    def _verified(self, name: str) -> pa.Table:
        with self._sound(name) as (path, _):
            whole = mapped(path)
            if xxh3_64_intdigest(whole) != self.account.sums[name]:
                raise ValueError("it is not as it was written")
            return pa.ipc.open_file(whole).read_all()


class _RowsFile:
    """One file of rows: its footer is verified first, its pages as they are read, and of an index that lies elsewhere fetched."""

    def __init__(self, path: Path, size: int, stretch: Stretch) -> None:
        # here alone: opening a run that has no such files starts sooner without it
        import pyarrow.parquet as pq

        self._path = path
        presence.look_ahead([(path, max(0, size - _PIECE), size)])
        if sum_of_footer(path) != stretch.footer:
            raise ValueError("it is not as it was written")
        source = run_files.opened(path) if presence.is_remote(path) else str(path)
        self._file = pq.ParquetFile(source, page_checksum_verification=True)
        self.rows: int = self._file.metadata.num_rows
        self.groups: int = self._file.num_row_groups

    def read(self, group: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of a group of rows. Raises OSError where one is damaged."""
        known = self._file.metadata.row_group(group)
        chunks = [known.column(self._file.schema_arrow.get_field_index(name)) for name in columns]
        starts = [one.dictionary_page_offset or one.data_page_offset for one in chunks]
        spans = zip(starts, chunks, strict=True)
        presence.look_ahead((self._path, start, start + one.total_compressed_size) for start, one in spans)
        return self._file.read_row_group(group, list(columns), use_threads=False)

    def ends(self, group: int, column: str) -> tuple[int, int]:
        """The least and the largest number of a column in a group of rows."""
        known = self._file.metadata.row_group(group).column(self._file.schema_arrow.get_field_index(column)).statistics
        return known.min, known.max


def sum_of_footer(path: Path) -> int:
    """The sum of what Parquet keeps no checksum of: where a file's pages lie, and what is in them. Raises OSError."""
    with run_files.opened(path) as stream:
        end = stream.seek(0, os.SEEK_END) - 8  # the length of the metadata stands before the last four bytes
        stream.seek(max(0, end))
        stream.seek(max(0, end - int.from_bytes(stream.read(4), "little")))
        return int(xxh3_64_intdigest(stream.read()))


def unusable(index: Path, name: str, error: Exception) -> RunNotFound:
    """The error for a file of the frame of an index that cannot be read, or is not as it was written."""
    why = error.strerror or error if isinstance(error, OSError) else error
    again = "" if isinstance(error, RemoteTrouble) else " Run `rl-logging-board index` again to build it anew."
    return RunNotFound(f"{FOLDER}/{name} of the index {shown(index.resolve().name)!r} cannot be used: {why}.{again}")


def sum_of(path: Path) -> int:
    """The sum of a file's bytes. Raises OSError."""
    return int(xxh3_64_intdigest(mapped(path)))


def read(index: Path, of: str) -> FrameFiles | None:
    """The frame of an index whose state is `of`; None where it has none, or none of that state, or a damaged one."""
    folder = index / FOLDER
    try:
        told = sealed_json.loads(run_files.whole(folder / NAME, most=_MOST_BYTES, within=index))
        if told.pop("layout") != LAYOUT or told["of"] != of or not fits(told, _SHAPE):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    stretches = tuple(Stretch(**one) for one in told["stretches"])
    problems = tuple(Problem(**one) for one in told["problems"])
    lists = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
    ids = {name: tuple(values) for name, values in told["ids"].items()}
    if any(
        Path(one.file).name != one.file or not isinstance(one.first, int) or not isinstance(one.last, int) for one in stretches
    ):
        return None
    return FrameFiles(folder, FrameAccount(**{**told, **lists, "ids": ids, "stretches": stretches, "problems": problems}))


def was_begun(index: Path) -> bool:
    """Whether there are files of a frame, whole or not."""
    return any((index / FOLDER).glob("rows-*"))


def write(folder: Path, account: FrameAccount) -> None:
    """Say that the frame is there, in one move. Raises OSError."""
    atomic_write.write(folder / NAME, sealed_json.dumps({"layout": LAYOUT, **asdict(account)}), durable=True)


def numbers(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    """A column of numbers: whole ones as they are, others as float64 with NaN where missing."""
    found: NDArray[Any] = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    return found if found.dtype == np.int64 else found.astype(np.float64, copy=False)
