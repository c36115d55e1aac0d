"""Groups: which prompts can still teach, and how do best and worst response differ?"""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.rollouts import groups
from board.analysis.rollouts.groups import Grouped
from board.analysis.rollouts.selection import of_step, page, pages
from board.errors import FieldMissing
from board.figures.step_panels import kinds_panel, pass_panel
from board.text.counting import plural
from board.text.format_number import fmt
from board.ui.components import group_strips
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.frame import findings_watch
from board.ui.pages.groups import audits as group_audits
from board.ui.pages.groups import controls as group_controls
from board.ui.pages.groups import detail as group_detail
from board.ui.pages.groups import table as group_table
from board.ui.pages.groups.controls import GroupChoices
from board.ui.shared import discarded_members, right_from
from board.ui.shared.controls import step_curves
from board.ui.shared.messages import absent, unfilled
from board.ui.state import caches, linked, place

CURVES = "group_curves"
"""Key of the curves."""
PLOT_HEIGHT = 170
PAGE_GROUPS = 100
"""So many groups are listed at once, as rows and as strips."""
PANEL_WIDTH = 440
"""Table and strips stand side by side while each has so many pixels."""

if look := place.remembered("look"):
    place.remember(look=None)
    st.switch_page(look[0], query_params=place.link(**look[1]))
given = caches.with_step(place.view())
view = replace(given, run=given.unfiltered)
"""A group stays whole: the filter says which groups there are, not which of their responses."""
run, step = view.run, view.step
of_filter = given.run
"""The run under which results on the groups that the filter leaves are cached."""
discarded = discarded_members.of_view(view)
missing: list[str] = []
"""What the run cannot show, and what it needs."""


def over_steps(grouped: Grouped, judged: pd.DataFrame, choices: GroupChoices) -> None:
    """The share of each kind of group and pass@k, by step."""
    payload = caches.cached("groups curves", lambda: built(grouped, judged, choices), of_filter, choices.threshold)
    missing.extend(payload.missing)
    if payload.keys:
        step_curves(payload, CURVES, run.steps)


def built(grouped: Grouped, judged: pd.DataFrame, choices: GroupChoices) -> CurvesPayload:
    """What is sent of the curves that the run can fill."""
    cards, unmade = [], []
    every = caches.groups(run, run) if of_filter is not run else None
    shares_of_all = None if every is None else groups.shares(groups.judged(every, choices.threshold, 1))
    shares = groups.shares(judged)
    if np.isnan(choices.threshold):  # which groups give no gradient needs no threshold
        shares, shares_of_all = shares[["flat", "count"]], None
    passed_of_all = None if every is None else groups.pass_by_step(every, choices.threshold, [1])
    passed = groups.pass_by_step(grouped, choices.threshold, groups.usual_ks(grouped))
    with suppress(FieldMissing):
        cards.append(Card("kinds", kinds_panel(shares, shares_of_all)))
    if np.isfinite(choices.threshold):
        with suppress(FieldMissing):
            cards.append(Card("passed", pass_panel(passed, passed_of_all)))
    if len(cards) < 2 and not np.isfinite(grouped.rewards).any():
        unmade.append("What groups can teach, and pass@k, need reward")
    span = (int(run.steps[0]), int(run.steps[-1]))
    return replace(build(cards, span=span, height=PLOT_HEIGHT, columns=2), missing=tuple(unmade))


def overview(grouped: Grouped, judged: pd.DataFrame, choices: GroupChoices) -> None:
    """All groups of the step, as rows and as strips, a page of them at a time."""
    order = caches.cached(
        "group_order",
        lambda: groups.in_order(judged, step, choices.order.by, descending=choices.order.descending),
        of_filter,
        step,
        choices.threshold,
        choices.k,
        choices.order.by,
        choices.order.descending,
    )
    st.text(summary(order))
    if order.empty:
        return
    count = pages(len(order), PAGE_GROUPS)
    number = st.pagination(count, **linked.page("group_page", count)) if count > 1 else 1
    shown = order.loc[page(order.index.to_numpy(), number, PAGE_GROUPS)]
    if count > 1:
        first = (number - 1) * PAGE_GROUPS
        st.text(f"Groups {first + 1:,} to {first + len(shown):,} of {len(order):,} in this order.")
    out_by_group = [discarded.of(step, group) for group in shown["group"].tolist()]
    counts = [len(keys) for keys in out_by_group]
    panels = st.grid(2, min_column_width=PANEL_WIDTH, gap="medium")
    with panels.cell():
        group_table.draw(run, grouped, shown, step, counts, choices, key=f"groups_{run.load_id}_{step}_{number}_{hash(choices)}")
    with panels.cell():
        strips(grouped, shown, out_by_group, choices)


