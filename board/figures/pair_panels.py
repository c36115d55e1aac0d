"""Curves of one run against another on the prompts that both saw. Frames of `board.analysis.compare.paired_prompts` in, panels out."""

import numpy as np
import pandas as pd

from board.figures.curve_panel import CurvePanel, DrawnCurve


def difference_panel(by_step: pd.DataFrame, *, title: str, unit: str, color: str) -> CurvePanel:
    """The paired difference by step as of `paired_prompts.by_step`, with its interval as a band; zero is on the axis in any case.

    `color` is "#rrggbb".
    """
    steps, prompts = (by_step[column].to_numpy(np.int64) for column in ("step", "prompts"))
    mean, low, high = (by_step[column].to_numpy(np.float64) for column in ("difference", "low", "high"))
    curve = DrawnCurve("B − A", color, "solid", steps, mean, mean, low, high, mean, prompts, len(steps))
    return CurvePanel(
        title, unit, (curve,), "mean over the prompts of a step, and its 95 % interval over prompts", from_zero=True
    )
