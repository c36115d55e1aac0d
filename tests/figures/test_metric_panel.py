"""Panels of the Metrics page and the frontier: what is drawn is what was given, in its place, letter for letter."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import FieldMissing
from board.figures import theme
from board.figures.chart import Chart, step_mark
from board.figures.curve_panel import Healthy
from board.figures.frontier import MOST_DOTS, frontier, frontier_mark, places
from board.figures.metric_panel import FAMILY_COLORS, HEIGHT, MOST_POINTS, MOST_TICKS, PanelLine, log_ticks, metric_panel

HOSTILE = '<b>bold</b> <a href="http://evil">x</a> &lt; %{x} $y$'


def line(values: Sequence[float], name: str = "rollouts", *, first: int = 0, logged: bool = False) -> PanelLine:
    """A line over consecutive steps."""
    return PanelLine(name, np.arange(first, first + len(values)), np.array(values, np.float64), logged)


def figure(chart: Chart) -> go.Figure:
    """The chart as Plotly takes it: every property is checked, a name that plotly.js does not know raises."""
    return go.Figure(chart.spec)


def drawn(chart: Chart, name: str) -> Any:
    """The only trace of that name."""
    (found,) = [one for one in figure(chart).data if one.name == name]
    return found


def test_both_curves_stand_in_one_panel() -> None:
    """What rollouts give has its family's colour and a solid line; what trackers logged is grey, each dashed in its own way."""
    chart = metric_panel(
        [line([1, 2, 3]), line([1, 3], "tensorboard", first=1, logged=True), line([2], "wandb", first=9, logged=True)], "kl"
    )
    ours, theirs, other = (drawn(chart, name) for name in ("rollouts", "tensorboard", "wandb"))

    assert (list(ours.x), list(ours.y)) == ([0, 1, 2], [1, 2, 3])
    assert (list(theirs.x), list(theirs.y)) == ([1, 2], [1, 3])
    assert (ours.line.color, ours.line.dash) == (FAMILY_COLORS["kl"], "solid")
    assert theirs.line.color == other.line.color == theme.COLORS["reference"]
    assert len({ours.line.dash, theirs.line.dash, other.line.dash}) == 3
    assert chart.steps.tolist() == [0, 1, 2, 9]
    assert [one.text for one in figure(chart).layout.annotations] == ["rollouts", "tensorboard", "wandb"]


def test_long_names_at_the_ends_of_lines_keep_what_they_differ_in() -> None:
    """A name that is cut beside its line keeps its beginning and its end."""
    lines = [line([1], f"wandb a_long/name/of/{end}", logged=True) for end in ("kl", "kl_avg")]

    first, second = (one.text for one in figure(metric_panel(lines, "kl")).layout.annotations)

    assert first != second
    assert max(len(first), len(second)) <= 18


def test_one_curve_needs_no_name() -> None:
    """A lone curve is not named, neither at its end nor in a legend."""
    layout = figure(metric_panel([line([1, 0.25])], "reward")).layout

    assert not layout.annotations
    assert not layout.showlegend


RANGES: dict[str, tuple[Healthy | None, list[float]]] = {
    "no range": (None, []),
    "both bounds": (Healthy(0.5, 2), [0.5, 2]),
    "no lower bound": (Healthy(None, 2), [2]),
    "left": (Healthy(0, 2, (3, 4.0)), [0, 2]),
}


@pytest.mark.parametrize("name", RANGES)
def test_healthy_range_is_drawn(name: str) -> None:
    """Bounds are dotted lines across the panel; a ring stands where the curve first leaves them, and only there."""
    healthy, bounds = RANGES[name]

    fig = figure(metric_panel([line([1, 2, 1, 4, 5])], "kl", healthy=healthy))

    assert [(shape.y0, shape.y1, shape.xref) for shape in fig.layout.shapes] == [(one, one, "paper") for one in bounds]
    rings = [(list(one.x), list(one.y)) for one in fig.data if one.name == "first outside"]
    assert rings == ([([3], [4.0])] if healthy and healthy.left_at else [])


def test_logarithmic_axis_says_what_it_leaves_out() -> None:
    """Zero and below cannot be drawn on it: they are gaps and counted; marks and labels are in its own units."""
    chart = metric_panel([line([100, 0, -1, 0.01, 0.01])], "loss", healthy=Healthy(0, 10, (0, 100.0)), log=True)
    fig = figure(chart)

    assert fig.layout.yaxis.type == "log"
    assert np.isnan(drawn(chart, "rollouts").y[1:3]).all()
    assert fig.layout.xaxis.title.text == "2 steps not above zero left out"
    assert [shape.y0 for shape in fig.layout.shapes] == [10]
    mark = step_mark(chart, 0)
    assert mark is not None
    assert mark["dots"] == [{"y": 2.0, "color": theme.COLORS["other"], "text": "100"}]
    named = figure(metric_panel([line([100, 0.01]), line([1, 1], "wandb", logged=True)], "loss", log=True))
    assert named.layout.annotations[0].y == pytest.approx(-2)


