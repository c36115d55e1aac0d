"""Some steps of an index, whole: their rows as a file, and beside it what curves need of each step, and some rollouts.

Knows one stretch of steps; knows neither which there are nor what becomes of the files.
"""

from dataclasses import dataclass, replace
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
from board.runs import frame_files
from board.runs.frame_files import KEY, SAMPLED, Stretch
from board.runs.run import Run
from board.system import atomic_write

GROUP_ROWS: Final = 16_384
"""Rows of a row group: what a step costs to read is so many rows more than it has."""

_LEVEL: Final = 1
"""Of compression: a higher one takes several times as long and saves a tenth."""

SOURCES: Final = ("offset", "nth", "prompt_key")
"""Columns of a part that a run's frame does not show."""


@dataclass(frozen=True)
class WrittenStretch:
    """What a stretch holds."""

    stretch: Stretch
    sample: pa.Table
    steps: dict[str, pd.DataFrame]
    """By split what curves need, a row a step."""
    measured: set[str]
    """The measured columns in which some rollout has a number."""


class StretchWriter:
    """Writes stretches of one run into a folder."""

    def __init__(self, folder: Path, run: Run, rows: pd.DataFrame, sample: int) -> None:
        """`rows` are the scalars of its parts in the order of keys; about `sample` rollouts are in the sample, as many of each step."""
        self._folder, self._run, self._rows = folder, run, rows
        self._per_step = max(1, sample // max(1, len(run.steps)))

    def write(self, start: int, stop: int, file: str) -> WrittenStretch:
        """Write the rows of the frame from `start` to before `stop`, whole steps, into a file of that name. Raises OSError."""
        run = replace(self._run, frame=self._run.frame.iloc[start:stop], load_id=f"{self._run.load_id}-{start}")
        measured = measured_columns.with_measures(run)
        sampled = self._sampled(run)
        table = self._table(run, measured, sampled)
        with atomic_write.replacing(self._folder / file, durable=True) as stream:
            pq.write_table(
                table, stream, row_group_size=GROUP_ROWS, compression="zstd", compression_level=_LEVEL, write_page_checksum=True
            )
        path, steps = self._folder / file, (int(run.steps[0]), int(run.steps[-1]))
        return WrittenStretch(
            Stretch(file, *steps, len(table), frame_files.sum_of(path), frame_files.sum_of_footer(path)),
            table.filter(pa.array(sampled)),
            {split: _of_steps(measured.of_split(split)) for split in run.splits},
            {name for name in measured_columns.NAMES if name in measured.frame and name not in run.frame},
        )

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

    def _table(self, run: Run, measured: Run, sampled: NDArray[np.bool_]) -> pa.Table:
        frame = run.frame
        keys = frame.index.to_numpy(np.int64)
        columns: dict[str, pa.Array] = {KEY: pa.array(keys), SAMPLED: pa.array(sampled)}
        for name in frame.columns:
            is_id = isinstance(frame[name].dtype, pd.CategoricalDtype)
            columns[f"frame/{name}"] = _ids(frame[name]) if is_id else _numbers(frame[name])
        columns |= {f"source/{name}": pa.array(self._rows[name].to_numpy(np.int64)[keys]) for name in SOURCES}
        columns |= {f"moment/{name}": pa.array(values, from_pandas=True) for name, values in _moments(run, keys).items()}
        for name in measured_columns.NAMES:
            held = name in measured.frame.columns and name not in frame.columns
            values = measured.frame[name].to_numpy(np.float32) if held else np.full(len(keys), np.nan, np.float32)
            columns[f"measured/{name}"] = pa.array(values, from_pandas=True)
        return pa.table(columns)


def _moments(run: Run, keys: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """All sums of tokens of some rollouts, each part gone to once."""
    found = {name: np.full(len(keys), np.nan) for name in sorted(run.moment_names)}
    order, done = np.argsort(keys, kind="stable"), 0
    for part, _, rows in run.parts_of_rows():
        places = order[done : done + len(rows)]
        for name in part.moments.column_names:
            found[name][places] = part.moments.column(name).to_numpy()[rows]
        done += len(rows)
    return found


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
