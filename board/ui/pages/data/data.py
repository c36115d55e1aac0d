"""Data: are the numbers what the trainer meant to write? The checks of the run."""

import time
from typing import Final, cast

import streamlit as st

from board.findings.checks import messages
from board.findings.checks.all_checks import run_checks
from board.findings.checks.contract import CheckReport, ReportedFault
from board.text.counting import plural
from board.ui.shared.messages import COLORS, in_line
from board.ui.state import caches, place

TICK_SECONDS: Final = 0.2


run = place.view().unfiltered
"""Checks are of all rollouts: what is wrong with the others is wrong, too."""


def run_of_checks() -> CheckReport:
    """What the checks found in the run, made when the first reader opens this page; of a large run that grows, when a reader asks again."""
    latest = caches.latest("checked", f"{run.address} {run.splits} {caches.stage(run)}")
    notice = in_line("examined")
    slot = st.empty()
    ticks = [0.0]

    def show(share: float) -> None:
        if time.monotonic() - ticks[0] >= TICK_SECONDS:
            ticks[0] = time.monotonic()
            slot.progress(share, text=f"Examining {plural(len(run.frame), 'rollout')}: {share:.0%}")

    found, current = latest.get(run.load_id, lambda: run_checks(run, show))
    with notice:
        if not current and st.button("Examine again", key="examine_again", on_click=place.moved):
            found, current = latest.get(run.load_id, lambda: run_checks(run, show), again=True)
        if not current:
            st.text(f"The run has changed since: it has {plural(len(run.frame), 'rollout')} now.")
    slot.empty()
    return cast(CheckReport, found)


def finding(found: ReportedFault, at: int) -> None:
    """One finding: how bad, what and where, with a link to the first rollout that shows it."""
    check = found.check
    with st.container(border=True, key=f"finding_{at}_{check.name}"):
        with in_line():
            st.badge(check.severity, color=COLORS[check.severity])
            # of this module's own table, never of the run: Markdown may read it
            st.markdown(f"**{check.title}**", width="content")
            first = found.where[0] if found.where else None
            if first is not None and first.step is not None:
                there = place.link(step=first.step, rollout=first.source)
                st.page_link("board/ui/pages/responses/responses.py", label="Open the first rollout", query_params=there)
        where = [f"Where: {messages.places(found)}"] if found.where else []
        st.text("\n".join([messages.amount(found), *where, f"Why it matters: {check.why}", f"What to do: {check.remedy}"]))


def ran(checked: CheckReport) -> None:
    """The checks that found nothing, and those that could not tell, each a line that unfolds."""
    if checked.passed:
        with st.expander(
            f"{plural(len(checked.passed), 'check')} passed, in {plural(checked.rollouts, 'rollout')}", key="passed"
        ):
            st.text("\n".join(check.title for check in checked.passed))
    if checked.unable:
        with st.expander(f"{plural(len(checked.unable), 'check')} could not tell", key="unable"):
            st.text("\n".join(f"{check.title}: {reason}" for check, reason in checked.unable))


if run is not place.view().run:
    st.text("Checks look at all rollouts, whatever the filter leaves.")
checked = run_of_checks()
if checked.findings:
    st.text(messages.summary(checked))
for at, one in enumerate(checked.findings):
    finding(one, at)
ran(checked)
