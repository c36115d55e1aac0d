"""Findings as cards in rank order: severity, title, steps, effect.

The chosen one also shows what it rests on and may mean. What a finding says may quote the run: it is shown as text, letter for letter.
Titles of kinds are our own words.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from board.findings import messages
from board.findings.all_kinds import KINDS
from board.findings.contract import Finding
from board.serving.page_addresses import TABS
from board.text.counting import plural
from board.ui.shared.messages import COLORS, in_line
from board.ui.state import filter_chips, place

_TITLES: Final = {kind.name: kind.title for kind in KINDS}
_PAGES: Final = {Path(tab.file).stem: tab for tab in TABS}


def draw(findings: Sequence[Finding], chosen: Finding, more: Callable[[Finding], None]) -> None:
    """All cards; `more` draws what else the chosen one's holds."""
    for rank, finding in enumerate(findings, 1):
        here = finding.id == chosen.id
        with st.container(border=True, key=f"finding_card_{'chosen' if here else 'other'}_{rank}"):
            _head(finding, rank)
            st.text(f"{_upper(finding.effect)}.")
            if here:
                _details(finding)
                more(finding)


def title(finding: Finding) -> str:
    """Its kind's title: our own words, of which a label may be made."""
    return title_of(finding.kind)


def title_of(kind: str) -> str:
    """A kind's title by its name."""
    return _TITLES.get(kind, kind)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _head(finding: Finding, rank: int) -> None:
    with in_line(f"finding_head_{rank}"):
        st.badge(finding.severity, color=COLORS[finding.severity])
        st.button(
            title(finding),
            key=f"finding_{rank}",
            type="tertiary",
            on_click=place.go,
            kwargs={"finding": finding.id, "step": finding.first_step},
        )
        signs = f" · {plural(len(finding.signs), 'sign')}" if finding.signs else ""
        st.text(f"{finding.steps}{signs}", width="content")
    if finding.title != title(finding):
        st.text(finding.title)


def _details(finding: Finding) -> None:
    if finding.signs:
        with st.expander(f"{plural(len(finding.signs), 'sign')} of the same cause", key="finding_signs"):
            st.text("\n\n".join(f"{sign.title} ({sign.severity}, {sign.steps}): {sign.effect}." for sign in finding.signs))
    st.text(f"Threshold: {finding.threshold} ({finding.source})")
    st.text(f"May mean: {finding.means}")
    st.text(f"Could also be: {finding.looks_like}")
    _next(finding)
    with st.container(horizontal=True, gap="small", key="finding_filters"):
        if condition := messages.condition_of_rollouts(finding):
            filter_chips.offer("Filter by its rollouts", condition)
        filter_chips.offer("Filter by its steps", messages.condition_of_steps(finding))


def _next(finding: Finding) -> None:
    """Where to look next: each a link to the page, and what for."""
    there = place.link()
    for at, (page, what) in enumerate(finding.next):
        with in_line(f"finding_next_{at}"):
            if page in _PAGES:
                st.page_link(_PAGES[page].file, label=_PAGES[page].title, query_params=there, width="content")
            st.text(what, width="stretch")
