"""Metrics: every number of a step, under the names your trainer gives them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from board.analysis.rollouts import kl_concentration
from board.analysis.steps import metric_list, step_metrics
from board.analysis.steps.logged_curves import LoggedText
from board.analysis.steps.metric_list import HEADINGS, INTRODUCTIONS, SECTIONS, Panel, catalogue_names
from board.errors import FieldMissing
from board.figures.chart import Spec
from board.figures.frontier import frontier, frontier_mark
from board.metrics.declared.contract import Words
from board.runs.cache.shared_values import LatestValue
from board.runs.library import LIVE_SECONDS
from board.runs.run import Run
from board.text.counting import listed, plural
from board.text.path_names import shown
from board.ui.components import curves, step_marks
from board.ui.frame import findings_watch, overlay
from board.ui.pages.metrics import length_panels, sql_editor, variety_panel
from board.ui.pages.metrics.filters import metric_choices
from board.ui.pages.metrics.grid import MOST_NAMED, Wall, card_key, section, story
from board.ui.shared import late_chart
from board.ui.shared.messages import in_line, notice, unfilled
from board.ui.shared.progress_line import progress
from board.ui.state import caches, pinned_metrics, place

READING_WIDTH: Final = 360
"""The frontier and how to read it stand side by side while each has so many pixels."""

LOOK_SECONDS: Final = 3.0

TEXT_LETTERS: Final = 300
"""A logged text is cut in the middle beyond it."""

TOKEN_KL: Final = "kl/k3_mean"

FRONTIER_KL: Final = "kl/k3_sum_mean"

FRONTIER_READING: Final = Words(
    "Each point is a step. While the path climbs, moving away from the reference still earns reward. Where it flattens, distance buys "
    "nothing more; where it bends down, or the reward climbs while the validation reward falls, the reward is over-optimised "
    "(Gao, Schulman and Hilton 2022). Click a point to go to its step.",
    "每个点是一步。路径上升时，远离参考策略仍能换来奖励；变平后，距离不再带来收益；若向下弯折，或奖励上升而验证奖励下降，"
    "则说明奖励被过度优化（Gao、Schulman 与 Hilton，2022）。点击一个点可跳到该步。",
)

OTHERS: Final = Words("The others are marked in their families.", "其余的标在各自的类别中。")

if look := place.remembered("look"):
    place.remember(look=None)
    st.switch_page(look[0], query_params=place.link(**look[1]))
view = place.view()
run = view.run
choices = metric_choices()
over = overlay.chosen()
scalars = caches.scalars(run)
marks: dict[str, Spec | None] = {}
missing: list[str] = []
"""Panels that cannot be drawn, and why."""


def latest_of(of: Run, whole: Run) -> LatestValue[Any]:
    """The cache entry for the metrics of a run, whichever of its rollouts these are."""
    chosen = of.selection if place.part("filter") else None
    return caches.latest("metrics", f"{of.address} {of.splits} {whole.splits} {chosen} {caches.stage(of)}")


def values_of(of: Run, whole: Run, slot: DeltaGenerator) -> pd.DataFrame:
    """Metrics by step: of the whole run those of training, and in addition those of its evaluations."""
    with progress(f"Computing the metrics of {plural(len(of.frame), 'rollout')}", slot) as report:
        return step_metrics.per_step_values(whole if of.splits == ("train",) else of, progress=report)


def unfiltered() -> pd.DataFrame | None:
    """Metrics by step of all rollouts, to compare with; None where there is no filter."""
    slot = st.empty()
    if run is view.unfiltered:
        return None
    of, whole = view.unfiltered, view.whole_unfiltered
    return cast(pd.DataFrame, latest_of(of, whole).get(of.load_id, lambda: (values_of(of, whole, slot), of.load_id))[0][0])


def computed() -> tuple[pd.DataFrame, str]:
    """The metrics that rollouts give, by step, and the load they are of; of a large run that grows, computed again on request."""
    latest = latest_of(run, view.whole)
    row = in_line("computed")

    # Here in every run of the script: what follows would move up in the next, and be built again in the browser.
    slot = st.empty()

    def compute() -> tuple[pd.DataFrame, str]:
        return values_of(run, view.whole, slot), run.load_id

    found, current = latest.get(run.load_id, compute)
    with row:
        if not current and st.button("Compute again", key="compute_again", on_click=place.moved):
            found, current = latest.get(run.load_id, compute, again=True)
        if not current:
            st.text(f"The run has changed since: it has {plural(len(run.frame), 'rollout')} now.")
    return cast(tuple[pd.DataFrame, str], found)


def in_our_words(panel: Panel) -> str:
    """The name of a metric without text of a run: no scalar of the trainer's own, and no text in place of a {placeholder}."""
    if panel.metric is None:
        return "a scalar of the trainer" if choices.language == "en" else "训练器的一个标量"
    return panel.name if panel.name in catalogue_names(panel.metric).values() else panel.metric.key


