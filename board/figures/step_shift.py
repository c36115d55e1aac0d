"""Two steps against each other: how a number is spread in each, and how far each quantile moved. Arrays in, figures out."""

from typing import Final

import numpy as np

from board.analysis.histograms import bin_counts, bin_edges
from board.errors import FieldMissing
from board.figures.chart import Chart, Spec, without_steps
from board.figures.theme import AXIS_TITLE, COLORS, MARK, base_layout, leave_room, tint
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

FILL: Final = 0.35
"""Of the later step, whose outline is drawn through; the earlier one's is dashed."""


def two_histograms(a: Float64Array, b: Float64Array, names: tuple[str, str], what: str) -> Chart:
    """Shares of A's and of B's rollouts in the same bins: A dashed, B filled. Both hold finite values alone.

    `names` are those of the steps, "step 3"; `what` is the number. Raises FieldMissing where one of them is empty.
    """
    if not a.size or not b.size:
        raise FieldMissing(f"This needs {what} in both steps.")
    edges = bin_edges(np.concatenate([a, b]))
    shares = [100 * bin_counts(one, edges) / one.size for one in (a, b)]
    layout = base_layout("How did the distribution move?", f"{names[0]} dashed, {names[1]} filled · share of the step's rollouts")
    layout |= {"hovermode": "x unified", "hoverdistance": 20}
    layout["xaxis"] |= {"title": {"text": what, **AXIS_TITLE}, "exponentformat": "power"}
    layout["yaxis"] |= {"ticksuffix": " %", "rangemode": "tozero"}
    leave_room(layout, 0.0, float(max(share.max() for share in shares)))
    color = COLORS["policy"]
    return without_steps(
        [
            _outline(edges, shares[1], names[1], {"color": color, "width": 2}, tint(color, FILL)),
            _outline(edges, shares[0], names[0], {"color": COLORS["reference"], "width": 2, "dash": "dash"}, ""),
        ],
        layout,
    )


def _outline(edges: Float64Array, shares: Float64Array, name: str, line: Spec, fill: str) -> Spec:
    """A histogram's outline, closed on the axis. Where it is the bars' middle it tells the bin."""
    places, heights = np.repeat(edges, 2), np.concatenate([[0], np.repeat(shares, 2), [0]])
    told = [f"{fmt(low)} to {fmt(high)}: {fmt(share)} %" for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True)]
    return {
        "type": "scatter",
        "x": places,
        "y": heights,
        "mode": "lines",
        "name": name,
        "line": line,
        **({"fill": "tozeroy", "fillcolor": fill} if fill else {}),
        "text": ["", *(text for text in told for _ in range(2)), ""],
        "hovertemplate": "%{text}",
    }


def quantile_chart(shares: Float64Array, shifts: Float64Array, names: tuple[str, str], what: str) -> Chart:
    """How far B lies above A at each share of the rollouts (0 to 1): flat is a shift of all, a slope a spread or a sharpening.

    Raises FieldMissing where there is no quantile.
    """
    if not shares.size:
        raise FieldMissing(f"This needs {what} in both steps.")
    layout = base_layout("Which part of it moved?", f"{names[1]} above {names[0]} at each quantile")
    layout |= {"hovermode": "closest", "hoverdistance": 20}
    layout["shapes"].append(
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "line": {"color": MARK, "width": 1}}
    )
    layout["xaxis"] |= {"title": {"text": f"quantile of {what}", **AXIS_TITLE}, "ticksuffix": " %", "range": [0, 100]}
    layout["yaxis"] |= {"rangemode": "tozero"}
    leave_room(layout, min(0.0, float(shifts.min())), max(0.0, float(shifts.max())))
    signed = np.where(shifts < 0, COLORS["below"], COLORS["above"])
    line: Spec = {
        "type": "scatter",
        "x": 100 * shares,
        "y": shifts,
        "mode": "lines+markers",
        "name": "shift",
        "line": {"color": MARK, "width": 1},
        "marker": {"color": signed, "size": 6, "symbol": np.where(shifts < 0, "triangle-down", "triangle-up").tolist()},
        "text": [
            f"{fmt(100 * share)} %: {'+' if shift > 0 else ''}{fmt(shift)}" for share, shift in zip(shares, shifts, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }
    return without_steps([line], layout)
