"""Tests of curves over steps: each figure is taken by Plotly, which refuses a property that it does not know."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from drawn_figures import GREY, SPREAD, TEAL, figure, frame_of, note, series, step_curve, step_histogram, trace
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from board.analysis.step_stats import share_below, smooth
from board.errors import FieldMissing
from board.figures import curves, distributions
from board.figures.chart import step_mark
from board.figures.curves import Band, CurveSeries
from board.figures.downsampling import LIMIT, kept_points
from board.text.format_number import fmt

GAPPED = {1: [1.0], 2: [2.0], 3: [math.nan], 4: [4.0], 5: [math.nan], 6: [6.0], 7: [7.0]}


def test_a_curve_is_the_mean_of_each_step() -> None:
    """x is the step itself, so that a click's x is the step; y is the mean."""
    line = trace(step_curve([series(SPREAD)]), "policy")

    np.testing.assert_array_equal(line.x, [1, 2, 4])
    np.testing.assert_array_equal(line.y, [3, 2, 6])
    assert line.type == "scatter"  # SVG: WebGL needs a graphics card


def test_a_curve_without_gaps_draws_no_markers() -> None:
    """Each marker is an element of the page: thousands that nobody sees would take a second to draw."""
    assert trace(step_curve([series(SPREAD)]), "policy").mode == "lines"


def test_a_step_without_a_mean_is_a_gap() -> None:
    """The line breaks there, and a step alone between two gaps is a visible point."""
    line = trace(step_curve([series(GAPPED)]), "policy")

    np.testing.assert_array_equal(line.y, [1, 2, np.nan, 4, np.nan, 6, 7])
    assert not line.connectgaps
    assert [size > 0 for size in line.marker.size] == [False, False, False, True, False, False, False]


def test_a_run_of_one_step_is_a_point() -> None:
    """Not an empty chart; the axis shows that step alone."""
    fig = step_curve([series({7: [1.0, 2.0]})], band="std")

    assert trace(fig, "policy").marker.size[0] > 0
    assert list(fig.layout.xaxis.tickvals) == [7]
    assert fig.layout.xaxis.range[0] < 7 < fig.layout.xaxis.range[1]
    area = trace(fig, "policy, band")
    assert np.nanmax(area.x) > np.nanmin(area.x)


