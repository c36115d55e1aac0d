"""Reward against √KL, step by step: does more distance still buy more reward?"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.errors import FieldMissing
from board.figures.chart import Chart, Spec, without_steps
from board.figures.downsampling import LIMIT, drawn_points
from board.figures.theme import AXIS_TITLE, COLORS, MARK, SEQUENTIAL, base_layout, leave_room, tint
from board.metrics.formulas import Float64Array
from board.text.counting import plural
from board.text.format_number import fmt

MOST_DOTS: Final = 400
"""At most this many steps have a point: each is an element of its own in the browser, and more of them lie on one another."""

FAR: Final = 5.0
"""A step so many times farther away than 95 of 100 is beyond the chart: one whose KL explodes would press all others into a line."""

MOST_NUMBERS: Final = 4
"""At most this many points of the path are labelled with their step."""

Places = tuple[NDArray[np.int64], Float64Array, Float64Array]


def places(reward: "pd.Series[float]", kl: "pd.Series[float]") -> Places:
    """Steps (ascending), √KL and reward of the steps that have both; a KL below zero has no root and is left out.

    Gao, Schulman and Hilton 2022 (arXiv 2210.10760) describe reward as a function of d = √KL(policy‖reference).
    """
    both = pd.DataFrame({"reward": reward, "kl": kl}).sort_index()
    steps, height, squared = (
        both.index.to_numpy(np.int64),
        np.asarray(both["reward"], np.float64),
        np.asarray(both["kl"], np.float64),
    )
    known = np.isfinite(height) & np.isfinite(squared) & (squared >= 0)
    return steps[known], np.sqrt(squared[known]), height[known]


def frontier(reward: "pd.Series[float]", kl: "pd.Series[float]") -> Chart:
    """The path of the run: x = √KL, y = mean reward, each point coloured by its step, some numbered. A point's id is its step.

    `kl` in nats per response. Raises FieldMissing where fewer than two steps have both.
    """
    steps, distance, height = places(reward, kl)
    if steps.size < 2:
        raise FieldMissing("Reward against √KL needs reward, logprobs and ref_logprobs in two steps at least.")
    near = np.flatnonzero(_is_near(distance))
    line, dotted = (near[drawn_points([distance[near], height[near]], limit=limit)] for limit in (LIMIT, MOST_DOTS))
    layout = base_layout("Does more distance still buy reward?", "mean reward against √KL in nats, k3 of the whole response")
    layout |= {"hovermode": "closest", "hoverdistance": 20}
    beyond = steps.size - near.size
    notes = [
        "√KL",
        f"{dotted.size:,} of {steps.size:,} steps have a point" if dotted.size + beyond < steps.size else "",
        f"{plural(beyond, 'step')} beyond, up to {fmt(float(distance.max()))}" if beyond else "",
    ]
    layout["xaxis"] |= {"title": {"text": " · ".join(filter(None, notes)), **AXIS_TITLE}, "exponentformat": "power"}
    leave_room(layout, float(height.min()), float(height.max()))
    layout["annotations"] += _numbers(steps[near], distance[near], height[near])
    return without_steps([_path(distance[line], height[line]), _points(steps[dotted], distance[dotted], height[dotted])], layout)


def _is_near(distance: Float64Array) -> NDArray[np.bool_]:
    """Which steps the chart reaches: all of them, but for those that are FAR away. Shape of `distance`."""
    farthest = FAR * float(np.quantile(distance, 0.95))
    return np.less_equal(distance, farthest if farthest > 0 else np.inf)


def frontier_mark(reward: "pd.Series[float]", kl: "pd.Series[float]", step: int) -> Spec | None:
    """Where the chosen step stands on the path; None where it has no place."""
    steps, distance, height = places(reward, kl)
    at = np.flatnonzero(steps == step)
    if not at.size:
        return None
    dots = [{"y": float(height[at[0]]), "color": COLORS["policy"]}]
    return {"x": float(distance[at[0]]), "text": f"step {step:,}", "dots": dots, "cased": False}


def _path(distance: Float64Array, height: Float64Array) -> Spec:
    thin = {"color": tint(COLORS["reference"], 0.5), "width": 1}
    return {"type": "scatter", "x": distance, "y": height, "mode": "lines", "line": thin, "hoverinfo": "skip", "name": "path"}


def _points(steps: NDArray[np.int64], distance: Float64Array, height: Float64Array) -> Spec:
    bar = {
        "title": {"text": "step", "side": "right"},
        "thickness": 8,
        "outlinewidth": 0,
        "len": 1,
        "ticks": "",
        "tickformat": ",d",
    }
    return {
        "type": "scatter",
        "x": distance,
        "y": height,
        "ids": [str(step) for step in steps.tolist()],
        "mode": "markers",
        "name": "steps",
        "marker": {
            "color": steps.astype(np.float64),
            "colorscale": SEQUENTIAL,
            "size": 7,
            "opacity": 1,
            "line": {"width": 0.5, "color": MARK},  # either end of the scale is near the colour of one of the pages
            "colorbar": bar,
        },
        "text": [f"step {at:,}: √KL {fmt(x)}, reward {fmt(y)}" for at, x, y in zip(steps, distance, height, strict=True)],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _numbers(steps: NDArray[np.int64], distance: Float64Array, height: Float64Array) -> list[Spec]:
    """Labels with the step at some points, evenly through the run, the first and the last among them."""
    at = np.unique(np.linspace(0, steps.size - 1, min(MOST_NUMBERS, steps.size)).round().astype(int))
    return [
        {
            "x": float(distance[one]),
            "y": float(height[one]),
            "text": f"{steps[one]:,}",
            "showarrow": False,
            "yshift": 12,
            "font": {"size": 11},
        }
        for one in at
    ]
