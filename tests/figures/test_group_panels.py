"""board.figures.group_panels: what the curves of the page Groups hold."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.rollouts import groups
from board.analysis.rollouts.verifier_noise import Noise
from board.errors import FieldMissing
from board.figures.group_panels import kinds_panel, noise_panel, pass_panel

FRAME = pd.DataFrame({"step": [0] * 4 + [1] * 4, "group": [1.0, 1.0, 2.0, 2.0] * 2, "reward": [1.0, 0.0, 1.0, 1.0] + [0.0] * 4})
"""Two steps of two groups of two: mixed and all right, then all wrong twice."""


def test_shares_in_percent() -> None:
    """Each kind by step, the groups without a gradient, and under a filter the mixed ones of all groups."""
    shares = groups.shares(groups.judged(groups.find(FRAME), 0.5, 1))
    lines = {curve.name: curve.line.tolist() for curve in kinds_panel(shares, shares).curves}
    assert lines == {
        "all right": [50.0, 0.0],
        "mixed": [50.0, 0.0],
        "all wrong": [0.0, 100.0],
        "no gradient": [50.0, 100.0],
        "mixed, all": [50.0, 0.0],
    }


def test_pass_at_k_in_percent() -> None:
    """A curve for each k, told apart by dashes or colours; beside them that of all groups."""
    passed = groups.pass_by_step(groups.find(FRAME), 0.5, [1, 2])
    curves = pass_panel(passed, passed[[1]]).curves
    assert {curve.name: curve.line.tolist() for curve in curves} == {
        "pass@1": [75.0, 0.0],
        "pass@2": [100.0, 0.0],
        "pass@1, all": [75.0, 0.0],
    }
    assert len({(curve.color, curve.dash) for curve in curves}) == len(curves)


def test_noise_in_percent() -> None:
    """Of the rollouts with an equal, those rewarded otherwise; a kind of equals that nobody has is no curve, and without any there is none."""
    counts = pd.DataFrame(
        {"response_twins": [4.0, 0.0], "response_contradicted": [1.0, 0.0], "answer_twins": 0.0, "answer_contradicted": 0.0}
    )
    (curve,) = noise_panel(Noise(counts.rename_axis("step"), pd.DataFrame())).curves
    assert curve.name == "equal responses"
    assert curve.line[0] == 25.0
    assert np.isnan(curve.line[1])
    beside = noise_panel(
        Noise(counts.rename_axis("step"), pd.DataFrame()), Noise((counts * 2).rename_axis("step"), pd.DataFrame())
    ).curves
    assert [(one.name, one.dash) for one in beside] == [("equal responses", "solid"), ("equal responses, all", "dash")]
    with pytest.raises(FieldMissing):
        noise_panel(Noise((counts * 0).rename_axis("step"), pd.DataFrame()))
