"""The frame of a whole index written out: stretches of steps one after another, then what lies over all of them.

Interrupted, it leaves what no `frame.json` names, which the next time removes. Knows which stretches there are; knows no metric.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.indexing.frame_facts import FrameFacts, IndexParts, gathered
from board.indexing.frame_stretch import StretchWriter, WrittenStretch
from board.metrics.declared import METRICS
from board.metrics.declared.computation import SoFar
from board.runs import frame_files
from board.runs.frame_files import FOLDER, FrameAccount, Stretch
from board.runs.indexed_run import IndexedRun
from board.runs.read_options import ReadOptions
from board.sources import index_file, shards
from board.system import atomic_write

LEAST_ROLLOUTS: Final = 200_000
"""The frame of fewer is made of the parts at every open, in less than a second."""

SAMPLE_ROLLOUTS: Final = 100_000
"""In the sample of a run."""

STRETCH_ROLLOUTS: Final = 150_000
"""In a stretch, and more where a step has more."""

Tell = Callable[[int, int], None]


def bring_up_to_date(index: Path, reading: ReadOptions, tell: Tell = lambda done, total: None) -> bool:
    """Write the frame of an index that is whole, unless it is there; whether there is one then.

    `tell` is called with how many rollouts are written, of how many. Raises OSError where it cannot be written, RunNotFound where a part is
    damaged that nothing can be made of any more.
    """
    of = index_file.stamp(index)
    run = IndexedRun(index, shards.find_shards(index)[0], reading, None, framed=False)
    rows = run.done()[1]
    if rows < LEAST_ROLLOUTS or not all(run.batches.values()):  # what is written twice is told apart in memory alone
        _clean(index / FOLDER, set())
        return False
    if frame_files.read(index, of) is not None:
        return True
    folder = index / FOLDER
    folder.mkdir(exist_ok=True)
    _clean(folder, set())
    parts = IndexParts(run)
    facts = gathered(run, parts)
    writer = StretchWriter(folder, parts, facts, max(1, SAMPLE_ROLLOUTS // max(1, len(facts.steps))))
    written, done = list[WrittenStretch](), 0
    for first, last in stretches(facts):
        written.append(writer.write(first, last))
        done += written[-1].rows
        tell(done, rows)
    account = _account(of, facts, written, _write_all(folder, facts, written))
    frame_files.write(index, account)
    return True


def stretches(facts: FrameFacts) -> Iterator[tuple[int, int]]:
    """First and last step of each stretch."""
    steps = sorted(facts.steps)
    first, held = 0, 0
    for at, step in enumerate(steps):
        held += facts.steps[step]
        if held >= STRETCH_ROLLOUTS or at + 1 == len(steps):
            yield steps[first], step
            first, held = at + 1, 0


def _write_all(folder: Path, facts: FrameFacts, written: Sequence[WrittenStretch]) -> dict[str, int]:
    """What lies over all stretches; the sums of the files."""
    tables = {
        "sample.arrow": _one_batch(pa.concat_tables([one.sample for one in written])),
        "parts.arrow": pa.Table.from_pylist(facts.parts),
    }
    for split in dict.fromkeys(split for one in written for split in one.steps):
        frame = _so_far(pd.concat([one.steps[split] for one in written if split in one.steps]), written, split)
        columns = {"step": pa.array(frame.index.to_numpy(np.int64))}
        columns |= {str(name): pa.array(frame[name].to_numpy(), from_pandas=True) for name in frame.columns}
        tables[f"steps-{split}.arrow"] = pa.table(columns)
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


def _account(of: str, facts: FrameFacts, written: Sequence[WrittenStretch], sums: dict[str, int]) -> FrameAccount:
    account, report = facts.account(), facts.report
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
        problems=tuple(report.problems),
        counts=dict(report.counts),
        unfinished=tuple(report.unfinished),
        stretches=tuple(Stretch(one.file, one.first, one.last, one.rows) for one in written),
        sums=sums,
    )


def _clean(folder: Path, used: set[str]) -> None:
    """Remove a frame that is of another state of the index."""
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in used:
                path.unlink(missing_ok=True)
