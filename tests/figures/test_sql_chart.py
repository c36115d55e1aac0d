"""The chart of a custom metric: curves over steps or over something else, told apart, thinned with a note, their names letter for letter."""

import numpy as np
import pytest
from drawn_figures import figure as checked

from board.errors import FieldMissing
from board.figures.sql_chart import MOST_CURVES, MOST_MARKERS, answer_chart, answer_panel
from board.sql.query import CustomCurve

HOSTILE = '<b>bold</b> <a href="http://evil">x</a> %{x}'
ESCAPED = '&lt;b&gt;bold&lt;/b&gt; &lt;a href="http://evil"&gt;x&lt;/a&gt; %{x}'


def curve(name: str, x: list[float], y: list[float]) -> CustomCurve:
    """A curve of these points."""
    return CustomCurve("n", name, np.array(x, float), np.array(y, float))


def test_over_steps_is_a_panel() -> None:
    """A curve over steps is a panel like the board's own."""
    panel = answer_panel([curve("a", [0, 5, 9], [1, 2, 3])], "title")

    (line,) = panel.curves
    assert (panel.title, line.name, line.color) == ("title", "a", "#12908a")
    assert (line.steps.tolist(), line.line.tolist()) == ([0, 5, 9], [1, 2, 3])


def test_step_that_a_curve_lacks_is_a_gap() -> None:
    """A line does not run over a step that others have and it does not."""
    first = answer_panel([curve("a", [0, 2], [1, 3]), curve("b", [0, 1, 2], [1, 2, 3])], "").curves[0]

    assert first.steps.tolist() == [0, 1, 2]
    assert np.array_equal(first.line, [1, np.nan, 3], equal_nan=True)


def test_over_something_else_has_no_step() -> None:
    """A curve over x is drawn at its x, fractions too, and has nothing to mark; what is not finite is a gap."""
    chart = answer_chart([curve("a", [0.5, 1.25, 3], [1, np.inf, np.nan]), curve("b", [0.5], [2])], "x", "")
    figure = checked(chart)

    assert not chart.steps.size
    assert figure.data[0].x.tolist() == [0.5, 1.25, 3]
    assert np.array_equal(figure.data[0].y, [1, np.nan, np.nan], equal_nan=True)
    assert figure.layout.xaxis.title.text == "x"
    assert figure.data[0].text[0] == "1 at x 0.5"


def test_lines_differ() -> None:
    """No two of the first lines look the same, and no more are drawn than can be read."""
    many = [curve(f"c{at}", [0, 1], [at, at]) for at in range(MOST_CURVES + 5)]
    figure = checked(answer_chart(many, "x", ""))
    panels = [(line.color, line.dash) for line in answer_panel(many, "").curves]

    for looks in ([(line.line.color, line.line.dash) for line in figure.data], panels):
        assert len(looks) == MOST_CURVES
        assert len(set(looks[:28])) == 28
    assert figure.layout.showlegend


def test_names_are_letters() -> None:
    """Names come from a run and from the reader: they are shown letter for letter."""
    figure = checked(answer_chart([curve(HOSTILE, [0, 1], [1, 2])], "x", HOSTILE))

    assert figure.data[0].name == figure.layout.title.text == ESCAPED


def test_long_curves_are_thinned_and_say_so() -> None:
    """Of 50,000 points few are drawn, the one that stands out among them, and the axis says how many there are."""
    y = np.zeros(50_000)
    y[31_234] = 7
    figure = checked(answer_chart([curve("a", list(range(50_000)), list(y))], "x", ""))

    assert len(figure.data[0].x) < 5_000
    assert max(figure.data[0].y) == 7
    assert f"{len(figure.data[0].x):,} of 50,000 drawn" in figure.layout.xaxis.title.text


@pytest.mark.parametrize("curves", [[], [curve("a", [], [])], [curve("a", [0, 1], [np.nan, np.inf])]])
def test_nothing_to_draw_is_said(curves: list[CustomCurve]) -> None:
    """An answer without a finite number is no empty chart."""
    for draw in (lambda: answer_chart(curves, "x", ""), lambda: answer_panel(curves, "")):
        with pytest.raises(FieldMissing, match="no number to draw"):
            draw()


@pytest.mark.parametrize(
    ("y", "marked"),
    [
        pytest.param([1.0] * MOST_MARKERS, MOST_MARKERS, id="short: every point"),
        pytest.param([1.0] * (MOST_MARKERS + 1), 0, id="long: none"),
        pytest.param([1.0] * MOST_MARKERS + [np.nan, 2.0, np.nan, 3.0], 2, id="long: those a line would not show"),
    ],
)
def test_points_of_long_curves_are_marked_where_they_stand_alone(y: list[float], marked: int) -> None:
    """Markers are dear: a long curve has them only where there is no line."""
    line = checked(answer_chart([curve("a", [*range(len(y))], y)], "x", "")).data[0]

    shown = line.marker.size if "markers" in line.mode else np.zeros(len(y))
    assert np.count_nonzero(shown) == marked
