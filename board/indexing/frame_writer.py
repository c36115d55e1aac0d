"""The frame of a whole index written out by an engine: what is in the parts, stretches of steps; then all laid together.

Each piece of work leaves a file, so that a frame that was stopped goes on where it was; what lies there of another state is removed. Cut by what
is in the index alone: what comes out of it is the same whoever works. Knows which pieces of work there are; knows no metric.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from board.errors import RunNotFound
from board.indexing import frame_facts, frame_tables, frame_task, made_file
from board.indexing.engine import Engine
from board.indexing.frame_facts import FrameFacts
from board.indexing.frame_stretch import WrittenStretch
from board.indexing.frame_task import FrameSite, Kind
from board.indexing.made_file import Made
from board.indexing.progress import FrameProgress
from board.runs import frame_files
from board.runs.frame_files import FOLDER
from board.runs.indexed_run import IndexedRun
from board.runs.read_options import ReadOptions
from board.sources import index_file, shards

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
        tables = frame_tables.over_all(facts, written)
        sums = frame_tables.write_all(folder, tables)
        report = frame_facts.report(self._run, facts)
        frame_files.write(self._site.index, frame_tables.account_of(self._site.of, facts, written, sums, report))
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
