"""Panels of curves with a line for each compared run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.compare import overlay_lines, overlay_notes, run_settings
from board.analysis.compare.overlay_lines import OverlayLine
from board.analysis.compare.run_overlay import MOST_RUNS
from board.analysis.stats.bootstrap import PromptUnits
from board.analysis.steps import step_intervals
from board.analysis.steps.step_metrics import computable, per_step_values
from board.analysis.steps.step_stats import finite_values
from board.errors import FieldMissing
from board.figures.curves import CurvePanel, Healthy
from board.figures.overlay_panel import overlay_panel
from board.metrics.formulas import Float64Array
from board.runs.run import Run
from board.ui.components.curves import CurveAxis, CurveMark
from board.ui.frame import compared_runs, overlay_controls
from board.ui.frame.compared_runs import ComparedSide
from board.ui.frame.overlay_controls import OverlayChoices
from board.ui.shared.messages import notice
from board.ui.state import caches, place

Curves = Sequence[pd.DataFrame | None]
"""A number of each run by step, columns `step_intervals.BY_STEP`; None of a run that lacks it."""

_MOST_CURVES: Final = 128 * MOST_RUNS
"""So many curves of overlaid runs are cached."""

_CLOCK_UNITS = (("h", 36_000.0, 3_600.0), ("min", 600.0, 60.0), ("s", 0.0, 1.0))
"""Units of time: the name, from how many seconds on it is used, and how many seconds it has."""


def is_on() -> bool:
    """Whether there are runs to overlay on the page's own: the link names some, and one of them exists."""
    return bool(place.compared()) and len(compared_runs.chosen()) > 1


def chosen() -> "Overlay | None":
    """The overlaid runs, with the choices drawn here; None where there is one run alone."""
    if not is_on():
        return None
    runs = compared_runs.chosen()
    names, tags = [one.name for one in runs], [one.tags for one in runs]
    choices = overlay_controls.overlay_choices({one.address: one.name for one in runs}, overlay_lines.any_seeds(names, tags))
    places: list[pd.Series | None] = [_places(one, choices) for one in runs]
    placed = [one.name for one, at in zip(runs, places, strict=True) if at is not None]
    if len(placed) < len(runs):
        lacking = [name for name in names if name not in placed]
        notice(f"Not drawn over {choices.axis}: {overlay_notes.listed(lacking)}, whose rollouts do not record it.")
    if places[0] is None:  # the page's own step would stand nowhere
        choices = replace(choices, axis="step")
        places = [_places(one, choices) for one in runs]
    return Overlay(runs, choices, places)


def _places(one: ComparedSide, choices: OverlayChoices) -> "pd.Series[float] | None":
    try:
        return caches.cached(
            "places", lambda: overlay_lines.places(one.run, choices.axis), one.run, choices.axis, keep=_MOST_CURVES
        )
    except FieldMissing:
        return None


