"""Profile of a token metric by position and step, and the rollouts that stand out."""

from typing import Final, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.step_centres import StepCentres
from board.analysis.tokens.token_histogram import TokenHistogram, fields_of
from board.metrics.formulas import token_makers
from board.metrics.token_summaries import ENDS, PLACES, RELATIVE, counted, profile, rank
from board.runs.run import Run
from board.schema import extreme

Part = Literal["whole", "beginning", "end"]
"""By relative position, or the first or the last tokens one by one."""

PARTS: Final[tuple[Part, ...]] = get_args(Part)

_BINS: Final[dict[Part, tuple[int, int]]] = {
    "whole": (0, RELATIVE),
    "beginning": (RELATIVE, RELATIVE + ENDS),
    "end": (RELATIVE + ENDS, PLACES),
}


def position_means(histogram: TokenHistogram, part: Part) -> NDArray[np.float64]:
    """Mean of the metric by stretch of steps and place, (S, places), places in the order of the response; NaN where no token is."""
    first, stop = _BINS[part]
    counts = histogram.counts[:, first:stop]
    means = np.where(counts, histogram.sums[:, first:stop] / np.maximum(counts, 1), np.nan)
    return means[:, ::-1] if part == "end" else means


def place_name(part: Part, at: int) -> str:
    """What a position of the profile is called: "64–66 %", "token 3", "last token", "token 4 from the end"."""
    if part == "whole":
        return f"{at * 100 // RELATIVE}–{(at + 1) * 100 // RELATIVE} %"
    if part == "beginning":
        return f"token {at + 1}"
    return "last token" if at == ENDS - 1 else f"token {ENDS - at} from the end"


def rollouts_at(run: Run, metric: str, estimator: str, part: Part, at: int) -> pd.DataFrame:
    """The 50 rollouts of the run's frame whose mean at a place is most extreme, most extreme first.

    Columns: key, step, mean, tokens (how many of it lie there), position (from 0, of the first of them). `at` counts as in `position_means`.
    """
    first, stop = _BINS[part]
    column = first + (stop - first - 1 - at if part == "end" else at)
    found = [_means(run, metric, estimator, column), pd.DataFrame({"key": [], "mean": [], "tokens": [], "position": []})]
    table = pd.concat(found).astype({"key": np.int64, "tokens": np.int64, "position": np.int64})
    table = table.assign(step=run.frame["step"].loc[pd.Index(table["key"])].to_numpy())
    ranks = rank(table["mean"].to_numpy(np.float32), extreme(metric))
    return table.iloc[np.lexsort([table["key"].to_numpy(), ranks])[:50]][
        ["key", "step", "mean", "tokens", "position"]
    ].reset_index(drop=True)


def _means(run: Run, metric: str, estimator: str, column: int) -> pd.DataFrame:
    """Mean at a place of each rollout that has a finite number there."""
    found, centres = [], StepCentres(run)
    for part, start, rows in run.parts_of_rows():
        for alike in part.alike(rows, fields_of(run, metric)):
            steps = part.scalars.column("step").to_numpy()[alike.rows]
            make = token_makers(centres.added_to(alike.flats, steps, alike.offsets), estimator).get(metric)
            if make is None:
                continue
            every = np.arange(len(alike.rows))
            where = counted(alike.offsets, alike.counts, every, every)
            by_place = profile(where, where.of(make()))
            tokens = by_place.counts[:, column]
            there = np.flatnonzero(tokens)
            at = where.bounds[there] + _nth(np.diff(where.bounds)[there], column)
            means = by_place.sums[there, column] / tokens[there]
            positions = where.places(at, alike.offsets)[1]
            found.append(
                pd.DataFrame({"key": start + alike.rows[there], "mean": means, "tokens": tokens[there], "position": positions})
            )
    return pd.concat(found) if found else pd.DataFrame()


def _nth(lengths: NDArray[np.int64], column: int) -> NDArray[np.int64]:
    """Which counted token of a rollout of so many is the first at a place."""
    if column < RELATIVE:
        return -(-column * lengths // RELATIVE)
    return np.full(len(lengths), column - RELATIVE) if column < RELATIVE + ENDS else lengths - 1 - (column - RELATIVE - ENDS)
