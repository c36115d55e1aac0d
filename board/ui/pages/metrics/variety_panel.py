"""Below the metrics of groups: do responses depend on their prompt, and still differ?"""

from typing import Final

import pandas as pd
import streamlit as st

from board.analysis.texts import template_collapse
from board.errors import FieldMissing
from board.figures.curves import CurveSeries, step_panel
from board.figures.theme import RUN_COLORS
from board.metrics.declared.contract import Words
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.pages.metrics.filters import Language
from board.ui.shared.controls import step_curves
from board.ui.shared.progress_line import progress
from board.ui.state import caches
from board.ui.state.place import View

CURVES: Final = "variety_curves"
_PLOT_HEIGHT: Final = 150

_PANELS: Final = (
    (
        "depend",
        Words("Do responses depend on their prompt?", "回答还取决于提示吗？"),
        {
            "told_by_neighbour": Words("prompt recognised", "认出提示"),
            "alike_to_others": Words("like others", "与他者相似"),
        },
    ),
    (
        "differ",
        Words("Do the samples of a group differ?", "同组样本还有差别吗？"),
        {
            "alike_in_group": Words("alike", "相似度"),
            "distinct_in_group": Words("distinct", "不同占比"),
        },
    ),
)

_READING: Final = Words(
    "Left: how much better than chance the nearest other response, by TF-IDF of 4-grams of characters, names a response's prompt (1 is "
    "always), and the mean cosine to responses to other prompts. If the first falls while the second rises, one template serves all "
    "(RAGEN-2, arXiv 2604.06268). Right: the mean cosine of the pairs of a group, and its different 4-grams over all of them (distinct-n).",
    "左：按字符 4-gram 的 TF-IDF，最近的另一条回答能认出提示的程度，扣除偶然（1 为总能认出），以及与其他提示的回答的平均余弦相似度。"
    "前者下降而后者上升，说明一个模板应付所有提示（RAGEN-2，arXiv 2604.06268）。"
    "右：组内两两的平均余弦相似度，以及不同 4-gram 占全部的比例（distinct-n）。",
)


def draw(view: View, language: Language) -> None:
    """The curves and how to read them; nothing where no step can tell."""

    def measure() -> pd.DataFrame:
        with progress("Comparing responses") as report:
            return template_collapse.variety_by_step(view.run, report)

    found = caches.cached("variety", measure, view.run)
    if not found.notna().any(axis=None):
        return
    payload = caches.cached("variety curves", lambda: _built(found, view, language), view.run, language)
    if not payload.keys:
        return
    step_curves(payload, CURVES, view.run.steps)
    some = len(view.run.steps) > len(found)
    of = (
        f" Of {len(view.run.steps):,} steps {len(found):,}."
        if language == "en"
        else f" 取 {len(view.run.steps):,} 步中的 {len(found):,} 步。"
    )
    st.text(getattr(_READING, language) + (of if some else ""))


def _built(found: pd.DataFrame, view: View, language: Language) -> CurvesPayload:
    cards = []
    for key, title, lines in _PANELS:
        series = [
            CurveSeries(getattr(name, language), pd.DataFrame({"mean": found[column]}), color)
            for (column, name), color in zip(lines.items(), RUN_COLORS.values(), strict=False)
        ]
        try:
            cards.append(Card(key, step_panel(series, title=getattr(title, language), unit="0 to 1")))
        except FieldMissing:  # no groups were sampled: the other panel shows what there is
            continue
    steps = view.run.steps
    return build(cards, span=(int(steps[0]), int(steps[-1])), height=_PLOT_HEIGHT, columns=2)