def read_from(problem: str) -> None:
    """Which files of trackers were read, and why others could not, nor the pins, if there is a `problem` with them."""
    for one in (*scalars.problems, *([problem] if problem else [])):
        notice(one, "warning")
    if scalars.sources:
        sources = (f"{metric_list.short_name(shown(source.path.name))} ({source.tracker})" for source in scalars.sources)
        drawn = "" if over else "dashed grey, "  # an overlaid run has one colour
        st.text(f"{plural(len(scalars.logged), 'scalar')} logged by the trainer, {drawn}from {listed(sources, MOST_NAMED)}.")


def with_comparison(panel: Panel) -> Panel:
    """The panel, and in that of the KL its curve without the largest tokens: is it they alone that make it spike?"""
    if panel.key != TOKEN_KL or panel.own is None:
        return panel
    curve = caches.cached("kl_without_largest", lambda: kl_concentration.curve_without_largest(run.trained), run)
    if curve is None:
        return panel
    return replace(panel, compared={f"without top {kl_concentration.LARGEST}": curve})


def sections(found: list[Panel], departed: list[Panel], wall: Wall, below: Mapping[str, Callable[[], None]]) -> None:
    """Pinned metrics first, then those that left their healthy range, one of each family, and the families.

    `below` draws what else belongs to a family.
    """
    pinned = [panel for key in wall.pins for panel in found if panel.key == key]
    above = st.container(), st.container()  # there in any case, so that the families stay where they are
    if pinned:
        with above[0]:
            section("pinned", getattr(SECTIONS["pinned"], choices.language), pinned, wall, opened=True)
    if departed and not choices.narrowed:
        rest = getattr(OTHERS, choices.language) if len(departed) > MOST_NAMED else ""
        heading = getattr(SECTIONS["departed"], choices.language)
        with above[1]:
            section("departed", heading, departed[:MOST_NAMED], wall, opened=True, of=len(departed), note=rest)
    families = metric_list.by_family(found)
    if not choices.narrowed:
        keys = [metric_list.key_panel(members) for members in families.values()]
        section("keys", getattr(SECTIONS["keys"], choices.language), keys, wall, opened=True)
    for family, members in families.items():
        words = INTRODUCTIONS.get(family)
        note = getattr(words, choices.language) if words else ""
        heading = getattr(HEADINGS[family], choices.language)
        beneath = None if choices.query else below.get(family)
        section(family, heading, members, wall, opened=False, note=note, beneath=beneath)
    if not found:
        st.text("No metric of this run fits these choices.")


def reward_against_distance(values: pd.DataFrame, version: str) -> None:
    """The path of the run through reward and distance from the reference, and how to read it."""
    if "reward/mean" not in values or FRONTIER_KL not in values:
        return
    reward, kl = values["reward/mean"], values[FRONTIER_KL]
    grid = st.grid(2, min_column_width=READING_WIDTH, gap="medium")
    with grid.cell():
        try:
            drawn = caches.chart("frontier", lambda: frontier(reward, kl), run, version)
        except FieldMissing as error:
            missing.append(f"Reward against distance: {str(error).rstrip('.')}")
            return
        late_chart.draw({"frontier": drawn}, columns=1)
        marks["frontier"] = frontier_mark(reward, kl, view.step)
    with grid.cell(), st.container(key="frontier_reading"):
        st.text(getattr(FRONTIER_READING, choices.language))


