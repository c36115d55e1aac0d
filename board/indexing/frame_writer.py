"""The frame of an index written out: the run as it opens from the parts, in stretches of steps, and beside it what is of all of them.

Made by the code that a run in memory is made and shown by, so that what comes out of it is the same. Takes some 660 bytes of memory a rollout.
Knows which files there are; what a stretch holds is `board.indexing.frame_stretch`'s.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.indexing.frame_stretch import StretchWriter, WrittenStretch
from board.indexing.progress import FrameProgress
from board.metrics.declared import METRICS
from board.metrics.declared.computation import SoFar
from board.runs import column_room, discarded, frame_files, merging
from board.runs.frame_files import NAME, FrameAccount
from board.runs.indexed_run import IndexedRun
from board.runs.load_report import LoadReport
from board.runs.parts import Part
from board.runs.parts_by_key import PartsByKey
from board.runs.read_options import ReadOptions
from board.runs.repeated_steps import repeated_steps
from board.runs.run import Run
from board.runs.store import version
from board.sources import index_file, shards
from board.system import atomic_write

LEAST_ROLLOUTS: Final = 200_000
"""The frame of fewer is made of the parts at every open, in less than a second."""

SAMPLE_ROLLOUTS: Final = 100_000
"""In the sample of a run."""

STRETCH_ROLLOUTS: Final = 150_000
"""In a stretch, and more where a step has more."""

Tell = Callable[[FrameProgress], None]


def bring_up_to_date(
    index: Path, folder: Path, reading: ReadOptions, tell: Tell = lambda _: None, *, verify: bool = True
) -> bool:
    """Write the frame of an index that is whole into a folder, unless it is there; whether there is one then.

    What is there is read against its sums, unless `verify` says otherwise. Raises OSError where it cannot be written, RunNotFound where a
    part is damaged that nothing can be made of any more.
    """
    of = index_file.stamp(index)
    indexed = IndexedRun(index, shards.find_shards(index)[0], reading, None, framed=False)
    if indexed.done()[1] < LEAST_ROLLOUTS or not all(
        indexed.batches.values()
    ):  # what is written twice is told apart in memory alone
        _clean(folder, set())
        return False
    found = frame_files.read(index, of)
    if found is None or (verify and not found.is_sound()):
        _write(index, folder, of, indexed, tell)
    return True


def _write(index: Path, folder: Path, of: str, indexed: IndexedRun, tell: Tell) -> None:
    report = LoadReport()
    folder.mkdir(exist_ok=True)
    read = [*indexed.parts(report)]
    built, problems = column_room.fitted(read)
    rows = merging.scalars(built)
    for problem in (*problems, *repeated_steps(rows)):
        report.add(problem)
    frame = merging.merged(built, rows, [*indexed.by_file], indexed.batches)
    run = Run(index, frame, LoadReport(), (), "frame", PartsByKey(built), {})
    key = blake2b(f"{of} {version()} {frame_files.LAYOUT}".encode(), digest_size=8).hexdigest()
    began = time.monotonic()
    written = list[WrittenStretch]()
    writer = StretchWriter(folder, run, rows, SAMPLE_ROLLOUTS)
    for start, stop in stretches(frame["step"].to_numpy()):
        tell(FrameProgress(start, len(frame), time.monotonic() - began))
        written.append(writer.write(start, stop, f"rows-{key}-{len(written)}.parquet"))
    places = pa.Table.from_pylist([*_places(indexed, read, [*frame["shard"].cat.categories])])
    tables = over_all(places, written)
    for name, table in tables.items():
        with atomic_write.replacing(folder / name, durable=True) as stream, pa.ipc.new_file(stream, table.schema) as out:
            out.write_table(table)
    sums = {name: frame_files.sum_of(folder / name) for name in tables}
    frame_files.write(folder, account_of(of, run, discarded.flags(rows), report, written, sums))
    tell(FrameProgress(len(frame), len(frame), time.monotonic() - began))
    _clean(folder, {NAME, *sums, *(one.stretch.file for one in written)})


def _places(indexed: IndexedRun, built: Sequence[Part], shard_names: Sequence[str]) -> Iterator[dict[str, int]]:
    """For each part its shard, piece and place there, its first key, and the ends of what it holds."""
    start, waiting = 0, iter(built)
    for name, kept in indexed.kept.items():
        first_line = 0
        for piece in kept.pieces:
            for nth, _ in enumerate(piece.files):
                part = next(waiting)
                place = {"shard": shard_names.index(name), "piece": piece.start, "nth": nth, "first_line": first_line}
                yield {"start": start, "rows": len(part), **place, **_ends(part)}
                start += len(part)
            first_line += piece.lines


def _ends(part: Part) -> dict[str, int]:
    found = dict[str, int]()
    for name in ("line", "offset", "step"):
        values = part.scalars.column(name).to_numpy()
        least, most = (values.min(), values.max()) if len(values) else (0, -1)
        found |= {f"{name}_first": int(least), f"{name}_last": int(most)}
    return found


def stretches(steps: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """First row and the row behind the last of each stretch of whole steps, of rows in the order of steps."""
    ends = np.append(np.flatnonzero(steps[1:] != steps[:-1]) + 1, len(steps)).tolist()
    start = 0
    for end in ends:
        if end - start >= STRETCH_ROLLOUTS or end == len(steps):
            yield start, end
            start = end


def over_all(places: pa.Table, written: Sequence[WrittenStretch]) -> dict[str, pa.Table]:
    """What lies over all stretches, by the names of files."""
    sample = pa.concat_tables([one.sample for one in written])
    tables = {"sample.arrow": sample.unify_dictionaries().combine_chunks(), "parts.arrow": places}
    for split in dict.fromkeys(split for one in written for split in one.steps):
        frame = _so_far(pd.concat([one.steps[split] for one in written if split in one.steps]), written, split)
        columns = {"step": pa.array(frame.index.to_numpy(np.int64))}
        columns |= {str(name): pa.array(frame[name].to_numpy(), from_pandas=True) for name in frame.columns}
        tables[f"steps-{split}.arrow"] = pa.table(columns)
    return tables


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


def account_of(
    of: str, run: Run, flags: Sequence[str], report: LoadReport, written: Sequence[WrittenStretch], sums: dict[str, int]
) -> FrameAccount:
    """What is said of the frame of the index in the state `of`; `flags` are the columns that mark what was discarded."""
    frame, parts = run.frame, PartsByKey(run.parts).account
    ids = {str(name): frame[name].cat.categories for name in frame.select_dtypes("category").columns if name != "shard"}
    counts = frame["shard"].value_counts(sort=False)
    return FrameAccount(
        of=of,
        rows=len(frame),
        columns=tuple(frame.columns),
        ids={name: tuple(values) for name, values in ids.items() if len(values) <= merging.SORTED_IDS},
        shards=tuple(counts.index),
        shard_rows=tuple(counts.tolist()),
        measured=tuple(sorted({name for one in written for name in one.measured})),
        moments=tuple(sorted(run.moment_names)),
        token_metrics=parts.token_metrics,
        text_columns=parts.text_columns,
        has_tokens=parts.has_tokens,
        has_alternatives=parts.has_alternatives,
        splits={split: len(run.of_split(split).frame) for split in run.splits},
        flags=tuple(flags),
        problems=tuple(report.problems),
        counts=dict(report.counts),
        unfinished=tuple(report.unfinished),
        stretches=tuple(one.stretch for one in written),
        sums=sums,
    )


def _clean(folder: Path, kept: set[str]) -> None:
    """Remove what is of another state of the index."""
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)
