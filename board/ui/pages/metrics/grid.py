"""The small multiples of the Metrics page: families, and a panel for each metric.

Draws panels that are found and named; what text of a run may be in them is drawn as plain text.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from typing import Final

import pandas as pd
import streamlit as st

from board.analysis.steps.healthy_range import PATTERNS
from board.analysis.steps.logged_curves import Scalars
from board.analysis.steps.metric_list import (
    Panel,
    catalogue_names,
    column_of,
    line_names,
    points,
    short_name,
    token_metric,
    unit_of,
)
from board.analysis.steps.step_metrics.own_means import OwnMean, made_of
from board.analysis.texts.measured_columns import declared as declared_column
from board.errors import FieldMissing
from board.figures import of_run
from board.figures.curves import CurvePanel
from board.figures.metric_panel import PanelLine, metric_curves
from board.metrics import declared
from board.metrics.declared.contract import Interpretation, Metric, Page, Words
from board.runs.run import Run
from board.text.counting import plural
from board.text.format_number import exact, fmt
from board.ui.components import curves
from board.ui.components.curves import Card, CurvesPayload, Texts
from board.ui.components.curves.payload import STEPS
from board.ui.frame.overlay import Curves, Overlay
from board.ui.pages.metrics.filters import Language, MetricChoices
from board.ui.shared.controls import step_curves
from board.ui.state import caches, linked, pinned_metrics, place
from board.ui.state.place import View

COLUMNS: Final = 3
"""So many panels stand side by side where there is room."""

PLOT_HEIGHT: Final = 130
"""Of a panel, in pixels."""

LONGEST: Final = 5_000
"""Letters of a name that is shown whole."""

PAGES: Final[Mapping[Page, tuple[str, str]]] = {
    "rewards": ("board/ui/pages/rewards/rewards.py", "Rewards"),
    "responses": ("board/ui/pages/responses/responses.py", "Responses"),
    "tokens": ("board/ui/pages/tokens/tokens.py", "Tokens"),
    "data": ("board/ui/pages/data/data.py", "Data"),
}
"""Where a reading sends the reader: the page's file and its title."""

_OWN: Final[Mapping[OwnMean, Words]] = {
    "column": Words("Mean over the step's rollouts of a column of the run.", "该步各 rollout 某一列的均值。"),
    "part": Words("Mean over the step's rollouts of a part of the reward.", "该步各 rollout 某一奖励分量的均值。"),
    "source": Words("Mean reward of the step's rollouts of one data source.", "该步中某一数据来源各 rollout 的平均奖励。"),
}
_STRANGER: Final = Words("Not in the catalogue.", "目录中没有。")

_DIRECTION: Final[Mapping[str, Words]] = {
    "up": Words("Should rise.", "应上升。"),
    "down": Words("Should fall.", "应下降。"),
    "steady": Words("Should stay steady.", "应保持平稳。"),
    "": Words("", ""),
}


@dataclass(frozen=True)
class Wall:
    """What all panels of one drawing of the page share."""

    view: View
    choices: MetricChoices
    scalars: Scalars
    version: str
    """Of the values from rollouts: a chart that was drawn of one is never shown for another."""
    pins: tuple[str, ...]
    """Keys of pinned metrics."""
    span: tuple[int, int]
    """The first and the last step of all panels, so that a step stands at the same place in each."""
    over: Overlay | None
    """The runs that are overlaid in every panel."""
    missing: list[str]
    """Filled while drawing: the panels that cannot be drawn, and why."""


def section(
    key: str,
    heading: str,
    panels: Sequence[Panel],
    wall: Wall,
    *,
    opened: bool,
    of: int = 0,
    note: str = "",
    beneath: Callable[[], None] | None = None,
) -> None:
    """A heading that opens and closes over its panels; what is closed is neither drawn nor sent. `heading` is our own words.

    Where the panels are the first `of` more, the heading says both numbers. `beneath` draws what else belongs there.
    """
    looked_for = "found_" if wall.choices.narrowed else ""
    with st.expander(
        f"{heading} · {_how_many(len(panels), of, wall.choices.language)}",
        **linked.flag(f"family_{looked_for}{key}", opened or wall.choices.narrowed),
    ) as area:
        if not area.open:
            return
        if note:
            with st.container(key=f"familynote_{key}"):
                st.text(note)
        _curves(f"curves_{key}", panels, wall)
        if beneath:
            beneath()


def _curves(key: str, panels: Sequence[Panel], wall: Wall) -> None:
    """All panels of a section, in one component."""
    choices, view = wall.choices, wall.view
    made = caches.cached(
        key,
        lambda: _built(panels, wall),
        view.run,
        wall.version,
        wall.scalars.stamp,
        *wall.span,
        str(choices),
        wall.over.key if wall.over else "",
        *(panel.key for panel in panels),
    )
    wall.missing.extend(made.missing)
    by_card = {card_key(panel): panel for panel in panels}

    def pin() -> None:
        if panel := by_card.get(place.reported(key, "pinned")):
            pinned_metrics.toggle(panel.key)

    def look() -> None:
        panel = by_card.get(place.reported(key, "looked"))
        if panel and panel.left is not None:
            page, _ = PAGES[_look(panel.metric, view.run)]
            shown_by = token_metric(panel.metric) if panel.metric else None
            place.remember(look=(page, {"step": panel.left.step, **({"metric": shown_by} if shown_by else {})}))

    if made.keys:
        step_curves(made, key, view.run.steps, wall.over.clicked(key) if wall.over else None, on_pin=pin, on_look=look)


