"""Distributions of a number: of one step, over all steps, below and above zero.

Arrays and frames in, figures out; bins are those of `board.analysis.steps.histograms`.
"""

import itertools
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.histograms import bin_counts, bin_edges
from board.analysis.steps.step_stats import finite_values
from board.errors import FieldMissing
from board.figures.chart import Chart, Spec, without_steps
from board.figures.curves import CurvePanel, CurveSeries, step_panel
from board.figures.downsampling import drawn_points
from board.figures.theme import AXIS_TITLE, COLORS, MARK, RAMP, base_layout, leave_room, step_axis, tint
from board.metrics.formulas import Float64Array, FloatArray
from board.text.format_number import fmt, with_all_digits

Counts = NDArray[np.integer]

TIE: Final = tint(COLORS["reference"], 0.5)
"""Gaps of exactly zero: neither side's colour."""

_MOST_TICKS: Final = 12

MOST_STEPS: Final = 500
"""The heat has no more columns: neighbouring steps are counted together, and the axis says so."""


def step_histogram(rewards: FloatArray, ref_rewards: FloatArray | None = None, title: str = "How is the reward spread?") -> Chart:
    """Bars of the policy's rewards, the outline of the reference's over them where given, and both means.

    Both are counted in the same bins. Values that are not finite are left out, and the subtitle says how many.
    Raises FieldMissing if there is no finite reward at all.
    """
    policy, reference = _known(rewards), _known(ref_rewards) if ref_rewards is not None else np.empty(0)
    edges = bin_edges(np.concatenate([policy, reference]))
    if not edges.size:
        raise FieldMissing("This needs reward, which no rollout of this step has.")
    others = bin_counts(reference, edges) if reference.size else None
    points = _on_points(np.concatenate([policy, reference]), edges)
    counts = bin_counts(policy, edges)
    data = [_bars(edges, counts, COLORS["policy"], points, others)]
    if others is not None:
        data.append(_frames(edges, others) if points else _outline(edges, others))
    missing = len(rewards) - policy.size
    layout = base_layout(title, f"{policy.size:,} rollouts" + (f", {missing:,} more without a reward" if missing else ""))
    _mark_means(
        layout, {name: float(values.mean()) for name, values in (("policy", policy), ("reference", reference)) if values.size}
    )
    _count_axes(layout, "reward", int(counts.max()), edges if points else None)
    return without_steps(data, layout, "reward")


def gap_histogram(gaps: FloatArray) -> Chart:
    """Bars of reward minus reference reward: those below zero in the reference's colour, those above in the policy's.

    No bar mixes the two sides; a bar of exact ties stands between them. Raises FieldMissing if there is no finite gap.
    """
    known = _known(gaps)
    edges = bin_edges(known, anchor=0.0)
    if not edges.size:
        raise FieldMissing("This needs reward and ref_reward, which no rollout of this step has both of.")
    middle = _halfway(edges)
    tie = np.abs(middle) < 1e-6 * np.diff(edges)
    colors = np.select([tie, middle < 0], [TIE, COLORS["reference"]], COLORS["policy"])
    points = _on_points(known, edges)
    worse, better = (100 * float(side.mean()) for side in (known < 0, known > 0))
    ties = 100 - worse - better
    equal = f" · {fmt(ties)} % equal" if (known == 0).any() else ""
    layout = base_layout(
        "By how much does the policy beat the reference?",
        f"{fmt(worse)} % worse{equal} · {fmt(better)} % better · mean gap {fmt(float(known.mean()))}",
    )
    layout["shapes"].append(_vertical(0.0, {"color": MARK, "width": 1}))
    counts = bin_counts(known, edges)
    _count_axes(layout, "reward minus reference reward", int(counts.max()), edges if points else None)
    return without_steps([_bars(edges, counts, colors, points)], layout, "reward_gap")


def reward_heat(
    edges: Float64Array,
    steps: Counts,
    counts: Counts,
    title: str = "Does the reward sharpen or split over the run?",
) -> Chart:
    """Share of each step's rollouts per reward bin, one column per step: `edges` (b + 1,), `steps` (S,), `counts` (S, b).

    A step without a reward stays empty. Beyond MOST_STEPS neighbouring steps are counted together, each column at the first of
    its steps. Raises FieldMissing if nothing was counted.
    """
    if not counts.size or not counts.any():
        raise FieldMissing("This needs reward, which no rollout of this run has.")
    columns, together = _columns(steps, counts)
    totals = together.sum(axis=1, keepdims=True)
    share = np.where(totals > 0, together / np.maximum(totals, 1), np.nan)
    heat = {
        "type": "heatmap",
        "x": columns,
        "y": edges,
        "z": share.T * 100,
        "customdata": np.stack([together, np.broadcast_to(totals, together.shape)], axis=-1).transpose(1, 0, 2),
        "colorscale": RAMP,
        "zmin": 0,  # Plotly takes either end alone for none
        "zmax": 100 * float(np.nanmax(share)),
        "hoverongaps": False,
        "hovertemplate": "step %{x:,d}, reward about %{y:.4~g}: %{customdata[0]} of %{customdata[1]} rollouts<extra></extra>",
        "colorbar": {"ticksuffix": " %", "thickness": 8, "outlinewidth": 0, "len": 1, "ticks": ""},
    }
    layout = base_layout(title, "reward · share of the step's rollouts")
    layout["hovermode"] = "closest"
    layout["yaxis"]["showgrid"] = False
    step_axis(layout, columns, f"{steps.size:,} counted in {columns.size:,} columns" if columns.size < steps.size else "")
    _fit_columns(layout, columns)
    leave_room(layout, float(edges[0]), float(edges[-1]))
    return Chart({"data": [heat], "layout": layout}, steps.astype(np.int64), cased=True)


