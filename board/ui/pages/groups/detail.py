"""One group opened: its prompt, its members, its best against its worst, where they part."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.rollouts import pair_differences as pairs
from board.analysis.rollouts.groups import Grouped
from board.analysis.rollouts.selection import page, pages
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run
from board.schema import DISCARDED
from board.sql.identifiers import column
from board.text.counting import plural
from board.text.display import preview, shorten
from board.text.format_number import fmt
from board.text.system_prompts import without_system_prompt
from board.ui.components import table, verbatim
from board.ui.pages.groups import tree as group_tree
from board.ui.pages.groups.controls import GroupChoices
from board.ui.shared import discarded_members, rollout_pair
from board.ui.shared.controls import hiding_choice
from board.ui.shared.discarded_members import DiscardedMembers
from board.ui.shared.messages import absent, in_line
from board.ui.shared.rollout_pair import Called
from board.ui.state import filter_chips, linked, place
from board.ui.state.place import View

PROMPT_HEIGHT: Final = 200
TEXT_HEIGHT: Final = 320
SHOWN_CHARS: Final = 20_000
"""So much of a text is shown; the rest is on the Responses page."""
CARDS: Final = 12
"""Members whose texts are shown at once."""
CARD_WIDTH: Final = 380
MEMBERS_HEIGHT: Final = 360
"""Of the table of members in pixels; a longer one scrolls."""
LISTED: Final = 1_000
"""Members in the table at once."""

PAIR, MEMBERS, TREE = "Best against worst", "All members", "Where they part"
_ASPECTS: Final = (PAIR, MEMBERS, TREE)


def draw(view: View, grouped: Grouped, order: pd.DataFrame, at: int, choices: GroupChoices, discarded: DiscardedMembers) -> None:
    """Draw the group in row `at` of `grouped`; `order` are the step's groups in the reader's order, which the ways on follow."""
    group = order.loc[at].to_dict()
    keys, out = grouped.by_reward(at), discarded.of(int(group["step"]), int(group["group"]))
    _head(order, at, group, choices, _prompt_key(view, int(keys[0])))
    if len(out):
        st.text(f"{plural(len(out), 'more response')} of this group the trainer discarded: listed last, and in no number.")
    _prompt(view, keys)
    if len(keys) == 1:
        st.text(
            "The group has one response: there is nothing to compare it with" + (", but what was discarded." if len(out) else ".")
        )
    aspects = _ASPECTS if len(keys) > 1 else (PAIR, MEMBERS) if len(out) else (MEMBERS,)
    aspect = st.segmented_control("Group", **linked.choice("aspect", aspects), required=True, label_visibility="collapsed")
    if aspect == PAIR:
        _pair(view, keys, out, discarded)
    elif aspect == TREE:
        group_tree.draw(view.run, keys, _rewards(view, keys))
    else:
        _members(view, keys, out, discarded)


def _head(order: pd.DataFrame, at: int, group: Mapping[Hashable, Any], choices: GroupChoices, prompt_key: int | None) -> None:
    """What the group is, and the ways on: to the groups before and after it, and back to all."""
    numbers = order["group"].tolist()
    here = order.index.tolist().index(at)
    with in_line("group_links"):
        st.button(f"All groups of step {group['step']:,}", key="all_groups", on_click=place.go, kwargs={"group": None})
        _move("◀ Group", numbers[here - 1] if here else None, "group_before")
        _move("Group ▶", numbers[here + 1] if here + 1 < len(numbers) else None, "group_after")
        hiding_choice()
        filter_chips.offer("Filter: this group", f"{column('step')} = {group['step']} AND {column('group')} = {group['group']}")
        if prompt_key is not None:
            filter_chips.offer("Filter: this prompt", f"{column('prompt_key')} = {prompt_key}")
        st.text(said(group, choices))


def said(group: Mapping[Hashable, Any], choices: GroupChoices) -> str:
    """One line on the group."""
    parts = [f"group {group['group']:,} · {plural(group['rollouts'], 'rollout')}"]
    if group["scored"]:
        parts += [f"mean {fmt(group['mean'])}", f"std {fmt(group['std'])}", f"best {fmt(group['best'])}"]
        parts.append(f"best − mean {fmt(group['gap'])}")
        if not np.isnan(choices.threshold):
            parts.append(f"pass@{choices.k} {fmt(group['pass_at_k'])}")
            parts.append(f"{group['kind']} ({group['right']:,} of {group['scored']:,} at {fmt(choices.threshold)} or more)")
    else:
        parts.append("no reward")
    if group["flat"]:
        parts.append("equal rewards: no gradient")
    return " · ".join(parts)


def _prompt_key(view: View, key: int) -> int | None:
    """What tells its prompt from others in the filter; None where it has none."""
    found = int(view.run.prompt_keys[view.run.frame.index.get_loc(key)])
    return found if found != NO_PROMPT else None


def _move(label: str, group: int | None, key: str) -> None:
    st.button(label, key=key, disabled=group is None, on_click=place.go, kwargs={"group": group})


def _prompt(view: View, keys: NDArray[np.int64]) -> None:
    """The prompt they share, once, and what was expected."""
    rollout = view.run.rollout(int(keys[0]))
    if rollout["prompt"] is None:
        absent("The prompt", "prompt", of="rollout")
        return
    prompt, cut = without_system_prompt(rollout["prompt"], view.hiding)
    caption = "Prompt" + (" · system prompt hidden" if cut else "")
    verbatim.show(shorten(prompt, SHOWN_CHARS), key="group_prompt", caption=caption, height=PROMPT_HEIGHT)
    if rollout["ground_truth"] is not None:
        verbatim.show(
            shorten(rollout["ground_truth"], SHOWN_CHARS), key="group_truth", caption="Ground truth", height=PROMPT_HEIGHT
        )


def _pair(view: View, keys: NDArray[np.int64], out: NDArray[np.int64], discarded: DiscardedMembers) -> None:
    """Two of the members against each other: the worst and the best unless the link, or the reader, names others.

    `out` are the keys of the discarded members, which can be chosen, too.
    """
    rewards = _rewards(view, keys)
    scored = keys[np.isfinite(rewards)]
    worst, best = (int(scored[-1]), int(scored[0])) if len(scored) > 1 else (int(keys[-1]), int((*out, *keys)[0]))
    every = np.concatenate([keys, out])
    members = dict(zip(discarded.run.sources(every), every.tolist(), strict=True))
    labels = dict(zip(members, _places(rewards, discarded.numbers("reward", out)), strict=True))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = members[_member("Compare", "first", labels, every, worst)]
        second = members[_member("with", "second", labels, every, best)]
    names_out = {key: f"no. {len(keys) + at + 1:,}, discarded" for at, key in enumerate(out.tolist())}
    names = {key: f"no. {at + 1:,}" for at, key in enumerate(keys.tolist())}
    if len(scored) > 1:
        names |= {worst: "the worst", best: "the best"}
    elif len(keys) > 1:
        st.text("Fewer than two of these responses have a reward: none is the best or the worst.")
    with_them = replace(view, run=discarded.run)
    sides = [
        Called(with_them, key, names_out[key]) if key in names_out else Called(view, key, names[key]) for key in (first, second)
    ]
    rollout_pair.draw(*sides)


def _member(label: str, side: Literal["first", "second"], labels: Mapping[str, str], keys: NDArray[np.int64], usual: int) -> str:
    """Draw the choice of one of the two: the member that the link names, else the usual one, which the link need not name."""
    linked_source, sources = str(place.part(side)), list(labels)
    key = f"choose_{side}"
    place.set_widgets(**{key: linked_source if linked_source in labels else sources[keys.tolist().index(usual)]})
    return st.selectbox(
        label,
        sources,
        key=key,
        format_func=lambda source: labels.get(source, ""),
        on_change=lambda: place.go(**{side: place.widget_text(key)}),
        width=260,
    )


def _places(rewards: NDArray[np.float64], of_discarded: NDArray[np.float64]) -> list[str]:
    """What the members are called, in their order by reward: "no. 3, reward 0.5"; behind them what was discarded, which says so."""
    marks = [""] * len(rewards) + [", discarded"] * len(of_discarded)
    each = enumerate(zip([*rewards.tolist(), *of_discarded.tolist()], marks, strict=True))
    return [f"no. {at + 1:,}, reward {fmt(reward)}{mark}" for at, (reward, mark) in each]


def _rewards(view: View, keys: NDArray[np.int64]) -> NDArray[np.float64]:
    if "reward" not in view.run.frame.columns:
        return np.full(len(keys), np.nan)
    return view.run.frame["reward"].loc[pd.Index(keys)].to_numpy(np.float64, na_value=np.nan)


def _members(view: View, keys: NDArray[np.int64], out: NDArray[np.int64], discarded: DiscardedMembers) -> None:
    """The members as a table, the best first, then `out`, the discarded ones; and the texts of some, side by side or stacked."""
    listed, listed_out = keys[:LISTED], out[:LISTED]
    shown = np.concatenate([listed, listed_out])
    frame = pairs.numbers(discarded.run, shown.tolist())
    frame.insert(0, "no.", np.arange(len(shown)) + 1)
    if len(listed_out):
        frame.insert(1, "discarded", [""] * len(listed) + ["discarded"] * len(listed_out))
    name = "response" if "response" in view.run.text_columns else None
    if name:
        frame["response"] = preview(view.run.texts(name, shown)).to_pandas().to_numpy()
    if len(listed) < len(keys):
        st.text(f"The best {len(listed):,} of {len(keys):,} are listed.")
    key = f"members_{view.run.load_id}_{shown[0]}"
    chosen = place.linked_rollout(view.run)
    table.show(
        frame,
        {},
        name="members",
        key=key,
        on_click=_member_clicked(key, discarded.run, listed, listed_out),
        chosen=next((at for at, one in enumerate(listed.tolist()) if one == chosen), None),
        height=MEMBERS_HEIGHT,
    )
    if chosen is not None and chosen in keys.tolist():
        _links(view, chosen)
    _texts(view, np.concatenate([keys, out]), discarded)


@place.callback
def _member_clicked(key: str, run: Run, listed: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """What a click on a row does: it chooses the member, or opens the discarded one where all that are so can be looked at."""
    sources = run.sources(listed)
    row = place.clicked_row(key)
    if row is not None and row < len(listed):
        place.go(rollout=sources[row])
    elif row is not None and row < len(listed) + len(out):
        discarded_members.open_on_responses(run, int(out[row - len(listed)]))


def _links(view: View, key: int) -> None:
    """The ways to the chosen member on other pages."""
    rollout = view.run.rollout(key)
    where = place.link(step=rollout.step, rollout=rollout.source)
    with in_line():
        st.text(rollout.source)
        if len(rollout.counts):
            st.page_link("board/ui/pages/tokens/tokens.py", label="Open its tokens", query_params=where)
        st.page_link("board/ui/pages/responses/responses.py", label="Open its texts", query_params=where)


def _texts(view: View, keys: NDArray[np.int64], discarded: DiscardedMembers) -> None:
    """The responses, letter for letter, a few at a time."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="member_choices"):
        side = st.segmented_control(
            "Responses", **linked.choice("laid", ["side by side", "stacked"], "side by side"), required=True
        )
        count = pages(len(keys), CARDS)
        number = st.pagination(count, **linked.page("members_page", count)) if count > 1 else 1
    shown = page(keys, number, CARDS)
    frame = pairs.numbers(discarded.run, shown.tolist())
    panels = st.grid(3, min_column_width=CARD_WIDTH, gap="medium") if side == "side by side" else None
    for at, key in enumerate(shown.tolist()):
        with panels.cell() if panels is not None else st.container():
            numbers = [f"{name} {_written(value)}" for name, value in frame.loc[key].items() if pd.notna(value) and value != ""]
            mark = ["discarded"] * (discarded.run.split_of(key) == DISCARDED)
            st.text(" · ".join([f"no. {(number - 1) * CARDS + at + 1:,}", *mark, *numbers]))
            text = rollout_pair.text_of(view.run.rollout(key))
            verbatim.show(shorten(text, SHOWN_CHARS), key=f"member_{at}", empty="(empty response)", height=TEXT_HEIGHT)


def _written(value: object) -> str:
    return fmt(float(value)) if isinstance(value, (int, float)) else str(value)
