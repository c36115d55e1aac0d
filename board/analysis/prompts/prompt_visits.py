"""A run's prompts over training: numbers of each visit, and a leaderboard of prompts.

A visit is a step at which a prompt was sampled. Run in, frames out.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.step_stats import finite_values
from board.metrics.formulas import Float64Array
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

IntArray = NDArray[np.int64]

ROUNDING: Final = 1e-12
"""A mean this small relative to its values is zero."""

LENGTHS: Final = ("response_length", "response_chars")
"""Columns that measure a response's length, the better first."""

VISIT: Final = ("prompt", "step", "rollouts", "rewards", "reward", "squares", "gaps", "gap", "wins", "lengths", "length", "first")
"""Columns of `visits`, in order."""

BOARD: Final = (
    "visits",
    "rollouts",
    "reward",
    "first",
    "last",
    "gain",
    "variance",
    "length",
    "wins",
    "gap",
    "last_seen",
    "at",
    "rollout",
)
"""Columns of `leaderboard`, in order."""


def length_column(frame: pd.DataFrame) -> str | None:
    """The column of response lengths: in tokens, else in characters; None where neither is known."""
    return next((name for name in LENGTHS if name in frame.columns), None)


def visits(run: Run, progress: Callable[[float], None] = lambda share: None) -> pd.DataFrame:
    """A row per prompt and step it was sampled at, those of a prompt together and by step; rollouts without a prompt are left out.

    Columns VISIT: `prompt`, its key; `rollouts`, how many; `rewards` of them with a finite reward and `reward`, the mean of these;
    `squares`, the sum of their squared distances from it; `gaps` and `gap`, number and mean of reward − ref_reward where both are
    known, and `wins`, how many of those are above zero; `lengths` and `length`, as rewards; `first`, the frame's key of its first rollout.
    A mean of nothing is NaN. `progress` is called with the share that is done.
    """
    frame, keys = run.frame, run.prompt_keys
    known = np.flatnonzero(keys != NO_PROMPT)
    prompt, step = keys[known], frame["step"].to_numpy(np.int64)[known]
    begins = np.flatnonzero(
        _changes(prompt) | _changes(step)
    )  # rollouts of a visit mostly lie side by side: fewer to be sorted out
    codes, names = pd.factorize(prompt[begins])
    nth_step = np.cumsum(_changes(step[begins])) - 1
    count = int(nth_step[-1]) + 1 if len(nth_step) else 1
    visit_of, pairs = pd.factorize(codes.astype(np.int64) * count + nth_step)
    visit = np.repeat(visit_of, np.diff(begins, append=len(known)))
    firsts = begins[_firsts(visit_of, len(pairs))]
    found = pd.DataFrame({"prompt": names[pairs // count], "step": step[firsts], "rollouts": _count(visit, len(pairs))})
    measured = _measured(frame)
    for nth, (name, values) in enumerate(measured.items(), 1):
        progress(nth / (len(measured) + 1))
        numbers, means, squares = _moments(visit, values[known], len(pairs))
        found[f"{name}s"], found[name] = numbers, means
        if name == "reward":
            found["squares"] = squares
        if name == "gap":
            found["gap"] = cleared(means, _moments(visit, np.abs(values[known]), len(pairs))[1])
            found["wins"] = np.bincount(visit, values[known] > 0, len(pairs)).astype(np.int64)
    found["first"] = frame.index.to_numpy()[known[firsts]]
    return found.iloc[np.argsort(pairs)].reset_index(drop=True)[list(VISIT)]


def _changes(values: IntArray) -> NDArray[np.bool_]:
    """Whether each value is the first or unlike the one before. Shape (n,)."""
    return np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]


def _measured(frame: pd.DataFrame) -> Mapping[str, Float64Array]:
    """The numbers that visits summarize, (rows,) each; all NaN where the run lacks one."""
    columns = {"reward": "reward", "gap": "reward_gap", "length": length_column(frame) or LENGTHS[0]}
    return {
        name: finite_values(frame, column) if column in frame.columns else np.full(len(frame), np.nan)
        for name, column in columns.items()
    }


def cleared(differences: Float64Array, sizes: Float64Array) -> Float64Array:
    """Means of differences without what is the rounding of their sums alone, which must be neither above nor below zero. (n,) each.

    `sizes` are the means of what was summed up without its signs.
    """
    return np.where(np.abs(differences) <= ROUNDING * sizes, 0.0, differences)


def _firsts(codes: IntArray, count: int) -> IntArray:
    """The first place of each of `count` codes, numbered in order of appearance. Shape (count,)."""
    places = np.full(count, len(codes), np.int64)
    highest = np.maximum.accumulate(codes) if len(codes) else codes
    new = np.flatnonzero(np.diff(highest, prepend=-1))
    places[codes[new]] = new
    return places


def _count(codes: IntArray, count: int) -> IntArray:
    return np.bincount(codes, minlength=count).astype(np.int64)


def _moments(codes: IntArray, values: Float64Array, count: int) -> tuple[IntArray, Float64Array, Float64Array]:
    """Number, mean and sum of squared distances from it of the values of each code, NaN left out. (count,) each."""
    known = ~np.isnan(values)
    of, finite = codes[known], values[known]
    numbers = _count(of, count)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means: Float64Array = np.bincount(of, finite, count) / numbers
        squares: Float64Array = np.bincount(of, (finite - means[of]) ** 2, count).astype(np.float64)
    return numbers, means, squares


def leaderboard(visited: pd.DataFrame) -> pd.DataFrame:
    """A row per prompt of `visits`, index its key, columns BOARD; NaN where a number is not known.

    `reward`, `length` and `gap` (reward − ref_reward) are means over its rollouts, `variance` that of its rewards (of the population, ddof
    0); `first` and `last` are the mean rewards of the first and the last visit that has one, `gain` their difference, NaN where they are
    one visit; `wins` is the share of rollouts with a reward above the reference's, `last_seen` the last step; `at` is the place of its first
    visit in `visited`, and `rollout` the frame's key of its first rollout.
    """
    prompt = visited["prompt"].to_numpy()
    starts = np.flatnonzero(_changes(prompt))
    sizes = np.diff([*starts.tolist(), len(prompt)])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means = {name: _mean(visited, name, starts) for name in ("reward", "gap", "length")}
        rewards = _total(visited["rewards"], starts)
        apart = visited["rewards"] * (visited["reward"] - np.repeat(means["reward"], sizes)) ** 2
        variance = _total((visited["squares"] + apart).fillna(0.0), starts) / np.where(rewards, rewards, np.nan)
        sizes_of_gaps = _mean(visited.assign(gap=visited["gap"].abs()), "gap", starts)
        wins = _total(visited["wins"], starts) / _total(visited["gaps"], starts)
    first, last, one = _ends(visited["reward"].to_numpy(), starts, sizes)
    columns = {
        "visits": sizes,
        "rollouts": _total(visited["rollouts"], starts).astype(np.int64),
        "first": first,
        "last": last,
        "gain": np.where(one, np.nan, cleared(last - first, np.abs(last))),
        "variance": variance,
        "wins": wins,
        "last_seen": visited["step"].to_numpy()[starts + sizes - 1],
        "at": starts,
        "rollout": visited["first"].to_numpy()[starts],
        **means,
        "gap": cleared(means["gap"], sizes_of_gaps),
    }
    return pd.DataFrame(columns, index=pd.Index(prompt[starts], name="prompt"))[list(BOARD)]


def _total(values: "pd.Series[Any]", starts: IntArray) -> Float64Array:
    """Sums of the stretches that begin at `starts`."""
    whole = values.to_numpy(np.float64)
    return np.add.reduceat(whole, starts) if len(starts) else whole[:0]


def _mean(visited: pd.DataFrame, name: str, starts: IntArray) -> Float64Array:
    """The mean over rollouts of each prompt, from the means over those of each visit."""
    numbers = visited[f"{name}s"]
    return _total((visited[name] * numbers).fillna(0.0), starts) / _total(numbers, starts)


def _ends(values: Float64Array, starts: IntArray, sizes: IntArray) -> tuple[Float64Array, Float64Array, NDArray[np.bool_]]:
    """The first and the last number of each stretch, NaN where it has none, and whether they are one."""
    known = np.flatnonzero(~np.isnan(values))
    begins, ends = np.searchsorted(known, starts), np.searchsorted(known, starts + sizes)
    there = ends > begins
    padded = np.concatenate([values[known], [np.nan]])
    first = np.where(there, padded[np.minimum(begins, len(known))], np.nan)
    last = np.where(there, padded[np.maximum(ends - 1, 0)], np.nan)
    return first, last, ends - begins < 2
