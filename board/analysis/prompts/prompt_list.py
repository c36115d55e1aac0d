"""The list of a run's prompts: filtered, ordered, how each went, and their ids.

Frames of `board.analysis.prompts.prompt_visits` and `cohorts` in.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.prompts.cohorts import COHORTS, LOSING, NONE
from board.analysis.rollouts.selection import contains
from board.formats.token_names import PROMPT_IDS
from board.runs.run import Run
from board.text import system_prompts

PROMPT_TEXTS: Final = ("prompt", PROMPT_IDS)
"""What a prompt is read by, the better first."""

MOST_POINTS: Final = 40
"""At most this many visits of a prompt are drawn in a table's cell."""

MOST_READ: Final = 2_000
"""At most this many prompts are read to find their common beginning."""

IntArray = NDArray[np.int64]


def text_column(run: Run) -> str | None:
    """The text column that prompts are read in; None where the run has none."""
    return next((name for name in PROMPT_TEXTS if name in run.text_columns), None)


def common_beginning(run: Run) -> str:
    """What the prompts of a run begin with alike, as `board.text.system_prompts` has it; of more than MOST_READ evenly spread ones."""
    if "prompt" not in run.text_columns:
        return ""
    _, firsts = np.unique(run.prompt_keys, return_index=True)
    chosen = run.frame.index.to_numpy()[np.sort(firsts)][:: 1 + len(firsts) // MOST_READ]
    return system_prompts.common_beginning([text for text in run.texts("prompt", chosen).to_pylist() if text])


def listing(board: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """A leaderboard with what became of each prompt: columns `cohort` and `losing` of `found`, which is of the same visits."""
    return board.assign(cohort=found["cohort"].to_numpy(np.int8), **{LOSING: found[LOSING].to_numpy(bool)})


def of_cohort(listed: pd.DataFrame, cohort: str) -> NDArray[np.bool_]:
    """Which rows of a `listing` are of that cohort of COHORTS, or LOSING; all for an empty name. Shape (rows,)."""
    if not cohort:
        return np.ones(len(listed), bool)
    if cohort == LOSING:
        return listed[LOSING].to_numpy(bool, copy=True)
    return np.asarray(listed["cohort"].to_numpy() == COHORTS.index(cohort))


def with_text(run: Run, listed: pd.DataFrame, query: str) -> NDArray[np.bool_]:
    """Which prompts have the query verbatim, in any case, in their text; each is read once, however many rollouts it has. (rows,)"""
    name = text_column(run)
    if name is None:
        return np.zeros(len(listed), bool)
    return contains([run.texts(name, listed["rollout"].to_numpy())], query)


def ordered(listed: pd.DataFrame, chosen: NDArray[np.bool_], by: str, *, descending: bool) -> IntArray:
    """The keys of the `chosen` prompts (rows,), by a column of the listing; missing numbers last either way, ties as they were first sampled."""
    shown = listed[by][chosen]
    order = shown.sort_values(ascending=not descending, kind="stable", na_position="last")
    return order.index.to_numpy(np.int64)


def counts(listed: pd.DataFrame) -> Mapping[str, int]:
    """How many prompts are of each cohort, of LOSING, and of none yet (under an empty name)."""
    numbers = np.bincount(listed["cohort"].to_numpy() - NONE, minlength=len(COHORTS) + 1).tolist()
    return dict(zip(("", *COHORTS), numbers, strict=True)) | {LOSING: int(listed[LOSING].sum())}


def trends(visited: pd.DataFrame, rows: pd.DataFrame, column: Literal["reward", "gap"] = "reward") -> list[list[float]]:
    """For each row of a listing the means of its visits that have one, in order: all, or of more than MOST_POINTS evenly spread ones."""
    values = visited[column].to_numpy()
    found = []
    for at, count in zip(rows["at"].tolist(), rows["visits"].tolist(), strict=True):
        known = values[at : at + count]
        known = known[~np.isnan(known)]
        if len(known) > MOST_POINTS:
            known = known[np.linspace(0, len(known) - 1, MOST_POINTS).astype(np.int64)]
        found.append(known.tolist())
    return found


def ids(run: Run, listed: pd.DataFrame, keys: Sequence[int] | IntArray) -> pd.DataFrame:
    """What names these prompts elsewhere, a row each: `prompt_key` as text, `prompt_id` and `data_source` where the run has them, `cohort`,

    `visits`, `first`, `last` and `last_seen`, and the text where a prompt has no id.
    """
    rows = listed.loc[pd.Index(keys)]
    rollouts = rows["rollout"].to_numpy()
    found = pd.DataFrame({"prompt_key": [str(key) for key in rows.index.tolist()]})
    for name in ("prompt_id", "data_source"):
        if name in run.frame.columns:
            found[name] = run.frame[name].loc[pd.Index(rollouts)].astype(object).to_numpy()
    names = ("", *COHORTS)
    found["cohort"] = [names[number - NONE] for number in rows["cohort"].tolist()]
    for name in ("visits", "first", "last", "last_seen"):
        found[name] = rows[name].to_numpy()
    text = text_column(run)
    if text is not None and ("prompt_id" not in found or found["prompt_id"].isna().any()):
        found["prompt"] = run.texts(text, rollouts).to_pandas().to_numpy()
    return found
