"""Below the metrics of length: how responses end, and what reward their length buys."""

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.rollouts import response_endings
from board.analysis.rollouts.response_endings import Endings
from board.analysis.stats.length_attribution import share_of_gain
from board.figures.curves import CurveSeries, step_panel
from board.figures.theme import RUN_COLORS
from board.metrics.declared.contract import Words
from board.text.display import shorten, visible
from board.text.format_number import fmt
from board.ui.components import curves, table
from board.ui.components.curves import Card, build
from board.ui.components.table import TableColumn
from board.ui.pages.metrics.filters import Language
from board.ui.shared.controls import step_curves
from board.ui.state import caches
from board.ui.state.place import View

CURVES: Final = "endings_curves"
MOST_DRAWN: Final = 5
"""So many endings have a curve, the commonest."""

MOST_LETTERS: Final = 40
"""Of an ending that the engine named."""

_PART: Final = 0.2
"""The share of a run's steps that are its first, and its last, where the two are compared."""

_PLOT_HEIGHT: Final = 150
_MOST_HEIGHT: Final = 400

_TITLE: Final = Words("How do responses end?", "回答如何结束？")
_NOT_YET: Final = Words(
    "How responses end is shown once the run was scanned for findings.",
    "run 被检视（findings）之后，这里会说明回答如何结束。",
)
_HEADS: Final = {
    "ending": Words("ending", "结束方式"),
    "responses": Words("responses of the step", "该步回答数"),
    "share": Words("share of the step", "占该步"),
    "share_in_run": Words("share of the run", "占整个 run"),
    "reward": Words("reward, mean", "平均奖励"),
    "tokens": Words("tokens, mean", "平均 token 数"),
}
_SIGNS: Final = Words(
    "Below the endings, which together are all responses, what else stands at an end: of one response several, or none. "
    "Means of reward and length are over the run.",
    "各结束方式合计为全部回答；其下以“…”开头的是结尾处的其他迹象，一条回答可有多种或没有。奖励与长度为整个 run 的平均。",
)


def draw(view: View, language: Language) -> None:
    """The share of the gain, then the endings by step as curves, and of the chosen step as a table."""
    if sentence := _gain(view, language):
        st.text(sentence)
    found: Endings | None = caches.cached("endings", lambda: response_endings.endings(view.run), view.run)
    if found is None:
        if not {"ended", "cut_off"} & set(view.run.frame.columns):
            st.text(getattr(_NOT_YET, language))
        return
    payload = caches.cached("endings curves", lambda: _built(view, found, language), view.run, language)
    step_curves(payload, CURVES, view.run.steps)
    _table(view, found, language)


def _built(view: View, found: Endings, language: Language) -> curves.CurvesPayload:
    shares = response_endings.shares(view.run, found)
    names = [*shares.columns[:MOST_DRAWN]]
    series = [
        CurveSeries(_seen(name), pd.DataFrame({"mean": shares[name]}), color)
        for name, color in zip(names, RUN_COLORS.values(), strict=False)
    ]
    panel = step_panel(series, title=getattr(_TITLE, language), unit="share, 0 to 1")
    steps = view.run.steps
    return build([Card("endings", panel)], span=(int(steps[0]), int(steps[-1])), height=_PLOT_HEIGHT, columns=1)


def _table(view: View, found: Endings, language: Language) -> None:
    listed = response_endings.table(view.run, found, view.step)
    listed["ending"] = [_seen(name) for name in listed["ending"]]
    shares = ["share", "share_in_run"]
    listed[shares] *= 100
    formats = {"ending": "", **dict.fromkeys(shares, "%.1f %%"), "responses": "%,d", "reward": "%.3g", "tokens": "%.4g"}
    columns = {name: TableColumn(getattr(_HEADS[name], language), format=form) for name, form in formats.items()}
    table.show(listed, columns, name="endings", key=f"endings_{view.run.load_id}_{view.step}", height=_MOST_HEIGHT)
    st.text(getattr(_SIGNS, language))


def _seen(name: str) -> str:
    return shorten(visible(name), MOST_LETTERS)


def _gain(view: View, language: Language) -> str:
    """How much of the gain in reward from the first to the last steps comes from longer responses; empty where there is no gain."""
    share: float = caches.cached("gain_of_length", _share(view), view.run)
    if not np.isfinite(share):
        return ""
    part = f"{100 * _PART:g} %"
    bought = f"{fmt(100 * share, 2)} %" if share > 0 else ""
    if language == "zh":
        return f"按前 {part} 的步里各长度的得分计，回答变长解释了到后 {part} 的步奖励增长的 {bought or '0'}（按长度分桶，arXiv 2310.03716）。"
    return (
        f"At what the first {part} of the steps paid for each length, longer responses explain {bought or 'none'} of the gain in reward to "
        f"the last {part} (by classes of length, arXiv 2310.03716)."
    )


def _share(view: View) -> Callable[[], float]:
    def compute() -> float:
        frame = view.run.frame
        if not {"reward", "response_length"} <= set(frame.columns):
            return np.nan
        lengths, rewards = (frame[name].to_numpy(np.float64, na_value=np.nan) for name in ("response_length", "reward"))
        at = np.searchsorted(view.run.steps, frame["step"].to_numpy())
        some = max(1, round(_PART * len(view.run.steps)))
        return share_of_gain(lengths, rewards, at < some, at >= len(view.run.steps) - some)

    return compute