def test_what_is_left_out_is_counted_once() -> None:
    """The steps left out of a logarithmic axis are those of the board's own curve, however many trackers logged it too."""
    grey = [line([0, 0, 0, 1, 1, 1, 1], f"tracker {i}", logged=True) for i in range(5)]

    both = figure(metric_panel([*grey, line([0, 1, 1, 1])], "kl", log=True))
    logged = figure(metric_panel(grey, "kl", log=True))

    assert both.layout.xaxis.title.text == "1 step not above zero left out"
    assert logged.layout.xaxis.title.text == "3 steps not above zero left out"


LOG_TICKS = {
    "two decades": (0.5, 20, [0.5, 1, 5, 10]),
    "many decades": (1e-7, 2e9, [1e-5, 1, 1e5]),
    "within a decade": (1.1, 1.9, [1.2, 1.4, 1.6, 1.8]),
    "a decade and a half": (0.9, 20, [1, 2, 5, 10, 20]),
    "one number": (163.0, 163.0, [163]),
    "a few above a decade": (150, 170, [150, 155, 160, 165, 170]),
}


@pytest.mark.parametrize("name", LOG_TICKS)
def test_logarithmic_ticks_are_round(name: str) -> None:
    """Labels of a logarithmic axis are round numbers within what is drawn."""
    low, high, wanted = LOG_TICKS[name]

    assert log_ticks(low, high) == pytest.approx(wanted)


@given(st.floats(5e-324, 1.7e308), st.floats(5e-324, 1.7e308))
def test_logarithmic_ticks_are_few(one: float, other: float) -> None:
    """Whatever is drawn, there is a label, and no more than the panel has room for."""
    assert 1 <= len(log_ticks(min(one, other), max(one, other))) <= MOST_TICKS


def test_logarithmic_labels_are_short() -> None:
    """Labels are whole or short decimals; beyond that a digit and a power of ten."""
    small, large = (
        figure(metric_panel([line(values)], "kl", log=True)).layout.yaxis.ticktext for values in ([1e-7, 1e-3], [150, 170])
    )

    assert set(small) <= {"1e-7", "1e-6", "1e-5", "1e-4", "0.001"}
    assert large == ("150", "155", "160", "165", "170")


def test_a_legend_has_room_beneath_the_note() -> None:
    """Where there are too many lines to name at their ends the panel grows by its legend; the plot and the note stay as they are."""
    few = figure(metric_panel([line([0, 1, 2])], "kl", log=True)).layout
    many = figure(metric_panel([line([0, 1, 2], f"tracker {i}", logged=True) for i in range(5)], "kl", log=True)).layout

    assert many.legend.yref == "container"
    assert many.height - few.height == many.margin.b - few.margin.b > 0


def test_the_boards_own_curve_is_on_top() -> None:
    """Where a tracker logged the same numbers the board's own curve covers them, a little wider, smoothed or not; it is first by name."""
    chart = metric_panel([line([1, 2]), line([1, 2], "wandb", logged=True)], "kl", smoothing=0.5)

    assert [one.name for one in figure(chart).data] == ["wandb, not smoothed", "rollouts, not smoothed", "wandb", "rollouts"]
    ours, theirs = drawn(chart, "rollouts"), drawn(chart, "wandb")
    assert ours.line.width > theirs.line.width
    assert ours.legendrank < theirs.legendrank
    mark = step_mark(chart, 1)
    assert mark is not None
    assert mark["dots"][-1]["color"] == FAMILY_COLORS["kl"]


@pytest.mark.parametrize("values", [[-1, -2, 0], [1, -1, 0]], ids=["none above zero", "few above zero"])
def test_what_is_mostly_not_above_zero_stays_linear(values: list[float]) -> None:
    """A logarithmic axis that would leave out most of a curve is not used for it."""
    chart = metric_panel([line(values)], "reward", log=True)

    assert figure(chart).layout.yaxis.type is None
    assert list(drawn(chart, "rollouts").y) == values


@pytest.mark.parametrize(
    ("values", "log"), [([np.nan, np.inf], False), ([], False), ([-np.inf, np.nan], True)], ids=["no number", "nothing", "log"]
)
def test_panel_without_a_number_says_so(values: list[float], log: bool) -> None:
    """A metric that has no number to draw is an error in words."""
    with pytest.raises(FieldMissing, match="It has no number"):
        metric_panel([line(values)], "kl", log=log)


