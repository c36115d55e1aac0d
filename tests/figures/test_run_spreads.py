"""The charts of how a number is spread in several runs."""

import numpy as np
import pytest
from drawn_figures import figure, trace

from board.analysis.steps.distribution_shift import PromptValues, shift
from board.errors import FieldMissing
from board.figures.run_spreads import RunLine, cumulative, outlines, run_lines, shifts
from board.figures.theme import COLORS
from board.metrics.formulas import Float64Array

COLORS_OF_RUNS = [*COLORS.values()][:3]


def runs() -> list[tuple[RunLine, Float64Array]]:
    """Three runs, of which the last has nothing."""
    rng = np.random.default_rng(0)
    return [
        *zip(
            run_lines(["<b>a</b>", "b", "c"], COLORS_OF_RUNS),
            (rng.normal(size=300), rng.normal(1, 1, 900), np.empty(0)),
            strict=True,
        )
    ]


def test_outlines_are_shares_in_the_same_bins() -> None:
    """Each adds up to all of its run's rollouts; lines differ by more than colour; names are letters."""
    fig = figure(outlines(runs(), "<i>reward</i>"))

    a, b = trace(fig, "&lt;b&gt;a&lt;/b&gt;"), trace(fig, "b")
    np.testing.assert_array_equal(a.x, b.x)
    assert [one.y[1:-1:2].sum() for one in (a, b)] == pytest.approx([100, 100])
    assert (len(fig.data), a.line.dash, b.line.dash) == (2, "solid", "dash")
    assert [one.line.color for one in (a, b)] == COLORS_OF_RUNS[:2]
    assert "&lt;i&gt;" in fig.layout.xaxis.title.text
    assert len(a.text) == len(a.x)


def test_the_distribution_function_rises_to_all() -> None:
    """It begins and ends where any run does, and is thinned where there are many values."""
    (_, first), (_, second), _ = runs()
    fig = figure(cumulative(runs(), "reward"))

    for line, values in zip(fig.data, (first, second), strict=True):
        assert (line.y[0], line.y[-1]) == (0, 100)
        assert (line.x[0], line.x[-1]) == (min(first.min(), second.min()), max(first.max(), second.max()))
        assert (np.diff(line.y) >= 0).all()
        assert len(line.x) <= 402
        read = line.y[np.searchsorted(line.x, np.median(values), side="right") - 1]
        assert read == pytest.approx(50, abs=0.5)


def test_shifts_have_a_band() -> None:
    """The difference at each quantile, with its interval; without one there is no band."""
    (look, first), (other, second), (last, _) = runs()
    sides = [PromptValues(values, np.arange(len(values)) + at * 1_000) for at, values in enumerate((first, second))]
    found = shift(sides[0], sides[1], -1).quantiles
    bare = found.assign(low=np.nan, high=np.nan)

    fig = figure(shifts([(other, found), (last, bare), (look, found.iloc[:0])], "<a>", "reward"))

    assert [one.name for one in fig.data] == ["b, interval", "b", "c"]
    line, band = trace(fig, "b"), trace(fig, "b, interval")
    np.testing.assert_allclose(line.y, found["difference"])
    assert (band.y[: len(line.y)] <= line.y).all()
    assert "+" in line.text[9]
    assert " to " in line.text[9]
    assert "&lt;a&gt;" in fig.layout.title.subtitle.text


def test_nothing_to_draw_is_told() -> None:
    """What is needed is named."""
    empty: list[tuple[RunLine, Float64Array]] = [(look, np.empty(0)) for look, _ in runs()]
    for draw in (outlines, cumulative):
        with pytest.raises(FieldMissing, match="needs reward"):
            draw(empty, "reward")
    with pytest.raises(FieldMissing, match="baseline"):
        shifts([], "a", "reward")