def summary(order: pd.DataFrame) -> str:
    """One line on the step's groups: how many, how large, how many give no gradient."""
    outside = groups.without_group(of_step(run.frame[["step", "group"]], step))
    parts = [f"Step {step:,} has {plural(len(order), 'group')}"]
    if len(order):
        least, largest = int(order["rollouts"].min()), int(order["rollouts"].max())
        parts[0] += f" of {plural(largest, 'rollout')}" if least == largest else f" of {least:,} to {largest:,} rollouts"
        if largest == 1:
            parts.append("each is alone in its group: nothing within a group can be compared")
        if of_filter is not run:
            parts.append("those with a rollout that the filter leaves, each shown whole")
        several = order[order["scored"] > 1]
        if len(several):
            flat = int(several["flat"].sum())
            parts.append(
                f"{flat:,} of {len(several):,} have equal rewards and give no gradient, greyed"
                if flat
                else "none has equal rewards"
            )
    if outside:
        parts.append(f"{plural(outside, 'rollout')} of no group")
    return " · ".join(parts)


def strips(grouped: Grouped, shown: pd.DataFrame, out_by_group: list[NDArray[np.int64]], choices: GroupChoices) -> None:
    """The same groups as dots: reward to the right, length as size; hollow the discarded members, whose keys are `out_by_group`."""
    if not shown["scored"].any():
        absent("A strip per group", "reward")
        return
    length = next((name for name in ("response_length", "response_chars") if name in run.frame.columns), None)
    axes = ["Reward to the right", *["length as size"] * bool(length)]
    hollow = ["hollow: discarded, in no number"] * any(map(len, out_by_group))
    st.text(" · ".join([", ".join(axes), "the vertical line is the mean", *hollow, "a click opens the group"]))
    made = []
    for at, row, out in zip(shown.index.tolist(), shown.to_dict("records"), out_by_group, strict=True):
        keys = np.concatenate([grouped.members(at), out])
        notes = [f"mean {fmt(row['mean'])}", f"std {fmt(row['std'])}", *["no gradient"] * bool(row["flat"])]
        made.append(
            group_strips.Strip(
                f"{row['group']:,}",
                np.concatenate([grouped.rewards[grouped.starts[at] : grouped.starts[at + 1]], discarded.numbers("reward", out)]),
                discarded.numbers(length or "", keys),
                np.arange(len(keys)) >= len(keys) - len(out),
                row["mean"],
                " · ".join([*notes, *[f"{len(out):,} discarded"] * bool(len(out))]),
                grey=row["flat"] or not row["scored"],
            )
        )
    places = [{"step": step, "group": int(number)} for number in shown["group"]]
    key = place.key_of("group_strips", places)
    group_strips.show(
        made,
        threshold=choices.threshold,
        chosen=None,
        key=key,
        height=group_table.height(len(shown)),
        on_click=place.place_clicked(key, places),
    )


def body(grouped: Grouped) -> None:
    """The opened group, or all of them."""
    choices = group_controls.draw(view.unfiltered, int(grouped.groups["scored"].max()))
    if np.isnan(choices.threshold) and np.isfinite(grouped.rewards).any():
        st.text(right_from.ASK)
    judged = caches.cached(
        "groups", lambda: groups.judged(grouped, choices.threshold, choices.k), of_filter, choices.threshold, choices.k
    )
    group = place.part("group")
    at = grouped.place(step, group) if isinstance(group, int) else None
    if at is not None:
        order = groups.in_order(judged, step, choices.order.by, descending=choices.order.descending)
        group_detail.draw(view, grouped, order, at, choices, discarded)
        return
    over_steps(grouped, judged, choices)
    aspect = group_controls.aspect()
    if aspect == group_controls.ADVANTAGES:
        group_audits.advantages(run, caches.groups(run, run), filtered=of_filter is not run)
    elif aspect == group_controls.NOISE:
        group_audits.noise(run, of_filter, grouped, step)
    else:
        overview(grouped, judged, choices)
    unfilled(missing)
    findings_watch.on_curves()


try:
    found = caches.groups(of_filter, run)
except FieldMissing as error:
    if of_filter is not run and "group" in run.frame.columns:
        st.text(str(error))
    else:
        st.text("Groups need group_id, or prompts that were sampled more than once in a step: this run has neither.")
else:
    body(found)
