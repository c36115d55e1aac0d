"""Choices for overlaid runs: axis, band, baseline to subtract, seeds apart or merged.

Draws controls only; all is in the link. Computes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from board.analysis.compare.overlay_lines import Seeds
from board.analysis.steps.step_positions import Axis
from board.ui.shared.messages import in_line
from board.ui.state import linked, place

AXES: Final[dict[str, Axis]] = {"step": "step", "rollouts": "rollouts", "tokens": "tokens", "time": "time"}

BASELINE: Final = "less"
"""Key of the list of baselines."""

_ALONG_HELP: Final = (
    "Where a step stands: at its number, at the rollouts or the tokens of responses that were sampled by then, "
    "or at the time since the run's first step."
)
_BAND_HELP: Final = (
    "How sure the mean of a step is: resampled are whole prompts, not rollouts, of which those of one prompt are alike. "
    "Bands of two runs that do not touch are a difference; for runs that saw the same prompts the page Compare is surer."
)
_SEEDS_HELP: Final = (
    "Runs of one setting that differ by their seeds are drawn as their mean, with Student's interval of it: how far another "
    "seed's mean may lie off. They share a tag, or a name but for its seed or last number."
)


@dataclass(frozen=True)
class OverlayChoices:
    """How runs are overlaid."""

    axis: Axis = "step"
    band: bool = True
    baseline: str = ""
    """The run that is subtracted from all others, as the link calls it; empty for none."""
    seeds: Seeds = "apart"


def overlay_choices(names: Mapping[str, str], seeds: Sequence[Seeds]) -> OverlayChoices:
    """Draw the choices in a low row and return them. `names` are what the runs are called, by what the link calls them."""
    with in_line("overlay_choices"):
        st.text("X axis", help=_ALONG_HELP, width="content")
        axis = st.segmented_control(
            "X axis",
            **linked.choice("along", [*AXES], then=lambda: place.go(zoom=None)),
            required=True,
            label_visibility="collapsed",
        )
        band = st.toggle("Band", **linked.flag("interval", True), help=_BAND_HELP)
        st.text("Baseline", width="content", help="Each run minus this one, step by step.")
        _baseline_choice(names)
        joined: Seeds = "apart"
        if seeds:
            st.text("Seeds", width="content", help=_SEEDS_HELP)
            options: list[Seeds] = ["apart", *seeds]
            chosen = st.segmented_control("Seeds", **linked.choice("seeds", options), required=True, label_visibility="collapsed")
            joined = chosen or "apart"
    return OverlayChoices(AXES[axis or "step"], bool(band), str(place.part("baseline") or ""), joined)


def _baseline_choice(names: Mapping[str, str]) -> None:
    """A part of the place, and no widget of the link's own: that would hold what a reader calls the run, which others call otherwise."""
    if place.part("baseline") not in names:
        place.fill_in(baseline=None)
    place.set_widgets(**{BASELINE: place.part("baseline") or ""})
    st.selectbox(
        "Baseline",
        ["", *names],
        key=BASELINE,
        format_func=lambda name: names.get(name, "no run"),
        on_change=lambda: place.go(baseline=place.widget_text(BASELINE) or None),
        label_visibility="collapsed",
        width=200,
    )
