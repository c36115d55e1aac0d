"""Mounts the token view on a page and hears what the reader does in it.

Two components, because a component whose smallest property changes is sent again whole. The view holds text and numbers and is
sent once per window of tokens; the other, a few bytes and nothing to see, carries the choice made on the server (a link, a
click in a table) to the view.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy.typing as npt
import streamlit as st

from board.analysis.tokens.alternatives import Likeliest
from board.serving import component_scripts
from board.ui.components.token_view.notes import Notes
from board.ui.components.token_view.payload import Choice, SharedEnds, TokenViewPayload, build, chosen

_view: Final = st.components.v2.component(
    "rl_logging_board.token_view",
    js=component_scripts.of("token_view/view.js"),
    css=component_scripts.style("token_view/view.css"),
)
_choice: Final = st.components.v2.component(
    "rl_logging_board.token_choice", js=component_scripts.of("token_view/choice_bridge.js")
)


@dataclass(frozen=True)
class TokenViewResult:
    """What the reader sees now.

    `pinned` is an index into the whole response, from 0; `metric` is None when the rollout has no metric; `scale` is the choice
    of colour range and `window` the tokens that chart and heatmap show, both as in `Choice`, None until the reader or the page
    has made one.
    """

    pinned: int | None
    metric: str | None
    scale: str | None = None
    others: tuple[int, ...] = ()
    """The other pinned tokens, in the order they were pinned."""
    window: str | None = None
    granularity: str | None = None
    """What one colour stands for, as in `Choice`; None until the reader or the page has made a choice."""


def show(
    tokens: Sequence[str],
    metrics: Mapping[str, npt.ArrayLike],
    *,
    counts: npt.ArrayLike | None = None,
    start: int = 0,
    total: int | None = None,
    metric: str = "",
    ids: npt.ArrayLike | None = None,
    alternatives: Likeliest | None = None,
    pinned: int | None = None,
    others: tuple[int, ...] = (),
    scale: str | None = None,
    granularity: str | None = None,
    notes: Notes | None = None,
    window: str | None = None,
    shared: Callable[[str], SharedEnds | None] | None = None,
    key: str,
    height: int | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    on_change: Callable[[], None] | None = None,
) -> TokenViewResult:
    """Draw one rollout's tokens, or a window of them: the text coloured by a metric, and every metric as a row of a heatmap.

    `tokens` are the window's, n of them; `start` is the index (from 0) of its first and `total` the length of the whole
    response (None: the window is the response). `metrics` maps screen names (`schema.title`) to (n,) numbers, NaN where
    missing; unit, meaning and scale come from the schema. `counts` is (n,) bool: False tokens are dimmed and enter no scale.
    `ranges` fixes colour scales by metric name, so that colours mean the same in every window. `height` is the most the text
    may take before it scrolls, in pixels. `ids` are (n,) token ids, -1 where not known, and `alternatives` what else could have
    been sampled at each of the n tokens, both for the card.

    `notes` says what else is marked: segments, which can be folded, and the tokens that hold most of the KL. `shared` is called for
    the ends of the range "step" or "run", and only when the reader has chosen it.

    `metric`, `pinned`, `others`, `scale`, `granularity` and `window` (see `Choice`; None leaves the last three to the reader) are what to show,
    `TokenViewResult` what is shown after the reader's last click: keep it (in the URL) and pass it back. Changing one of them
    costs a few bytes, never the arrays again. Within one page `key` belongs to one view and may be reused for the next rollout.
    Raises ValueError when an array is not as long as `tokens`.
    """
    extra: dict[str, Any] = {"ids": ids, "alternatives": alternatives, "height": height}
    payload = build(tokens, metrics, counts=counts, start=start, total=total, ranges=ranges, notes=notes, key=key, **extra)
    requested = Choice(metric, pinned, scale, others, granularity=granularity, window=window)
    return mount(payload, requested, shared, on_change)


def mount(
    payload: TokenViewPayload,
    requested: Choice,
    shared: Callable[[str], SharedEnds | None] | None = None,
    on_change: Callable[[], None] | None = None,
    on_estimator: Callable[[], None] | None = None,
) -> TokenViewResult:
    """What `show` does with a payload that is built already: a page that keeps one need not build it again for every click.

    `on_estimator` is called when the reader chooses another KL estimator, whose name is then the component's `estimator`.
    """
    key = payload.data["meta"]["key"]
    with st.container(gap=None):
        mounted = _view(
            key=key, data=payload.data, on_choice_change=on_change or _nothing, on_estimator_change=on_estimator or _nothing
        )
        choice = chosen(mounted.choice, requested, payload)
        ends = shared(choice.scale) if shared and choice.scale in ("step", "run") else None
        _choice(key=f"{key}.choice", data=_message(key, payload.stamp, choice, ends))
    return TokenViewResult(
        choice.pinned, choice.metric or None, choice.scale, choice.others, granularity=choice.granularity, window=choice.window
    )


def _message(key: str, stamp: str, choice: Choice, ends: SharedEnds | None) -> dict[str, Any]:
    shared_ends = {"ends": asdict(ends)} if ends else {}
    return {"key": key, "stamp": stamp, **asdict(choice), "others": list(choice.others), **shared_ends}


def _nothing() -> None:
    """A trigger is only reported where a callback is named."""
