"""Panels of a search, step by step: share of rollouts, rewards, probability."""

from dataclasses import replace

import pandas as pd

from board.analysis.texts.word_probability import BY, by_step
from board.figures.curve_panel import CurvePanel
from board.figures.curves import CurveSeries, step_panel
from board.figures.theme import COLORS


def share_panel(found: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """The share of rollouts with a hit, of a frame of `board.analysis.texts.text_search.by_step`; with that of all rollouts as a second line.

    `unfiltered` is given under a filter. Raises FieldMissing where there is no step.
    """
    series = [
        CurveSeries(f"with it{which}", _stats(one["share"] * 100, one["rollouts"]), COLORS["policy"], of_all=bool(which))
        for one, which in _with_all(found, unfiltered)
    ]
    return step_panel(series, title="In how many rollouts does it stand?", unit="% of rollouts")


def reward_panel(found: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """The mean reward of rollouts with a hit, and of the rest, of the same frames. Raises FieldMissing where there is no reward."""
    series = [
        CurveSeries(f"{name}{which}", _stats(one[column], count), COLORS[color], of_all=bool(which))
        for one, which in _with_all(found, unfiltered)
        for name, column, count, color in (
            ("with it", "with_hit", one["hits"], "policy"),
            ("the rest", "without", one["rollouts"] - one["hits"], "reference"),
        )
    ]
    return step_panel(series, title="Does it pay?", unit="mean reward")


def probability_panel(places: pd.DataFrame) -> CurvePanel:
    """How probable policy and reference find it, a frame of `board.analysis.texts.word_probability`. Raises FieldMissing without a number."""
    series = [CurveSeries(who, by_step(places, who), COLORS[who]) for who in BY]
    return replace(step_panel(series, "quantiles", title="How probable is it?", unit="probability"), from_zero=True)


def _with_all(found: pd.DataFrame, unfiltered: pd.DataFrame | None) -> list[tuple[pd.DataFrame, str]]:
    """Frames, and what stands behind the names of their lines."""
    return [(found, "")] if unfiltered is None else [(found, ""), (unfiltered, ", all")]


def _stats(mean: "pd.Series[float]", count: "pd.Series[int]") -> pd.DataFrame:
    return pd.DataFrame({"mean": mean, "count": count})