def share_below_zero_panel(share: "pd.Series[float]") -> CurvePanel:
    """Percentage of rollouts with a gap below zero by step, from shares (0 to 1). Raises FieldMissing if no step has one."""
    series = CurveSeries("worse", pd.DataFrame({"mean": share * 100}), COLORS["policy"])
    return step_panel([series], title="How often is the policy worse than the reference?", unit="% of rollouts", from_zero=True)


def by_sample(rows: pd.DataFrame, title: str = "Which samples of the step earn it?") -> Chart:
    """Reward of every rollout in the order of the rows, with the reference's where the run has one.

    x is the 1-based position in the step, customdata the rollout's key (the index of `rows`). Many rollouts are thinned, and the
    axis says so. Raises FieldMissing if no row has a finite reward.
    """
    rewards = finite_values(rows, "reward")
    references = finite_values(rows, "ref_reward") if "ref_reward" in rows.columns else np.full(rewards.size, np.nan)
    if np.isnan(rewards).all():
        raise FieldMissing("This needs reward, which no rollout of this step has.")
    compared = not np.isnan(references).all()
    drawn_rows = drawn_points([rewards, references] if compared else [rewards])
    places, keys = drawn_rows + 1, rows.index.to_numpy()[drawn_rows]
    data = []
    if compared:
        data.append(_stems(places, rewards[drawn_rows], references[drawn_rows]))
        data.append(_dots(places, references[drawn_rows], keys, "reference", "line-ew-open"))
    data.append(_dots(places, rewards[drawn_rows], keys, "policy", "circle"))
    layout = base_layout(title, "reward · policy as dots" + (", reference as dashes" if compared else ""))
    note = f" · {drawn_rows.size:,} of {rewards.size:,} drawn, with every peak and dip" if drawn_rows.size < rewards.size else ""
    layout["xaxis"] |= {
        "title": {"text": f"rollout, in the order of the step{note}", **AXIS_TITLE},
        "unifiedhovertitle": {"text": "sample %{x:,d}"},
        "range": [0.4, rewards.size + 0.6],
        "tickformat": ",d",
    }
    drawn = np.concatenate([rewards, references])
    leave_room(layout, float(np.nanmin(drawn)), float(np.nanmax(drawn)))
    return without_steps(data, layout)


def _known(values: FloatArray) -> Float64Array:
    wide = np.asarray(values, np.float64)
    return wide[np.isfinite(wide)]


def _on_points(values: Float64Array, edges: Float64Array) -> bool:
    """Whether few bins stand on the values themselves, as those of 0/1 rewards: then the values are worth a tick each."""
    middle = _halfway(edges)
    nearest = np.abs(values[:, None] - middle).min(axis=1) if middle.size <= _MOST_TICKS else np.array([np.inf])
    return bool((nearest < 1e-3 * (edges[1] - edges[0])).all())


def _bars(
    edges: Float64Array, counts: Counts, color: str | NDArray[np.str_], on_points: bool, others: Counts | None = None
) -> Spec:
    """Bars over the bins, slimmer on points; hovering shows value or range and the count, the reference's too from `others`."""
    middle = _halfway(edges)
    ranges = (
        [fmt(at) for at in middle] if on_points else [f"{fmt(low)} to {fmt(high)}" for low, high in itertools.pairwise(edges)]
    )
    policy = [f"{where}: {count:,} rollouts" for where, count in zip(ranges, counts, strict=True)]
    reference = [f", reference {count:,}" for count in others] if others is not None else [""] * len(policy)
    return {
        "type": "bar",
        "x": middle,
        "y": counts,
        "width": np.diff(edges) * (0.5 if on_points else 0.94),
        "name": "policy",
        "marker": {"color": color, "opacity": 0.75, "line": {"width": 0}},
        "text": [ours + theirs for ours, theirs in zip(policy, reference, strict=True)],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _outline(edges: Float64Array, counts: Counts) -> Spec:
    """The outline of a histogram, closed on the axis: it can lie over bars without hiding them."""
    return _reference_line(np.repeat(edges, 2), np.concatenate([[0], np.repeat(counts, 2), [0]]))


def _frames(edges: Float64Array, counts: Counts) -> Spec:
    """A frame for each bin around where its bar stands."""
    margin = 0.18 * (edges[1] - edges[0])
    left, right, gap = edges[:-1] + margin, edges[1:] - margin, np.full(counts.size, np.nan)
    floor = np.zeros(counts.size)
    return _reference_line(
        np.column_stack([left, left, right, right, gap]).ravel(), np.column_stack([floor, counts, counts, floor, gap]).ravel()
    )


def _reference_line(x: Float64Array, y: Float64Array) -> Spec:
    line = {"color": COLORS["reference"], "width": 2}
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "name": "reference", "line": line, "hoverinfo": "skip"}


