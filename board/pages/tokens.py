"""Tokens: which token did it? One rollout's tokens by any metric. Choices, data, computing, drawing."""

import re

import numpy as np
import pandas as pd
import streamlit as st

from board import detail, metrics, session, structure, token_view
from board.controls import estimator_choice, extreme_choices
from board.formats.row import plural
from board.notices import absent
from board.numbers import MISSING
from board.schema import BY_TITLE
from board.segments import find_segments
from board.selection import extreme_tokens, natural_order, neighbours, of_step
from board.token_ranges import token_ranges

DEFAULT_METRIC = "kl"
DEFAULT_SCALE = "q"
"""The colour range unless the link names another: robust quantiles of the response."""
DEFAULT_GRANULARITY = "token"
"""What one colour stands for unless the link says otherwise."""

view = session.view()
run = view.run
keys = of_step(run.frame, view.step).index.to_numpy()
rollout = run.rollout(session.chosen_rollout(run, keys))
top = st.container(horizontal=True, vertical_alignment="bottom")
with top:
    estimator = estimator_choice()
arrays = metrics.token_arrays(rollout.arrays, estimator)
length = len(rollout.counts)
tokens = rollout.tokens if rollout.tokens is not None else [f"⟨{position}⟩" for position in range(length)]
segments = find_segments(rollout.tokens or [])
kept = np.flatnonzero(~rollout.pads) if view.pads else np.arange(length)


def head() -> None:
    """Where this rollout stands, and the ways to the next one."""
    with top:
        detail.head(view, rollout, neighbours(keys, rollout.key), link="responses")
    hidden = length - len(kept)
    notes = []
    if hidden:
        notes.append(f"{plural(hidden, 'pad token')} hidden")
    if not rollout.counts[kept].all():
        notes.append(f"{np.count_nonzero(~rollout.counts[kept]):,} masked: dimmed, and in no mean")
    if rollout.tokens is None:
        notes.append("the row has no response_tokens: positions stand for them")
    if "kl" in arrays:
        notes.append(f"KL {estimator} = {metrics.ESTIMATORS[estimator].formula}, d = logprob − ref_logprob")
    if notes:
        st.text(" · ".join(notes))


def pinned_token() -> int | None:
    """The position of the pinned token among all tokens; None when the link asks for one that is not shown."""
    asked = session.place("token")
    return asked if isinstance(asked, int) and asked in kept else None


def compared_tokens(pinned: int | None) -> tuple[int, ...]:
    """The tokens pinned beside that one, as indices among those shown; what the link asks for and is not shown is left out."""
    if pinned is None:
        return ()
    asked = [one for one in token_view.read_pins(session.place("compare")) if one != pinned and one in kept]
    return tuple(np.searchsorted(kept, asked).tolist())


def linked_window() -> str | None:
    """The link's tokens as "first-last" among those that are shown; None when it names none, or all."""
    asked = re.fullmatch(r"([0-9]{1,12})-([0-9]{1,12})", str(session.place("window")))
    if asked is None:
        return None
    first, last = np.searchsorted(kept, int(asked[1])), np.searchsorted(kept, int(asked[2]), side="right") - 1
    return f"{first}-{last}" if first <= last else None


def window_to_link(shown: str | None) -> str | None:
    """The same counted among all tokens, hidden ones too, as `token` is; None for everything, so that the link stays short."""
    if shown is None or shown == "all":
        return None
    first, last = map(int, shown.split("-"))
    return f"{kept[first]}-{kept[last]}"


def shared_ends(scope: str) -> token_view.SharedEnds:
    """The colour range over the tokens of the step or the run, kept while this load of the run is in use."""
    step = rollout.step if scope == "step" else None
    found = session.remember("token_ranges", lambda run: token_ranges(run, step, estimator), run, step, estimator)
    ends = {str(name): (float(lo), float(hi)) for name, lo, hi in zip(found.index, found["lo"], found["hi"], strict=True)}
    drawn, total = (int(found[name].iloc[0]) if len(found) else 0 for name in ("rollouts", "total"))
    return token_view.SharedEnds("run" if step is None else "step", ends, drawn, total, step)


