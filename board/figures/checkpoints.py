"""Training as lines and evaluations as points, of several runs, with intervals."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.compare.checkpoints import TrainingAndEvaluation
from board.errors import FieldMissing
from board.figures.chart import Chart, Spec, without_steps
from board.figures.downsampling import LIMIT, drawn_points
from board.figures.run_spreads import RunLine, band
from board.figures.theme import base_layout, leave_room, plain, step_axis
from board.text.format_number import fmt

SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
"""Points of runs differ by more than their colours: in the order in which the runs are chosen."""

MOST_BANDS: Final = 4
"""Of more runs the lines have no bands, which would lie on one another."""

_MOST_POINTS: Final = 150
"""Of more evaluations the peaks and dips are drawn and others evenly."""


def training_and_evaluations(runs: Sequence[tuple[RunLine, TrainingAndEvaluation]], what: str) -> Chart:
    """A line with its band for what each run trained, points with error bars for what was evaluated. Raises FieldMissing without either."""
    frames = [frame for _, one in runs for frame in (one.training, one.evaluation) if len(frame)]
    if not frames:
        raise FieldMissing(f"This needs {what}, which no rollout here has.")
    steps = np.unique(np.concatenate([frame["step"].to_numpy(np.int64) for frame in frames]))
    intervals = "95 % intervals over prompts" if len(runs) <= MOST_BANDS else "95 % intervals of evaluations alone"
    layout = base_layout("Do evaluations follow training?", f"mean {what} · {intervals}")  # a phone's width holds no more
    layout |= {"hovermode": "x unified", "showlegend": True, "legend": {"orientation": "h", "yanchor": "top", "y": -0.22, "x": 0}}
    layout["height"] += 80
    step_axis(layout, steps)
    drawn = np.concatenate([frame[["value", "low", "high"]].to_numpy(np.float64).ravel() for frame in frames])
    drawn = drawn[np.isfinite(drawn)]
    leave_room(layout, float(drawn.min()), float(drawn.max()))
    banded = [one for one in runs if one[1].training["low"].notna().any()] if len(runs) <= MOST_BANDS else []
    bands = [band(run, _thinned(one.training, LIMIT), "step") for run, one in banded]
    lines = [_line(run, one.training) for run, one in runs if len(one.training)]
    points = [
        _points(run, SYMBOLS[at % len(SYMBOLS)], one.evaluation) for at, (run, one) in enumerate(runs) if len(one.evaluation)
    ]
    return without_steps([*bands, *lines, *points], layout)


def _line(run: RunLine, frame: pd.DataFrame) -> Spec:
    drawn = _thinned(frame, LIMIT)
    return {
        "type": "scatter",
        "x": drawn["step"].to_numpy(np.int64),
        "y": drawn["value"].to_numpy(np.float64),
        "mode": "lines" if len(drawn) > 1 else "markers",
        "name": plain(f"{run.name}, training"),
        "line": {"color": run.color, "width": 1.5, "dash": run.dash},
        "marker": {"color": run.color, "size": 5},
        "text": _hover_texts(drawn),
        "hovertemplate": "%{text}",
    }


def _points(run: RunLine, symbol: str, frame: pd.DataFrame) -> Spec:
    drawn = _thinned(frame, _MOST_POINTS)
    value = drawn["value"].to_numpy(np.float64)
    return {
        "type": "scatter",
        "x": drawn["step"].to_numpy(np.int64),
        "y": value,
        "mode": "markers",
        "name": plain(f"{run.name}, evaluated"),
        "marker": {"color": run.color, "size": 8, "symbol": symbol, "opacity": 1, "line": {"width": 0}},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(drawn["high"].to_numpy(np.float64) - value),
            "arrayminus": np.nan_to_num(value - drawn["low"].to_numpy(np.float64)),
            "color": run.color,
            "thickness": 1.5,
            "width": 3,
        },
        "text": _hover_texts(drawn),
        "hovertemplate": "%{text}",
    }


def _thinned(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    return frame.iloc[drawn_points([frame["value"].to_numpy(np.float64)], limit=most)]


def _hover_texts(frame: pd.DataFrame) -> list[str]:
    return [
        fmt(value) + (f", {fmt(low)} to {fmt(high)}" if low == low else "")
        for value, low, high in frame[["value", "low", "high"]].itertuples(index=False)
    ]