@dataclass(frozen=True)
class Overlay:
    """Runs, how they are overlaid, and the position of each run's steps on the axis; None for a run without such positions."""

    runs: Sequence[ComparedSide]
    choices: OverlayChoices
    places: Sequence["pd.Series[float] | None"]

    @cached_property
    def key(self) -> str:
        """The cache key of what is drawn of these runs: their loads, names and colours, and the choices."""
        return str([(one.run.load_id, one.whole.load_id, one.name, one.color, one.tags) for one in self.runs] + [self.choices])

    @cached_property
    def _unit(self) -> tuple[str, float]:
        """The word of the axis, and what its numbers are divided by."""
        if self.choices.axis != "time":
            return self.choices.axis, 1.0
        longest = max((float(at.max()) for at in self.places if at is not None and at.notna().any()), default=0.0)
        return next((word, parts) for word, least, parts in _CLOCK_UNITS if longest >= least)

    @cached_property
    def _in_unit(self) -> Sequence["pd.Series[float] | None"]:
        """The places as the axis counts them."""
        return [None if at is None else at / self._unit[1] for at in self.places]

    @property
    def axis(self) -> CurveAxis:
        """What the curves go along."""
        word = self._unit[0]
        return CurveAxis(word, keeps=word == "step")

    def at(self, step: int) -> float:
        """Where a step of the page's own run stands on the axis; the nearest one of its steps, where it has not that one."""
        steps, places = self._own
        return float(places[np.abs(steps - step).argmin()]) if len(steps) else float(step)

    @cached_property
    def _own(self) -> tuple[Float64Array, Float64Array]:
        """The steps of the page's own run that have a place, and their places."""
        own = self.places[0]
        assert own is not None
        known = own.dropna()
        return known.index.to_numpy(np.float64), np.asarray(known / self._unit[1], np.float64)

    def marks(self, marks: Sequence[CurveMark]) -> list[CurveMark]:
        """Marks of the page's own run at their places on the axis."""
        return [replace(one, step=round(self.at(one.step))) for one in marks] if self.choices.axis != "step" else [*marks]

    def span(self, steps: Sequence[int]) -> tuple[int, int]:
        """The first and the last place of all runs on the axis; `steps` are those that a page's other curves reach over."""
        if self.choices.axis != "step":
            return 0, 0
        ends = [int(step) for at in self.places if at is not None for step in (at.index[0], at.index[-1])]
        return min(*steps, *ends), max(*steps, *ends)

    @place.callback
    def clicked(self, curves: str) -> None:
        """A callback for the curves with that key: go to the step of the page's own run that stands nearest to the place that was clicked."""
        x = place.reported(curves, "clicked")
        steps, places = self._own
        if isinstance(x, int | float) and np.isfinite(x) and len(steps):
            place.go(step=int(steps[np.abs(places - x).argmin()]))

    def columns(self, name: str) -> Curves:
        """A column of each run's frame by step."""
        return [_column(one.run, name, band=self.choices.band) for one in self.runs]

    def values(self, name: str, number: Callable[[Run], Float64Array]) -> Curves:
        """A number of each rollout by step, under a name of its own. `number` raises FieldMissing where a run lacks it."""
        return [_number(one.run, name, number, band=self.choices.band) for one in self.runs]

    def metrics(self, own: pd.DataFrame, version: str, keys: Sequence[str]) -> dict[str, Curves]:
        """Metrics of the catalogue by step, by key; `own` are those of the page's run, which it has computed, of the load `version`."""
        first, *others = self.runs
        band = self.choices.band
        found = [_metrics(first, own, version, keys, band=band), *(_metrics(one, None, "", keys, band=band) for one in others)]
        return {key: [of_run.get(key) for of_run in found] for key in keys}

    def logged(self, key: str) -> Curves:
        """What the trainers logged under one key, by step; of several trackers of a run what the first has."""
        found = [next((one.curve for one in caches.scalars(of.whole).logged if one.key == key), None) for of in self.runs]
        return [None if one is None else step_intervals.without_band(pd.Series(one.values, index=one.steps)) for one in found]

    def panel(
        self,
        curves: Curves,
        title: str,
        *,
        unit: str = "",
        smoothing: float = 0.0,
        log: bool = False,
        healthy: Healthy | None = None,
        from_first: bool = False,
        notes: Sequence[str] = (),
    ) -> CurvePanel:
        """One panel of a number of all runs; `from_first` starts each at zero. Raises FieldMissing where none of them has it."""
        if curves[0] is None and sum(one is not None for one in curves) < 2:
            raise FieldMissing("No two of the runs have it, nor has this one.")
        lines = [
            OverlayLine(one.name, one.color, overlay_lines.placed(curve, at, from_first=from_first), (which,))
            for which, (one, curve, at) in enumerate(zip(self.runs, curves, self._in_unit, strict=True))
            if curve is not None and at is not None
        ]
        lacking = [one.name for one, curve in zip(self.runs, curves, strict=True) if curve is None]
        names, tags = [one.name for one in self.runs], [one.tags for one in self.runs]
        joined = overlay_lines.with_seeds_joined(lines, overlay_lines.seed_groups(names, tags, self.choices.seeds))
        baseline = next((at for at, one in enumerate(self.runs) if one.address == self.choices.baseline), None)
        below = ""
        if baseline is not None:
            below = next((line.name for line in joined if baseline in line.runs), names[baseline])
            joined = overlay_lines.less_baseline(joined, baseline)
        return overlay_panel(
            [line for line in joined if len(line.curve)],
            title=title,
            unit=unit,
            band=self.choices.band,
            smoothing=smoothing,
            log=log,
            healthy=self._at_places(healthy),
            baseline=below,
            notes=[*notes, overlay_notes.lacking(lacking)],
        )

    def _at_places(self, healthy: Healthy | None) -> Healthy | None:
        """The healthy range with the step where the page's own run left it at its place on the axis."""
        if healthy is None or healthy.left_at is None or self.choices.axis == "step":
            return healthy
        return replace(healthy, left_at=(round(self.at(healthy.left_at[0])), healthy.left_at[1]))

    def scale_note(self, column: str) -> str:
        """A sentence where a column may be on another scale in one of the runs, or holds another KL; empty elsewhere."""
        ranges = {one.name: width for one in self.runs if (width := _range(one.run, column)) is not None}
        return " ".join(filter(None, (overlay_notes.scale(ranges), self.estimator_note)))

    @cached_property
    def estimator_note(self) -> str:
        """A sentence where the runs' settings say that their trainers estimate KL in different ways; empty elsewhere."""
        settings = {one.name: run_settings.together(caches.settings_of(one.whole.location)) for one in self.runs}
        return overlay_notes.estimators(settings)


