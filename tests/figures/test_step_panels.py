"""board.figures.step_panels: what the curves of the pages Groups, Prompts, Search and Compare hold."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.prompts.cohorts import COHORTS
from board.analysis.rollouts import groups
from board.analysis.rollouts.verifier_noise import Noise
from board.errors import FieldMissing
from board.figures.step_panels import (
    cohorts_panel,
    difference_panel,
    kinds_panel,
    losing_panel,
    noise_panel,
    pass_panel,
    reward_panel,
    share_panel,
)

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


FOUND = pd.DataFrame(
    {"rollouts": [4, 2], "hits": [1, 2], "share": [0.25, 1.0], "with_hit": [3.0, 1.0], "without": [0.5, np.nan]},
    index=pd.Index([0, 5], name="step"),
)


def test_hits_in_percent_and_what_they_earn() -> None:
    """The share of rollouts with a hit, and the mean reward of these and of the rest, where a step has any."""
    (share,) = share_panel(FOUND).curves
    with_it, rest = reward_panel(FOUND).curves

    assert (share.line.tolist(), share.count.tolist()) == ([25.0, 100.0], [4, 2])
    assert with_it.line.tolist() == [3.0, 1.0]
    assert rest.line.tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
    assert rest.count.tolist() == [3, 0]


def test_all_rollouts_are_dashed() -> None:
    """Under a filter each line has its own of all rollouts."""
    share, every = share_panel(FOUND, FOUND * 2).curves
    rewards = reward_panel(FOUND, FOUND).curves

    assert (every.name, every.dash, every.line[0], share.dash) == ("with it, all", "dash", 50.0, "solid")
    assert [(curve.name, curve.dash) for curve in rewards] == [
        ("with it", "solid"),
        ("the rest", "solid"),
        ("with it, all", "dash"),
        ("the rest, all", "dash"),
    ]


def test_without_a_reward_there_is_no_panel_of_it() -> None:
    """Where no rollout has a reward the panel says so."""
    with pytest.raises(FieldMissing):
        reward_panel(FOUND.assign(with_hit=np.nan, without=np.nan))


def test_the_difference_with_its_interval() -> None:
    """Every step has its difference, its interval and how many prompts it is of; zero is on the axis."""
    by_step = pd.DataFrame(
        {"step": [3, 7], "difference": [0.5, 1.0], "low": [np.nan, 0.5], "high": [np.nan, 1.5], "prompts": [1, 4]}
    )

    panel = difference_panel(by_step, title="How far?", unit="nats", color="#12908a")

    (curve,) = panel.curves
    assert (panel.from_zero, panel.unit, curve.steps.tolist(), curve.count.tolist()) == (True, "nats", [3, 7], [1, 4])
    np.testing.assert_array_equal([curve.line, curve.low, curve.high], [[0.5, 1.0], [np.nan, 0.5], [np.nan, 1.5]])
