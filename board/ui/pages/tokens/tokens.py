"""Tokens: which token did it? One rollout's tokens by any metric."""

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.rollouts.rollout_facts import particulars
from board.analysis.rollouts.selection import extreme_tokens, neighbours, of_step, preferred
from board.analysis.texts.phrase_forms import expression
from board.schema import BY_TITLE, extreme
from board.text.counting import plural
from board.text.token_decoding import codec_of, decoded
from board.ui.components import folded, table
from board.ui.components.table import TableColumn
from board.ui.shared import controls, rollout_breakdown, rollout_detail, token_panel, token_tour
from board.ui.shared.controls import extreme_choices
from board.ui.shared.messages import absent
from board.ui.state import caches, place

view = caches.with_step(place.view())
run = view.run
keys = of_step(run.frame, view.step).index.to_numpy()
rollout = run.rollout(place.chosen_rollout(run, keys))
by_token = bool(len(rollout.counts))
top = st.container(horizontal=True, vertical_alignment="bottom")
with top:
    estimator = controls.estimator()
pane = token_panel.pane(view, rollout, estimator)
tokens, arrays, shown = pane.tokens, pane.arrays, pane.shown


def notes() -> None:
    """What of this rollout is not shown or not counted."""
    hidden = len(tokens) - len(shown)
    said = []
    if hidden:
        said.append(f"{plural(hidden, 'pad token')} hidden")
    if not rollout.counts[shown].all():
        said.append(f"{np.count_nonzero(~rollout.counts[shown]):,} masked: dimmed, and in no mean")
    if rollout.tokens is None and tokens:
        said.append("the row has no response_tokens: positions stand for them")
    if said:
        st.text(" · ".join(said))


def extremes() -> None:
    """The most extreme tokens of the whole response by one metric; a click pins one in the text."""
    if not arrays:
        absent("The list of extreme tokens", "a token metric", of="rollout")
        return
    names = list(arrays)
    sides = "log_ratio" in arrays
    choices = extreme_choices(names, token_panel.shown_metric(pane), extreme, sides=sides)
    listed = extreme_tokens(tokens, arrays, choices.metric, choices.order, choices.top, rollout.counts, choices.side)
    positions = listed["position"].tolist()
    first = {"position": listed["position"] + 1, **rollout_breakdown.token_columns(tokens, positions)}
    if sides:
        first["policy"] = preferred(listed["log_ratio"].to_numpy())
    leading = [name for name in dict.fromkeys([choices.metric, "log_ratio", "kl"]) if name in arrays]
    others = (name for name in names if name not in leading)
    key = f"extremes_{rollout.source}_{hash(choices)}"
    meanings = {name: BY_TITLE[name].meaning if name in BY_TITLE else "" for name in names}
    table.show(
        pd.DataFrame(first).join(listed[[*leading, *others]]),
        rollout_breakdown.number_columns(meanings)
        | rollout_breakdown.number_columns({"position": "position of the token in the response, counted from 1"}, "%,d")
        | {"policy": TableColumn(help="by the sign of the log-ratio: likelier or rarer than under the reference")},
        name="most extreme tokens",
        key=key,
        on_click=place.row_clicked(
            key, [{"step": rollout.step, "rollout": rollout.source, "token": position} for position in positions]
        ),
        height=rollout_breakdown.MOST_HEIGHT,
    )


def over_training() -> None:
    """The way from the pinned token to its probability over training, on page Words."""
    pinned = token_panel.pinned_token(pane)
    if pinned is None or rollout.tokens is None or "logprobs" not in rollout.arrays:
        return
    text = decoded(codec_of(rollout.tokens), rollout.tokens[pinned])
    there = place.link(phrase=expression(text, bounded=False))
    st.page_link("board/ui/pages/words/words.py", label="The token's probability over training", query_params=there)


def parts() -> None:
    """What there is below the text: the pinned token, the segments, the most extreme tokens."""
    missing = [name for name in ("logprobs", "ref_logprobs", "values", "token_rewards") if name not in rollout.arrays]
    if missing:
        st.text(f"This rollout has no {', '.join(missing)}: the metrics that need them are not drawn.")
    over_training()
    rollout_breakdown.alternatives(rollout, token_panel.pinned_token(pane))
    rollout_breakdown.by_segment(rollout, pane.segments, arrays, estimator)
    st.subheader("Most extreme tokens")
    rollout_breakdown.kl_concentration(rollout, arrays, estimator)
    extremes()


if tour := token_tour.position_in_list():
    st.text(tour)
folded.show(particulars(run, rollout, view.hiding), key="particulars")
notes()
token_panel.draw(pane)
with top:  # after the view: the links carry what the reader has just pinned in it
    rollout_detail.head(view, rollout, neighbours(keys, rollout.key), link="responses")
if by_token:
    parts()
else:
    rollout_detail.response(view, rollout)
rollout_breakdown.against_reference(view, rollout)
token_tour.listen(opening=False)
