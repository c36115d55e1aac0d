"""Tests of distributions of rewards: histograms, heat and samples of a step."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_figures import (
    GREY,
    TEAL,
    by_sample,
    figure,
    frame_of,
    gap_histogram,
    note,
    reward_heat,
    step_histogram,
    trace,
)

from board.analysis.steps.histograms import bin_counts, histogram_by_step
from board.errors import FieldMissing
from board.figures import distributions
from board.figures.chart import step_mark
from board.figures.distributions import MOST_STEPS, TIE


def test_binary_rewards_are_two_bars() -> None:
    """Six ones and four zeros: the ones are not lost, and the ticks are 0 and 1."""
    fig = step_histogram(np.array([1.0] * 6 + [0.0] * 4))

    bars = trace(fig, "policy")
    np.testing.assert_allclose(bars.x, [0, 1])
    np.testing.assert_array_equal(bars.y, [4, 6])
    np.testing.assert_allclose(fig.layout.xaxis.tickvals, [0, 1])
    assert list(bars.text) == ["0: 4 rollouts", "1: 6 rollouts"]


def test_equal_rewards_are_one_bar() -> None:
    """A step whose rewards do not differ still has a picture; few rollouts are counted by ones."""
    few, many = step_histogram(np.full(5, 0.5)), step_histogram(np.full(50, 0.5))
    assert trace(few, "policy").y.tolist() == [5]
    assert (few.layout.yaxis.dtick, many.layout.yaxis.dtick) == (1, None)


def test_the_histogram_counts_policy_and_reference_in_the_same_bins() -> None:
    """Bars are the policy's counts, the outline the reference's, and the means stand at their values."""
    rng = np.random.default_rng(3)
    policy, reference = rng.normal(1, 1, 300), rng.normal(0, 1, 200)

    fig = step_histogram(policy, reference)

    bars, line = trace(fig, "policy"), trace(fig, "reference")
    edges = np.append(bars.x - np.diff(line.x[::2])[0] / 2, line.x[-1])
    np.testing.assert_allclose(edges, line.x[::2])
    np.testing.assert_array_equal(bars.y, bin_counts(policy, line.x[::2]))
    np.testing.assert_array_equal(line.y[1:-1:2], bin_counts(reference, line.x[::2]))
    assert {shape.x0 for shape in fig.layout.shapes} == {policy.mean(), reference.mean()}
    assert {(label.text.split()[0], label.xanchor) for label in fig.layout.annotations} == {
        ("policy", "left"),
        ("reference", "right"),
    }


def test_without_a_reference_none_is_invented() -> None:
    """No outline, no second mean; a reference of nothing but NaN is no reference."""
    for absent in (None, np.full(3, np.nan)):
        fig = step_histogram(np.array([0.1, 0.5, 0.7]), absent)
        assert [one.name for one in fig.data] == ["policy"]
        assert [label.text for label in fig.layout.annotations] == ["policy 0.433"]


def test_rewards_that_are_not_finite_are_told() -> None:
    """They are in no bar, and the subtitle counts them."""
    fig = step_histogram(np.array([0.0, 1.0, np.nan, np.inf]))

    assert note(fig) == "2 rollouts, 2 more without a reward"
    assert trace(fig, "policy").y.sum() == 2


def test_gaps_below_and_above_zero_do_not_share_a_bar() -> None:
    """Grey where the reference was better, teal where the policy was; the subtitle gives the shares."""
    gaps = np.random.default_rng(5).normal(0.5, 1, 400)

    fig = gap_histogram(gaps)

    bars = fig.data[0]
    below = np.array(bars.marker.color) == GREY
    assert bars.y[below].sum() == (gaps < 0).sum()
    assert bars.y[np.array(bars.marker.color) == TEAL].sum() == (gaps >= 0).sum()
    assert note(fig).startswith(f"{100 * (gaps < 0).mean():.1f} % worse · ")


def test_ties_with_the_reference_are_a_bar_of_their_own() -> None:
    """Gaps of 0/1 rewards: worse, equal and better each have a colour."""
    fig = gap_histogram(np.array([-1.0, 0.0, 0.0, 1.0, np.nan]))

    assert fig.data[0].y.tolist() == [1, 2, 1]
    assert list(fig.data[0].marker.color) == [GREY, TIE, TEAL]
    assert note(fig) == "25 % worse · 50 % equal · 25 % better · mean gap 0"


def test_the_heat_shows_the_share_of_each_step() -> None:
    """Columns are steps, rows reward bins, cells percent of the step's rollouts; a step without a reward stays empty."""
    edges, steps, counts = histogram_by_step(frame_of({0: [0.0, 0.0, 0.0, 1.0], 5: [math.nan], 9: [1.0]}), "reward")

    chart = distributions.reward_heat(edges, steps, counts)
    fig = figure(chart)

    heat = fig.data[0]
    np.testing.assert_array_equal(heat.x, [0, 5, 9])
    np.testing.assert_array_equal(heat.z, [[75, np.nan, 0], [25, np.nan, 100]])
    np.testing.assert_array_equal(heat.customdata[0], [[3, 4], [0, 0], [0, 1]])
    assert heat.y.tolist() == edges.tolist() == [-0.5, 0.5, 1.5]
    assert step_mark(chart, 9) == {"x": 9, "text": "step 9", "dots": [], "cased": True}
    assert list(fig.layout.xaxis.range) == [-2.5, 11]