def lacking(listed: list[Panel]) -> None:
    """What has no curve: texts and other things that were logged, then the dialect's metrics, by why they have none."""
    texts = {one.key for one in scalars.texts}
    absent = metric_list.absent(listed, choices.dialect, step_metrics.available(view.whole), choices.query, texts)
    from_fields = [one for one in absent if one.metric.needs]
    logged_only = [one for one in absent if not one.metric.needs]
    lines = {
        "texts": [text_line(one) for one in scalars.texts],
        "others": list(map(metric_list.short_name, scalars.others)),
        "lacks": [absent_line(one) for one in from_fields],
        "trainer": [absent_line(one) for one in logged_only],
    }
    for key, group in lines.items():
        if not group:
            continue
        with st.expander(f"{getattr(SECTIONS[key], choices.language)} · {len(group)}", key=key, on_change=place.moved) as area:
            if area.open:
                st.text("\n".join(group))


def text_line(one: LoggedText) -> str:
    """A text's name, its last value, and at how many steps it changed."""
    step, text = list(one.texts.items())[-1]
    count = len(one.texts)
    when = (
        f"{count:,} texts, the last at step {step:,}" if choices.language == "en" else f"{count:,} 条，最后一条在第 {step:,} 步"
    )
    shown_text = metric_list.short_name(text, TEXT_LETTERS)
    return f"{metric_list.short_name(one.name)}{f' ({when})' if count > 1 else ''}: {shown_text}"


def absent_line(one: metric_list.Absent) -> str:
    """A metric's name, what it lacks, and its line of the glossary."""
    fields = ", ".join(one.lacks)
    if choices.language == "zh":
        why = f"需要 {fields}" if one.lacks else "所有步均无数值"
        return f"{one.name}{f'（{why}）' if one.metric.needs else ''}：{one.metric.meaning.zh}"
    why = f"needs {fields}" if one.lacks else "no number in any step"
    return f"{one.name}{f' ({why})' if one.metric.needs else ''}: {one.metric.meaning.en}"


def watch(stamp: int) -> None:
    """Draw the page anew once a tracker's file has grown."""
    if caches.scalars(run).stamp != stamp:
        place.draw_anew()


def draw() -> None:
    """The whole page below its choices."""
    values, version = computed()
    pins, problem = pinned_metrics.keys()
    with st.container():
        read_from(problem)
    listed = [with_comparison(one) for one in metric_list.panels(values, scalars.logged, choices.dialect, unfiltered())]
    found = metric_list.matching(listed, choices.query, choices.families, choices.origin)
    ranged = [panel for panel in found if panel.ranged]
    departed = sorted((panel for panel in ranged if panel.left is not None), key=first_step)
    story(departed, len(ranged), in_our_words, choices.language)
    sections(
        found,
        departed,
        Wall(view, choices, scalars, version, pins, over.span(span(found)) if over else span(found), over, missing),
        {
            "reward": lambda: reward_against_distance(values, version),
            "groups": lambda: variety_panel.draw(view, choices.language),
            "length": lambda: length_panels.draw(view, choices.language),
        },
    )
    unfilled(dict.fromkeys(missing))
    lacking(listed)
    curves.choose(
        view.step,
        zoom=place.step_range("zoom"),
        pinned=[card_key(panel) for panel in found if panel.key in pins],
        marks=over.marks(findings_watch.curve_marks()) if over else findings_watch.curve_marks(),
        at=over.at(view.step) if over else None,
        key="curves_choice",
    )


def span(panels: list[Panel]) -> tuple[int, int]:
    """The first and the last step of the run and of all curves."""
    known = [one.curve.steps for panel in panels for one in panel.logged if one.curve.steps.size]
    ends = [int(step) for steps in (run.steps, *known) for step in (steps[0], steps[-1])]
    return min(ends), max(ends)


def first_step(panel: Panel) -> int:
    """The step at which the panel's metric left what is healthy."""
    assert panel.left is not None
    return panel.left.step


draw()
st.fragment(watch, run_every=LOOK_SECONDS if abs(time.time() - scalars.modified_ns / 1e9) < LIVE_SECONDS else None)(scalars.stamp)
sql_editor.draw(run)
step_marks.show(marks, key="step_marks", on_click=place.step_clicked("step_marks", run.steps))
