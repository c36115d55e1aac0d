"""One metric over steps, from rollouts and logs, with its healthy range.

Draws arrays that are ready.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.steps.step_stats import smooth
from board.errors import FieldMissing
from board.figures.curves import CurvePanel, DrawnCurve, Healthy
from board.figures.theme import COLORS
from board.metrics.formulas import Float64Array
from board.text.counting import plural

DASHES: Final = ("dash", "dot", "dashdot", "longdash")
"""What trackers logged is grey, each of them dashed in its own way."""

FAMILY_COLORS: Final[dict[str, str]] = {
    "reward": COLORS["policy"],
    "groups": COLORS["policy"],
    "kl": COLORS["kl"],
    "policy": COLORS["entropy"],
    "update": COLORS["kl"],
    "critic": COLORS["value"],
    "advantage": COLORS["value"],
    "length": COLORS["length"],
    "mismatch": COLORS["kl"],
    "evaluation": COLORS["validation"],
}
"""Colours by the family of a metric; any other has that of other columns."""


@dataclass(frozen=True)
class PanelLine:
    """One line: its name on the screen, and its values by step (rising), NaN where there is none."""

    name: str
    steps: NDArray[np.int64]
    values: Float64Array
    logged: bool
    """By a tracker, or of all rollouts where others are of those that a filter leaves: drawn grey and dashed."""


def metric_curves(
    lines: Sequence[PanelLine],
    family: str,
    unit: str = "",
    healthy: Healthy | None = None,
    smoothing: float = 0.0,
    log: bool = False,
) -> CurvePanel:
    """The lines, the board's own on top of the others where they agree, and the healthy range.

    `smoothing` as in `step_stats.smooth`, the unsmoothed line stays. On a logarithmic axis what is not above zero cannot be
    drawn, and the note says how many steps that are; where most are not, the axis stays linear. Raises FieldMissing where there is no
    number.
    """
    if not any(np.isfinite(one.values).any() for one in lines):
        raise FieldMissing("It has no number in any step.")
    log = log and _mostly_above_zero(lines)
    known = [one for one in lines if np.isfinite(_drawable(one.values, log)).any()]
    color = FAMILY_COLORS.get(family, COLORS["other"])
    dashes = iter(DASHES * len(known))
    curves = [_curve(one, color, next(dashes) if one.logged else "solid", smoothing, log) for one in known]
    below = np.argsort([not one.logged for one in known], kind="stable")
    return CurvePanel(
        "", unit, tuple(curves[at] for at in below), _smoothed(smoothing), _left_out(lines) if log else "", log, healthy
    )


def _smoothed(weight: float) -> str:
    return f"smoothed {weight:g}" if weight else ""


def _mostly_above_zero(lines: Sequence[PanelLine]) -> bool:
    values = np.concatenate([one.values[np.isfinite(one.values)] for one in lines])
    return bool((values > 0).mean() > 0.5)


def _drawable(values: Float64Array, log: bool) -> Float64Array:
    return np.where(np.isfinite(values) & (values > 0), values, np.nan) if log else values


def _curve(one: PanelLine, color: str, dash: str, smoothing: float, log: bool) -> DrawnCurve:
    raw = smooth(_drawable(one.values, log), 0.0)
    empty = np.full(raw.size, np.nan)
    chosen = COLORS["reference"] if one.logged else color
    count = np.full(raw.size, -1)
    return DrawnCurve(one.name, chosen, dash, one.steps, smooth(raw, smoothing), raw, empty, empty, raw, count, raw.size)


def _left_out(lines: Sequence[PanelLine]) -> str:
    """How many steps have no place on a logarithmic axis: those of the board's own curve, else of all together."""
    counted = [one for one in lines if not one.logged] or lines
    below = {int(step) for one in counted for step in one.steps[np.isfinite(one.values) & (one.values <= 0)]}
    return f"{plural(len(below), 'step')} not above zero left out" if below else ""
