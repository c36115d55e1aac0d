"""One rollout in the token view, with the pins, colours and zoom of the link.

What the reader does there goes back into the link. The Tokens page is built around it, and the Responses page shows it next to the table on
request. Draws only.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from board.analysis.steps.step_centres import StepCentres
from board.analysis.tokens.color_ranges import token_ranges
from board.analysis.tokens.segments import Segment, find_segments, join_blanks
from board.metrics import formulas
from board.runs.cache.rollout import Rollout
from board.ui.components import token_view
from board.ui.shared import rollout_breakdown
from board.ui.shared.messages import absent
from board.ui.state import caches, linked, place
from board.ui.state.place import View

DEFAULT_METRICS: Final = ("log_ratio", "kl")
"""What colours the text unless the link says otherwise: the first of them that the rollout has. The signed one: KL k3 is largest where the
policy avoids what it sampled, and would let a token that it has learnt to prefer pass for the lesser."""
_KEY: Final = "token_view"

DEFAULT_SCALE: Final = "q"
"""The colour range unless the link names another: robust quantiles of the response."""
DEFAULT_GRANULARITY: Final = "token"
"""What one colour stands for unless the link says otherwise."""


@dataclass(frozen=True)
class Pane:
    """A rollout as its tokens are shown: what every part of the Tokens page is drawn from."""

    view: View
    rollout: Rollout
    estimator: str
    tokens: list[str]
    """Positions stand for them where the row has arrays but no tokens."""
    arrays: Mapping[str, NDArray[np.floating]]
    """(tokens,) numbers by screen name, derived ones too."""
    segments: list[Segment]
    shown: NDArray[np.int64]
    """(tokens shown,) positions of the tokens that are shown, rising: all but pads between others."""


def pane(view: View, rollout: Rollout, estimator: str) -> Pane:
    """The rollout, its derived metrics with the KL by that estimator, and which of its tokens are shown."""
    length = len(rollout.counts)
    step, whole = np.array([rollout.step]), np.array([0, length])
    arrays = StepCentres(view.run, rollout.step, rollout.step).added_to(rollout.arrays, step, whole)
    return Pane(
        view=view,
        rollout=rollout,
        estimator=estimator,
        tokens=rollout.tokens if rollout.tokens is not None else [f"⟨{position + 1}⟩" for position in range(length)],
        arrays=formulas.token_arrays(arrays, estimator),
        segments=join_blanks(find_segments(rollout.tokens or []), rollout.tokens or []),
        shown=np.flatnonzero(~rollout.pads),
    )


def shown_metric(*panes: Pane) -> str:
    """The metric that colours the text: the link's where all rollouts have it, else the log-ratio, else the first; "" when they share none."""
    names = [name for name in panes[0].arrays if all(name in pane.arrays for pane in panes)]
    return next((name for name in (place.part("metric"), *DEFAULT_METRICS, *names) if name in names), "")


def pinned_token(pane: Pane) -> int | None:
    """The position of the pinned token among all tokens; None when the link names one that is not shown."""
    token = place.part("token")
    return token if isinstance(token, int) and token in pane.shown else None


def draw(pane: Pane, height: int | None = None) -> None:
    """The token view: a window of the response that the reader moves, its text at most `height` pixels tall; one on a page."""
    if pane.rollout.tokens is None and not len(pane.tokens):
        absent("The token view", "response_tokens", of="rollout")
        return
    positions, pinned, stretch = pane.shown, pinned_token(pane), _linked_window(pane.shown)
    at = int(np.searchsorted(positions, pinned)) if pinned is not None else int(stretch.partition("-")[0]) if stretch else 0
    window = _window(pane, at)
    choice = token_view.Choice(
        shown_metric(pane),
        int(np.searchsorted(positions, pinned)) if pinned is not None else None,
        scale=str(place.part("scale") or DEFAULT_SCALE),
        others=_compared(positions, pinned),
        granularity=str(place.part("granularity") or DEFAULT_GRANULARITY),
        window=stretch,
    )
    result = token_view.mount(
        payload(pane, window, height), choice, lambda scope: shared_ends(pane, scope), on_estimator=take_estimator
    )
    place.fill_in(
        metric=result.metric,
        scale=result.scale,
        granularity=result.granularity,
        window=_window_to_link(positions, result.window),
        token=int(positions[result.pinned]) if result.pinned is not None else None,
        compare=token_view.write_pins(positions[list(result.others)].tolist()),
    )


def take_estimator(key: str = _KEY) -> None:
    """The KL estimator that the reader has just chosen in the view with that key, for every page; what comes from outside is checked."""
    name = place.reported(key, "estimator")
    if name in formulas.ESTIMATORS:
        linked.put(estimator=name)