def _column(run: Run, name: str, *, band: bool) -> pd.DataFrame | None:
    return _number(run, name, lambda of: finite_values(of.frame, name), band=band)


def _number(run: Run, name: str, number: Callable[[Run], Float64Array], *, band: bool) -> pd.DataFrame | None:
    try:
        found = caches.cached(
            "number",
            lambda: step_intervals.of_values(_units(run), number(run), band=band),
            run,
            name,
            float(band),
            keep=_MOST_CURVES,
        )
    except FieldMissing:
        return None
    return found if len(found) else None


def _units(run: Run) -> PromptUnits:
    return caches.cached("units", lambda: step_intervals.units(run), run, keep=_MOST_CURVES)


def _range(run: Run, column: str) -> float | None:
    """How far apart the least and the largest number of a column are; None where the run has none."""

    def width() -> float | None:
        values = finite_values(run.frame, column)
        known = values[np.isfinite(values)]
        return float(known.max()) - float(known.min()) if known.size else None

    try:
        return caches.cached("range", width, run, column)
    except FieldMissing:
        return None


def _metrics(
    one: ComparedSide, own: pd.DataFrame | None, version: str, keys: Sequence[str], *, band: bool
) -> Mapping[str, pd.DataFrame]:
    """Those of the metrics that the run has, computed together where they are not cached."""
    unfiltered = not place.part("filter") and one.run.splits == ("train",)
    run = one.whole if unfiltered else one.run
    there = {key: caches.cached_before("metric", run, key, version, float(band), keep=_MOST_CURVES) for key in keys}
    possible = {*own} if own is not None else {*caches.cached("computable", lambda: computable(run), run)}
    missing = [key for key, found in there.items() if found is None and key in possible]
    if missing:
        with st.spinner("Computing the metrics of the runs side by side"):
            values = own[missing] if own is not None else per_step_values(run, missing)
            made = (
                step_intervals.of_metrics(run, values, missing)
                if band
                else {key: step_intervals.without_band(values[key]) for key in missing}
            )
        there |= {
            key: caches.cached("metric", partial(made.__getitem__, key), run, key, version, float(band), keep=_MOST_CURVES)
            for key in missing
        }
    return {key: found for key, found in there.items() if found is not None and len(found)}