def _built(panels: Sequence[Panel], wall: Wall) -> CurvesPayload:
    cards, missing = [], []
    of_runs = _of_runs(panels, wall)
    for panel in panels:
        try:
            drawn = _overlaid(panel, wall.over, of_runs, wall.choices) if wall.over else _panel(panel, wall.choices)
            cards.append(Card(card_key(panel), drawn, _texts(panel, wall), (panel.key,)))
        except FieldMissing as error:
            missing.append(f"{short_name(panel.name)}: {str(error).rstrip('.')}")
    axis = wall.over.axis if wall.over else STEPS
    return curves.build(cards, span=wall.span, height=PLOT_HEIGHT, columns=COLUMNS, pins=True, missing=missing, axis=axis)


def _of_runs(panels: Sequence[Panel], wall: Wall) -> Mapping[str, Curves]:
    """Curves of all overlaid runs for the metrics that come from rollouts, by key; empty for one run alone."""
    own = {panel.key: panel.own for panel in panels if panel.own is not None}
    return wall.over.metrics(pd.DataFrame(own), wall.version, [*own]) if wall.over else {}


def _overlaid(panel: Panel, over: Overlay, of_runs: Mapping[str, Curves], choices: MetricChoices) -> CurvePanel:
    """The panel with all runs in it: from rollouts where this run's give it, else as the trainers logged it. Raises FieldMissing."""
    logged = panel.key not in of_runs
    notes = [over.estimator_note] if logged and panel.family == "kl" else []
    notes += [over.scale_note("reward")] if panel.family == "reward" else []
    return over.panel(
        over.logged(panel.key) if logged else of_runs[panel.key],
        short_name(panel.name),
        unit=unit_of(panel),
        smoothing=choices.smoothing,
        log=choices.log,
        healthy=of_run.healthy_range(panel),
        notes=notes,
    )


def _how_many(shown: int, of: int, language: Language) -> str:
    if of <= shown:
        return str(shown)
    return f"first {shown} of {of}" if language == "en" else f"{of} 个中的前 {shown} 个"


def card_key(panel: Panel) -> str:
    """A name for the browser of a panel, whose own key may be text of a run."""
    return blake2b(panel.key.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _panel(panel: Panel, choices: MetricChoices) -> CurvePanel:
    """The panel's curves. Raises FieldMissing where they cannot be drawn."""
    unit = unit_of(panel)
    healthy = of_run.healthy_range(panel)
    drawn = metric_curves(_lines(panel), panel.family, unit, healthy, choices.smoothing, choices.log)
    return replace(drawn, title=short_name(panel.name))


def _texts(panel: Panel, wall: Wall) -> Texts:
    """What stands around a panel's plot, and the way to the page that shows where it first left what is healthy."""
    language, left, run = wall.choices.language, panel.left, wall.view.run
    whole = (("", seen),) if (seen := short_name(panel.name, LONGEST)) != short_name(panel.name) else ()
    helps = _help(panel.metric, wall.choices) if panel.metric else ()
    said = tuple(one for one in (_broken(panel, language), _outside(panel, language)) if one) if left else ()
    look = ""
    if left and left.step in run.steps:
        _, title = PAGES[_look(panel.metric, run)]
        look = f"Step {left.step:,} on {title}" if language == "en" else f"在 {title} 页查看第 {left.step:,} 步"
    return Texts((*whole, *helps), _gloss(panel, language), said, look)


def _broken(panel: Panel, language: Language) -> str:
    """A sentence where what was logged is no number: in a curve it is only a gap. Empty where all is."""
    if panel.broken is None:
        return ""
    step, count = panel.broken.step, panel.broken.steps
    if language == "en":
        return f"Logged as NaN or infinite in {plural(count, 'step')}, first in step {step:,}."
    return f"有 {count:,} 步记录为 NaN 或无穷，首次在第 {step:,} 步。"


def _gloss(panel: Panel, language: Language) -> str:
    """What it means and how to read it."""
    if panel.metric is None:
        known = declared_column(column_of(panel.key))
        means = f" {known.name}: {known.meaning}." if known else ""
        what = _STRANGER if panel.own is None else _OWN[(made_of(panel.key) or ("column",))[0]]
        return f"{getattr(what, language)}{means}"
    reading = panel.metric.reading
    how = (getattr(panel.metric.meaning, language), getattr(_DIRECTION[reading.better], language), _range(reading, language))
    return (" " if language == "en" else "").join(part for part in how if part)


def _range(reading: Interpretation, language: Language) -> str:
    bounds = healthy_range(reading, language)
    return (f"Healthy: {bounds}." if language == "en" else f"正常范围：{bounds}。") if bounds else ""


def healthy_range(reading: Interpretation, language: Language = "en") -> str:
    """The healthy range in words; empty where it has no bound."""
    low, high = (None if bound is None else exact(bound) for bound in (reading.low, reading.high))
    if low is None and high is None:
        return ""
    if low is None:
        return f"up to {high}" if language == "en" else f"不高于 {high}"
    if high is None:
        return f"from {low} up" if language == "en" else f"不低于 {low}"
    if reading.open:
        return f"between {low} and {high}" if language == "en" else f"介于 {low} 与 {high} 之间"
    return f"{low} to {high}" if language == "en" else f"{low} 至 {high}"


@cache
def _help(metric: Metric, choices: MetricChoices) -> tuple[tuple[str, str], ...]:
    """What a departure means, formula, unit, source and the other names: the catalogue's own words, no text of a run."""
    language = choices.language
    english = language == "en"
    names = ", ".join(f"{title} {name}" for title, name in catalogue_names(metric).items())
    sections = (
        ("How to read it" if english else "读法", getattr(metric.reading.departure, language)),
        ("Formula" if english else "公式", metric.formula),
        ("Unit" if english else "单位", metric.unit),
        (declared.DIALECTS[choices.dialect].title, _remark(metric, choices)),
        ("Source" if english else "来源", metric.source),
        ("Names" if english else "名称", names),
    )
    return tuple((what, text) for what, text in sections if text)


def _remark(metric: Metric, choices: MetricChoices) -> str:
    """How the number that the chosen trainer logs under this name may differ a little from the board's; empty where it does not."""
    dialect = declared.DIALECTS[choices.dialect]
    words = dialect.remarks.get(declared.name_of(dialect.name, metric.key) or "")
    return getattr(words, choices.language) if words else ""


def _literal(text: str) -> str:
    """Text as Markdown shows it letter for letter."""
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:^=])", r"\\\1", text)