def test_infinity_and_nan_are_gaps() -> None:
    """A value that is no number is a gap, and neither stretches the axis nor swallows its neighbours."""
    chart = metric_panel([line([1, np.inf, np.nan, -np.inf, 3])], "kl", smoothing=0.5)

    y = drawn(chart, "rollouts").y
    assert np.isnan(y[1:4]).all()
    assert np.isfinite(y[[0, 4]]).all()


def test_smoothing_keeps_the_curve_as_it_was() -> None:
    """A smoothed panel shows the unsmoothed line as well, and marks the smoothed one."""
    chart = metric_panel([line([0, 1, 0, 1])], "kl", smoothing=0.9)

    assert list(drawn(chart, "rollouts, not smoothed").y) == [0, 1, 0, 1]
    assert list(drawn(chart, "rollouts").y) != [0, 1, 0, 1]
    assert chart.lines[0].y.tolist() == list(drawn(chart, "rollouts").y)


def test_names_and_units_are_text() -> None:
    """Names of scalars are a trainer's: Plotly shows them letter for letter, and fills nothing in."""
    fig = figure(metric_panel([line([1, 2]), line([1, 2], HOSTILE, logged=True)], "kl", unit=HOSTILE))

    spec = fig.to_json()
    assert "<b>" not in spec
    assert "<a " not in spec
    assert "%{x}" not in "".join(one.hovertemplate or "" for one in fig.data)


def test_long_curves_are_thinned_and_say_so() -> None:
    """A panel of a long run stays small, keeps its peak, and says how much of it is drawn."""
    values = np.zeros(50_000)
    values[31_234] = 7
    chart = metric_panel([PanelLine("rollouts", np.arange(50_000), values, False)], "kl")

    assert max(drawn(chart, "rollouts").y) == 7
    assert drawn(chart, "rollouts").x.size <= MOST_POINTS
    assert "of 50,000 steps drawn" in figure(chart).layout.xaxis.title.text
    assert len(figure(chart).to_json()) < 40_000
    assert figure(chart).layout.height == HEIGHT


def by_step(values: dict[int, float]) -> "pd.Series[float]":
    """A metric of a run."""
    return pd.Series(values, dtype=float).rename_axis("step")


def test_frontier_is_reward_over_the_root_of_kl() -> None:
    """Each step is a point at (√KL, reward) that knows its step; a KL below zero has no place, nor a step that lacks one."""
    reward = by_step({1: 0.5, 2: 1.0, 3: 2.0, 4: 3.0, 5: np.nan})
    kl = by_step({1: 0.0, 2: 4.0, 3: -1.0, 4: 9.0, 5: 1.0})

    points = drawn(frontier(reward, kl, "k3"), "steps")

    assert list(points.ids) == ["1", "2", "4"]
    assert list(points.x) == [0, 2, 3]
    assert list(points.y) == [0.5, 1, 3]
    assert list(points.marker.color) == [1, 2, 4]


def test_frontier_of_a_long_run_has_few_points() -> None:
    """Points are dear: of 20,000 steps some hundred have one, the one that stands out among them; the path is as fine as any line."""
    steps = np.arange(20_000)
    reward, kl = pd.Series(np.sin(steps / 900), steps), pd.Series(steps / 100.0, steps)
    reward[12_345] = 5.0

    chart = frontier(reward, kl, "k3")
    points, path = drawn(chart, "steps"), drawn(chart, "path")

    assert 100 < len(points.ids) <= MOST_DOTS
    assert "12345" in points.ids
    assert len(path.x) > 3 * len(points.ids)
    assert f"{len(points.ids):,} of 20,000 steps have a point" in figure(chart).layout.xaxis.title.text


def test_frontier_is_not_pressed_together_by_one_exploding_step() -> None:
    """A step whose KL explodes lies beyond the chart, which says so; runs of one magnitude, and of no KL at all, are shown whole."""
    steps = range(1, 101)
    reward, calm = by_step(dict.fromkeys(steps, 1.0)), {step: float(step) for step in steps}

    exploding = frontier(reward, by_step(calm | {50: 1e40}), "k3")
    assert [max(drawn(exploding, name).x) for name in ("path", "steps")] == [10, 10]
    assert figure(exploding).layout.xaxis.title.text == "√KL · 1 step beyond, up to 1.00e20"
    for quiet in (calm, dict.fromkeys(steps, 0.0)):
        whole = frontier(reward, by_step(quiet), "k3")
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
        frontier(by_step({1: 1.0}), by_step({1: 1.0}), "k3")


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
