"""How is a number spread in each of the runs, and how far from a baseline?"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.compare.run_shift import run_shift
from board.analysis.rollouts.selection import numeric_columns
from board.analysis.stats.bootstrap import COVERAGE, RESAMPLES
from board.analysis.steps.distribution_shift import DistributionShift
from board.analysis.steps.step_stats import finite_values
from board.figures.chart import Chart
from board.figures.run_spreads import RunLine, cumulative, outlines, run_lines, shifts
from board.metrics.formulas import Float64Array
from board.runs.run import Run
from board.schema import heading, unit
from board.ui.frame import compared_table
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import sides as compared_sides
from board.ui.shared import late_chart
from board.ui.shared.messages import unfilled
from board.ui.state import caches, linked

OUTLINES: Final = "Histogram"
CUMULATIVE: Final = "Cumulative"

_HELPS: Final = {
    "shared": "Prompts that it shares with the baseline.",
    "Δ mean": "Its mean minus the baseline's.",
    "Δ median": "Its median minus the baseline's.",
    "Δ 10 %": "Its 10 % quantile minus the baseline's: how far its low end lies apart.",
    "Δ 90 %": "Its 90 % quantile minus the baseline's: how far its high end lies apart.",
    "Wasserstein": "Area between both distribution functions, in the number's unit. Its interval reaches zero where chance may give as much.",
}


def draw(sides: Sequence[ComparedSide]) -> None:
    """The choices, the table of shifts, and the two charts."""
    numbers = list(dict.fromkeys(name for side in sides for name in numeric_columns(side.run.frame)))
    if not numbers:
        st.text("No rollout of these runs has a number.")
        return
    number, address, shape = _choices(sides, numbers)
    having = [side for side in sides if number in numeric_columns(side.run.frame)]
    baseline = next((side for side in having if side.address == address), having[0])
    found = _shifts(having, baseline, number)
    _table(having, baseline, found, number)
    _charts(having, baseline, found, number, shape)
    lacking = [side.name for side in sides if side not in having]
    unfilled([f"{name} has no {heading(number)}" for name in lacking])


def _choices(sides: Sequence[ComparedSide], numbers: list[str]) -> tuple[str, str, str]:
    """The number, the baseline's address, and how distributions are drawn."""
    first = numbers.index("reward") if "reward" in numbers else 0
    with st.container(horizontal=True, vertical_alignment="bottom", key="spread_choices"):
        number = st.selectbox("Number", **linked.choice("spread_number", numbers, numbers[first], label=heading), width=240)
        baseline = compared_sides.baseline(sides)
        shape = st.segmented_control("Drawn as", **linked.choice("spread_as", [OUTLINES, CUMULATIVE], OUTLINES), required=True)
    return str(number), baseline.address, str(shape)


def _values(run: Run, number: str) -> Float64Array:
    values = finite_values(run.frame, number)
    return values[np.isfinite(values)]


def _middle(run: Run, number: str) -> dict[str, float]:
    """How many rollouts have the number, their mean and their median."""

    def make() -> dict[str, float]:
        own = _values(run, number)
        known = {"mean": float(own.mean()), "median": float(np.median(own))} if own.size else {"mean": np.nan, "median": np.nan}
        return {"rollouts": float(own.size), **known}

    found: dict[str, float] = caches.cached("spread_middle", make, run, number)
    return found


def _shifts(having: Sequence[ComparedSide], baseline: ComparedSide, number: str) -> dict[str, DistributionShift]:
    """Of each run but the baseline, by address."""
    with st.spinner("Comparing the distributions", show_time=True):
        return {side.address: _shift(baseline.run, side.run, number) for side in having if side is not baseline}


def _shift(baseline: Run, other: Run, number: str) -> DistributionShift:
    return caches.cached("run_shift", lambda: run_shift(baseline, other, number), baseline, number, other=other)


def _table(
    having: Sequence[ComparedSide],
    baseline: ComparedSide,
    found: dict[str, DistributionShift],
    number: str,
) -> None:
    rows = []
    for side in having:
        of = found.get(side.address)
        middle = _middle(side.run, number)
        row = {"rollouts": middle["rollouts"], "shared": float(of.shared) if of else np.nan, **middle}
        shown = {
            "Δ mean": of and of.mean,
            "Δ median": of and of.quantile(50),
            "Wasserstein": of and of.distance,
            "Δ 10 %": of and of.quantile(10),
            "Δ 90 %": of and of.quantile(90),
        }
        rows.append(row | {name: compared_table.interval(one) if one else "" for name, one in shown.items()})
    compared_table.draw(having, pd.DataFrame(rows), "spread_table", _HELPS)
    measured = f" in {unit(number)}" if unit(number) else ""
    st.text(
        f"Differences from {baseline.name}{measured}, with {100 * COVERAGE:.0f} % intervals by bootstrap over prompts, {RESAMPLES:,} draws: "
        f"a prompt that both runs saw is drawn for both."
    )


def _charts(
    having: Sequence[ComparedSide],
    baseline: ComparedSide,
    found: dict[str, DistributionShift],
    number: str,
    shape: str,
) -> None:
    lines = run_lines([side.name for side in having], [side.color for side in having])
    if not any(_middle(side.run, number)["rollouts"] for side in having):
        st.text(f"No rollout of these runs has {heading(number)}.")
        return
    key = (number, shape, baseline.address, *(f"{side.run.load_id} {side.name} {side.color}" for side in having))
    what = heading(number)

    def spread() -> Chart:
        drawn = [(line, _values(side.run, number)) for line, side in zip(lines, having, strict=True)]
        return (cumulative if shape == CUMULATIVE else outlines)(drawn, what)

    charts = {"spread_chart": caches.chart("spread", spread, baseline.run, key)}
    moved = [(line, found[side.address].quantiles) for line, side in zip(lines, having, strict=True) if side.address in found]
    if any(len(frame) for _, frame in moved):
        charts["spread_shift"] = caches.chart("spread_shift", lambda: _shift_chart(moved, baseline, what), baseline.run, key)
    late_chart.draw(charts)


def _shift_chart(moved: list[tuple[RunLine, pd.DataFrame]], baseline: ComparedSide, what: str) -> Chart:
    return shifts(moved, baseline.name, what)