def _lines(panel: Panel) -> list[PanelLine]:
    """The curve from rollouts, under a filter that of all of them, then those of trackers."""
    lines = []
    if panel.own is not None:
        lines.append(PanelLine("rollouts", *points(panel.own), logged=False))
    if panel.unfiltered is not None:
        lines.append(PanelLine("all rollouts", *points(panel.unfiltered), logged=True))
    lines += [PanelLine(name, *points(curve), logged=True) for name, curve in panel.compared.items()]
    for name, one in zip(line_names(panel.logged), panel.logged, strict=True):
        lines.append(PanelLine(name, one.curve.steps, one.curve.values, logged=True))
    return lines


def _look(metric: Metric | None, run: Run) -> Page:
    """The page that shows what a metric is about; of a run without tokens the responses, where the texts are."""
    look: Page = metric.reading.look if metric else "rewards"
    return look if look != "tokens" or run.has_tokens or run.token_metrics else "responses"


def _outside(panel: Panel, language: Language) -> str:
    """A sentence on where the curve first leaves the healthy range, and what that means; empty where it does not."""
    left = panel.departure
    if left is None or panel.metric is None:
        return ""
    reading = panel.metric.reading
    meant = getattr(reading.departure, language)
    if left.pattern:
        what = getattr(PATTERNS[left.pattern], language)
        if language == "en":
            return f"At step {left.step:,}, with {fmt(left.value)}: {what}. {meant}"
        return f"第 {left.step:,} 步（值为 {fmt(left.value)}）：{what}。{meant}"
    if language == "en":
        often = f", in {left.steps:,} steps in all" if left.steps > 1 else ""
        return f"First outside the healthy range ({healthy_range(reading)}) at step {left.step:,}, with {fmt(left.value)}{often}. {meant}"
    often = f"，共 {left.steps:,} 步" if left.steps > 1 else ""
    return f"第 {left.step:,} 步首次超出正常范围（{healthy_range(reading, 'zh')}），值为 {fmt(left.value)}{often}。{meant}"


def story(departed: Sequence[Panel], of: int, named: Callable[[Panel], str], language: Language) -> None:
    """How many metrics left their healthy range, the first ones first, each a click away. `named` gives our own words for a metric."""
    if not of:
        return
    english = language == "en"
    ranged = f"{plural(of, 'metric')} with a healthy range"
    if not departed:
        st.text(f"{ranged} stayed in it." if english else f"{of:,} 个有正常范围的指标均未超出。")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="story"):
        left = len(departed)
        st.text(
            f"Of {ranged} {left} left it, first:" if english else f"{of:,} 个有正常范围的指标中有 {left:,} 个超出，最早的是："
        )
        for at, panel in enumerate(departed[:MOST_NAMED]):
            if panel.left is not None:
                value = "NaN" if math.isnan(panel.left.value) else fmt(panel.left.value)
                where = {"step": panel.left.step}
                said = f": {value} at step {panel.left.step:,}" if english else f"：第 {panel.left.step:,} 步为 {value}"
                st.button(_literal(named(panel)) + said, key=f"left_{at}", type="tertiary", on_click=place.go, kwargs=where)


MOST_NAMED: Final = 3
"""So many departures are named at the top."""
