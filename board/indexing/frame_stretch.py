"""Some steps of an index, whole: their rows merged and in order as a file, and beside it what curves need of each step, and some rollouts.

Made by the code that a run in memory is made and shown by, so that what comes out of it is the same. Knows one stretch of steps; knows
neither which there are nor what becomes of the files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from board.analysis import measured_columns
from board.analysis.rollout_sample import even_sample
from board.analysis.selection import numeric_columns
from board.analysis.step_metrics import computable, of_step_alone, per_step_values
from board.analysis.step_stats import per_step
from board.indexing.frame_facts import INTERNAL, FrameFacts, IndexParts
from board.indexing.made_file import Made
from board.runs import frame_files
from board.runs.columns import as_table
from board.runs.discarded import flagged
from board.runs.frame_files import KEY, SAMPLED
from board.runs.kept_rows import KeptRows
from board.runs.load_report import LoadReport
from board.runs.merging import in_order
from board.runs.parts import Part
from board.runs.parts_on_demand import PartsOnDemand
from board.runs.run import Run
from board.system import atomic_write

GROUP_ROWS: Final = 16_384
"""Rows of a row group: what a step costs to read is so many rows more than it has."""

_LEVEL: Final = 1
"""Of compression: a higher one takes several times as long and saves a tenth."""


@dataclass(frozen=True)
class WrittenStretch:
    """What a stretch holds."""

    file: str
    sum: int
    """Of the file."""
    footer: int
    """The footer's own (`frame_files.sum_of_footer`)."""
    first: int
    """Step."""
    last: int
    rows: int
    sample: pa.Table
    steps: dict[str, pd.DataFrame]
    """By split what curves need, a row a step."""
    splits: dict[str, int]
    has_groups: bool
    """Whether any group has a second member."""
    measured: set[str]
    """The measured columns in which some rollout has a number."""

    def made(self) -> Made:
        """As it is kept until all stretches are written."""
        about = {name: getattr(self, name) for name in _TOLD}
        tables = {f"steps/{split}": pa.Table.from_pandas(steps) for split, steps in self.steps.items()}
        return Made({**about, "measured": sorted(self.measured)}, {"sample": self.sample, **tables})

    @classmethod
    def read(cls, made: Made) -> "WrittenStretch":
        """What `made` tells."""
        steps = {name.partition("/")[2]: table.to_pandas() for name, table in made.tables.items() if name.startswith("steps/")}
        told = {name: made.about[name] for name in _TOLD}
        return cls(**told, sample=made.tables["sample"], steps=steps, measured=set(made.about["measured"]))


_TOLD: Final = ("file", "sum", "footer", "first", "last", "rows", "splits", "has_groups")