def payload_of(window: token_view.Window) -> token_view.Payload:
    """What is sent of a window of the response."""
    shown = kept[window.slice]
    ids = metrics.token_ids(rollout.arrays)
    return token_view.build(
        [tokens[i] for i in shown],
        {name: values[shown] for name, values in arrays.items()},
        counts=rollout.counts[shown],
        start=window.start,
        total=len(kept),
        ids=None if ids is None else ids[shown],
        alternatives=session.likeliest_alternatives(run, rollout, shown),
        notes=structure.notes(rollout, segments, arrays, shown),
        key="token_view",
    )


def text_and_heatmap() -> None:
    """The token view: a window of the response that the reader moves."""
    if rollout.tokens is None and not length:
        absent("The token view", "response_tokens")
        return
    pinned, stretch = pinned_token(), linked_window()
    at = int(np.searchsorted(kept, pinned)) if pinned is not None else int(stretch.partition("-")[0]) if stretch else 0
    count = token_view.window(len(kept)).count
    if count > 1:
        page = st.pagination(
            count,
            key=f"window_{rollout.source}_{token_view.window(len(kept), at).index}",
            default=token_view.window(len(kept), at).index + 1,
        )
        at = ((page or 1) - 1) * token_view.WINDOW_TOKENS
    window = token_view.window(len(kept), at)
    if count > 1:
        st.text(f"Showing {window}: the response is drawn a window at a time.")
    hidden = ",".join(view.pads)
    payload = session.keep_built("tokens", lambda: payload_of(window), run, rollout.key, estimator, window.start, hidden)
    asked = token_view.Choice(
        str(session.place("metric") or DEFAULT_METRIC),
        int(np.searchsorted(kept, pinned)) if pinned is not None else None,
        scale=str(session.place("scale") or DEFAULT_SCALE),
        others=compared_tokens(pinned),
        granularity=str(session.place("granularity") or DEFAULT_GRANULARITY),
        window=stretch,
    )
    result = token_view.mount(payload, asked, shared_ends)
    session.keep(
        metric=result.metric,
        scale=result.scale,
        granularity=result.granularity,
        window=window_to_link(result.window),
        token=int(kept[result.pinned]) if result.pinned is not None else None,
        compare=token_view.write_pins(kept[list(result.others)].tolist()),
    )


def extremes() -> None:
    """The most extreme tokens of the whole response by one metric; a click pins one in the text."""
    if not arrays:
        absent("The list of extreme tokens", "a token metric")
        return
    names = list(arrays)
    asked = str(session.place("metric") or DEFAULT_METRIC)
    choices = extreme_choices(names, asked if asked in names else names[0], natural_order)
    table = extreme_tokens(tokens, arrays, choices.metric, choices.order, choices.top, rollout.counts)
    positions = table["position"].tolist()
    first = {"position": table["position"] + 1, **structure.token_columns(tokens, positions)}
    shown = pd.DataFrame(first).join(table[names])
    key = f"extremes_{rollout.source}_{hash(choices)}"
    st.dataframe(
        shown,
        key=key,
        on_select=session.row_clicked(key, [{"token": position} for position in positions]),
        selection_mode=session.ROW_OR_CELL,
        hide_index=True,
        placeholder=MISSING,
        column_order=[*first, choices.metric, *(name for name in names if name != choices.metric)],
        column_config=structure.number_columns({name: BY_TITLE[name].meaning if name in BY_TITLE else "" for name in names})
        | structure.count_columns({"position": "position of the token in the response, counted from 1"}),
    )


head()
missing = [name for name in ("logprobs", "ref_logprobs", "values", "token_rewards") if name not in rollout.arrays]
text_and_heatmap()
if missing:
    st.text(f"This rollout has no {', '.join(missing)}: the metrics that need them are not drawn.")
structure.alternatives(rollout, pinned_token())
structure.by_segment(rollout, segments, arrays, estimator)
st.subheader("Most extreme tokens")
structure.kl_concentration(rollout, arrays, estimator)
extremes()
structure.against_reference(view, rollout)