def outline(fig: go.Figure) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Steps, lower and upper edge of a band of one stretch, read back from its outline."""
    area = trace(fig, "policy, band")
    n = (len(area.x) - 1) // 2
    np.testing.assert_array_equal(area.x[:n], area.x[n:-1][::-1])
    return area.x[:n], area.y[:n], area.y[n:-1][::-1]


BANDS: dict[str, tuple[Band, float, list[float], list[float]]] = {
    "std": ("std", 1, [3 - math.sqrt(12.5), 1, 6 - math.sqrt(2)], [3 + math.sqrt(12.5), 3, 6 + math.sqrt(2)]),
    "half a std": (
        "std",
        0.5,
        [3 - math.sqrt(12.5) / 2, 1.5, 6 - math.sqrt(2) / 2],
        [3 + math.sqrt(12.5) / 2, 2.5, 6 + math.sqrt(2) / 2],
    ),
    "quantiles": ("quantiles", 1, [0.3, 1.2, 5], [6.9, 2.8, 7.4]),
    "min-max": ("min-max", 1, [0, 1, 5], [9, 3, 8]),
    "half of min-max": ("min-max", 0.5, [1.5, 1.5, 5.5], [6, 2.5, 7]),
}


@pytest.mark.parametrize(("band", "scale", "low", "high"), BANDS.values(), ids=BANDS)
def test_the_band_is_what_its_name_says(band: Band, scale: float, low: list[float], high: list[float]) -> None:
    """Edges at mean ± scale × std, at the quantiles, or at the extremes, whose distance from the mean the scale multiplies."""
    fig = step_curve([series(SPREAD)], band=band, band_scale=scale)

    steps, lower, upper = outline(fig)
    np.testing.assert_array_equal(steps, [1, 2, 4])
    np.testing.assert_allclose(lower, low)
    np.testing.assert_allclose(upper, high)


@pytest.mark.parametrize("band", [None, "none"])
def test_no_band_when_none_is_chosen(band: Band | None) -> None:
    """Only the line is drawn, and the subtitle tells of no band."""
    fig = step_curve([series(SPREAD)], band=band, unit="reward")

    assert [one.name for one in fig.data] == ["policy"]
    assert note(fig) == "reward"


def test_a_band_breaks_where_its_line_does() -> None:
    """One outline per stretch of steps; nothing is filled across a gap."""
    area = trace(step_curve([series(GAPPED)], band="min-max"), "policy, band")

    stretches = np.split(area.x, np.flatnonzero(np.isnan(area.x)) + 1)
    assert [(np.nanmin(one), np.nanmax(one)) for one in stretches if one.size] == [(1, 2), (3.8, 4.2), (6, 7)]


def test_smoothing_keeps_the_unsmoothed_line() -> None:
    """The strong line is smoothed, the pale one is the means, and the subtitle says the weight."""
    one = series({step: [float(step % 3)] for step in range(10)})
    fig = step_curve([one], smoothing=0.6)

    np.testing.assert_allclose(trace(fig, "policy").y, smooth(one.stats["mean"].to_numpy(), 0.6))
    np.testing.assert_array_equal(trace(fig, "policy, not smoothed").y, one.stats["mean"])
    assert note(fig) == "smoothed 0.6"


def test_zero_shift_starts_lines_and_bands_at_the_first_value() -> None:
    """Shapes stay; the first finite mean is zero; hovering still tells the mean itself."""
    fig = step_curve([series({1: [math.nan], 2: [5.0, 7.0], 3: [8.0, 8.0]})], band="min-max", zero_shift=True, unit="reward")

    np.testing.assert_array_equal(trace(fig, "policy").y, [np.nan, 0, 2])
    _, low, high = outline(fig)
    assert (low.tolist(), high.tolist()) == ([-1, 2], [1, 2])
    assert trace(fig, "policy").text[2] == "2 drawn, mean 8 reward, band 2 to 2, n 2"
    assert note(fig) == "reward · mean and minimum to maximum · from the first value"


def test_hovering_tells_unit_digits_band_and_count() -> None:
    """Three digits for the eye, all digits beside them, and tiny values never as zero."""
    fig = step_curve([series({1: [1e-7, 2.5e-7], 2: [0.5, 0.25]})], band="min-max", unit="nats")

    assert list(trace(fig, "policy").text) == [
        "1.75e-7 nats (1.75e-07), band 1.00e-7 to 2.50e-7, n 2",
        "0.375 nats, band 0.250 to 0.500, n 2",
    ]


def test_the_chosen_step_is_marked_on_every_line() -> None:
    """The mark has the step, its name, and a dot for each line that has a value there; the figure itself knows no step."""
    chart = curves.step_curve([series(SPREAD), series({1: [0.0], 2: [math.nan]}, "reference", GREY)], smoothing=0.5)

    assert step_mark(chart, 1) == {
        "x": 1,
        "text": "step 1",
        "dots": [{"y": 3.0, "color": TEAL, "text": "3"}, {"y": 0.0, "color": GREY, "text": "0"}],
        "cased": False,
    }
    mark = step_mark(chart, 2)
    assert mark is not None
    drawn = trace(figure(chart), "policy").y
    assert mark["dots"] == [{"y": drawn[1], "color": TEAL, "text": fmt(drawn[1])}]
    assert not chart.spec["layout"]["shapes"]


def test_where_the_latest_will_do_its_step_is_told() -> None:
    """A line that is sparser than the steps is told where it last had a value, and as of when; a step the chart lacks has no label."""
    chart = curves.step_curve([series({2: [1.0], 4: [3.0]}), series({1: [5.0], 4: [math.nan]}, "reference", GREY)])

    for step, label, texts in (
        (0, None, None),
        (1, "step 1", ["5"]),
        (3, "", ["1 at step 2", "5 at step 1"]),
        (4, "step 4", ["3", "5 at step 1"]),
        (9, "", ["3 at step 4", "5 at step 1"]),
    ):
        mark = step_mark(chart, step, latest=True)
        assert (mark and mark["text"], mark and [dot["text"] for dot in mark["dots"]]) == (label, texts)
    assert mark is not None
    assert [dot["x"] for dot in mark["dots"]] == [4, 1]


def test_ticks_on_grid_values_are_not_rounding_noise() -> None:
    """Scores in thirds have a tick at exactly zero."""
    fig = step_histogram(np.array([-1 / 3, 0, 1 / 3, 2 / 3, 1]))

    assert 0.0 in list(fig.layout.xaxis.tickvals)


@pytest.mark.parametrize("step", [3, 99], ids=["no such step", "beyond the run"])
def test_a_step_that_is_not_there_is_not_marked(step: int) -> None:
    """No mark is drawn between the steps of a run, and none where x is no step."""
    assert step_mark(curves.step_curve([series(SPREAD)]), step) is None
    assert step_mark(distributions.by_sample(pd.DataFrame({"reward": [0.0] * 5})), step) is None


def test_a_thinned_curve_is_marked_at_any_step() -> None:
    """The dot has the step's own value, drawn or not."""
    stats = pd.DataFrame({"mean": np.arange(5_000.0) ** 0.5}, index=pd.Index(np.arange(5_000), name="step"))
    chart = curves.step_curve([CurveSeries("policy", stats, TEAL)])

    step = next(at for at in range(5_000) if at not in chart.spec["data"][0]["x"])
    mark = step_mark(chart, step)

    assert mark is not None
    assert mark["dots"] == [{"y": step**0.5, "color": TEAL, "text": fmt(step**0.5)}]


