"""Sums over all rollouts of an index for curves and summaries, by step and split.

One table with a row for each. Made by the code that makes curves of a run in memory, some steps at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.rollouts.selection import numeric_columns
from board.analysis.steps.step_metrics import computable, of_step_alone, per_step_values
from board.analysis.steps.step_stats import per_step
from board.analysis.texts.measured_columns import NAMES
from board.metrics.declared import METRICS
from board.metrics.declared.computation import SoFar
from board.runs.cache.parts import Part
from board.runs.cache.parts_by_key import PartsByKey
from board.runs.indexed.index_rows import GROUP, LOT, MEASURED, ROLLOUT, RowFiles, part_of, text_of
from board.runs.load_report import LoadReport
from board.runs.parsing import merging
from board.runs.parsing.column_room import fitted
from board.runs.run import Run

PLACES: Final = pa.schema(
    [(ROLLOUT, pa.int64()), ("step", pa.int64()), ("split", pa.string()), (GROUP, pa.float64()), (LOT, pa.float64())]
)

STRETCH_ROLLOUTS: Final = 150_000
"""Rollouts that are held in memory at once, and more where a step has more."""


@dataclass(frozen=True)
class IndexRows:
    """The rows of an index, and how they are merged: `batches` and `flags` as of `merging.merged`, `shards` in order of reading."""

    files: RowFiles
    batches: Mapping[str, bool]
    flags: Sequence[str]
    shards: list[str]


def step_sums(rows: IndexRows, tell: Callable[[int, int], None]) -> tuple[pa.Table, pa.Table]:
    """What curves need of each step and split, and the place of each rollout.

    The first has columns `split`, `step`, `rows`, `least_lot`, `value/<metric>` and `stat/<column>/<statistic>`, in the order of splits and
    steps; the second `rollout`, `step`, `split`, `group` and `lot`, in the order of steps. `tell` receives how many rollouts of how many are
    done. Raises OSError, ValueError.
    """
    every = rows.files.columns()
    heavy = {name for name in every if name.startswith(("text/", "token/"))}
    light = [*sorted(every - heavy), *([] if all(rows.batches.values()) else [text_of("response")])]
    counts = _counts(rows.files)
    stretches = [*_stretches(counts)]
    has_groups = any(_has_groups(rows, _read(rows, [*light], one)) for one in stretches)
    found, places, done = list[dict[str, pd.DataFrame]](), list[pa.Table](), 0
    for one in stretches:
        table = _read(rows, light, one)
        stretch = _Stretch(rows, table, heavy, has_groups=has_groups)
        found.append(stretch.sums())
        places.append(stretch.places())
        done += len(table)
        tell(done, int(counts.sum()))
    splits = dict.fromkeys(split for one in found for split in one)
    whole = [_so_far([one[split] for one in found if split in one]).assign(split=split) for split in splits]
    frame = pd.concat(whole) if whole else pd.DataFrame({"split": [], "step": [], "rows": [], "least_lot": []})
    return pa.Table.from_pandas(frame, preserve_index=False), pa.concat_tables(places) if places else PLACES.empty_table()


def _read(rows: IndexRows, columns: list[str], steps: tuple[int, int]) -> pa.Table:
    return pa.concat_tables(rows.files.scan(columns, steps), promote_options="default")


def _has_groups(rows: IndexRows, table: pa.Table) -> bool:
    """Whether some prompt of a step has several rollouts: where none of the run has, the run was not sampled in groups."""
    part = part_of(table)
    return GROUP in merging.merged([part], merging.scalars([part]), rows.shards, rows.batches, rows.flags).columns


def _so_far(stretches: list[pd.DataFrame]) -> pd.DataFrame:
    """The steps of all stretches; metrics of all steps up to one also cover those of earlier stretches."""
    frame, ends = pd.concat(stretches).copy(), np.cumsum([len(one) for one in stretches])
    changed: dict[str, NDArray[np.float64]] = {}
    for key, metric in METRICS.items():
        if isinstance(metric.computation, SoFar) and f"value/{key}" in frame.columns:
            values = frame[f"value/{key}"].to_numpy(np.float64, copy=True)
            if metric.computation.combine == "max":
                values = np.fmax.accumulate(values)
            else:
                for start, stop in pairwise(ends.tolist()):
                    values[start:stop] += values[start - 1]  # each stretch begins at nothing
            changed[f"value/{key}"] = values
    return frame.assign(**changed)


def _counts(files: RowFiles) -> "pd.Series[int]":
    """How many rollouts each step has."""
    steps = [table.column("step").to_numpy() for table in files.scan(["step"])]
    return pd.Series(np.concatenate([np.zeros(0, np.int64), *steps])).value_counts().sort_index()


def _stretches(counts: "pd.Series[int]") -> Iterator[tuple[int, int]]:
    """Steps from the first to the last that follow each other, about as many rollouts each."""
    numbers = counts.cumsum().to_numpy() // STRETCH_ROLLOUTS
    for one in np.unique(numbers).tolist():
        steps = counts.index[numbers == one]
        yield int(steps[0]), int(steps[-1])


class _Stretch:
    """Some steps, whole, as a run."""

    def __init__(self, rows: IndexRows, table: pa.Table, heavy: set[str], *, has_groups: bool) -> None:
        part = fitted([_with_names(part_of(table), heavy)])[0][0]
        read = merging.in_reading_order(merging.scalars([part]), rows.shards)
        frame = merging.merged([part], read, rows.shards, rows.batches, rows.flags, some=has_groups)
        self._keys = frame.index.to_numpy()
        self._lots = table.column(LOT).to_numpy()[self._keys]
        self._ids = table.column(ROLLOUT).to_numpy()[self._keys]
        run = Run(Path(), frame, LoadReport(), (), "sums", PartsByKey([part]), {})
        self._run = run.with_columns(_measured(table, frame), "measured")

    def places(self) -> pa.Table:
        """Where each rollout is."""
        frame = self._run.frame
        splits = np.full(len(frame), "train", object)
        for split in self._run.splits:
            splits[frame.index.get_indexer(self._run.of_split(split).frame.index)] = split
        groups = frame.get(GROUP, pd.Series(np.nan, frame.index)).to_numpy(np.float64)
        columns = (self._ids, frame["step"].to_numpy(), splits, groups, self._lots)
        return pa.table([pa.array(values, field.type) for values, field in zip(columns, PLACES, strict=True)], schema=PLACES)

    def sums(self) -> dict[str, pd.DataFrame]:
        """By split what curves need, a row for each step."""
        return {split: self._of(self._run.of_split(split)) for split in self._run.splits}

    def _of(self, own: Run) -> pd.DataFrame:
        lots = self._lots[self._run.frame.index.get_indexer(own.frame.index)]
        least = pd.Series(lots).groupby(own.frame["step"].to_numpy()).min().rename("least_lot")
        values = per_step_values(own, list(filter(of_step_alone, computable(own)))).add_prefix("value/")
        stats = [per_step(own.frame, name).add_prefix(f"stat/{name}/") for name in numeric_columns(own.frame)]
        counts = own.frame.groupby("step").size().rename("rows")
        columns = pd.concat([counts, least, values, *stats], axis="columns").copy()  # in one block
        return columns.rename_axis("step").reset_index()


def _with_names(part: Part, heavy: set[str]) -> Part:
    """The part with columns for the texts and token arrays that were not read, so that it is known that there are some."""
    texts, tokens = ({name.partition("/")[2] for name in heavy if name.startswith(kind)} for kind in ("text/", "token/"))
    nothing = {name: pa.nulls(len(part), pa.large_string()) for name in texts - {*part.texts.column_names}}
    lists = {name: pa.nulls(len(part), pa.large_list(pa.float32())) for name in tokens}
    held = {name: part.texts.column(name) for name in part.texts.column_names}
    return Part(part.scalars, pa.table(held | nothing), pa.table(lists), part.moments, part.summaries)


def _measured(table: pa.Table, frame: pd.DataFrame) -> pd.DataFrame:
    keys: NDArray[np.int64] = frame.index.to_numpy()
    held = [name for name in NAMES if MEASURED + name in table.column_names and name not in frame.columns]
    columns: dict[str, Any] = {name: table.column(MEASURED + name).to_numpy()[keys].astype(np.float32) for name in held}
    there = [name for name, values in columns.items() if not np.isnan(values).all()]
    return pd.DataFrame({name: columns[name] for name in there}, index=frame.index)
