"""Rewards: where does the curve bend, and how is the reward spread?"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import cycle
from typing import Any

import pandas as pd
import streamlit as st

from board.analysis.rollouts.reward_parts import reward_parts
from board.analysis.rollouts.selection import numeric_columns, of_step
from board.analysis.steps.highlights import Highlight, highlights
from board.analysis.steps.histograms import histogram_by_step
from board.analysis.steps.metric_list import column_of, short_name
from board.analysis.steps.step_metrics import MOST_SOURCES, computable, further_sources, per_step_values, sources
from board.analysis.steps.step_metrics.own_means import is_evaluated
from board.analysis.steps.step_stats import share_below
from board.errors import FieldMissing
from board.figures.chart import Chart, Spec, step_mark
from board.figures.curves import CurvePanel, CurveSeries, step_panel
from board.figures.distributions import by_sample, gap_histogram, reward_heat, share_below_zero_panel, step_histogram
from board.figures.of_run import REWARDS
from board.figures.theme import COLORS, RUN_COLORS
from board.metrics.formulas import kl_column
from board.text.counting import plural
from board.ui.components import curves as component
from board.ui.components import step_marks, table
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.frame import findings_watch, overlay
from board.ui.frame.overlay import Overlay
from board.ui.pages.rewards.panels import PLOT_HEIGHT, PanelSpec, overlaid, panels
from board.ui.shared import late_chart
from board.ui.shared.controls import CurveChoices, curve_choices, step_curves
from board.ui.shared.list_order import ASCENDING, DESCENDING
from board.ui.shared.messages import in_line, unfilled
from board.ui.state import caches, place
from board.ui.state.place_parts import FORGOTTEN

CURVES = "reward_curves"
"""Key of the curves."""

view = caches.with_step(place.view())
run, step = view.run, view.step
rows = of_step(run.frame, step)
marks: dict[str, Spec | None] = {}
"""Charts of which x is the step, by key, and where the chosen one stands in them."""
missing: list[str] = []
"""Panels that the run cannot fill, and what they need."""


def story(choices: CurveChoices) -> None:
    """The steps to look at first, each a click away."""
    columns = ("reward", "valid_reward", kl_column(choices.estimator), "response_length")
    left_out = [one.step for one in findings_watch.newest(run)]
    stats = {name: caches.step_stats(run, name).drop(left_out, errors="ignore") for name in columns if name in run.frame.columns}
    found = highlights(stats, kl_column(choices.estimator))
    with in_line("story"):
        for at, highlight in sorted(enumerate(found), key=lambda one: one[1].kind == "note"):
            if highlight.kind == "warning":
                with st.container(
                    border=True, horizontal=True, vertical_alignment="center", gap="small", width="content", key=f"warning_{at}"
                ):
                    st.badge("warning", color="orange")
                    st.text(highlight.text, width="content")
                    st.button(
                        f"Step {highlight.step:,}",
                        key=f"highlight_{at}",
                        type="tertiary",
                        on_click=place.go,
                        kwargs={"step": highlight.step},
                    )
            elif run.reads_on:
                st.text(f"so far {highlight.text}", width="content")
            else:
                st.page_link("board/ui/pages/responses/responses.py", label=highlight.text, query_params=_showing(highlight))


def _showing(highlight: Highlight) -> dict[str, Any]:
    """Where the rollouts of a highlight's step that show it most come first."""
    there = {name: value for name, value in place.link(step=highlight.step).items() if name not in FORGOTTEN["step"]}
    return there | {"sort": highlight.shown_by, "order": DESCENDING if highlight.most else ASCENDING}


def chart(draw: Callable[[], Chart], key: str, *choices: str | float | tuple[str, ...]) -> caches.DrawnChart | None:
    """A chart, or one line on which field it lacks. `choices` are what it depends on in addition to its key and the run."""
    try:
        drawn = caches.chart(key, draw, run, *choices)
    except FieldMissing as error:
        missing.append(str(error).rstrip("."))
        return None
    if drawn.chart.steps.size:
        marks[key] = step_mark(drawn.chart, step)
    return drawn


def curves(choices: CurveChoices, over: Overlay | None) -> None:
    """Curves of the run, or of the overlaid runs: reward, KL, length, log-ratio, entropy, and the columns that the reader chose."""
    found = panels(run, choices)
    names = tuple(name for one in found for name in one.lines)
    payload = caches.cached(
        "rewards",
        lambda: overlaid(found, over, choices) if over else built(found, choices),
        run,
        names,
        over.key if over else "",
        choices.band,
        choices.smoothing,
        choices.zero_shift,
        choices.band_scale,
    )
    if payload.keys:
        step_curves(payload, CURVES, run.steps, over.clicked(CURVES) if over else None)
    drawn = {key.partition(" ")[0] for key in payload.keys}
    missing.extend(f"{one.title} needs {one.needs}" for at, one in enumerate(found) if str(at) not in drawn)


