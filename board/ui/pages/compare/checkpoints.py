"""Do evaluations follow training, in each of the compared runs?"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.compare import checkpoints
from board.analysis.compare.checkpoints import TrainingAndEvaluation
from board.analysis.rollouts.selection import numeric_columns
from board.analysis.steps.distribution_shift import Estimate
from board.errors import FieldMissing
from board.figures.checkpoints import training_and_evaluations
from board.figures.run_spreads import run_lines
from board.schema import heading
from board.text.format_number import fmt
from board.ui.frame import compared_table
from board.ui.frame.compared_runs import ComparedSide
from board.ui.shared import late_chart
from board.ui.shared.messages import unfilled
from board.ui.state import caches, linked, place

_HELPS: Final = {
    "evaluated at": "The last step that was evaluated.",
    "evaluation": "The mean there, with its 95 % interval over prompts.",
    "best evaluation": "The highest mean, and its step.",
    "training there": "The mean over training at the step that was evaluated last, or at the last one before it.",
}
_POINTS_HELP: Final = (
    "Runs whose rollouts do not say what they are of, and which were sampled to evaluate checkpoints. Taken for such: runs whose steps lie "
    "apart, with the same prompts at each."
)


def draw(sides: Sequence[ComparedSide]) -> None:
    """The choices, the chart, and what was evaluated last."""
    numbers = list(dict.fromkeys(name for side in sides for name in numeric_columns(side.whole.frame)))
    if not numbers:
        st.text("No rollout of these runs has a number.")
        return
    number, points = _choices(sides, numbers)
    found: list[tuple[ComparedSide, TrainingAndEvaluation]] = []
    lacking = []
    for side in sides:
        try:
            found.append((side, _of(side, number, of_checkpoints=side.address in points)))
        except FieldMissing:
            lacking.append(f"{side.name} has no {heading(number)}")
    if place.part("filter"):
        st.text("All rollouts of training and of evaluations count here, whatever the filter leaves.")
    if not any(len(one.evaluation) for _, one in found):
        st.text("None of these runs has evaluations: rollouts with split = evaluation, or a run of checkpoints.")
    if any(len(one.evaluation) or len(one.training) for _, one in found):
        _chart(found, sides, number, points)
        _table(found)
    unfilled(lacking)


def _choices(sides: Sequence[ComparedSide], numbers: list[str]) -> tuple[str, frozenset[str]]:
    """The number, and the addresses of the runs that are of checkpoints."""
    first = numbers.index("reward") if "reward" in numbers else 0
    taken = [side.address for side in sides if _is_of_checkpoints(side)]
    with st.container(horizontal=True, vertical_alignment="bottom", key="checkpoint_choices"):
        number = st.selectbox("Number", **linked.choice("checkpoint_number", numbers, numbers[first], label=heading), width=240)
        points = st.multiselect(
            "Runs of checkpoints",
            **linked.choices("checkpoint_runs", [side.address for side in sides], taken),
            placeholder="None",
            help=_POINTS_HELP,
            width=420,
        )
    return str(number), frozenset(map(str, points))


def _is_of_checkpoints(side: ComparedSide) -> bool:
    return bool(caches.cached("is_of_checkpoints", lambda: checkpoints.is_of_checkpoints(side.whole), side.whole))


def _of(side: ComparedSide, number: str, *, of_checkpoints: bool) -> TrainingAndEvaluation:
    found: TrainingAndEvaluation = caches.cached(
        "training_and_evaluation",
        lambda: checkpoints.training_and_evaluation(side.whole, number, of_checkpoints=of_checkpoints),
        side.whole,
        number,
        float(of_checkpoints),
    )
    return found


def _chart(
    found: Sequence[tuple[ComparedSide, TrainingAndEvaluation]],
    sides: Sequence[ComparedSide],
    number: str,
    points: frozenset[str],
) -> None:
    lines = dict(
        zip(
            (side.address for side in sides),
            run_lines([side.name for side in sides], [side.color for side in sides]),
            strict=True,
        )
    )
    drawn = [(lines[side.address], one) for side, one in found]
    key = (number, *sorted(points), *(f"{side.whole.load_id} {side.name} {side.color}" for side, _ in found))
    chart = caches.chart("checkpoints", lambda: training_and_evaluations(drawn, heading(number)), found[0][0].whole, key)
    late_chart.draw({"checkpoints_chart": chart}, columns=1)


def _table(found: Sequence[tuple[ComparedSide, TrainingAndEvaluation]]) -> None:
    rows = [_row(one) for _, one in found]
    compared_table.draw([side for side, _ in found], pd.DataFrame(rows), "checkpoints_table", _HELPS)


def _row(of: TrainingAndEvaluation) -> dict[str, Any]:
    empty = {"evaluated at": np.nan, "evaluation": "", "best evaluation": "", "training there": np.nan}
    if of.evaluation.empty:
        return empty
    last, best = of.evaluation.iloc[-1], of.evaluation.iloc[int(of.evaluation["value"].argmax())]
    before = of.training[of.training["step"] <= last["step"]]
    return {
        "evaluated at": float(last["step"]),
        "evaluation": _mean(Estimate(float(last["value"]), float(last["low"]), float(last["high"]))),
        "best evaluation": f"{fmt(float(best['value']))} at step {int(best['step']):,}",
        "training there": float(before["value"].iloc[-1]) if len(before) else np.nan,
    }


def _mean(of: Estimate) -> str:
    return fmt(of.value) + (f" ({fmt(of.low)} to {fmt(of.high)})" if of.low == of.low else "")
