"""Panels of the Metrics page and the frontier: what is drawn is what was given, in its place, letter for letter."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_figures import figure
from hypothesis import given
from hypothesis import strategies as st

from board.errors import FieldMissing
from board.figures import theme
from board.figures.chart import Chart
from board.figures.frontier import MOST_DOTS, frontier, frontier_mark, places
from board.figures.metric_panel import FAMILY_COLORS, PanelLine, metric_curves


def line(values: Sequence[float], name: str = "rollouts", *, first: int = 0, logged: bool = False) -> PanelLine:
    """A line over consecutive steps."""
    return PanelLine(name, np.arange(first, first + len(values)), np.array(values, np.float64), logged)


def drawn(chart: Chart, name: str) -> Any:
    """The only trace of that name."""
    (found,) = [one for one in figure(chart).data if one.name == name]
    return found


def test_both_curves_stand_in_one_panel() -> None:
    """What rollouts give has its family's colour and a solid line; what trackers logged is grey, each dashed in its own way, and below it."""
    ours = line([1, 2, 3])
    panel = metric_curves(
        [ours, line([1, 3], "tensorboard", first=1, logged=True), line([2], "wandb", first=9, logged=True)], "kl"
    )

    assert [one.name for one in panel.curves] == ["tensorboard", "wandb", "rollouts"]
    theirs, other, own = panel.curves
    assert (own.steps.tolist(), own.line.tolist()) == ([0, 1, 2], [1, 2, 3])
    assert (theirs.steps.tolist(), theirs.line.tolist()) == ([1, 2], [1, 3])
    assert (own.color, own.dash) == (FAMILY_COLORS["kl"], "solid")
    assert theirs.color == other.color == theme.COLORS["reference"]
    assert len({own.dash, theirs.dash, other.dash}) == 3


def test_what_is_left_out_is_counted_once() -> None:
    """The steps left out of a logarithmic axis are those of the board's own curve, however many trackers logged it too."""
    grey = [line([0, 0, 0, 1, 1, 1, 1], f"tracker {i}", logged=True) for i in range(5)]

    assert metric_curves([*grey, line([0, 1, 1, 1])], "kl", log=True).note == "1 step not above zero left out"
    assert metric_curves(grey, "kl", log=True).note == "3 steps not above zero left out"


@pytest.mark.parametrize("values", [[-1, -2, 0], [1, -1, 0]], ids=["none above zero", "few above zero"])
def test_what_is_mostly_not_above_zero_stays_linear(values: list[float]) -> None:
    """A logarithmic axis that would leave out most of a curve is not used for it."""
    panel = metric_curves([line(values)], "reward", log=True)

    assert (panel.log, panel.curves[0].line.tolist()) == (False, values)


@pytest.mark.parametrize(
    ("values", "log"), [([np.nan, np.inf], False), ([], False), ([-np.inf, np.nan], True)], ids=["no number", "nothing", "log"]
)
def test_panel_without_a_number_says_so(values: list[float], log: bool) -> None:
    """A metric that has no number to draw is an error in words."""
    with pytest.raises(FieldMissing, match="It has no number"):
        metric_curves([line(values)], "kl", log=log)


def test_infinity_and_nan_are_gaps() -> None:
    """A value that is no number is a gap, and does not swallow its neighbours; a smoothed line keeps what it was."""
    (curve,) = metric_curves([line([1, np.inf, np.nan, -np.inf, 3])], "kl", smoothing=0.5).curves

    assert np.isfinite(curve.line).tolist() == [True, False, False, False, True]
    np.testing.assert_array_equal(curve.raw, [1, np.nan, np.nan, np.nan, 3])
    assert curve.line[4] != 3


def by_step(values: dict[int, float]) -> "pd.Series[float]":
    """A metric of a run."""
    return pd.Series(values, dtype=float).rename_axis("step")