def built(specs: list[PanelSpec], choices: CurveChoices) -> CurvesPayload:
    """What is sent of the panels that the run can fill: keys begin with their places in the list."""
    cards = []
    for at, spec in enumerate(specs):
        with suppress(FieldMissing):
            cards.append(Card(f"{at} {spec.title}", of_columns(spec, choices), shows=tuple(spec.lines)))
    for title, series in of_what_it_is_made():
        with suppress(FieldMissing):
            cards.append(
                Card(
                    title,
                    step_panel(series, band="none", title=title, unit="reward", smoothing=choices.smoothing),
                    shows=("reward",),
                )
            )
    if "reward_gap" in run.frame.columns:
        with suppress(FieldMissing):
            cards.append(Card("below_zero", share_below_zero_panel(share_below(run.frame, "reward_gap"))))
    return build(cards, span=(int(run.steps[0]), int(run.steps[-1])), height=PLOT_HEIGHT, even=True)


def of_what_it_is_made() -> Iterator[tuple[str, list[CurveSeries]]]:
    """The reward by data source, and its parts: a panel each where there are several, of so many lines as can be distinguished."""
    yield from _lines("What does each data source earn?", _means(sources(view.whole)))
    parts = {name: caches.step_stats(run, name) for name in reward_parts(run.frame)}
    evaluated = [key for key in computable(view.whole) if is_evaluated(key) and column_of(key) in parts]
    yield from _lines("What do the parts of the reward earn?", parts | _means(evaluated))


def _means(keys: list[str]) -> dict[str, pd.DataFrame]:
    """By what a line is called the mean by step of each of these keys."""
    values = per_step_values(view.whole, keys)
    return {
        f"{column_of(key)}{', evaluation' * is_evaluated(key)}": values[[key]].set_axis(["mean"], axis="columns") for key in keys
    }


def without_curves() -> None:
    """The data sources beyond those that have a curve."""
    rest = caches.cached("further_sources", lambda: further_sources(view.whole), view.whole)
    if len(rest):
        with st.expander(f"{plural(len(rest), 'more data source')}, smaller ones, without a curve"):
            table.show(rest, {}, name="data sources", key="further_sources", height=2 * PLOT_HEIGHT)


def _lines(title: str, stats: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, list[CurveSeries]]]:
    if len(stats) > 1:
        named = zip([*stats.items()][:MOST_SOURCES], cycle(RUN_COLORS.values()), strict=False)
        yield title, [CurveSeries(short_name(name), one, color) for (name, one), color in named]


def of_columns(spec: PanelSpec, choices: CurveChoices) -> CurvePanel:
    """The curves of one panel, those of its columns that the run has. Raises FieldMissing where it has none, or no number in them."""
    present = [name for name in spec.lines if name in run.frame.columns]
    if not present:
        raise FieldMissing(f"This needs {spec.needs}.")
    of = {"": run} if run is view.unfiltered else {"": run, ", all": view.unfiltered}
    return step_panel(
        [
            CurveSeries(
                f"{spec.lines[name][0]}{which}", caches.step_stats(one, name), COLORS[spec.lines[name][1]], of_all=bool(which)
            )
            for which, one in of.items()
            for name in present
        ],
        band=choices.band,
        title=spec.title,
        unit=spec.unit,
        smoothing=choices.smoothing,
        zero_shift=choices.zero_shift and spec.lines is REWARDS,
        band_scale=choices.band_scale,
    )


def distributions() -> None:
    """How the reward is spread: in this step, over all steps, against the reference."""
    references = rows["ref_reward"].to_numpy() if "ref_reward" in rows.columns else None
    charts: list[tuple[str, Callable[[], Chart], int | None]] = [
        (
            "histogram",
            lambda: step_histogram(rows["reward"].to_numpy(), references, f"How is the reward spread in step {step}?"),
            step,
        ),
        ("heat", lambda: reward_heat(*histogram_by_step(run.frame, "reward")), None),
        ("by_sample", lambda: by_sample(rows, f"Which samples of step {step} earn it?"), step),
    ]
    if "reward_gap" in run.frame.columns:
        charts.append(("gap", lambda: gap_histogram(rows["reward_gap"].to_numpy()), step))
    made = {key: chart(draw, key, *(() if of_which is None else (of_which,))) for key, draw, of_which in charts}
    drawn = {key: one for key, one in made.items() if one is not None}
    late_chart.draw(drawn, columns=2 if len(drawn) % 2 == 0 else 3)
    if "reward_gap" not in run.frame.columns:
        missing.append("Reward against the reference needs ref_reward")


def other_columns() -> list[str]:
    """Numeric columns that no panel shows by default."""
    shown = {*REWARDS, "response_length", "log_ratio_mean", "entropy_mean", "group"}
    return [name for name in numeric_columns(run.frame) if name not in shown]


with in_line():
    chosen = curve_choices(other_columns(), bands=not overlay.is_on())
    story(chosen)
overlaid_runs = overlay.chosen()
curves(chosen, overlaid_runs)
if not overlaid_runs:
    without_curves()
if "reward" in run.frame.columns:
    st.subheader("Distribution")
    distributions()
else:
    missing.append("The reward's distribution needs reward")
unfilled(missing)
found_marks = findings_watch.curve_marks()
component.choose(
    step,
    zoom=place.step_range("zoom"),
    marks=overlaid_runs.marks(found_marks) if overlaid_runs else found_marks,
    at=overlaid_runs.at(step) if overlaid_runs else None,
    key="curves_choice",
)
step_marks.show(marks, key="step_marks", on_click=place.step_clicked("step_marks", run.steps))
