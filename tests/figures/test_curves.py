"""Tests of curves over steps: what is drawn is what was given."""

import math
from typing import Any

import numpy as np
import pytest
from drawn_figures import GREY, SPREAD, frame_of, series, step_histogram
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from board.analysis.steps.step_stats import share_below, smooth
from board.errors import FieldMissing
from board.figures import distributions
from board.figures.curves import Band, CurveSeries, DrawnCurve, step_panel
from board.figures.downsampling import drawn_points

GAPPED = {1: [1.0], 2: [2.0], 3: [math.nan], 4: [4.0], 5: [math.nan], 6: [6.0], 7: [7.0]}


def panel(*given: Any, **named: Any) -> DrawnCurve:
    """The only curve of a panel."""
    (curve,) = step_panel(*given, **named).curves
    return curve


def test_a_curve_is_the_mean_of_each_step() -> None:
    """Its steps are the run's, so that a click is a step; a step without a mean is a gap."""
    curve, gapped = panel([series(SPREAD)]), panel([series(GAPPED)])

    assert (curve.steps.tolist(), curve.line.tolist()) == ([1, 2, 4], [3, 2, 6])
    np.testing.assert_array_equal(gapped.line, [1, 2, np.nan, 4, np.nan, 6, 7])


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
    curve = panel([series(SPREAD)], band=band, band_scale=scale)

    np.testing.assert_allclose(curve.low, low)
    np.testing.assert_allclose(curve.high, high)


@pytest.mark.parametrize("band", [None, "none"])
def test_no_band_when_none_is_chosen(band: Band | None) -> None:
    """Only the line is drawn, and nothing is told of a band."""
    drawn = step_panel([series(SPREAD)], band=band, unit="reward")

    assert np.isnan(drawn.curves[0].low).all()
    assert (drawn.unit, drawn.drawn) == ("reward", "")


def test_smoothing_keeps_the_unsmoothed_line() -> None:
    """The line is smoothed, what it was stays beside it, and the weight is told."""
    one = series({step: [float(step % 3)] for step in range(10)})
    drawn = step_panel([one], smoothing=0.6)

    np.testing.assert_allclose(drawn.curves[0].line, smooth(one.stats["mean"].to_numpy(), 0.6))
    np.testing.assert_array_equal(drawn.curves[0].raw, one.stats["mean"])
    assert drawn.drawn == "smoothed 0.6"


def test_zero_shift_starts_lines_and_bands_at_the_first_value() -> None:
    """Shapes stay; the first finite mean is zero; the mean itself is still known."""
    drawn = step_panel([series({1: [math.nan], 2: [5.0, 7.0], 3: [8.0, 8.0]})], band="min-max", zero_shift=True)

    (curve,) = drawn.curves
    np.testing.assert_array_equal([curve.line, curve.low, curve.high], [[np.nan, 0, 2], [np.nan, -1, 2], [np.nan, 1, 2]])
    np.testing.assert_array_equal(curve.mean, [np.nan, 6, 8])
    assert drawn.drawn == "mean and minimum to maximum · from the first value"


def test_ticks_on_grid_values_are_not_rounding_noise() -> None:
    """Scores in thirds have a tick at exactly zero."""
    fig = step_histogram(np.array([-1 / 3, 0, 1 / 3, 2 / 3, 1]))

    assert 0.0 in list(fig.layout.xaxis.tickvals)


def test_lines_of_one_colour_differ_in_their_dashes() -> None:
    """The reference's reward and its validation reward are both grey."""
    drawn = step_panel([series(SPREAD, "reference", GREY), series(SPREAD), series(SPREAD, "reference, validation", GREY)])

    assert [one.dash for one in drawn.curves] == ["solid", "solid", "dot"]


def test_a_series_without_numbers_is_left_out() -> None:
    """The others are drawn."""
    assert panel([series({1: [1.0], 2: [2.0]}), series({9: [math.nan]}, "reference", GREY)]).name == "policy"


EMPTY: dict[str, list[CurveSeries]] = {"no series": [], "no numbers": [series({1: [math.nan]}, "ref_reward")]}


@pytest.mark.parametrize("drawn", EMPTY.values(), ids=EMPTY)
def test_a_curve_of_nothing_is_not_drawn(drawn: list[CurveSeries]) -> None:
    """The page hears what is missing instead of showing empty axes."""
    with pytest.raises(FieldMissing, match=r"This needs (ref_reward|a column), which has no number in any step"):
        step_panel(drawn)


CURVES = hnp.arrays(np.float64, st.integers(60, 300), elements=st.floats(-1e3, 1e3) | st.just(math.nan))


@settings(deadline=None)
@given(CURVES)
def test_thinning_keeps_the_extremes_of_every_run(curve: NDArray[np.float64]) -> None:
    """Whatever the curve: its extremes and its ends are kept, in order, and the number is bounded."""
    kept = drawn_points([curve], limit=50)

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

    drawn = distributions.share_below_zero_panel(share_below(frame, "reward_gap"))

    (curve,) = drawn.curves
    np.testing.assert_array_equal(curve.line, [25, np.nan, 100])
    assert (curve.name, drawn.unit, drawn.from_zero) == ("worse", "% of rollouts", True)
