"""The phrases of a run as a table: how clearly they pay, how much, and when."""

from typing import Final, Literal

import numpy as np
import pandas as pd

from board.analysis.texts.phrase_forms import expression
from board.analysis.texts.phrases import Phrases
from board.figures.theme import COLORS
from board.text.counting import plural
from board.text.display import on_one_line
from board.text.format_number import fmt
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.state import place

PhraseOrder = Literal["pays", "costs", "rises", "falls"]
ORDERS: Final[dict[PhraseOrder, str]] = {"pays": "Pays most", "costs": "Costs most", "rises": "Rises", "falls": "Falls"}

_BY: Final[dict[PhraseOrder, tuple[str, int]]] = {
    "pays": ("reward_z", 1),
    "costs": ("reward_z", -1),
    "rises": ("time_z", 1),
    "falls": ("time_z", -1),
}
"""The column that a list is by, and which end of it comes first."""

_COLUMNS: Final[dict[str, tuple[str, str, str]]] = {
    "reward_z": (
        "z, reward",
        "%.1f",
        "How clearly responses with it earn more than others of their group: log-odds over their error.",
    ),
    "gain": ("gain", "%.3g", "Mean reward with it minus mean reward without, inside groups that have both."),
    "with_it": ("with it", "%.3g", "Mean reward with it, over groups that have both."),
    "without": ("without", "%.3g", "Mean reward without it, over groups that have both."),
    "gain_right": ("if right", "%.3g", "The gain among right responses of a group alone."),
    "gain_wrong": ("if wrong", "%.3g", "The gain among wrong responses of a group alone: what pays here is not being right."),
    "valid_gain": ("validation gain", "%.3g", "The same difference of the validation reward."),
    "compared": ("groups", "%,d", "Groups that have responses with it and without it."),
    "rollouts": ("rollouts", "%,d", "Rollouts of the sample that hold it."),
    "time_z": (
        "z, time",
        "%.1f",
        "How much commoner it is in the last third of the steps than in the first: log-odds over their error.",
    ),
}

_PHRASE_WIDTH: Final = 330
_TREND_WIDTH: Final = 130
_HEIGHT: Final = 360


def ordered(found: Phrases, order: PhraseOrder, limit: float) -> pd.DataFrame:
    """The phrases of one list, those that stand out most first; the index is their row in `found`."""
    name, sign = _BY[order]
    by = sign * found.listed[name].to_numpy(np.float64)
    rows = np.flatnonzero(by > limit)
    return found.listed.iloc[rows[np.argsort(-by[rows], kind="stable")]]


def summary(found: Phrases, limit: float) -> str:
    """One line on what was looked at, and how much of it chance alone would give."""
    sampled = (
        f"{len(found.keys):,} of {plural(found.of, 'rollout')}" if len(found.keys) < found.of else plural(found.of, "rollout")
    )
    against = {
        "group": "inside groups",
        "step": "inside steps, as there are no groups",
        "none": "by time alone, as there are no rewards",
    }
    parts = [f"{sampled} looked at, {plural(found.tested, 'phrase')} compared {against[found.within]}"]
    if found.within != "none":
        parts.append(
            f"with permuted rewards {found.by_chance:,} are beyond |z| = {fmt(limit)}, and the largest z is {fmt(found.chance_z)}"
        )
    if found.cut:
        parts.append(f"of {plural(found.cut, 'long response')} beginning and end alone")
    return " · ".join(parts)


def draw(found: Phrases, rows: pd.DataFrame, key: str) -> None:
    """The table; a click makes the phrase the reader's."""
    expressions = [expression(text, times) for text, times in zip(rows["phrase"], rows["times"], strict=True)]
    chosen = place.part("phrase")
    shown = pd.DataFrame({"phrase": [name_of(text, times) for text, times in zip(rows["phrase"], rows["times"], strict=True)]})
    shown["share by step"] = found.shares[rows.index.to_numpy()].tolist()
    for name, (head, _, _) in _COLUMNS.items():
        if rows[name].notna().any():
            shown[head] = rows[name].to_numpy()
    table.show(
        shown,
        _columns(),
        name="phrases",
        key=key,
        on_click=place.row_clicked(key, [{"phrase": one} for one in expressions]),
        chosen=expressions.index(str(chosen)) if chosen in expressions else None,
        height=_HEIGHT,
    )


def name_of(text: str, times: int) -> str:
    """A phrase on one line, and how often it stands in a response at least."""
    return on_one_line(text) if times == 1 else f"{times} × {on_one_line(text)}"


def _columns() -> dict[str, TableColumn]:
    trend = TableColumn(
        drawn="trend", width=_TREND_WIDTH, color=COLORS["policy"], help="Share of a step's rollouts that hold it."
    )
    found = {"phrase": TableColumn(width=_PHRASE_WIDTH), "share by step": trend}
    return found | {head: TableColumn(format=written, help=said) for head, written, said in _COLUMNS.values()}
