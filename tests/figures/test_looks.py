"""Tests of how figures look: colours that can be told apart, ink from the page, names shown letter for letter."""

import json
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from drawn_figures import (
    SPREAD,
    by_sample,
    frame_of,
    gap_histogram,
    note,
    reward_heat,
    series,
    step_curve,
    step_histogram,
)

from board.analysis.steps.histograms import histogram_by_step
from board.figures import curves, theme
from board.figures.of_run import panel_figure

HOSTILE = '<b>bold</b> <a href="http://evil">x</a> &lt; %{x} $y$'

REWARDS = np.array([0.1, 0.4, 0.3])
FIGURES = {
    "curve": lambda: step_curve([series(SPREAD)], "std", "", "reward", 0.5, True, 0.5, title="Does it rise?"),
    "histogram": lambda: step_histogram(REWARDS, REWARDS + 1),
    "gaps": lambda: gap_histogram(REWARDS),
    "heat": lambda: reward_heat(*histogram_by_step(frame_of(SPREAD), "reward")),
    "samples": lambda: by_sample(pd.DataFrame({"reward": REWARDS, "ref_reward": REWARDS})),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_figures_take_background_and_text_colour_from_the_page(draw: Any) -> None:
    """Transparent, with no text colour of their own, a question as the title, and ready to be sent."""
    fig = draw()

    assert fig.layout.paper_bgcolor == fig.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert fig.layout.font.color is None
    assert all(label.font.color is None for label in fig.layout.annotations)
    assert fig.layout.title.text.endswith("?")
    json.loads(fig.to_json())


@pytest.mark.parametrize("page", ["light", "dark"])
def test_ink_colours_all_text(page: Any) -> None:
    """Title line, ticks, axis titles and labels follow the page."""
    spec = panel_figure(curves.step_panel([series(SPREAD)], "std", "", "reward"), "Does it rise?")
    fig = go.Figure(theme.ink(spec, page))

    color = theme.TEXT_COLORS[page]
    assert fig.layout.font.color == fig.layout.xaxis.tickfont.color == fig.layout.title.subtitle.font.color == color
    assert fig.layout.yaxis.title.font.color == fig.layout.legend.font.color == fig.layout.hoverlabel.font.color == color
    assert fig.layout.title.text == "Does it rise?"
    assert go.Figure(spec).layout.font.color is None


def test_names_from_a_run_are_shown_letter_for_letter() -> None:
    """Tags and entities of a column name reach Plotly escaped, so no link, no bold text, no template."""
    fig = step_curve([series(SPREAD, HOSTILE)], "std", "", HOSTILE, 0.5, title=HOSTILE)

    told = fig.data[-1].hovertemplate.removeprefix("%{y:.6~g}")
    texts = [fig.layout.title.text, note(fig), *(one.name for one in fig.data), told]
    assert all("&lt;b&gt;bold" in text and "<" not in text for text in texts)
    assert "%{" not in told


def luminance(color: str) -> float:
    """Relative luminance of "#rrggbb" by WCAG 2."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one: str, other: str) -> float:
    """Contrast ratio by WCAG 2, 1 to 21."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


LIGHT, DARK = "#fcfdfc", "#0f1418"


@pytest.mark.parametrize("color", sorted({*theme.COLORS.values(), *theme.RUN_COLORS.values()}))
def test_colours_can_be_seen_on_both_pages(color: str) -> None:
    """WCAG AA for graphics: 3:1 against the light and the dark background."""
    assert contrast(color, LIGHT) >= 3
    assert contrast(color, DARK) >= 3


@pytest.mark.parametrize(("page", "background"), [("light", LIGHT), ("dark", DARK)])
def test_text_can_be_read_on_its_page(page: str, background: str) -> None:
    """WCAG AA for text: 4.5:1."""
    assert contrast(theme.TEXT_COLORS[page], background) >= 4.5


def test_nothing_given_is_changed() -> None:
    """Statistics and arrays are shared between readers of a run."""
    one = series(SPREAD)
    before, rewards = one.stats.copy(deep=True), np.array([0.5, np.nan, 1.0])
    rewards.flags.writeable = False
    rows = pd.DataFrame({"reward": rewards})

    step_curve([one], "quantiles", smoothing=0.5, zero_shift=True)
    step_histogram(rewards, rewards)
    gap_histogram(rewards)
    by_sample(rows)

    pd.testing.assert_frame_equal(one.stats, before)
    np.testing.assert_array_equal(rows["reward"], [0.5, np.nan, 1.0])
