"""The rollouts of one prompt as points over its visits, with mean and best of each.

A click or Enter chooses one. Names and labels are shown as text, letter for letter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import streamlit as st

from board.analysis.prompts.prompt_timeline import Timeline
from board.figures.downsampling import drawn_points
from board.figures.theme import COLORS
from board.serving import component_scripts

_timeline: Final = st.components.v2.component(
    "rl_logging_board.prompt_timeline",
    js=component_scripts.of("prompt_timeline/timeline.js"),
    css=component_scripts.style("prompt_timeline/timeline.css"),
)


@dataclass(frozen=True)
class NumberNames:
    """What the numbers are called."""

    height: str
    color: str
    """Empty where no point has a colour."""
    size: str
    """Likewise."""
    best: str
    """Of the upper line: "best" of a reward, "highest" of any other number."""


def payload(drawn: Timeline, words: NumberNames) -> dict[str, Any]:
    """What is sent: the points, those of the visits that have one or that a line turns at, and what they are called."""
    visits = np.union1d(drawn.visit, drawn_points([drawn.means, drawn.highest]))
    points = {
        "visit": np.searchsorted(visits, drawn.visit).astype(np.int32),
        "key": drawn.keys.astype(np.float64),
        "height": drawn.height,
        "color": drawn.color,
        "size": drawn.size,
    }
    lines = {"step": drawn.steps[visits].astype(np.float64), "mean": drawn.means[visits], "best": drawn.highest[visits]}
    meta = {
        "steps": [f"{step:,}" for step in drawn.steps[visits].tolist()],
        "counts": drawn.counts[visits].tolist(),
        "words": {"height": words.height, "color": words.color, "size": words.size, "best": words.best},
        "line": COLORS["policy"],
    }
    return {"meta": meta, "points": pa.table(points), "visits": pa.table(lines)}


def show(
    sent: dict[str, Any], drawn: Timeline, *, chosen: tuple[int, int] | None, step: int, key: str, on_pick: Callable[[], None]
) -> None:
    """Draw the points, with those of the keys `chosen` marked and the visit at `step`, if there is one.

    After a click on a point, or Enter, the component of that key has its rollout's key as `picked`, and `on_pick` is called.
    """
    at = np.flatnonzero(drawn.steps == step)
    place = {"chosen": list(chosen or ()), "at": f"{step:,}" if at.size else ""}
    _timeline(key=key, data={**sent, "place": place}, on_picked_change=on_pick)
