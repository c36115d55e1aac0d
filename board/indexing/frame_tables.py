"""What lies over all stretches of a frame: the sample, what curves need of each step, where the parts are, and what is said of it all.

Knows what was found in the parts and what each stretch holds; knows neither who wrote them nor what is in a token.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.indexing.frame_facts import FrameFacts
from board.indexing.frame_stretch import WrittenStretch
from board.metrics.declared import METRICS
from board.metrics.declared.computation import SoFar
from board.runs import frame_files
from board.runs.frame_files import FrameAccount, Stretch
from board.runs.load_report import LoadReport
from board.system import atomic_write


def over_all(facts: FrameFacts, written: Sequence[WrittenStretch]) -> dict[str, pa.Table]:
    """What lies over all stretches, by the names of files."""
    tables = {
        "sample.arrow": _one_batch(pa.concat_tables([one.sample for one in written])),
        "parts.arrow": pa.Table.from_pylist(facts.parts),
    }
    for split in dict.fromkeys(split for one in written for split in one.steps):
        frame = _so_far(pd.concat([one.steps[split] for one in written if split in one.steps]), written, split)
        columns = {"step": pa.array(frame.index.to_numpy(np.int64))}
        columns |= {str(name): pa.array(frame[name].to_numpy(), from_pandas=True) for name in frame.columns}
        tables[f"steps-{split}.arrow"] = pa.table(columns)
    return tables


def write_all(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, int]:
    """Write tables into a folder; the sums of the files by their names. Raises OSError."""
    for name, table in tables.items():
        with atomic_write.replacing(folder / name, durable=True) as stream, pa.ipc.new_file(stream, table.schema) as out:
            out.write_table(table)
    return {name: frame_files.sum_of(folder / name) for name in tables}


def _so_far(frame: pd.DataFrame, written: Sequence[WrittenStretch], split: str) -> pd.DataFrame:
    """The steps of all stretches, with what is told of all steps up to one told of those of earlier stretches, too."""
    ends = np.cumsum([len(one.steps[split]) for one in written if split in one.steps])
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


def _one_batch(table: pa.Table) -> pa.Table:
    return table.unify_dictionaries().combine_chunks()


def account_of(
    of: str,
    facts: FrameFacts,
    written: Sequence[WrittenStretch],
    sums: dict[str, int],
    report: LoadReport,
) -> FrameAccount:
    """What is said of the frame of the index in the state `of`."""
    account = facts.account()
    has_groups = any(one.has_groups for one in written)
    splits: dict[str, int] = {}
    for one in written:
        for split, rows in one.splits.items():
            splits[split] = splits.get(split, 0) + rows
    return FrameAccount(
        of=of,
        rows=facts.rows,
        columns=tuple(name for name in facts.columns() if has_groups or name != "group"),
        ids={name: tuple(values) for name, values in facts.ids_in_order().items()},
        shards=tuple(facts.shards),
        shard_rows=tuple(facts.shard_rows[name] for name in facts.shards),
        measured=tuple(sorted({name for one in written for name in one.measured})),
        moments=tuple(sorted(facts.moments)),
        token_metrics=account.token_metrics,
        text_columns=account.text_columns,
        has_tokens=account.has_tokens,
        has_alternatives=account.has_alternatives,
        splits=splits,
        flags=tuple(facts.flags),
        problems=tuple(report.problems),
        counts=dict(report.counts),
        unfinished=tuple(report.unfinished),
        stretches=tuple(Stretch(one.file, one.first, one.last, one.rows, one.sum, one.footer) for one in written),
        sums=sums,
    )