class StretchWriter:
    """Writes stretches of one index into a folder."""

    def __init__(self, folder: Path, parts: IndexParts, facts: FrameFacts, sample: int) -> None:
        """About `sample` rollouts of the run are in the sample, as many of each step."""
        self._folder, self._parts, self._facts = folder, parts, facts
        self._per_step = max(1, sample // max(1, len(facts.steps)))
        self._by_key = parts.by_key(facts)
        self._columns = facts.columns()
        self._first = np.array([one["step_first"] for one in facts.parts], np.int64)
        self._last = np.array([one["step_last"] for one in facts.parts], np.int64)

    def write(self, first: int, last: int, file: str) -> WrittenStretch:
        """Write the steps from `first` to `last` into a file of that name. Raises OSError."""
        rows = self._rows(first, last)
        frame = in_order(flagged(rows, self._facts.flags), self._facts.shards, some=True)
        frame = self._with_all_columns(frame)
        sources = rows.loc[frame.index]
        by_key = self._by_key.beside(
            KeptRows(frame.index.to_numpy(), lambda name: sources[name.removeprefix("source/")].to_numpy(np.int64))
        )
        moments = _moments(self._by_key, frame.index.to_numpy(), sorted(self._facts.moments))
        by_key = by_key.beside(KeptRows(frame.index.to_numpy(), lambda name: _column(moments, sources, name)))
        run = Run(self._folder, frame, LoadReport(), (), "stretch", by_key, {})
        measured = measured_columns.with_measures(run)
        sampled = self._sampled(run)
        table = self._table(measured, sources, moments, sampled)
        with atomic_write.replacing(self._folder / file, durable=True) as stream:
            pq.write_table(
                table, stream, row_group_size=GROUP_ROWS, compression="zstd", compression_level=_LEVEL, write_page_checksum=True
            )
        return WrittenStretch(
            file,
            frame_files.sum_of(self._folder / file),
            frame_files.sum_of_footer(self._folder / file),
            int(run.steps[0]),
            int(run.steps[-1]),
            len(frame),
            table.filter(pa.array(sampled)),
            {split: _of_steps(measured.of_split(split)) for split in run.splits},
            {split: len(run.of_split(split).frame) for split in run.splits},
            bool(frame[["step", "group"]].dropna().duplicated().any()),
            {name for name in measured_columns.NAMES if name in measured.frame and name not in frame},
        )

    def _rows(self, first: int, last: int) -> pd.DataFrame:
        """The scalars of all rollouts of these steps, in the order of reading, indexed by their keys."""
        pieces, keys = list[pa.Table](), list[NDArray[np.int64]]()
        for number in np.flatnonzero((self._first <= last) & (self._last >= first)).tolist():
            part = self._parts.held[number]
            steps = part.scalars.column("step").to_numpy()
            chosen = np.flatnonzero((steps >= first) & (steps <= last))
            if len(chosen):
                pieces.append(_taken(part, chosen))
                keys.append(chosen + self._facts.parts[number]["start"])
        frame: pd.DataFrame = pa.concat_tables(pieces, promote_options="default").to_pandas()
        return frame.set_index(pd.Index(np.concatenate(keys), name=KEY))

    def _with_all_columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with all columns that the run has, so that what is told of its steps is what the whole would tell."""
        columns: dict[str, Any] = {}
        for name in self._columns:
            if name in frame.columns:
                columns[name] = frame[name] if name == "shard" or not self._facts.is_id(name) else frame[name].astype("category")
            elif self._facts.is_id(name):
                columns[name] = pd.Categorical.from_codes(np.full(len(frame), -1), categories=pd.Index([], dtype=object))
            else:
                columns[name] = np.full(len(frame), np.nan)
        return pd.DataFrame(columns, index=frame.index)

    def _sampled(self, run: Run) -> NDArray[np.bool_]:
        """Which rollouts are in the sample: whole groups, about as many of each step, and one at least of each split of each step."""
        frame = run.frame
        chosen = np.zeros(len(frame), np.bool_)
        chosen[even_sample(frame, self._per_step * len(run.steps))] = True
        for split in run.splits:
            own = run.of_split(split).frame
            firsts = own.index.to_numpy()[~own["step"].duplicated().to_numpy()]
            held = set(own["step"].to_numpy()[chosen[frame.index.get_indexer(own.index)]].tolist())
            lacking = [key for key, step in zip(firsts, own["step"].loc[firsts], strict=True) if step not in held]
            chosen[frame.index.get_indexer(pd.Index(lacking, dtype=np.int64))] = True
        return chosen

    def _table(
        self, run: Run, sources: pd.DataFrame, moments: dict[str, NDArray[np.float64]], sampled: NDArray[np.bool_]
    ) -> pa.Table:
        frame = run.frame
        columns: dict[str, pa.Array] = {KEY: pa.array(frame.index.to_numpy(np.int64)), SAMPLED: pa.array(sampled)}
        for name in self._columns:
            columns[f"frame/{name}"] = _ids(frame[name]) if self._facts.is_id(name) else _numbers(frame[name])
        columns |= {f"source/{name}": pa.array(sources[name].to_numpy(np.int64)) for name in INTERNAL}
        columns |= {f"moment/{name}": pa.array(values, from_pandas=True) for name, values in moments.items()}
        for name in measured_columns.NAMES:
            held = name in frame.columns and name not in self._columns
            values = frame[name].to_numpy(np.float32) if held else np.full(len(frame), np.nan, np.float32)
            columns[f"measured/{name}"] = pa.array(values, from_pandas=True)
        return pa.table(columns)


def _taken(part: Part, rows: NDArray[np.int64]) -> pa.Table:
    table = as_table(part.scalars)
    return table if len(rows) == len(table) else table.take(pa.array(rows))


def _moments(by_key: PartsOnDemand, keys: NDArray[np.int64], names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """All sums of tokens of some rollouts, each part gone to once."""
    found = {name: np.full(len(keys), np.nan) for name in names}
    order = np.argsort(keys, kind="stable")
    done = 0
    for part, _, rows in by_key.rows_of(keys):
        places = order[done : done + len(rows)]
        for name in part.moments.column_names:
            found[name][places] = part.moments.column(name).to_numpy()[rows]
        done += len(rows)
    return found


def _column(moments: dict[str, NDArray[np.float64]], sources: pd.DataFrame, name: str) -> NDArray[Any]:
    kind, _, own = name.partition("/")
    return moments[own] if kind == "moment" else sources[own].to_numpy(np.int64)


def _of_steps(run: Run) -> pd.DataFrame:
    """What curves need of the rollouts of one split: their number, every metric, and how every number is spread."""
    values = per_step_values(run, list(filter(of_step_alone, computable(run)))).add_prefix("value/")
    stats = [per_step(run.frame, name).add_prefix(f"stat/{name}/") for name in numeric_columns(run.frame)]
    counts = run.frame.groupby("step").size().rename("rows")
    return pd.concat([counts, values, *stats], axis="columns").rename_axis("step")


def _ids(column: "pd.Series[Any]") -> pa.Array:
    held = column.cat.remove_unused_categories()
    codes = pa.array(held.cat.codes.to_numpy(np.int32), mask=held.isna().to_numpy())
    return pa.DictionaryArray.from_arrays(codes, pa.array([str(one) for one in held.cat.categories], pa.string()))


def _numbers(column: "pd.Series[Any]") -> pa.Array:
    values = column.to_numpy()
    return pa.array(values) if values.dtype == np.int64 else pa.array(values.astype(np.float64), from_pandas=True)