def test_few_lines_are_named_at_their_ends() -> None:
    """Its name alone beside the last point, no legend; labels of lines that end together do not overlap."""
    fig = step_curve([series({1: [0.0], 2: [1.0]}), series({1: [0.0], 2: [1.001], 3: [math.nan]}, "reference", GREY)])

    assert not fig.layout.showlegend
    first, second = fig.layout.annotations
    assert (first.x, first.y, first.text) == (2, 1.0, "policy")
    assert (second.x, second.y, second.text) == (2, 1.001, "reference")
    assert second.yshift - first.yshift >= 14


def test_a_long_name_is_cut_at_the_end_of_its_line() -> None:
    """A column name of any length leaves room for the plot; the whole name is told on hover."""
    fig = step_curve([series(SPREAD, "x" * 80)])

    assert fig.layout.annotations[0].text == "x" * 23 + "…"
    assert fig.layout.margin.r < 250
    assert fig.data[0].name == "x" * 80


def test_many_lines_have_a_legend() -> None:
    """Names at the ends would hide each other."""
    fig = step_curve([series(SPREAD, f"line {at}") for at in range(5)])

    assert fig.layout.showlegend
    assert not fig.layout.annotations


def test_lines_of_one_colour_differ_in_their_dashes() -> None:
    """The reference's reward and its validation reward are both grey."""
    fig = step_curve([series(SPREAD, "reference", GREY), series(SPREAD), series(SPREAD, "reference, validation", GREY)])

    assert [one.line.dash for one in fig.data] == ["solid", "solid", "dot"]


def test_a_series_without_numbers_is_left_out() -> None:
    """The others are drawn; its steps still belong to the axis."""
    fig = step_curve([series({1: [1.0], 2: [2.0]}), series({9: [math.nan]}, "reference", GREY)])

    assert [one.name for one in fig.data] == ["policy"]
    assert fig.layout.xaxis.range[1] > 9


EMPTY: dict[str, list[CurveSeries]] = {"no series": [], "no numbers": [series({1: [math.nan]}, "ref_reward")]}


@pytest.mark.parametrize("drawn", EMPTY.values(), ids=EMPTY)
def test_a_curve_of_nothing_is_not_drawn(drawn: list[CurveSeries]) -> None:
    """The page hears what is missing instead of showing empty axes."""
    with pytest.raises(FieldMissing, match=r"This needs (ref_reward|a column), which has no number in any step"):
        step_curve(drawn)


def test_a_long_curve_is_thinned_and_says_so() -> None:
    """Highest, lowest, first and last steps are all there, gaps too, and the axis tells how many steps are drawn."""
    n = 12_345
    mean = np.sin(np.arange(n) / 50.0)
    mean[[4321, 777]] = 10, -10
    mean[9000:9003] = np.nan
    stats = pd.DataFrame({"mean": mean}, index=pd.Index(np.arange(n), name="step"))

    fig = step_curve([CurveSeries("policy", stats, TEAL)])

    line = trace(fig, "policy")
    assert len(line.x) <= LIMIT
    assert {0, 777, 4321, n - 1} <= set(line.x.tolist())
    np.testing.assert_array_equal(line.y, mean[line.x])
    assert np.isnan(line.y[(line.x >= 9000) & (line.x < 9003)]).any()
    assert fig.layout.xaxis.title.text == f"step · {len(line.x):,} of 12,345 drawn, with every peak and dip"


def test_a_curve_of_the_limit_is_drawn_whole() -> None:
    """Nothing is left out before it must be."""
    fig = step_curve([series({step: [0.0] for step in range(LIMIT)})])

    assert len(trace(fig, "policy").x) == LIMIT
    assert fig.layout.xaxis.title.text == "step"


CURVES = hnp.arrays(np.float64, st.integers(60, 300), elements=st.floats(-1e3, 1e3) | st.just(math.nan))


@settings(deadline=None)
@given(CURVES)
def test_thinning_keeps_the_extremes_of_every_run(curve: NDArray[np.float64]) -> None:
    """Whatever the curve: its extremes and its ends are kept, in order, and the number is bounded."""
    kept = kept_points([curve], limit=50)

    assert kept.tolist() == sorted(set(kept.tolist()))
    assert {0, curve.size - 1} <= set(kept.tolist())
    assert kept.size <= 50 + 4
    run = np.arange(curve.size) * (50 // 3) // curve.size
    for at in range(50 // 3):
        whole, drawn = curve[run == at], curve[kept[run[kept] == at]]
        assert np.isnan(whole).any() == np.isnan(drawn).any()
        if not np.isnan(whole).all():
            assert (np.nanmin(drawn), np.nanmax(drawn)) == (np.nanmin(whole), np.nanmax(whole))


def test_share_below_zero_is_in_percent() -> None:
    """A quarter of the rollouts is 25 %; the axis starts at zero."""
    frame = frame_of({1: [-1.0, 1.0, 1.0, 1.0], 2: [math.nan], 3: [-1.0, -2.0]}, "reward_gap")

    panel = distributions.share_below_zero_panel(share_below(frame, "reward_gap"))

    (curve,) = panel.curves
    np.testing.assert_array_equal(curve.line, [25, np.nan, 100])
    assert (curve.name, panel.unit, panel.from_zero) == ("worse", "% of rollouts", True)
