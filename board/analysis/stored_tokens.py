"""What an index tells of the tokens of all rollouts of a run that is larger than memory, where its frame shows a sample of them.

It was laid together exactly when the index was made, of whole splits. Where there is none of what is asked, or it is damaged, a sentence
says so, and the sample is all there is. Knows no screen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import pyarrow as pa

from board.analysis import kept_vocabulary
from board.analysis.merged_survey import MergedSurvey
from board.analysis.token_survey import Stretches, Survey
from board.analysis.vocabulary import Vocabulary
from board.errors import RunNotFound
from board.metrics.formulas import DEFAULT_ESTIMATOR
from board.runs.frame_files import VOCABULARY
from board.runs.run import Run
from board.text.counting import plural

_T = TypeVar("_T")


@dataclass(frozen=True)
class OfAll(Generic[_T]):
    """What is told of all rollouts."""

    found: _T | None
    """None where nothing is."""
    said: str
    """A line on which rollouts a page speaks of; empty where the run's frame holds them all."""


def vocabulary(run: Run) -> OfAll[Vocabulary]:
    """The tokens of all rollouts of training."""
    return _of_all(run, "counted", VOCABULARY, lambda split: _table(run, split), kept_vocabulary.read)


def survey(run: Run, metric: str, estimator: str) -> OfAll[Survey]:
    """All tokens of the run's split by a metric."""
    if run.beyond and metric == "kl" and estimator != DEFAULT_ESTIMATOR:
        return OfAll(None, f"Of the sample: KL of all rollouts is told by {DEFAULT_ESTIMATOR} alone.")

    def read(split: str) -> pa.Table | None:
        return run.beyond.framed.files.survey(split, metric) if run.beyond else None

    def survey_from(table: pa.Table) -> Survey:
        merged = MergedSurvey(metric, Stretches(run.steps))
        merged.add(table)
        return merged.survey()

    return _of_all(run, f"surveyed by {metric}", "the survey", read, survey_from)


def _table(run: Run, split: str) -> pa.Table | None:
    return run.beyond.framed.files.vocabulary() if run.beyond and split == "train" else None


def _of_all(run: Run, done: str, named: str, read: Callable[[str], pa.Table | None], make: Callable[[pa.Table], _T]) -> OfAll[_T]:
    if run.beyond is None:
        return OfAll(None, "")
    if not run.beyond.exact:
        return OfAll(None, "Of the sample: what a filter leaves of all rollouts is not told token by token.")
    try:
        table = read(run.beyond.splits[0])
        if table is None:
            return OfAll(None, f"Of the sample: when the index was made tokens were not {done}.")
        return OfAll(make(table), f"Of all {plural(run.rollout_count, 'rollout')}.")
    except RunNotFound as error:
        return OfAll(None, f"Of the sample: {named} of all rollouts is damaged. {error}")
    except (ValueError, KeyError, IndexError, TypeError) as error:
        return OfAll(None, f"Of the sample: {named} of all rollouts is damaged ({error}). Run `rl-logging-board index` again.")