def _vertical(x: float, line: Spec) -> Spec:
    """A line from bottom to top of the plot."""
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _mark_means(layout: Spec, means: dict[str, float]) -> None:
    """A dotted line at each mean with name and value: the lower mean's to its left, the higher's to its right."""
    ascending = sorted(means, key=lambda name: means[name])
    for name, mean in means.items():
        layout["shapes"].append(_vertical(mean, {"color": COLORS[name], "width": 2, "dash": "dot"}))
        label = {
            "x": mean,
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "xanchor": "left" if name == ascending[-1] else "right",
            "showarrow": False,
            "text": f"{name} {fmt(mean)}",
            "font": {"size": 12},
        }
        layout["annotations"].append(label)


def _count_axes(layout: Spec, what: str, highest: int, points: Float64Array | None) -> None:
    """Name the axes; `points` are the edges of bins that stand on values, which then are the ticks."""
    ticks = {} if points is None else {"tickvals": _middles(points), "tickformat": ".4~g"}
    layout |= {"hovermode": "closest", "hoverdistance": 20}
    layout["xaxis"] |= {"title": {"text": what, **AXIS_TITLE}, "exponentformat": "power", **ticks}
    layout["yaxis"] |= {"title": {"text": "rollouts", **AXIS_TITLE}, "rangemode": "tozero", "tickformat": ",d"}
    if highest < _MOST_TICKS / 2:  # there is no half a rollout
        layout["yaxis"]["dtick"] = 1
    leave_room(layout, 0.0, float(highest))


def _halfway(edges: Float64Array) -> Float64Array:
    """Middles of bins, halved before they are added: two edges may be more together than a float holds."""
    return edges[1:] / 2 + edges[:-1] / 2


def _middles(edges: Float64Array) -> Float64Array:
    """Middles of bins; the one at zero is zero itself, not what rounding left of it."""
    middles = _halfway(edges)
    return np.where(np.abs(middles) < 1e-9 * np.diff(edges), 0.0, middles)


def _columns(steps: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """Steps and counts as drawn: at most MOST_STEPS columns, neighbours added up, each at the first of its steps."""
    starts = np.unique(np.arange(min(steps.size, MOST_STEPS)) * steps.size // min(steps.size, MOST_STEPS))
    return steps[starts], np.add.reduceat(counts, starts, axis=0)


def _fit_columns(layout: Spec, columns: Counts) -> None:
    """End the axis where the outer columns end: half a gap beyond their steps."""
    at = columns.astype(np.float64)  # the gap between two steps may be more than 64 bits hold
    first, last = (at[1] - at[0], at[-1] - at[-2]) if at.size > 1 else (1, 1)
    layout["xaxis"]["range"] = [float(at[0] - first / 2), float(at[-1] + last / 2)]


def _stems(places: NDArray[np.intp], rewards: Float64Array, references: Float64Array) -> Spec:
    """A thin line from the reference's reward to the policy's, for each sample that has both."""
    gaps = np.full(places.size, np.nan)
    return {
        "type": "scatter",
        "x": np.repeat(places, 3),
        "y": np.column_stack([references, rewards, gaps]).ravel(),
        "mode": "lines",
        "line": {"color": tint(COLORS["reference"], 0.5), "width": 1},
        "hoverinfo": "skip",
        "name": "gap",
    }


def _dots(places: NDArray[np.intp], values: Float64Array, keys: NDArray[np.int64], name: str, symbol: str) -> Spec:
    marker = {
        "color": COLORS[name],
        "symbol": symbol,
        "size": float(np.clip(1_200 / places.size, 4, 8)),
        "opacity": 1,
        "line": {"width": 2 if "open" in symbol else 0},
    }
    return {
        "type": "scatter",
        "x": places,
        "y": values,
        "mode": "markers",
        "name": name,
        "marker": marker,
        "unselected": {"marker": {"opacity": 1}},
        "cliponaxis": False,
        "customdata": keys,
        "text": [with_all_digits(value) for value in values],
        "hovertemplate": "%{text}",
    }
