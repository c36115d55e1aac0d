"""Curves of what became of a run's prompts. Frames of `board.analysis.prompts.cohorts` in, panels out."""

from dataclasses import replace
from typing import Final

import pandas as pd

from board.analysis.prompts.cohorts import COHORTS, LOSING
from board.figures.curve_panel import CurvePanel
from board.figures.curves import CurveSeries, step_panel
from board.figures.theme import COLORS

NAMES: Final = {
    "learned": "learned",
    "forgotten": "forgotten",
    "flipping": "flipping",
    "always": "always solved",
    "never": "never solved",
    LOSING: "losing",
}
"""What a cohort is called."""

_COLORS: Final = {"learned": "policy", "forgotten": "other", "flipping": "validation", "always": "value", "never": "reference"}


def cohorts_panel(by_step: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """Shares of the prompts that were visited twice by then, in percent, from counts as of `cohorts.by_step`.

    `unfiltered` are those of all rollouts, under a filter. Raises FieldMissing where no prompt was visited twice.
    """
    series = [
        CurveSeries(
            f"{NAMES[name]}{which}", _shares(one, name, one[list(COHORTS)].sum(axis=1)), COLORS[color], of_all=bool(which)
        )
        for one, which in _with_all(by_step, unfiltered)
        for name, color in _COLORS.items()
    ]
    panel = step_panel(series, title="What became of the prompts?", unit="% of those visited twice or more by then")
    return replace(panel, from_zero=True)


def losing_panel(by_step: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """Share of the prompts that are losing, in percent, from counts as of `cohorts.losing_by_step`; as `cohorts_panel`."""
    series = [
        CurveSeries(f"losing{which}", _shares(one, LOSING, one["compared"]), COLORS["policy"], of_all=bool(which))
        for one, which in _with_all(by_step, unfiltered)
    ]
    panel = step_panel(series, title="How many stay below the reference?", unit="% of prompts compared with it by then")
    return replace(panel, from_zero=True)


def _with_all(by_step: pd.DataFrame, unfiltered: pd.DataFrame | None) -> list[tuple[pd.DataFrame, str]]:
    """Counts, and what stands behind the names of their lines."""
    return [(by_step, "")] if unfiltered is None else [(by_step, ""), (unfiltered, ", all")]


def _shares(by_step: pd.DataFrame, name: str, total: "pd.Series[int]") -> pd.DataFrame:
    return pd.DataFrame({"mean": by_step[name] / total.where(total > 0) * 100, "count": total})
