"""Curves by step that pages draw of groups, prompts, searches and pairs of runs. Frames of `board.analysis` in, panels out.

`unfiltered` is given under a filter: what the same number is over all rollouts, drawn as further lines.
"""

from typing import Final

import numpy as np
import pandas as pd

from board.analysis.prompts.cohorts import COHORTS, LOSING
from board.analysis.rollouts.verifier_noise import Noise, What
from board.analysis.texts.word_probability import BY, by_step
from board.figures.curves import DASHES, CurvePanel, CurveSeries, DrawnCurve, step_panel
from board.figures.theme import COLORS

_KINDS: Final = {
    "all_right": ("all right", "policy"),
    "mixed": ("mixed", "other"),
    "all_wrong": ("all wrong", "value"),
    "flat": ("no gradient", "reference"),
}
"""Column of `shares` → its name on the screen and its colour."""

_MEASURED: Final[tuple[tuple[What, str, str], ...]] = (("response", "responses", "policy"), ("answer", "final answers", "other"))
"""What verifiers contradict themselves on: its name on the screen and its colour."""

NAMES: Final = {
    "learned": "learned",
    "forgotten": "forgotten",
    "flipping": "flipping",
    "always": "always solved",
    "never": "never solved",
    LOSING: "losing",
}
"""What a cohort is called."""

_COHORT_COLORS: Final = {
    "learned": "policy",
    "forgotten": "other",
    "flipping": "validation",
    "always": "value",
    "never": "reference",
}


def kinds_panel(shares: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """Shares of a step's groups, in percent, from `shares` as of `groups.shares` or some of its columns; under a filter also the mixed
    ones of all groups.

    Raises FieldMissing where no step has a scored group.
    """
    series = [
        _line(name, shares[column] * 100, color, shares["count"]) for column, (name, color) in _KINDS.items() if column in shares
    ]
    if unfiltered is not None:
        series.append(_line("mixed", unfiltered["mixed"] * 100, _KINDS["mixed"][1], unfiltered["count"], ", all"))
    title = "Which groups can still teach?" if "mixed" in shares else "How many groups give no gradient?"
    return step_panel(series, title=title, unit="% of groups", from_zero=True)


def pass_panel(passed: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """pass@k by step, in percent, a curve for each column of `groups.pass_by_step`; under a filter also that of all groups.

    `unfiltered` has one column. Raises FieldMissing where no step has a number.
    """
    colors = [color for color in ("policy", "other", "value") for _ in DASHES]
    series = [_line(f"pass@{k}", passed[k] * 100, color) for k, color in zip(passed.columns, colors, strict=False)]
    if unfiltered is not None:
        k = unfiltered.columns[0]
        series.append(_line(f"pass@{k}", unfiltered[k] * 100, colors[0], which=", all"))
    return step_panel(
        series, title="Is one of k responses right?", unit="% of prompts, mean of the unbiased estimates", from_zero=True
    )


def noise_panel(noise: Noise, unfiltered: Noise | None = None) -> CurvePanel:
    """Share of the rollouts with an equal in their group that are rewarded otherwise, in percent; with that of all groups.

    Raises FieldMissing where no rollout has an equal.
    """
    series = [
        _line(f"equal {name}", one.rates(what) * 100, color, one.by_step[f"{what}_twins"], which)
        for one, which in ((noise, ""), (unfiltered, ", all"))
        if one is not None
        for what, name, color in _MEASURED
    ]
    unit = "% of rollouts with an equal, rewarded otherwise"
    return step_panel(series, title="Does the verifier contradict itself?", unit=unit, from_zero=True)


def cohorts_panel(by_step: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """Shares of the prompts that were visited twice by then, in percent, from counts as of `cohorts.by_step`.

    Raises FieldMissing where no prompt was visited twice.
    """
    series = [
        _share_of(one, name, one[list(COHORTS)].sum(axis=1), color, which)
        for one, which in _with_all(by_step, unfiltered)
        for name, color in _COHORT_COLORS.items()
    ]
    unit = "% of those visited twice or more by then"
    return step_panel(series, title="What became of the prompts?", unit=unit, from_zero=True)


def losing_panel(by_step: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """Share of the prompts that are losing, in percent, from counts as of `cohorts.losing_by_step`; as `cohorts_panel`."""
    series = [_share_of(one, LOSING, one["compared"], "policy", which) for one, which in _with_all(by_step, unfiltered)]
    unit = "% of prompts compared with it by then"
    return step_panel(series, title="How many stay below the reference?", unit=unit, from_zero=True)


def share_panel(found: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """The share of rollouts with a hit, of a frame of `board.analysis.texts.text_search.by_step`; with that of all rollouts as a second line.

    Raises FieldMissing where there is no step.
    """
    series = [
        _line("with it", one["share"] * 100, "policy", one["rollouts"], which) for one, which in _with_all(found, unfiltered)
    ]
    return step_panel(series, title="In how many rollouts does it stand?", unit="% of rollouts")


def reward_panel(found: pd.DataFrame, unfiltered: pd.DataFrame | None = None) -> CurvePanel:
    """The mean reward of rollouts with a hit, and of the rest, of the same frames. Raises FieldMissing where there is no reward."""
    series = [
        line
        for one, which in _with_all(found, unfiltered)
        for line in (
            _line("with it", one["with_hit"], "policy", one["hits"], which),
            _line("the rest", one["without"], "reference", one["rollouts"] - one["hits"], which),
        )
    ]
    return step_panel(series, title="Does it pay?", unit="mean reward")


def probability_panel(places: pd.DataFrame) -> CurvePanel:
    """How probable policy and reference find it, a frame of `board.analysis.texts.word_probability`. Raises FieldMissing without a number."""
    series = [CurveSeries(who, by_step(places, who), COLORS[who]) for who in BY]
    return step_panel(series, "quantiles", title="How probable is it?", unit="probability", from_zero=True)


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


def _with_all(found: pd.DataFrame, unfiltered: pd.DataFrame | None) -> list[tuple[pd.DataFrame, str]]:
    """Frames, and what stands behind the names of their lines."""
    return [(found, "")] if unfiltered is None else [(found, ""), (unfiltered, ", all")]


def _line(name: str, mean: "pd.Series[float]", color: str, count: "pd.Series[int] | None" = None, which: str = "") -> CurveSeries:
    """A line of a number by step and of how many it is; with `which` behind its name it is of all rollouts."""
    stats = pd.DataFrame({"mean": mean} if count is None else {"mean": mean, "count": count})
    return CurveSeries(f"{name}{which}", stats, COLORS[color], of_all=bool(which))


def _share_of(by_step: pd.DataFrame, cohort: str, total: "pd.Series[int]", color: str, which: str) -> CurveSeries:
    return _line(NAMES[cohort], by_step[cohort] / total.where(total > 0) * 100, color, total, which)
