"""The tokens of a run as a table: counts early and late, share of KL, metrics."""

from typing import Final

import numpy as np
import pandas as pd

from board.analysis.texts.phrase_forms import expression
from board.analysis.texts.vocabulary import RARE, Vocabulary
from board.figures.theme import COLORS
from board.text.counting import plural
from board.text.display import visible
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.state import place

ORDERS: Final[dict[str, tuple[str, str, bool]]] = {
    "rising": ("Rising", "z", True),
    "falling": ("Falling", "z", False),
    "frequent": ("Most frequent", "count", True),
    "kl": ("Share of the KL", "kl_share", True),
    "log_ratio": ("Log-ratio, highest", "log_ratio", True),
    "log_ratio_low": ("Log-ratio, lowest", "log_ratio", False),
    "entropy": ("Entropy", "entropy", True),
    "advantage": ("Advantage, highest", "advantage", True),
    "advantage_low": ("Advantage, lowest", "advantage", False),
    "prob": ("Probability, lowest", "prob", False),
    "clipped": ("Clipped", "clipped", True),
}
"""By what the link calls it: how the screen does, the column, and whether the largest come first."""

_COLUMNS: Final[dict[str, tuple[str, str, str, float]]] = {
    "count": ("count", "%,d", "How often it is written and counted.", 1),
    "share": ("share, %", "%.3g", "Of all tokens.", 100),
    "early": ("early, %", "%.3g", "Of the tokens of the first third of the steps.", 100),
    "late": ("late, %", "%.3g", "Of the tokens of the last third of the steps.", 100),
    "delta": ("log-odds", "%.2f", "Of late against early, drawn towards none where it is rare.", 1),
    "z": ("z", "%.1f", "Log-odds over their error, as if each token were drawn by itself: it ranks.", 1),
    "kl_share": ("KL, %", "%.3g", "Its share of the KL (k3) of all tokens.", 100),
    "log_ratio": ("log-ratio", "%.3g", "Mean of logprob minus ref_logprob, in nats.", 1),
    "entropy": ("entropy", "%.3g", "Mean entropy of the policy at it, in nats.", 1),
    "advantage": ("advantage", "%.3g", "Mean advantage.", 1),
    "prob": ("probability", "%.3g", "Mean probability under the policy.", 1),
    "clipped": ("clipped, %", "%.3g", "Where clipping at 1 ± 0.2 changes the objective.", 100),
}

MOST_ROWS: Final = 500
"""So many tokens are listed."""

_TOKEN_WIDTH: Final = 150
_TREND_WIDTH: Final = 160
_HEIGHT: Final = 420


def orders(table: pd.DataFrame) -> list[str]:
    """The orders that a run's tokens can be in."""
    return [name for name, (_, column, _) in ORDERS.items() if column in table.columns and table[column].notna().any()]


def ordered(table: pd.DataFrame, order: str, least: int) -> pd.DataFrame:
    """The tokens that are written at least so often, in an order of ORDERS; of the rising the rising alone, and of the falling."""
    _, column, descending = ORDERS[order]
    chosen = table[(table["count"] >= least) & table[column].notna()]
    if column == "z":
        chosen = chosen[chosen["z"] > 0 if descending else chosen["z"] < 0]
    return chosen.sort_values(column, ascending=not descending, kind="stable").head(MOST_ROWS)


def summary(of: Vocabulary, listed: int, matching: int) -> str:
    """One line on how many tokens there are."""
    different = len(of.names) - (RARE in of.names[-1:]) + of.folded
    parts = [f"{plural(of.total, 'token')}, {different:,} different"]
    if of.folded:
        parts.append(f"{of.folded:,} rare ones taken together")
    parts.append(f"{listed:,} of {matching:,} listed" if listed < matching else f"{listed:,} listed")
    return " · ".join(parts)


def draw(of: Vocabulary, rows: pd.DataFrame, key: str) -> None:
    """The table; a click makes the token the reader's."""
    at = rows.index.to_numpy()
    expressions = [expression(of.texts[one], bounded=False) if of.names[one] != RARE else None for one in at.tolist()]
    chosen = place.part("phrase")
    # the rare tokens together have no expression, as nothing chosen is none
    shown = pd.DataFrame({"token": [visible(of.texts[one]) for one in at.tolist()]})
    shown["share by step"] = of.shares[at].astype(np.float64).tolist()
    for name, (head, _, _, scale) in _COLUMNS.items():
        if name in rows.columns and rows[name].notna().any():
            shown[head] = rows[name].to_numpy() * scale if scale != 1 else rows[name].to_numpy()
    table.show(
        shown,
        _columns(),
        name="tokens",
        key=key,
        on_click=_clicked(key, expressions),
        chosen=expressions.index(str(chosen)) if chosen is not None and chosen in expressions else None,
        height=_HEIGHT,
    )


@place.callback
def _clicked(key: str, expressions: list[str | None]) -> None:
    row = place.clicked_row(key)
    if row is not None and row < len(expressions) and expressions[row]:
        place.go(phrase=expressions[row])


def _columns() -> dict[str, TableColumn]:
    trend = TableColumn(drawn="trend", width=_TREND_WIDTH, color=COLORS["policy"], help="Share of a step's tokens.")
    found = {"token": TableColumn(width=_TOKEN_WIDTH), "share by step": trend}
    return found | {head: TableColumn(format=written, help=said) for head, written, said, _ in _COLUMNS.values()}
