"""Some rollouts of an index as a run in memory: a sample, or what a filter leaves.

On request a sample has every step whole. A slice is read out of the files of the index once, cached as parts of any run are, and made a run
by the code that makes any run. What curves need of all rollouts is in the index's sums.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from board import atomic_write
from board.errors import ArgumentRefused, RunNotFound
from board.runs.cache import part_tables
from board.runs.cache.code_version import version
from board.runs.cache.columns import as_table
from board.runs.cache.part_folder import File
from board.runs.cache.parts import Part
from board.runs.cache.parts_by_key import PartsByKey
from board.runs.cache.rollout import ParsedSource
from board.runs.cache.sealed_file import Damaged
from board.runs.cache.store import Store
from board.runs.indexed.index_rows import GROUP, LOT, MEASURED, ROLLOUT, RowFiles, part_of
from board.runs.parsing import merging
from board.runs.parsing.column_room import fitted
from board.sources import index_file, run_files, sealed_json
from board.text.counting import plural
from board.text.path_names import shown

if TYPE_CHECKING:
    from board.runs.run import Run

SETTING: Final = "RL_BOARD_SLICE_ROLLOUTS"
"""Environment variable: how many rollouts of an index are opened at once at most."""

MOST_ROLLOUTS: Final = 200_000
SAMPLE: Final = 4
"""A sample has one in so many of the rollouts that may be opened at once: a step, or what a filter leaves, may be larger."""

_PARTS: Final = "slice.json"
"""The file that lists a slice's parts, next to them."""


def most_rollouts(setting: str = SETTING, most: int = MOST_ROLLOUTS) -> int:
    """How many rollouts are opened at once: `most` unless the setting says. Raises ArgumentRefused where that is no whole number above 0."""
    given = os.environ.get(setting, str(most))
    if not (rollouts := int(given[:18]) if given.isdecimal() else 0):  # no run has more: further digits change no bound
        raise ArgumentRefused(f"{setting} is a whole number of rollouts above 0, not {given!r}.")
    return rollouts