def test_the_colours_of_the_heat_begin_at_nothing() -> None:
    """Where all rewards are equal, too: one colour for 100 %, on a bar from 0."""
    heat = figure(distributions.reward_heat(*histogram_by_step(frame_of({0: [1.0, 1.0], 1: [1.0]}), "reward"))).data[0]

    assert (heat.zmin, heat.zmax) == (0, 100)


def test_steps_at_both_ends_of_64_bits_have_their_columns() -> None:
    """The gap between them is no 64-bit number, and the axis still rises from before the first to behind the last."""
    fig = reward_heat(np.array([0.0, 1.0]), np.array([-(2**63), 2**63 - 1]), np.ones((2, 1), int))
    assert list(fig.layout.xaxis.range) == [-(2.0**64), 2.0**64]


def test_bars_of_the_largest_rewards_stand_in_their_bins() -> None:
    """Two edges may be more together than a float holds; the bars between them are at finite places, and rise."""
    bars = trace(step_histogram(np.array([-1e306, 0.0, 1e306, 1.7e308])), "policy")
    assert np.isfinite(bars.x).all()
    assert (np.diff(bars.x) > 0).all()


def test_a_heat_of_many_steps_counts_neighbours_together() -> None:
    """No rollout is lost, and the axis says that columns hold several steps."""
    counts = np.ones((3 * MOST_STEPS + 1, 2), int)

    fig = reward_heat(np.array([0.0, 1.0, 2.0]), np.arange(len(counts)), counts)

    heat = fig.data[0]
    assert heat.z.shape == (2, MOST_STEPS)
    assert heat.customdata[0, :, 0].sum() == len(counts)
    assert fig.layout.xaxis.title.text == "step · 1,501 counted in 500 columns"


def test_samples_come_in_the_order_of_the_step() -> None:
    """x is the place in the step, customdata the rollout; the stem ends at the reference's reward where there is one."""
    rows = pd.DataFrame({"reward": [1.0, 0.25, np.nan], "ref_reward": [0.5, np.nan, 0.0]}, index=[40, 41, 42])

    fig = by_sample(rows)

    policy = trace(fig, "policy")
    np.testing.assert_array_equal(policy.x, [1, 2, 3])
    np.testing.assert_array_equal(policy.y, [1, 0.25, np.nan])
    np.testing.assert_array_equal(policy.customdata, [40, 41, 42])
    np.testing.assert_array_equal(trace(fig, "reference").y, [0.5, np.nan, 0])
    np.testing.assert_array_equal(trace(fig, "gap").y[:3], [0.5, 1, np.nan])


@pytest.mark.parametrize("columns", [{}, {"ref_reward": [np.nan, np.nan]}], ids=["no column", "no value"])
def test_samples_without_a_reference_stand_alone(columns: dict[str, list[float]]) -> None:
    """No zero is drawn for a reference that is not there."""
    fig = by_sample(pd.DataFrame({"reward": [1.0, 0.0], **columns}))

    assert [one.name for one in fig.data] == ["policy"]


def test_a_step_of_many_samples_is_thinned_and_says_so() -> None:
    """The best and the worst are among those drawn."""
    rewards = np.random.default_rng(0).normal(size=50_000)

    fig = by_sample(pd.DataFrame({"reward": rewards}))

    assert {rewards.argmax() + 1, rewards.argmin() + 1} <= set(trace(fig, "policy").x.tolist())
    assert f"{len(trace(fig, 'policy').x):,} of 50,000 drawn" in fig.layout.xaxis.title.text


NONE = np.array([np.nan, np.inf])
NOTHING = {
    "histogram": lambda: step_histogram(NONE),
    "gaps": lambda: gap_histogram(NONE),
    "heat": lambda: reward_heat(*histogram_by_step(frame_of({1: [math.nan]}), "reward")),
    "samples": lambda: by_sample(pd.DataFrame({"reward": NONE})),
    "samples without the column": lambda: by_sample(pd.DataFrame({"step": [1]})),
    "share": lambda: distributions.share_below_zero_panel(pd.Series([math.nan], index=[1])),
}


@pytest.mark.parametrize("draw", NOTHING.values(), ids=NOTHING)
def test_a_distribution_of_nothing_is_not_drawn(draw: Any) -> None:
    """The page hears what is missing instead of showing empty axes."""
    with pytest.raises(FieldMissing, match=r"^This needs "):
        draw()
