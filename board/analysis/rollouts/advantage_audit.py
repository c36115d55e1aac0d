"""Which rule a run's logged advantages follow, and the rollouts where they do not. Frame in, frames out; the rules are in `board.metrics`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.groups import Grouped
from board.errors import FieldMissing
from board.metrics.advantage_rules import Fit, GroupedRewards, fits
from board.metrics.formulas import Float64Array

LOGGED: Final = ("advantage", "advantage_mean")
"""Columns that hold a rollout's advantage: one number, else the mean over its tokens."""
MOST_LISTED: Final = 500
"""Rollouts that are listed for each rule, those of the largest errors first."""
FITS: Final = 0.95
"""A rule counts as followed when this share of the rollouts fits it."""


@dataclass(frozen=True)
class Audit:
    """What was found."""

    column: str
    """Which of LOGGED the advantages are from."""
    rules: pd.DataFrame
    """rule, formula, rows, fitting (share, 0 to 1), largest_error, r_squared, source; the nearest rule first."""
    misfits: pd.DataFrame
    """rule, key, step, group, reward, logged, expected, error: rollouts that do not fit, by rule, the largest errors first."""

    @property
    def followed(self) -> str | None:
        """The rule that the logged advantages follow; None where they follow none."""
        nearest = self.rules.iloc[0]
        return str(nearest["rule"]) if nearest["rows"] and nearest["fitting"] >= FITS else None


def audit(frame: pd.DataFrame, grouped: Grouped, progress: Callable[[float], None] = lambda share: None) -> Audit:
    """Logged advantages against every rule. Raises FieldMissing where no rollout of a group has a reward and an advantage.

    `progress` is called with the share of the rules that is done.
    """
    column = next((name for name in LOGGED if name in frame.columns and pd.api.types.is_numeric_dtype(frame[name].dtype)), None)
    if column is None:
        raise FieldMissing("This needs advantages, or a number advantage.")
    logged: Float64Array = frame[column].loc[pd.Index(grouped.keys)].to_numpy(np.float64, na_value=np.nan)
    if not (np.isfinite(logged) & np.isfinite(grouped.rewards)).any():
        raise FieldMissing("This needs reward in addition to the advantages.")
    found = fits(GroupedRewards(grouped.rewards, grouped.starts, step_starts(grouped)), logged, progress)
    rules = pd.DataFrame(
        {
            "rule": [one.rule.name for one in found],
            "formula": [one.rule.formula for one in found],
            "rows": [one.rows for one in found],
            "fitting": [one.fitting / one.rows if one.rows else np.nan for one in found],
            "largest_error": [one.largest_error for one in found],
            "r_squared": [one.r_squared for one in found],
            "source": [one.rule.source for one in found],
        }
    )
    return Audit(column, rules, pd.concat([_misfits(one, grouped, logged) for one in found], ignore_index=True))


def step_starts(grouped: Grouped) -> NDArray[np.int64]:
    """(steps + 1,): where each step begins among the members, and where the last ends."""
    steps = grouped.groups["step"].to_numpy()
    firsts = np.flatnonzero(np.concatenate([[True], steps[1:] != steps[:-1]]))
    return np.append(grouped.starts[firsts], grouped.starts[-1])


def _misfits(fit: Fit, grouped: Grouped, logged: Float64Array) -> pd.DataFrame:
    """The rollouts that were compared and do not fit."""
    rows = np.flatnonzero(~fit.fits & np.isfinite(fit.errors))
    sizes = -np.abs(fit.errors[rows])
    if len(rows) > MOST_LISTED:  # to sort all of a million would take seconds
        largest = np.sort(np.argpartition(sizes, MOST_LISTED)[:MOST_LISTED])
        rows, sizes = rows[largest], sizes[largest]
    rows = rows[np.argsort(sizes, kind="stable")]
    of_group = grouped.groups.iloc[np.searchsorted(grouped.starts, rows, side="right") - 1]
    return pd.DataFrame(
        {
            "rule": fit.rule.name,
            "key": grouped.keys[rows],
            "step": of_group["step"].to_numpy(),
            "group": of_group["group"].to_numpy(),
            "reward": grouped.rewards[rows],
            "logged": logged[rows],
            "expected": logged[rows] - fit.errors[rows],
            "error": fit.errors[rows],
        }
    )
