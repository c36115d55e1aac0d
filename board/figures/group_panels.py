"""Curves of what a run's groups are: the share of each kind, and pass@k. Frames of `board.analysis.rollouts.groups` in, panels out."""

from dataclasses import replace
from typing import Final

import pandas as pd

from board.analysis.rollouts.verifier_noise import Noise, What
from board.figures.curve_panel import CurvePanel
from board.figures.curves import DASHES, CurveSeries, step_panel
from board.figures.theme import COLORS

_KINDS: Final = {
    "all_right": ("all right", "policy"),
    "mixed": ("mixed", "other"),
    "all_wrong": ("all wrong", "value"),
    "flat": ("no gradient", "reference"),
}
"""Column of `shares` → its name on the screen and its colour."""


def kinds_panel(shares: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """Shares of a step's groups, in percent, from `shares` as of `groups.shares` or some of its columns; under a filter also the mixed
    ones of all groups.

    Raises FieldMissing where no step has a scored group.
    """
    series = [
        CurveSeries(name, pd.DataFrame({"mean": shares[column] * 100, "count": shares["count"]}), COLORS[color])
        for column, (name, color) in _KINDS.items()
        if column in shares
    ]
    if unfiltered is not None:
        mixed = pd.DataFrame({"mean": unfiltered["mixed"] * 100, "count": unfiltered["count"]})
        series.append(CurveSeries("mixed, all", mixed, COLORS[_KINDS["mixed"][1]], of_all=True))
    title = "Which groups can still teach?" if "mixed" in shares else "How many groups give no gradient?"
    return replace(step_panel(series, title=title, unit="% of groups"), from_zero=True)


def pass_panel(passed: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """pass@k by step, in percent, a curve for each column of `groups.pass_by_step`; under a filter also that of all groups.

    `unfiltered` has one column. Raises FieldMissing where no step has a number.
    """
    colors = [COLORS["policy"]] * len(DASHES) + [COLORS["other"]] * len(DASHES) + [COLORS["value"]] * len(DASHES)
    series = [
        CurveSeries(f"pass@{k}", pd.DataFrame({"mean": passed[k] * 100}), color)
        for k, color in zip(passed.columns, colors, strict=False)
    ]
    if unfiltered is not None:
        k = unfiltered.columns[0]
        series.append(CurveSeries(f"pass@{k}, all", pd.DataFrame({"mean": unfiltered[k] * 100}), colors[0], of_all=True))
    panel = step_panel(series, title="Is one of k responses right?", unit="% of prompts, mean of the unbiased estimates")
    return replace(panel, from_zero=True)


def noise_panel(noise: Noise, unfiltered: Noise | None = None) -> CurvePanel:
    """Share of the rollouts with an equal in their group that are rewarded otherwise, in percent; with that of all groups.

    `unfiltered` is given under a filter. Raises FieldMissing where no rollout has an equal.
    """
    drawn: tuple[tuple[What, str, str], ...] = (
        ("response", "responses", COLORS["policy"]),
        ("answer", "final answers", COLORS["other"]),
    )
    of = [(noise, "", False)] if unfiltered is None else [(noise, "", False), (unfiltered, ", all", True)]
    series = [
        CurveSeries(
            f"equal {name}{which}",
            pd.DataFrame({"mean": one.rates(what) * 100, "count": one.by_step[f"{what}_twins"]}),
            color,
            of_all=of_all,
        )
        for one, which, of_all in of
        for what, name, color in drawn
    ]
    panel = step_panel(
        series, title="Does the verifier contradict itself?", unit="% of rollouts with an equal, rewarded otherwise"
    )
    return replace(panel, from_zero=True)
