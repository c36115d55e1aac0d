"""board.figures.cohort_panels: shares of prompts by step, and none where nothing was compared."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.prompts.cohorts import COHORTS
from board.errors import FieldMissing
from board.figures.cohort_panels import cohorts_panel, losing_panel

STEPS = pd.Index([0, 3], name="step")


def test_shares_are_of_the_prompts_judged_by_then() -> None:
    """In percent; a step at which no prompt was judged yet has no share."""
    counts = pd.DataFrame(0, STEPS, list(COHORTS))
    counts.loc[3, ["learned", "never"]] = [1, 3]

    curves = {curve.name: curve.line for curve in cohorts_panel(counts).curves}

    assert curves["learned"].tolist() == pytest.approx([np.nan, 25.0], nan_ok=True)
    assert curves["never solved"].tolist() == pytest.approx([np.nan, 75.0], nan_ok=True)
    assert len(curves) == len(COHORTS)
    (losing,) = losing_panel(pd.DataFrame({"losing": [0, 1], "compared": [2, 4]}, STEPS)).curves
    assert losing.line.tolist() == pytest.approx([0.0, 25.0])


def test_nothing_compared_is_no_panel() -> None:
    """Where no prompt was visited twice, or compared with the reference, there is nothing to draw."""
    with pytest.raises(FieldMissing):
        cohorts_panel(pd.DataFrame(0, STEPS, list(COHORTS)))
    with pytest.raises(FieldMissing):
        losing_panel(pd.DataFrame({"losing": [0, 0], "compared": [0, 0]}, STEPS))


def test_under_a_filter_all_rollouts_stand_beside() -> None:
    """Each cohort's line has its own of all rollouts, in its colour and dashed."""
    counts, every = pd.DataFrame(1, STEPS, list(COHORTS)), pd.DataFrame(0, STEPS, list(COHORTS)).assign(learned=2)

    curves = {curve.name: curve for curve in cohorts_panel(counts, every).curves}

    assert curves["learned"].line.tolist() == [20.0, 20.0]
    assert curves["learned, all"].line.tolist() == [100.0, 100.0]
    assert curves["learned, all"].color == curves["learned"].color
    assert {curve.dash for name, curve in curves.items() if name.endswith(", all")} == {"dash"}
    losing = losing_panel(*(pd.DataFrame({"losing": 1, "compared": of}, STEPS) for of in (2, 4))).curves
    assert [(curve.name, curve.dash, curve.line[0]) for curve in losing] == [
        ("losing", "solid", 50.0),
        ("losing, all", "dash", 25.0),
    ]
