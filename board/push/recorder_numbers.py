"""The steps that a recorder is writing, as a push would deliver them: numbers by name, and a few rollouts of each.

Lines of rows in.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

from board.analysis.steps.step_metrics import known_at, of_step_alone, per_step_values
from board.formats import native
from board.metrics.declared import METRICS, named, named_once
from board.metrics.declared.computation import OfEvaluation, SoFar
from board.push.shown import Links, RunExamples
from board.runs.cache.parts import Part
from board.runs.cache.parts_by_key import PartsByKey
from board.runs.load_report import LoadReport
from board.runs.parsing import column_room, merging, part_builder
from board.runs.read_options import ReadOptions
from board.runs.run import Run
from board.schema import EVALUATION
from board.sources.shards import Line, Shard
from board.trackers.contract import Example

_NAME: Final = "rows.jsonl"


def run_of_lines(lines: Sequence[bytes], pads: Sequence[str] = ()) -> Run | None:
    """The lines, without their ends, as a run; None where none of them is a rollout. What cannot be read is in its report."""
    shard, report, found = Shard(Path(_NAME), _NAME, 0, 0), LoadReport(), list[Part]()
    items = [Line(number, 0, data, whole=True) for number, data in enumerate(lines, 1)]
    part_builder.read_parts(items, shard, native, ReadOptions(tuple(pads)), report, found.append)
    if not found:
        return None
    built, _ = column_room.fitted(found)
    frame = merging.merged(built, merging.scalars(built), [_NAME], {})
    return Run(Path(), frame, report, (), uuid4().hex, PartsByKey(built), {_NAME: shard})


class RecordedSteps:
    """The steps of one process, one after the other: each is computed from its own rows alone."""

    def __init__(self, names: str, pads: Sequence[str], examples: int, seed: int) -> None:
        self._names, self._pads, self._examples, self._seed = names, pads, examples, seed
        self._so_far: dict[str, float] = {}

    def of(self, lines: Sequence[bytes]) -> tuple[dict[str, float], list[Example], int]:
        """Of the rows of a step: its numbers by name, the rollouts that are shown, and how many rows the board refuses.

        A number that needs other steps is not among them; what is of all steps so far is for `at_end`.
        """
        run = run_of_lines(lines, self._pads)
        if run is None or run.counted.frame.empty:
            return {}, [], run.report.refused if run else len(lines)
        counted = run.counted
        step = int(counted.steps[0])
        values = known_at(per_step_values(counted), step)
        numbers = self._alone(values, held=counted.splits == (EVALUATION,))  # by itself such a run is taken for one of training
        shown = RunExamples(counted.trained, self._seed, Links("", ""), self._examples).of(step)
        return (
            named(numbers, self._names),
            [{name: one for name, one in row.items() if name != "from"} for row in shown],
            run.report.refused,
        )

    def at_end(self) -> dict[str, float]:
        """What a trainer logs once, at the end, by its names: of all the steps there were."""
        return named_once(self._so_far, self._names)

    def _alone(self, values: Mapping[str, float], *, held: bool) -> dict[str, float]:
        """Those that the step gives by itself; what is of all steps so far is noted. `held` where all its rollouts are of an evaluation."""
        found: dict[str, float] = {}
        for key, value in values.items():
            computation = METRICS[key].computation if key in METRICS else None
            if isinstance(computation, SoFar):
                before = self._so_far.get(key)
                if before is not None:
                    value = before + value if computation.combine == "sum" else max(before, value)
                self._so_far[key] = value
            elif of_step_alone(key) and (not held or isinstance(computation, OfEvaluation)):
                found[key] = value
        return found