def test_frontier_is_reward_over_the_root_of_kl() -> None:
    """Each step is a point at (√KL, reward) that knows its step; a KL below zero has no place, nor a step that lacks one."""
    reward = by_step({1: 0.5, 2: 1.0, 3: 2.0, 4: 3.0, 5: np.nan})
    kl = by_step({1: 0.0, 2: 4.0, 3: -1.0, 4: 9.0, 5: 1.0})

    points = drawn(frontier(reward, kl), "steps")

    assert list(points.ids) == ["1", "2", "4"]
    assert list(points.x) == [0, 2, 3]
    assert list(points.y) == [0.5, 1, 3]
    assert list(points.marker.color) == [1, 2, 4]


def test_frontier_of_a_long_run_has_few_points() -> None:
    """Points are dear: of 20,000 steps some hundred have one, the one that stands out among them; the path is as fine as any line."""
    steps = np.arange(20_000)
    reward, kl = pd.Series(np.sin(steps / 900), steps), pd.Series(steps / 100.0, steps)
    reward[12_345] = 5.0

    chart = frontier(reward, kl)
    points, path = drawn(chart, "steps"), drawn(chart, "path")

    assert 100 < len(points.ids) <= MOST_DOTS
    assert "12345" in points.ids
    assert len(path.x) > 3 * len(points.ids)
    assert f"{len(points.ids):,} of 20,000 steps have a point" in figure(chart).layout.xaxis.title.text


def test_frontier_is_not_pressed_together_by_one_exploding_step() -> None:
    """A step whose KL explodes lies beyond the chart, which says so; runs of one magnitude, and of no KL at all, are shown whole."""
    steps = range(1, 101)
    reward, calm = by_step(dict.fromkeys(steps, 1.0)), {step: float(step) for step in steps}

    exploding = frontier(reward, by_step(calm | {50: 1e40}))
    assert [max(drawn(exploding, name).x) for name in ("path", "steps")] == [10, 10]
    assert figure(exploding).layout.xaxis.title.text == "√KL · 1 step beyond, up to 1.00e20"
    for quiet in (calm, dict.fromkeys(steps, 0.0)):
        whole = frontier(reward, by_step(quiet))
        assert len(drawn(whole, "steps").x) == 100
        assert figure(whole).layout.xaxis.title.text == "√KL"


def test_frontier_marks_the_chosen_step() -> None:
    """The chosen step stands at its place on the path; a step without one is not marked."""
    reward, kl = by_step({1: 0.5, 2: 1.0, 3: 2.0}), by_step({1: 0.0, 2: 4.0, 3: np.inf})

    mark = frontier_mark(reward, kl, 2)

    assert mark is not None
    assert (mark["x"], mark["text"], mark["dots"][0]["y"]) == (2.0, "step 2", 1.0)
    assert frontier_mark(reward, kl, 3) is None
    assert frontier_mark(reward, kl, 99) is None


def test_frontier_needs_two_steps() -> None:
    """One point is no path: it says what it needs."""
    with pytest.raises(FieldMissing, match="two steps at least"):
        frontier(by_step({1: 1.0}), by_step({1: 1.0}))


@given(
    st.dictionaries(
        st.integers(0, 10_000),
        st.tuples(st.floats(allow_nan=True, allow_infinity=True), st.floats(allow_nan=True, allow_infinity=True)),
        max_size=30,
    )
)
def test_frontier_places_only_what_both_give(steps: dict[int, tuple[float, float]]) -> None:
    """Whatever the numbers, every place is finite, in the order of steps, and its square is the KL."""
    reward, kl = by_step({at: one for at, (one, _) in steps.items()}), by_step({at: one for at, (_, one) in steps.items()})

    at, distance, height = places(reward, kl)

    assert at.tolist() == sorted(step for step, (r, k) in steps.items() if np.isfinite(r) and np.isfinite(k) and k >= 0)
    assert np.isfinite(distance).all()
    assert np.isfinite(height).all()
    np.testing.assert_allclose(np.square(distance), kl[at].to_numpy(), rtol=1e-12)