class Index:
    """An index whose file is read, and the rollouts of it that were opened since: each has one key in all runs that are made of it."""

    def __init__(self, folder: Path, content: Mapping[str, Any]) -> None:
        self.folder, self._content = folder, content
        self.files = RowFiles(content["sources"], self.opened)
        self._places = RowFiles({"": {"number": 0, "files": [content["places"]]}}, self.opened, "")
        self.rollouts: int = content["places"]["rows"]
        self.flags: tuple[str, ...] = tuple(content["flags"])
        """The columns that mark what was discarded."""
        self.measures: Mapping[str, Sequence[str]] = content["measures"]
        """By measure the columns that it makes of texts."""
        names = [file.name for file in (*self.files.files, *self._places.files)]  # none is ever written to again
        self._stamp = xxh3_128_hexdigest("\n".join(names).encode())
        self._parts = list[Part]()
        self._groups = np.zeros(0)
        self._taking = threading.Lock()
        self.ids = np.zeros(0, np.int64)
        """Of the rollouts that were opened, by key."""

    def opened(self, name: str) -> BinaryIO:
        """One of its files. Raises OSError."""
        return run_files.opened(self.folder / name, within=self.folder)

    @cached_property
    def sums(self) -> dict[str, pa.Table]:
        """By split what curves need of its rollouts, a row for each step. Raises RunNotFound where they are not as they were written."""
        files = RowFiles({"": {"number": 0, "files": [self._content["sums"]]}}, self.opened, "")
        if not self.rollouts:
            return {}
        with self.verified():
            table = pa.concat_tables(files.scan(sorted(files.columns())), promote_options="default")
        splits = table.column("split").unique().to_pylist()
        return {split: table.filter(pc.equal(table.column("split"), split)) for split in splits}

    @contextmanager
    def verified(self) -> Iterator[None]:
        """A context in which what goes wrong with a file is raised as RunNotFound, which names the index."""
        try:
            yield
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            why = error.strerror or error if isinstance(error, OSError) else error
            said = f"The index {shown(self.folder.resolve().name)!r} cannot be read: {why}. Run `rl-logging-board index` again."
            raise RunNotFound(said) from error

    @property
    def shards(self) -> set[str]:
        """The files of the run that any rollout is of; of many that were read together it is not known of which."""
        held = {name: one for name, one in self._content["sources"].items() if one["rows"]}
        return {name for source, one in held.items() for name in (one["members"] or [source])}

    def rows_in_step(self, step: int) -> int:
        """How many rollouts a step has, of all splits."""
        return sum(_at_step(table, "rows", step) for table in self.sums.values())

    def ids_of_step(self, step: int) -> NDArray[np.int64]:
        """The ids of all rollouts of a step, rising."""
        return np.sort(self._columns([ROLLOUT], (step, step))[0])

    def _columns(self, names: list[str], steps: tuple[int, int] | None = None) -> list[NDArray[Any]]:
        """Columns of the places of all rollouts, or of those of some steps."""
        with self.verified():
            tables = [table.select(names) for table in self._places.scan(names, steps)]
        return [np.concatenate([np.zeros(0, np.int64), *(table.column(name).to_numpy() for table in tables)]) for name in names]

    def sample(self, most: int) -> NDArray[np.int64]:
        """The ids of about so many rollouts, as many of each step in whole groups, and some of each split of it; all of a small index."""
        if self.rollouts <= most_rollouts():
            return np.sort(self._columns([ROLLOUT])[0])
        rows = (
            pd.concat([table.select(["step", "rows"]).to_pandas() for table in self.sums.values()]).groupby("step")["rows"].sum()
        )
        share = most / len(rows) / rows
        found = list[NDArray[np.int64]]()
        for split, table in self.sums.items():
            least = pd.Series(table.column("least_lot").to_numpy(), table.column("step").to_numpy())
            lots = np.maximum(least, share.reindex(least.index))
            with self.verified():
                for places in self._places.scan([ROLLOUT, "step", "split", LOT]):
                    own = places.filter(pc.equal(places.column("split"), split))
                    chosen = own.column(LOT).to_numpy() <= lots.reindex(own.column("step").to_numpy()).to_numpy()
                    found.append(own.column(ROLLOUT).to_numpy()[chosen])
        return np.sort(np.concatenate([np.zeros(0, np.int64), *found]))

    def take(self, ids: NDArray[np.int64], steps: tuple[int, int] | None = None) -> tuple[PartsByKey, NDArray[np.int64]]:
        """The parts that were read of it so far, and the keys of the rollouts with these ids, in their order; they are of `steps`, if given.

        What a trainer wrote twice has a key once: ids of the others are left out.
        """
        with self._taking:
            new = np.setdiff1d(ids, self.ids)
            if len(new):
                places, groups = self._columns([ROLLOUT, GROUP], steps)
                order = np.argsort(places)
                at = np.minimum(np.searchsorted(places, new, sorter=order), len(places) - 1)
                new = new[(there := places[order[at]] == new)]
                self._groups = np.concatenate([self._groups, groups[order[at[there]]]])
                self._parts += self.parts(new) if len(new) else []
                self.ids = np.concatenate([self.ids, new])
            known = np.argsort(self.ids)
            ids = ids[np.isin(ids, self.ids)]
            return PartsByKey(fitted(self._parts)[0]), known[np.searchsorted(self.ids, ids, sorter=known)]

    def find(self, named: ParsedSource) -> tuple[int, int] | None:
        """The id and the step of the rollout that a link names; None where there is none."""
        place, value = ("offset", named.offset) if named.line is None else ("line", named.line)
        sources = [name for name, one in self._content["sources"].items() if named.shard in (name, *one["members"])]
        with self.verified():
            for table in self.files.scan([ROLLOUT, "step", "shard", place, "nth"], sources=sources):
                there = pc.and_(pc.equal(table.column(place), value), pc.equal(table.column("nth"), named.nth))
                rows = np.flatnonzero(pc.and_(there, pc.equal(table.column("shard"), named.shard)).to_numpy())
                if len(rows):
                    return table.column(ROLLOUT)[int(rows[0])].as_py(), table.column("step")[int(rows[0])].as_py()
        return None

    def parts(self, ids: NDArray[np.int64]) -> list[Part]:
        """The rollouts with these rising ids, in their order: out of the cache where they were read before, else read now and cached."""
        store = Store(self.folder, f"{self._stamp} {xxh3_128_hexdigest(ids.tobytes())}")
        try:
            store.open()
            files = _stored_parts(store) or self._keep(store, ids)
            anew = cache(lambda: self._read(ids))  # once, whatever is damaged
            return [store.read(file, None, lambda at=at: anew()[at]) for at, file in enumerate(files)]  # type: ignore[misc]
        except (OSError, Damaged):  # the cache cannot be written, or is not as it was
            with suppress(OSError):
                (store.folder / _PARTS).unlink(missing_ok=True)
            return self._read(ids)

    def _tables(self, ids: NDArray[np.int64]) -> Iterator[pa.Table]:
        with self.verified():
            yield from self.files.tables(ids)

    def _read(self, ids: NDArray[np.int64]) -> list[Part]:
        return [*map(part_of, self._tables(ids))]

    def _keep(self, store: Store, ids: NDArray[np.int64]) -> list[File]:
        files = list[File]()
        for table in self._tables(ids):
            files.append(store.write(part_of(table), with_shard=True))
            if self._content["store"] == version():  # else another code measured the texts
                self._keep_measures(replace(part_of(table), file=store.folder / files[-1].name), table)
        atomic_write.write(store.folder / _PARTS, sealed_json.dumps([[file.name, file.sums] for file in files]))
        store.clean({file.name for file in files})
        return files

    def _keep_measures(self, part: Part, table: pa.Table) -> None:
        """Store what was measured of texts next to the part, where it is looked for."""
        for measure, names in self.measures.items():
            held = {name: MEASURED + name in table.column_names for name in names}
            nothing = np.full(len(table), np.nan)
            columns = {name: table.column(MEASURED + name).to_numpy() if there else nothing for name, there in held.items()}
            part_tables.keep(part, measure, pa.table({name: pa.array(values, pa.float64()) for name, values in columns.items()}))

    def frame(self, by_key: PartsByKey, keys: NDArray[np.int64]) -> pd.DataFrame:
        """The frame of a run of the rollouts with these keys, whose groups are numbered as those of all rollouts of their steps."""
        names = [name for source, one in self._content["sources"].items() for name in (one["members"] or [source])]
        rows = _scalars(by_key, keys)
        if not {*rows["shard"].unique()} <= {*names}:
            raise index_file.unusable(shown(self.folder.resolve().name))
        read = merging.in_reading_order(rows, names)
        frame = merging.merged(by_key.parts, read, names, self._content["batches"], self.flags)
        groups = pd.Series(self._groups[frame.index.to_numpy()], frame.index, dtype=np.float64)
        if groups.isna().all():
            return frame.drop(columns=GROUP, errors="ignore")
        return frame.assign(group=groups)[merging.columns_in_order([*frame.columns, GROUP])]


