"""The frame of a whole index written out by an engine: what is in the parts, stretches of steps; then all laid together.

Each piece of work leaves a file, so that a frame that was stopped goes on where it was; what lies there of another state is removed. Cut by what
is in the index alone: what comes out of it is the same whoever works. Knows which pieces of work there are; knows no metric.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.errors import RunNotFound
from board.indexing import frame_facts, frame_task, made_file
from board.indexing.engine import Engine
from board.indexing.frame_facts import FrameFacts
from board.indexing.frame_stretch import WrittenStretch
from board.indexing.frame_task import FrameSite, Kind
from board.indexing.made_file import Made
from board.indexing.progress import FrameProgress
from board.metrics.declared import METRICS
from board.metrics.declared.computation import SoFar
from board.runs import frame_files
from board.runs.frame_files import FOLDER, FrameAccount, Stretch
from board.runs.indexed_run import IndexedRun
from board.runs.load_report import LoadReport
from board.runs.read_options import ReadOptions
from board.sources import index_file, shards
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


LEAST_ROLLOUTS: Final = 200_000
"""The frame of fewer is made of the parts at every open, in less than a second."""

SAMPLE_ROLLOUTS: Final = 100_000
"""In the sample of a run."""

STRETCH_ROLLOUTS: Final = 150_000
"""In a stretch, and more where a step has more."""

TOGETHER_PARTS: Final = 32
"""So many parts are one piece of work."""

TRIES: Final = 3
"""So often a piece of work is given to a worker that fails, or ends."""

_MADE: Final = "made-"
"""How the names of files begin that are of no use once the frame is whole."""

_WAITED: Final = {"facts": "counting", "stretch": "rows"}
"""What a reader is told of each kind of work, in their order."""

Tell = Callable[[FrameProgress], None]


def bring_up_to_date(
    index: Path, reading: ReadOptions, engine: Engine, tell: Tell = lambda _: None, *, verify: bool = True
) -> bool:
    """Write the frame of an index that is whole, unless it is there; whether there is one then.

    What is there is read against its sums, unless `verify` says otherwise. Raises OSError where it cannot be written, RunNotFound where a
    part is damaged that nothing can be made of any more.
    """
    of = index_file.stamp(index)
    run = IndexedRun(index, shards.find_shards(index)[0], reading, None, framed=False)
    if run.done()[1] < LEAST_ROLLOUTS or not all(run.batches.values()):  # what is written twice is told apart in memory alone
        _clean(index / FOLDER, lambda _: False)
        return False
    found = frame_files.read(index, of)
    if found is None or (verify and not found.is_sound()):
        site = FrameSite(index, index_file.read(index)["id"], of, reading, SAMPLE_ROLLOUTS)
        _Writing(site, run, engine, tell).write()
    return True


@dataclass(frozen=True)
class _Work:
    """A piece of work."""

    first: int
    stop: int
    rows: int


class _Writing:
    """A frame that is being written."""

    def __init__(self, site: FrameSite, run: IndexedRun, engine: Engine, tell: Tell) -> None:
        self._site, self._run, self._engine, self._tell = site, run, engine, tell
        self._rows = run.done()[1]
        self._parts = frame_facts.IndexParts(run)

    def write(self) -> None:
        """Write it. Raises OSError or RunNotFound."""
        folder = self._site.index / FOLDER
        folder.mkdir(exist_ok=True)
        _clean(folder, lambda name: self._site.key in name)
        facts = self._facts()
        cut = [_Work(first, last, rows) for first, last, rows in stretches(facts)]
        self._have_done("stretch", cut)
        written = [WrittenStretch.read(self._made("stretch", one.first)) for one in cut]
        tables = over_all(facts, written)
        sums = write_all(folder, tables)
        report = frame_facts.report(self._run, facts)
        frame_files.write(self._site.index, account_of(self._site.of, facts, written, sums, report))
        _clean(folder, lambda name: not name.startswith(_MADE))

    def _facts(self) -> FrameFacts:
        """What is in the parts, found by workers and laid together for those who come next."""
        of_parts = [*self._of_shards()]
        self._have_done("facts", of_parts)
        facts = FrameFacts(shards=self._parts.shards)
        for one in of_parts:
            facts.add(FrameFacts.read(self._made("facts", one.first).about))
        made_file.write(self._site.file(frame_task.FACTS_FILE), facts.written(), {})
        return facts

    def _of_shards(self) -> Iterator[_Work]:
        """The parts of whole shards, some at a time, in their order."""
        places, rows, first = self._parts.places, self._parts.rows, 0
        for at in range(1, len(places) + 1):
            may_end = at == len(places) or places[at][0] != places[at - 1][0]
            if may_end and (at - first >= TOGETHER_PARTS or at == len(places)):
                yield _Work(first, at, sum(rows[first:at]))
                first = at

    def _made(self, kind: str, first: int) -> Made:
        found = made_file.read(self._site.file(kind, first))
        if found is None:
            raise OSError(f"{self._site.file(kind, first).name} is gone or damaged: run the command again")
        return found

    def _have_done(self, kind: Kind, pieces: Sequence[_Work]) -> None:
        """Have all pieces of work done, those that fail again. Raises as `write`."""
        waiting, said = [*pieces], _Said(kind, self._rows, self._tell)
        for _ in range(TRIES):
            orders = [self._site.order(kind, one.first, one.stop, one.rows) for one in waiting]
            failed = list[tuple[_Work, str]]()
            for at, answer in self._engine.answers(orders, said.again):
                if "refused" in answer:
                    raise RunNotFound(answer["refused"])
                if "failed" in answer:
                    failed.append((waiting[at], answer["failed"]))
                else:
                    said.done(waiting[at].rows, was_kept=not answer["made"])
            if not failed:
                return
            waiting = [work for work, _ in failed]
        raise OSError(f"The frame of the index could not be written: {failed[0][1]}")


class _Said:
    """How far one kind of work is, as it is told."""

    def __init__(self, kind: Kind, total: int, tell: Tell) -> None:
        self._kind, self._total, self._tell, self._began = kind, total, tell, time.monotonic()
        self._done = self._kept = 0

    def done(self, rows: int, *, was_kept: bool) -> None:
        """So many rollouts more."""
        self._done += rows
        self._kept += rows if was_kept else 0
        self.again()

    def again(self) -> None:
        """Tell it."""
        number, seconds = [*_WAITED].index(self._kind) + 1, time.monotonic() - self._began
        self._tell(FrameProgress(_WAITED[self._kind], number, len(_WAITED), self._done, self._total, seconds, self._kept))


def stretches(facts: FrameFacts) -> Iterator[tuple[int, int, int]]:
    """First and last step of each stretch, and how many rollouts it has."""
    steps = sorted(facts.steps)
    first, held = 0, 0
    for at, step in enumerate(steps):
        held += facts.steps[step]
        if held >= STRETCH_ROLLOUTS or at + 1 == len(steps):
            yield steps[first], step, held
            first, held = at + 1, 0


def _clean(folder: Path, keeps: Callable[[str], bool]) -> None:
    """Remove what is of another state of the index, or of no use any more."""
    if folder.is_dir():
        for path in folder.iterdir():
            if not keeps(path.name):
                path.unlink(missing_ok=True)
