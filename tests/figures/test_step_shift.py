"""The charts of two steps against each other."""

import numpy as np
import pytest
from drawn_figures import figure, trace

from board.errors import FieldMissing
from board.figures.step_shift import quantile_chart, two_histograms

NAMES = ("step 1", "step 9")


def test_both_histograms_are_shares_in_the_same_bins() -> None:
    """A's outline is dashed, B's filled: they differ by more than colour. Each adds up to all of its rollouts."""
    rng = np.random.default_rng(0)
    fig = figure(two_histograms(rng.normal(size=300), rng.normal(1, 1, 40), NAMES, "<b>reward</b>"))

    a, b = trace(fig, "step 1"), trace(fig, "step 9")
    np.testing.assert_array_equal(a.x, b.x)
    assert [one.y[1:-1:2].sum() for one in (a, b)] == pytest.approx([100, 100])
    assert (a.line.dash, a.fill, b.line.dash, b.fill) == ("dash", None, None, "tozeroy")
    assert len(a.text) == len(a.x)
    assert "<b>" in fig.layout.xaxis.title.text or "&lt;b&gt;" in fig.layout.xaxis.title.text


def test_quantiles_tell_which_part_moved() -> None:
    """Each point is a share of the rollouts and how far B lies above A there; its sign is a shape, too."""
    fig = figure(quantile_chart(np.array([0.25, 0.5, 0.75]), np.array([-1.0, 0.0, 2.0]), NAMES, "reward"))

    line = trace(fig, "shift")
    assert line.x.tolist() == [25, 50, 75]
    assert list(line.text) == ["25 %: -1", "50 %: 0", "75 %: +2"]
    assert list(line.marker.symbol) == ["triangle-down", "triangle-up", "triangle-up"]


def test_a_step_without_the_number_has_no_chart() -> None:
    """What is needed is named."""
    with pytest.raises(FieldMissing, match="reward in both steps"):
        two_histograms(np.empty(0), np.ones(3), NAMES, "reward")
    with pytest.raises(FieldMissing, match="reward in both steps"):
        quantile_chart(np.empty(0), np.empty(0), NAMES, "reward")
