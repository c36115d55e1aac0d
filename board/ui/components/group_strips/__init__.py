"""Groups as strips of dots: a dot per member, reward to the right, length as size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from board.figures.theme import COLORS
from board.metrics.formulas import Float64Array
from board.serving import component_scripts
from board.text.format_number import fmt

MOST_DOTS: Final = 8_000
"""Dots in all strips together; each strip has an equal share of them."""


@dataclass(frozen=True)
class Strip:
    """One group: its number on the screen, its members' rewards, sizes and marks (n,), the text next to it, and whether it is greyed."""

    name: str
    rewards: Float64Array
    """NaN where a member has none: then it has no dot."""
    sizes: Float64Array
    """NaN where it is not known: then its dot has a middling size."""
    hollow: NDArray[np.bool_]
    """Members that are in no number of the group."""
    mean: float
    text: str
    grey: bool


def build(strips: Sequence[Strip], threshold: float, chosen: int | None = None) -> dict[str, Any]:
    """The data of the component: strips that share an axis of rewards, the threshold marked where it lies on it, one strip marked as chosen."""
    known = [one.rewards[np.isfinite(one.rewards)] for one in strips]
    every = np.concatenate([np.empty(0), *known])
    low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 0.0)
    longest = max((float(np.nanmax(one.sizes)) for one in strips if np.isfinite(one.sizes).any()), default=0.0)
    share = max(1, MOST_DOTS // max(1, len(strips)))
    places, sizes, hollow, counts, rows = [np.empty(0)], [np.empty(0)], [np.empty(0)], [], []
    for one in strips:
        drawn = _drawn(one, share)
        places.append(_place(one.rewards[drawn], low, high))
        sizes.append(np.where(np.isfinite(one.sizes[drawn]), one.sizes[drawn] / (longest or 1.0), 0.5))
        hollow.append(one.hollow[drawn])
        counts.append(len(drawn))
        total = int(np.isfinite(one.rewards).sum())
        left_out = f" · {len(drawn):,} of {total:,} drawn" if len(drawn) < total else ""
        mean = _place(np.array([one.mean]), low, high)[0]
        rows.append({"name": one.name, "text": one.text + left_out, "grey": one.grey, "mean": _number(mean)})
    return {
        "meta": {
            "rows": rows,
            "low": fmt(low) if every.size else "",
            "high": fmt(high) if every.size else "",
            "threshold": _number(_place(np.array([threshold]), low, high)[0]) if low <= threshold <= high else None,
            "chosen": chosen,
        },
        "dots": pa.table(
            {
                "x": np.concatenate(places).astype(np.float32),
                "size": np.concatenate(sizes).astype(np.float32),
                "hollow": np.concatenate(hollow).astype(np.float32),
            }
        ),
        "counts": pa.table({"count": np.array(counts, np.int32)}),
    }


def _drawn(strip: Strip, most: int) -> Any:
    """Which members have a dot: all that have a reward, or evenly many of them by reward, the least and the largest among them."""
    scored = np.flatnonzero(np.isfinite(strip.rewards))
    ordered = scored[np.argsort(strip.rewards[scored], kind="stable")]
    if len(ordered) <= most:
        return ordered
    return ordered[np.unique(np.linspace(0, len(ordered) - 1, most).astype(np.int64))]


def _place(rewards: Float64Array, low: float, high: float) -> Float64Array:
    """Where rewards lie from the least (0) to the largest (1); in the middle where all are equal."""
    half = high / 2 - low / 2  # not the whole distance, which may be beyond what a float holds
    placed: Float64Array = np.full(len(rewards), 0.5) if not half else (rewards / 2 - low / 2) / half
    return placed


def _number(place: float) -> float | None:
    return round(float(place), 4) if np.isfinite(place) else None


__all__ = ["MOST_DOTS", "Strip", "build", "show"]

_strips: Final = st.components.v2.component(
    "rl_logging_board.group_strips",
    js=component_scripts.of("group_strips/group_strips.js"),
    css=component_scripts.style("group_strips/group_strips.css"),
)


def show(
    strips: Sequence[Strip], *, threshold: float, chosen: int | None, key: str, height: int, on_click: Callable[[], None]
) -> None:
    """Draw the strips in a pane of at most `height` pixels, with that of row `chosen` marked.

    After a click, or Enter on it, the component of that key has the row as `clicked`, from 0, and `on_click` is called.
    """
    data = build(strips, threshold, chosen)
    data["meta"] |= {"color": COLORS["policy"], "height": height}
    _strips(key=key, data=data, on_clicked_change=on_click)
