"""Cohorts of prompts: learned, forgotten, flipping, always or never solved, losing.

Frames of `board.analysis.prompts.prompt_visits.visits` in, cohorts out. A visit is solved where its mean reward reaches a threshold.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.prompts.prompt_visits import ROUNDING

COHORTS: Final = ("learned", "forgotten", "flipping", "always", "never")
"""In the order of their numbers."""

LOSING: Final = "losing"
"""Below the reference, which a prompt of any cohort may be."""

NONE: Final = -1
"""The number of prompts that are of no cohort yet: of fewer than two visits."""

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class CohortRule:
    """When a prompt counts as learned or forgotten, and when as losing."""

    solved: float
    """A visit is solved whose mean reward is not below it, up to the rounding of means; no prompt is of a cohort where it is NaN."""
    ends: int
    """This many first and last visits are compared, or half of the visits where there are fewer than twice as many."""
    lost: int
    """A prompt is losing with so many visits, of its last `of`, whose mean of reward − ref_reward is below zero."""
    of: int

    @property
    def least(self) -> float:
        """The least mean that counts as solved."""
        return self.solved - ROUNDING * abs(self.solved)


def judged(visited: pd.DataFrame) -> pd.DataFrame:
    """The visits that have a reward: cohorts are made of these alone."""
    return visited[visited["reward"].notna()]


def after_visits(visited: pd.DataFrame, rule: CohortRule) -> IntArray:
    """The cohort of a prompt as it was after each of its visits, by number, NONE after the first. `visited` as of `judged`; (visits,).

    Always: every visit so far was solved; never: none was. Learned: none of the first visits, all of the last ones; forgotten the reverse.
    Flipping is any other. First and last are `rule.ends` each, or half of them all.
    """
    solved = visited["reward"].to_numpy() >= rule.least
    start, nth = _places(visited["prompt"].to_numpy())
    before = np.concatenate([[0], np.cumsum(solved)])
    at = np.arange(len(solved))
    ends = np.minimum(rule.ends, nth // 2)
    so_far = before[at + 1] - before[start]
    early, late = before[start + ends] - before[start], before[at + 1] - before[at + 1 - ends]
    cases = [
        (nth < 2) | np.isnan(rule.solved),
        so_far == nth,
        so_far == 0,
        (early == 0) & (late == ends),
        (early == ends) & (late == 0),
    ]
    names = ("always", "never", "learned", "forgotten")
    return np.select(cases, [NONE, *map(COHORTS.index, names)], COHORTS.index("flipping"))


def losing_after_visits(visited: pd.DataFrame, rule: CohortRule) -> BoolArray:
    """Whether a prompt was losing after each of its visits. `visited`: those with a `gap`; (visits,)."""
    lost = visited["gap"].to_numpy() < 0
    _, nth = _places(visited["prompt"].to_numpy())
    before = np.concatenate([[0], np.cumsum(lost)])
    at = np.arange(len(lost))
    return np.asarray(before[at + 1] - before[at + 1 - np.minimum(rule.of, nth)] >= rule.lost)


def _places(prompt: IntArray) -> tuple[IntArray, IntArray]:
    """For each visit the place of its prompt's first, and which of the prompt's visits it is, from 1."""
    at = np.arange(len(prompt))
    new = np.concatenate([[True], prompt[1:] != prompt[:-1]])[: len(prompt)]
    start = np.maximum.accumulate(np.where(new, at, 0)) if len(prompt) else at
    return start, at - start + 1


def cohorts(visited: pd.DataFrame, rule: CohortRule) -> pd.DataFrame:
    """What became of each prompt by its last visit: index its key, columns `cohort` (a number, or NONE) and `losing`; every prompt has a row."""
    found = pd.DataFrame(index=pd.Index(visited["prompt"].unique(), name="prompt"))
    rewarded, compared = judged(visited), visited[visited["gap"].notna()]
    cohort = pd.Series(after_visits(rewarded, rule), rewarded["prompt"].to_numpy())
    losing = pd.Series(losing_after_visits(compared, rule), compared["prompt"].to_numpy())
    found["cohort"] = _last(cohort).reindex(found.index, fill_value=NONE)
    found["losing"] = _last(losing).reindex(found.index, fill_value=False)
    return found


def _last(values: "pd.Series[int] | pd.Series[bool]") -> "pd.Series[int] | pd.Series[bool]":
    """The last value of each prompt."""
    return values[~values.index.duplicated(keep="last")]


def by_step(visited: pd.DataFrame, rule: CohortRule, steps: IntArray) -> pd.DataFrame:
    """How many prompts were of each cohort once a step was done: index `step`, a column for each of COHORTS.

    `steps` (rising) are those of the run. A prompt that was not visited at a step is what it was before.
    """
    rewarded = judged(visited)
    states = after_visits(rewarded, rule)
    counts = np.cumsum(_changes(rewarded, states, steps, len(COHORTS)), axis=0)
    return pd.DataFrame(counts, index=pd.Index(steps, name="step"), columns=list(COHORTS))


def losing_by_step(visited: pd.DataFrame, rule: CohortRule, steps: IntArray) -> pd.DataFrame:
    """How many prompts were losing once a step was done, and of how many: index `step`, columns `losing` and `compared`, with a gap so far."""
    compared = visited[visited["gap"].notna()]
    counts = np.cumsum(_changes(compared, losing_after_visits(compared, rule).astype(np.int64), steps, 2), axis=0)
    return pd.DataFrame({LOSING: counts[:, 1], "compared": counts.sum(axis=1)}, index=pd.Index(steps, name="step"))


def _changes(visited: pd.DataFrame, states: IntArray, steps: IntArray, count: int) -> IntArray:
    """By how much the number of prompts in each of `count` states grew at each step. (steps, count)."""
    at = np.searchsorted(steps, visited["step"].to_numpy())
    _, nth = _places(visited["prompt"].to_numpy())
    left = np.where(nth > 1, np.roll(states, 1), NONE)
    grown = np.zeros(len(steps) * count, np.int64)
    for state, sign in ((states, 1), (left, -1)):
        known = state != NONE
        grown += sign * np.bincount(at[known] * count + state[known], minlength=len(grown))
    return grown.reshape(len(steps), count)