def _window(pane: Pane, at: int) -> token_view.Window:
    """The window that token `at` (among those shown) lies in, or the one the reader turned to."""
    window = token_view.window(len(pane.shown), at)
    if window.count == 1:
        return window
    key = f"window_{pane.rollout.source}_{window.index}"
    page = st.pagination(window.count, key=key, default=window.index + 1, on_change=place.moved)
    window = token_view.window(len(pane.shown), (page - 1) * token_view.WINDOW_TOKENS)
    st.text(f"Showing {window}: the response is drawn a window at a time.")
    return window


def payload(
    pane: Pane,
    window: token_view.Window,
    height: int | None,
    *,
    key: str = _KEY,
    joint: Mapping[str, tuple[float, float]] | None = None,
) -> token_view.TokenViewPayload:
    """What is sent of a window of the response, built once while it is looked at.

    `joint` are the ends of its colours by metric where another response on the page shares them; `key` tells the views of a page apart.
    """
    run, rollout, shown = pane.view.run, pane.rollout, pane.shown[window.slice]
    ids = formulas.token_ids(rollout.arrays)

    def build() -> token_view.TokenViewPayload:
        return token_view.build(
            [pane.tokens[i] for i in shown],
            {name: values[shown] for name, values in pane.arrays.items()},
            counts=rollout.counts[shown],
            start=window.start,
            total=len(pane.shown),
            ids=None if ids is None else ids[shown],
            alternatives=caches.likeliest_alternatives(run, rollout, shown),
            notes=rollout_breakdown.notes(rollout, pane.segments, pane.arrays, shown),
            key=key,
            height=height,
            estimator=pane.estimator,
            ranges=joint,
            compared=joint is not None,
        )

    ends = None if joint is None else str(sorted(joint.items()))
    return caches.cached("tokens", build, run, rollout.key, pane.estimator, window.start, height, key, ends, keep=2)


def shared_ends(pane: Pane, scope: str) -> token_view.SharedEnds:
    """The colour range over the tokens of the step or the run, cached for this load of the run."""
    run, estimator, step = pane.view.run, pane.estimator, pane.rollout.step if scope == "step" else None
    found = caches.cached("token_ranges", lambda: token_ranges(run, step, estimator), run, step, estimator)
    ends = {str(name): (float(lo), float(hi)) for name, lo, hi in zip(found.index, found["lo"], found["hi"], strict=True)}
    drawn, total = (int(found[name].iloc[0]) if len(found) else 0 for name in ("rollouts", "total"))
    return token_view.SharedEnds(
        "run" if step is None else "step", ends, drawn, total, "the run" if step is None else f"step {step}"
    )


def joined_ends(panes: Sequence[Pane], scope: str) -> token_view.SharedEnds:
    """The colour range over the steps or runs of several rollouts, from the least end to the greatest: a colour is one number in all."""
    by_source = {(pane.view.run.address, pane.rollout.step if scope == "step" else None): pane for pane in panes}
    found = [shared_ends(pane, scope) for pane in by_source.values()]
    if len(found) == 1:
        return found[0]
    ends: dict[str, tuple[float, float]] = {}
    for name, (low, high) in [pair for one in found for pair in one.ends.items()]:
        known = ends.get(name, (low, high))
        ends[name] = (min(low, known[0]), max(high, known[1]))
    where = "both runs" if scope == "run" else " and ".join(dict.fromkeys(one.where for one in found))
    several = f"{where} of both runs" if scope == "step" and len({run for run, _ in by_source}) > 1 else where
    return token_view.SharedEnds(
        found[0].scope, ends, sum(one.rollouts for one in found), sum(one.total for one in found), several
    )


def _compared(positions: NDArray[np.int64], pinned: int | None) -> tuple[int, ...]:
    """The other pinned tokens, as indices among those shown; tokens of the link that are not shown are left out."""
    if pinned is None:
        return ()
    others = [pin for pin in token_view.read_pins(place.part("compare")) if pin != pinned and pin in positions]
    return tuple(np.searchsorted(positions, others).tolist())


def _linked_window(positions: NDArray[np.int64]) -> str | None:
    """The link's tokens as "first-last" among those that are shown; None when it names none, or all."""
    ends = re.fullmatch(r"([0-9]{1,12})-([0-9]{1,12})", str(place.part("window")))
    if ends is None:
        return None
    first, last = np.searchsorted(positions, int(ends[1])), np.searchsorted(positions, int(ends[2]), side="right") - 1
    return f"{first}-{last}" if first <= last else None


def _window_to_link(positions: NDArray[np.int64], shown: str | None) -> str | None:
    """The window counted among all tokens, hidden ones too, as `token` is; None for everything, so that the link stays short."""
    if shown is None or shown == "all":
        return None
    first, last = map(int, shown.split("-"))
    return f"{positions[first]}-{positions[last]}"
