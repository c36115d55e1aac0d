"""All that a kind of finding may look at: a run's rollouts of training with their numbers, measures, groups, texts and curves.

What several kinds need is computed once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts import rollout_measures
from board.analysis.rollouts.groups import Grouped, find
from board.analysis.rollouts.rollout_measures import RolloutMeasure
from board.analysis.rollouts.selection import numbers
from board.analysis.stats.bootstrap import units_of
from board.analysis.stats.length_attribution import within
from board.analysis.steps import newest_step
from board.analysis.texts import phrases, template_collapse
from board.errors import FieldMissing
from board.findings.change_points import Clusters, Series, clusters, series
from board.findings.checks.all_checks import run_checks
from board.findings.checks.contract import CheckReport
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run
from board.schema import BY_NAME, TEXTS

_ROUNDS: Final = 20
_MOST_NAMED: Final = 64

_VISITS: Final = 3
"""A prompt that so many steps have comes again."""
_MOST: Final = 0.9
"""Share of the rollouts whose prompt must come again for prompts to be compared with themselves."""


def like_for_like(steps: Steps, sources: NDArray[np.int64], values: Float64Array) -> Float64Array:
    """Values freed from the mix of sources: what is left of each after its source's own level, plus the mean level. (n,), NaN stays NaN.

    Levels of sources and of steps are fitted together by least squares (two-way means, alternating), so that a source which comes late is
    not taken for a change of the steps, as far as another source was there before and after.
    """
    known = np.flatnonzero(np.isfinite(values) & (sources >= 0))
    count = int(sources.max(initial=-1)) + 1
    if count < 2 or not len(known):
        return values
    rows, of, y = steps.row[known], sources[known], values[known]
    in_rows, in_sources = np.bincount(rows, minlength=len(steps.numbers)), np.bincount(of, minlength=count)
    levels = np.zeros(count)
    for _ in range(_ROUNDS):
        by_step = np.bincount(rows, y - levels[of], len(steps.numbers)) / np.maximum(in_rows, 1)
        levels = np.bincount(of, y - by_step[rows], count) / np.maximum(in_sources, 1)
    mean_level = float((levels * in_sources).sum() / in_sources.sum())
    freed = np.array(values)
    freed[known] = y - levels[of] + mean_level
    return freed


def prompt_for_prompt(steps: Steps, prompts: NDArray[np.int64], sources: NDArray[np.int64], values: Float64Array) -> Float64Array:
    """Values freed from which prompts a step has, where nearly all come again, else `like_for_like`. All (n,), prompts numbered from 0."""
    visits = np.unique(np.stack([prompts, steps.row]), axis=1)[0]
    often = np.bincount(visits, minlength=int(prompts.max(initial=-1)) + 1)[prompts] >= _VISITS
    return like_for_like(steps, prompts if len(often) and often.mean() >= _MOST else sources, values)


class Context:
    """A run's rollouts of training; arrays over them are (rows,), in the order of `frame`, which is that of the steps.

    `measures` by name are made of every part (`rollout_measures`); `progress` receives the share of the work that is done.
    """

    def __init__(
        self, run: Run, measures: Mapping[str, RolloutMeasure] | None = None, progress: Callable[[float], None] | None = None
    ) -> None:
        self.whole = run
        """With the evaluations."""
        self.run, self.unfinished = _complete(run.trained)
        """Those of training without the newest step where that is not complete: that step, its rollouts and how many are usual."""
        self._measures, self._progress = measures or {}, progress

    @cached_property
    def frame(self) -> pd.DataFrame:
        """`Run.frame` of the rollouts of training, and the measures as further columns; the index is the key."""
        measured = rollout_measures.of_run(self.run, self._measures, self._progress)
        own = [name for name in measured.columns if name not in self.run.frame.columns]
        return pd.concat([self.run.frame, measured[own]], axis="columns")

    def measure(self) -> None:
        """Make `frame` and meanwhile what no measure is needed for: measuring is mostly numpy and zlib, which let another thread run."""
        with ThreadPoolExecutor(1) as thread:
            # an error is not lost: what failed is made again, and fails again, where a kind asks for it
            thread.submit(lambda: (self.checks, self.phrases, self.dependence))
            _ = self.frame

    @cached_property
    def checks(self) -> CheckReport:
        """What the checks of the data found in the whole run."""
        return run_checks(self.whole)

    @cached_property
    def phrases(self) -> phrases.Phrases:
        """The phrases that the page Words shows."""
        return phrases.of_run(self.run)

    @cached_property
    def dependence(self) -> tuple[Float64Array, Float64Array]:
        """As `template_collapse.dependence`, (rows,) each."""
        return template_collapse.dependence(self.texts, self.prompts, self.steps.sizes, self.clusters.sizes)

    @cached_property
    def is_training(self) -> bool:
        """Whether anything was trained on: a run of evaluations alone is looked at too, but it does not learn."""
        return "train" in self.whole.splits

    @cached_property
    def evaluation(self) -> "Context | None":
        """The context of the run's evaluations, where it has any in addition to its training."""
        return Context(self.whole.of_split("evaluation")) if {"train", "evaluation"} <= {*self.whole.splits} else None

    def until(self, end: int) -> "Context":
        """The context of the run as it was before the step with that index."""
        before = (self.whole.frame["step"] < self.steps.numbers[end]).to_numpy()
        return Context(self.whole.of_rows(before, f"until {end}"), self._measures)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """(rows,) the rollouts' keys."""
        return self.run.frame.index.to_numpy(np.int64)

    def rows_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) the rows of some rollouts, which are all of the frame."""
        found: NDArray[np.int64] = self.frame.index.get_indexer(pd.Index(keys)).astype(np.int64)
        return found

    @cached_property
    def steps(self) -> Steps:
        """The steps of the rows."""
        return Steps(self.run.frame["step"].to_numpy(np.int64))

    @cached_property
    def prompts(self) -> NDArray[np.int64]:
        """(rows,) equal numbers are equal prompts; a rollout without one is alone."""
        return units_of(self.run.prompt_keys, NO_PROMPT)

    @cached_property
    def grouped(self) -> Grouped | None:
        """The groups of the run; None where it has none."""
        try:
            return find(self.frame)
        except FieldMissing:
            return None

    @cached_property
    def fields(self) -> frozenset[str]:
        """Columns, texts and token arrays that some row has."""
        run = self.run
        tokens = {"response_tokens"} if run.has_tokens else set()
        numbers = {str(name) for name in self.frame.columns if self.frame[name].notna().any()}
        # what should have been a number or an array and was read as text is none
        texts = {name for name in run.text_columns if name in TEXTS or name not in BY_NAME}
        return frozenset({*numbers, *texts, *run.token_metrics, *tokens})

    def has(self, *names: str) -> bool:
        """Whether some row has each of these columns, texts or token arrays."""
        return self.fields.issuperset(names)

    def number(self, name: str) -> Float64Array:
        """(rows,) a column as finite numbers, NaN where it has none; all NaN where it is no number or not there."""
        return numbers(self.frame, name)

    def curve_of(self, values: Float64Array) -> Series:
        """The mean by step of (rows,) numbers."""
        return series(self.steps, values, self.clusters)

    @cached_property
    def clusters(self) -> Clusters:
        """The rollouts of a prompt in a step."""
        return clusters(self.steps, self.prompts)

    @cached_property
    def sources(self) -> NDArray[np.int64]:
        """(rows,) a number for each data source, -1 for a rollout that names none."""
        if "data_source" not in self.frame.columns:
            return np.full(len(self.frame), -1)
        return pd.factorize(self.frame["data_source"].astype(object))[0].astype(np.int64)

    def named(self, name: str) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """What the data sources, or ranks, are called, and (rows,) the rollouts of each; nothing where there are no two."""
        said = self.frame[name].astype(object) if self.has(name) else pd.Series(dtype=object)
        found = said.dropna().unique()
        for one in found[:_MOST_NAMED] if len(found) > 1 else ():
            yield f"`{one}`" if name == "data_source" else f"{name} {one}", (said == one).to_numpy()

    def in_rank(self, marks: NDArray[np.bool_]) -> str:
        """ " in rank 3" where as good as all marked rows, shape (rows,), are of one rank or shard among several, else nothing."""
        name = "rank" if self.has("rank") else "shard"
        shares = self.frame[name].astype(object)[marks].value_counts(normalize=True)
        return f" in {name} {shares.index[0]}" if self.frame[name].nunique() > 1 and shares.max() >= 0.95 else ""

    def like_for_like(self, values: Float64Array) -> Float64Array:
        """(rows,) values freed from the mix of data sources, so that a curriculum does not look like a turn."""
        return like_for_like(self.steps, self.sources, values)

    def prompt_for_prompt(self, values: Float64Array) -> Float64Array:
        """(rows,) values freed from which prompts a step has, where nearly all come again; else from the mix of data sources."""
        codes = np.unique(self.prompts, return_inverse=True)[1].ravel().astype(np.int64)
        return prompt_for_prompt(self.steps, codes, self.sources, values)

    @cached_property
    def group_rows(self) -> NDArray[np.int64]:
        """(rows,) a number for each group of each step, rising with neither; -1 for a rollout of none."""
        if "group" not in self.frame.columns:
            return np.full(len(self.frame), -1)
        group = self.number("group")
        codes = clusters(self.steps, np.where(np.isfinite(group), group, -1).astype(np.int64)).of_rows
        return np.where(np.isfinite(group), codes, -1)

    def within_groups(self, values: Float64Array) -> Float64Array:
        """(rows,) values minus the mean of their group; NaN for a rollout of no group, or alone in it with a value."""
        return within(values, self.group_rows)

    def texts(self, column: str, rows: NDArray[np.int64]) -> list[str | None]:
        """A text of the rollouts in some rows of the frame (their numbers, not their keys), None where one has none."""
        if column not in self.run.text_columns:
            return [None] * len(rows)
        found: list[str | None] = self.run.texts(column, self.keys[rows]).to_pylist()
        return found

    def since(self, at: int) -> NDArray[np.bool_]:
        """(rows,) rollouts of the step with that index and of those after it."""
        return self.steps.row >= at

    def clearest(self, marks: NDArray[np.bool_], by: Float64Array | Sequence[float] | None = None) -> NDArray[np.int64]:
        """Keys of the marked rows, those with the largest `by` (rows,) first, else in the order of the frame; NaN last."""
        rows = np.flatnonzero(marks)
        if by is not None:
            order = np.asarray(by, np.float64)[rows]
            rows = rows[np.argsort(-np.where(np.isnan(order), -np.inf, order), kind="stable")]
        return self.keys[rows]


def _complete(run: Run) -> tuple[Run, tuple[int, int, int] | None]:
    steps = Steps(run.frame["step"].to_numpy(np.int64))
    found = newest_step.lacking(steps.numbers, steps.sizes)
    if found is None:
        return run, None
    return run.of_rows((run.frame["step"] != found[0]).to_numpy(), f"before {found[0]}"), found
