"""Panels of the metrics and columns that a finding names."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from board.analysis.rollouts.selection import numeric_columns
from board.analysis.steps import metric_list
from board.analysis.steps.metric_list import points, short_name, unit_of
from board.analysis.steps.metric_names import alike
from board.analysis.steps.step_metrics import computable, per_step_values
from board.analysis.steps.step_stats import per_step
from board.errors import FieldMissing
from board.figures.curves import CurvePanel, CurveSeries, step_panel
from board.figures.metric_panel import PanelLine, metric_curves
from board.figures.of_run import REWARDS, healthy_range
from board.figures.theme import COLORS, column_color
from board.runs.run import Run
from board.schema import heading, unit


@dataclass(frozen=True)
class FindingPanel:
    """A panel, and the metrics and columns whose curves are in it."""

    names: tuple[str, ...]
    panel: CurvePanel


def finding_panels(run: Run, names: Sequence[str], most: int) -> list[FindingPanel]:
    """At most `most` panels of these metrics and columns, the rewards together in the first; those without a number in the run have none."""
    numeric, possible = numeric_columns(run.frame), computable(run)
    rewards = tuple(name for name in REWARDS if name in names and name in numeric)
    made: list[tuple[tuple[str, ...], Callable[[], CurvePanel]]] = [(rewards, partial(_rewards, run, rewards))] if rewards else []
    shown = {same for name in rewards for same in alike(name)}
    for name in names:
        if name in shown:
            continue
        if name in possible:
            made.append(((name,), partial(_metric, run, name)))
        elif name in numeric:
            made.append(((name,), partial(_column, run, name)))
        shown |= alike(name)
    panels: list[FindingPanel] = []
    for of, make in made:
        with suppress(FieldMissing):
            panels.append(FindingPanel(of, make()))
    return panels[:most]


def _rewards(run: Run, names: Sequence[str]) -> CurvePanel:
    series = [CurveSeries(REWARDS[name][0], per_step(run.frame, name), COLORS[REWARDS[name][1]]) for name in names]
    return step_panel(series, title="Rewards", unit="mean of the step")


def _column(run: Run, name: str) -> CurvePanel:
    return step_panel(
        [CurveSeries(heading(name), per_step(run.frame, name), column_color(name))], title=heading(name), unit=unit(name)
    )


def _metric(run: Run, key: str) -> CurvePanel:
    (panel,) = metric_list.panels(per_step_values(run, [key]), [], "board")
    if panel.own is None:
        raise FieldMissing(f"{key} has no number in any step.")
    line = PanelLine("rollouts", *points(panel.own), logged=False)
    drawn = metric_curves([line], panel.family, unit_of(panel), healthy_range(panel))
    return replace(drawn, title=short_name(panel.name))
