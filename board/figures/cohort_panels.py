"""Curves of what became of a run's prompts. Frames of `board.analysis.cohorts` in, panels out."""

from dataclasses import replace
from typing import Final

import pandas as pd

from board.analysis.cohorts import COHORTS, LOSING
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


def cohorts_panel(by_step: pd.DataFrame) -> CurvePanel:
    """Shares of the prompts that were visited twice by then, in percent, from counts as of `cohorts.by_step`.

    Raises FieldMissing where no prompt was visited twice.
    """
    total = by_step[list(COHORTS)].sum(axis=1)
    series = [
        CurveSeries(
            NAMES[name], pd.DataFrame({"mean": by_step[name] / total.where(total > 0) * 100, "count": total}), COLORS[color]
        )
        for name, color in _COLORS.items()
    ]
    panel = step_panel(series, title="What became of the prompts?", unit="% of those visited twice or more by then")
    return replace(panel, from_zero=True)


def losing_panel(by_step: pd.DataFrame) -> CurvePanel:
    """Share of the prompts that are losing, in percent, from counts as of `cohorts.losing_by_step`. Raises FieldMissing as `cohorts_panel`."""
    total = by_step["compared"]
    share = by_step[LOSING] / total.where(total > 0) * 100
    series = [CurveSeries("losing", pd.DataFrame({"mean": share, "count": total}), COLORS["policy"])]
    panel = step_panel(series, title="How many stay below the reference?", unit="% of prompts compared with it by then")
    return replace(panel, from_zero=True)
