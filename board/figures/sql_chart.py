"""The chart of a reader's own metric: curves of the result of a query."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.errors import FieldMissing
from board.figures.chart import Chart, Spec, without_steps
from board.figures.curves import DASHES, CurvePanel, CurveSeries, step_panel
from board.figures.downsampling import drawn_points, standing_alone
from board.figures.theme import AXIS_TITLE, COLORS, base_layout, leave_room, plain
from board.sql.query import CustomCurve
from board.text.format_number import exact, with_all_digits

MOST_MARKERS: Final = 100
"""Each point of a shorter curve is marked; of a longer one those alone that stand alone, as a marker costs the browser much."""

MOST_CURVES: Final = 40
"""More are not drawn."""

_COLORS: Final = tuple(COLORS[name] for name in ("policy", "kl", "value", "entropy", "validation", "other", "reference"))


def answer_panel(curves: Sequence[CustomCurve], title: str) -> CurvePanel:
    """The first MOST_CURVES curves that have a number, over steps. Raises FieldMissing if none has one."""
    drawn = _with_numbers(curves)
    steps = np.unique(np.concatenate([curve.x for curve in drawn])).astype(np.int64)
    return step_panel(
        [CurveSeries(curve.name, _over(curve, steps), _COLORS[at % len(_COLORS)]) for at, curve in enumerate(drawn)], title=title
    )


def answer_chart(curves: Sequence[CustomCurve], x: str, title: str) -> Chart:
    """The first MOST_CURVES curves that have a number, over an x that is no step. Raises FieldMissing if none has one."""
    return _over_x(_with_numbers(curves), x, title)


def _with_numbers(curves: Sequence[CustomCurve]) -> list[CustomCurve]:
    drawn = [curve for curve in curves if np.isfinite(curve.y).any()][:MOST_CURVES]
    if not drawn:
        raise FieldMissing("The answer has no number to draw.")
    return drawn


def _over(curve: CustomCurve, steps: NDArray[np.int64]) -> pd.DataFrame:
    """The curve with a gap where another one has a step and this one has none."""
    return pd.DataFrame({"mean": curve.y}, index=curve.x.astype(np.int64)).reindex(steps)


def _over_x(curves: Sequence[CustomCurve], x: str, title: str) -> Chart:
    layout = base_layout(title)
    layout |= {"showlegend": True, "legend": {"orientation": "h", "yanchor": "top", "y": -0.2}}
    lines = [_line(curve, x, at) for at, curve in enumerate(curves)]
    points, known = sum(len(line["x"]) for line in lines), sum(curve.x.size for curve in curves)
    thinned = f" · {points:,} of {known:,} drawn, with every peak and dip" if points < known else ""
    layout["xaxis"] |= {"title": {"text": plain(x + thinned), **AXIS_TITLE}}
    finite = np.concatenate([curve.y[np.isfinite(curve.y)] for curve in curves])
    leave_room(layout, float(finite.min()), float(finite.max()))
    return without_steps(lines, layout)


def _line(curve: CustomCurve, x: str, at: int) -> Spec:
    y = np.where(np.isfinite(curve.y), curve.y, np.nan)
    drawn = drawn_points([y])
    marked = np.ones(drawn.size, bool) if drawn.size <= MOST_MARKERS else standing_alone(y[drawn])
    return {
        "type": "scatter",
        "x": curve.x[drawn],
        "y": y[drawn],
        "name": plain(curve.name),
        "mode": "lines+markers" if marked.any() else "lines",
        "marker": {"color": _COLORS[at % len(_COLORS)], "size": np.where(marked, 5, 0), "line": {"width": 0}},
        "line": {"color": _COLORS[at % len(_COLORS)], "width": 2, "dash": DASHES[at // len(_COLORS) % len(DASHES)]},
        "text": [
            plain(f"{with_all_digits(value)} at {x} {exact(place)}")
            for place, value in zip(curve.x[drawn], y[drawn], strict=True)
        ],
        "hovertemplate": "%{text}",
    }