def _scalars(by_key: PartsByKey, keys: NDArray[np.int64]) -> pd.DataFrame:
    """The scalars of some rollouts, indexed by their keys."""
    tables, found = list[pa.Table](), list[NDArray[np.int64]]()
    for part, start, rows in by_key.rows_of(keys):
        tables.append(as_table(part.scalars).take(pa.array(rows)))
        found.append(start + rows)
    if not tables:
        return merging.scalars([])
    frame: pd.DataFrame = pa.concat_tables(tables, promote_options="default").to_pandas()
    ids = frame.select_dtypes("category").columns
    return frame.assign(**{name: frame[name].cat.remove_unused_categories() for name in ids}).set_index(np.concatenate(found))


@dataclass(frozen=True)
class Slice:
    """Which of an index's rollouts a run holds."""

    index: Index
    rollouts: int
    """How many there are in all, of the split and those that the filter leaves."""
    split: str = ""
    """The split they are of; empty for all."""
    filtered: str = ""
    """The condition in SQL that they satisfy; empty where there is no filter."""
    left: NDArray[np.int64] | None = None
    """The ids that the filter leaves, rising; None where there is none."""
    whole: tuple[int, ...] = ()
    """Steps that are whole in addition to the sample."""

    @property
    def splits(self) -> tuple[str, ...]:
        """Which there are."""
        return tuple(one for one in self.index.sums if self.split in ("", one))

    @property
    def exact(self) -> bool:
        """Whether `of_steps` tells of all rollouts: it does so of those of one split without a filter."""
        return len(self.splits) == 1 and not self.filtered

    def of_split(self, split: str) -> "Slice":
        """The slice of one split alone; how many a filter leaves of it is then a guess by its share of all."""
        counts = {one: int(pc.sum(table.column("rows")).as_py() or 0) for one, table in self.index.sums.items()}
        share = counts.get(split, 0) / max(1, sum(counts[one] for one in self.splits))
        return replace(self, split=split, rollouts=round(self.rollouts * share) if self.filtered else counts.get(split, 0))

    def of_steps(self, named: str) -> "pd.Series[Any] | None":
        """A number of each step, made of all rollouts: `value/<key>` or `stat/<column>/<statistic>`; None where the index has none."""
        table = self.index.sums[self.splits[0]] if self.exact else None
        if table is None or named not in table.column_names:
            return None
        values = table.column(named).to_numpy()
        return pd.Series(values, pd.Index(table.column("step").to_numpy(), name="step"), name=named)

    def with_step(self, run: "Run", step: int) -> "Run":
        """The run with all rollouts of a step, and of the one before, in addition to those it has; as it is where they are too many."""
        before = run.steps[: int(np.searchsorted(run.steps, step))][-1:].tolist()
        missing = [one for one in (*before, step) if one not in self.whole and self.index.rows_in_step(one) <= most_rollouts()]
        keys = run.frame.index.to_numpy()
        for one in missing:
            ids = self.index.ids_of_step(one)
            by_key, more = self.index.take(ids if self.left is None else ids[np.isin(ids, self.left)], (one, one))
            keys = np.union1d(keys, more)
        if not missing:
            return run
        whole = replace(self, whole=tuple(sorted({*self.whole, *missing})))
        frame, named = self.index.frame(by_key, keys), f"{run.load_id}-at {step}"
        return replace(run, frame=frame, _by_key=by_key, slice=whole, load_id=named).of_own_split(self.split)

    def of_ids(self, run: "Run", ids: NDArray[np.int64], named: str) -> tuple["Run", NDArray[np.int64]]:
        """The run with the rollouts of these ids alone, and their keys, in their order; `named` tells it from any other."""
        by_key, keys = self.index.take(ids)
        made = replace(run, frame=self.index.frame(by_key, keys), _by_key=by_key, slice=None, load_id=f"{run.load_id}-{named}")
        return made.of_own_split(self.split), keys


@dataclass(frozen=True)
class SampleAccount:
    """How much of a run is shown."""

    shown: int
    of: Slice

    @property
    def share(self) -> str:
        """How much is shown, where curves are none of the matter."""
        return f"A sample of {self.shown:,} of {plural(self.of.rollouts, 'rollout')}, even over steps"

    def __str__(self) -> str:
        """One line for the reader."""
        curves = (
            "Curves and means by step are of all (lengths of right and wrong ones: of the sample)"
            if self.of.exact
            else "Curves are of the sample"
        )
        steps = f"{'step' if len(self.of.whole) == 1 else 'steps'} {' and '.join(f'{one:,}' for one in self.of.whole)} whole"
        return f"{self.share}{f'; {steps}' if self.of.whole else ''}. {curves}."


def _stored_parts(store: Store) -> list[File] | None:
    """The parts of a slice that was read before; None where it was not, or what says so is not as it was written."""
    try:
        parts = sealed_json.loads(run_files.whole(store.folder / _PARTS, most=100_000_000))
        return [File(name, tuple((stop, digest) for stop, digest in sums)) for name, sums in parts]
    except (OSError, ValueError, TypeError):
        return None


def _at_step(table: pa.Table, name: str, step: int) -> int:
    return int(pc.sum(table.filter(pc.equal(table.column("step"), step)).column(name)).as_py() or 0)
