"""Findings: what went wrong, and where is the evidence? Choices, data, computing, drawing."""

import streamlit as st

from board.figures.finding_panels import finding_panels
from board.findings.contract import Finding, FindingsReport
from board.text.counting import plural
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.frame import findings_watch
from board.ui.pages.findings import cards as finding_cards
from board.ui.pages.findings import evidence as finding_evidence
from board.ui.pages.findings import settings_panel as finding_settings_panel
from board.ui.shared.controls import step_curves
from board.ui.shared.messages import in_line, notice
from board.ui.state import caches, place

CURVES = "finding_curves"
PLOT_HEIGHT = 130
MOST_CURVES = 6

view = place.view()
run = view.run
whole = view.whole_unfiltered
"""Findings are of all rollouts, whatever the filter leaves."""


def page() -> None:
    """What was found, or one sentence on why nothing can be said."""
    if whole.reading is not None:
        why = "once the whole run is read" if whole.reads_on else "in no sample: its steps and groups are cut"
        st.text(f"Findings are looked for {why}.")
        return
    known = findings_watch.state()
    if known.trouble:
        notice(f"The last look found nothing: {known.trouble}", "warning")
    if wrong := findings_watch.problem():
        notice(wrong, "warning")
    findings_watch.progress()
    if known.report is None:
        if not known.waits and known.share is None:
            _ask("The run was not looked through yet.", "Look for findings")
        return
    if not known.current and not findings_watch.by_itself() and not known.waits:
        _ask("The run has changed since it was looked through.", "Look again")
    report(known.report)


def _ask(words: str, label: str) -> None:
    with in_line():
        st.text(words, width="content")
        st.button(label, key="look_now", on_click=findings_watch.look_now)


def report(found: FindingsReport) -> None:
    """The cards with the evidence next to them; then the kinds that found nothing, and those that could not be checked."""
    shown = findings_watch.findings()
    if run is not whole and shown:
        st.text("Findings are of all rollouts of the run, whatever filter and split leave.")
    chosen = _chosen(shown) if shown else None
    if chosen:
        with st.container(key="finding_panes"):
            left, right = st.container(), st.container()
        with left:
            finding_cards.draw(shown, chosen, lambda one: finding_settings_panel.dismiss_controls(one, run.address))
        with right:
            detail(chosen)
    else:
        else_ = " else" if findings_watch.dismissed() else ""
        st.text(
            f"Nothing{else_} found: {plural(len(found.looked_for), 'kind')} of findings were looked for, {len(found.unable)} could not tell."
        )
    finding_settings_panel.dismissed_list(findings_watch.dismissed(), run.address)
    looked_for(found)
    finding_settings_panel.thresholds(run.address, chosen.kind if chosen else None)


def _chosen(shown: tuple[Finding, ...]) -> Finding:
    """The finding that the link names, else the first; one that moved to another step while the run grew is found by its kind."""
    name = str(place.part("finding") or "")
    same = [one for one in shown if one.id == name] or [one for one in shown if one.kind == name.partition("@")[0]]
    return (same or list(shown))[0]


def detail(finding: Finding) -> None:
    """The curves it is seen in, and what shows it."""
    curves_of(finding)
    evidence = finding_evidence.of(finding, run)
    finding_evidence.draw(evidence, view)
    finding_evidence.opened(evidence, view)


def curves_of(finding: Finding) -> None:
    """The curves that it is seen in, of all rollouts that are shown."""
    payload = caches.cached("finding", lambda: built(finding), run, finding.all_metrics)
    if payload.keys:
        step_curves(payload, CURVES, run.steps)
        findings_watch.on_curves()


def built(finding: Finding) -> CurvesPayload:
    """What is sent of them."""
    panels = finding_panels(run, finding.all_metrics, MOST_CURVES)
    cards = [Card(" ".join(one.names), one.panel, shows=one.names) for one in panels]
    return build(cards, span=(int(run.steps[0]), int(run.steps[-1])), height=PLOT_HEIGHT, columns=min(2, len(cards)))


def looked_for(found: FindingsReport) -> None:
    """What was looked for and not found, and what could not tell and why, each a line that unfolds."""
    titled = {kind: finding_cards.title_of(kind) for kind in (*found.looked_for, *(kind for kind, _ in found.unable))}
    there = {one.kind for finding in found.findings for one in (finding, *finding.signs)}
    clean = [kind for kind in found.looked_for if kind not in there]
    if clean:
        with st.expander(f"{plural(len(clean), 'kind')} looked for and not found", key="finding_clean"):
            st.text("\n".join(titled[kind] for kind in clean))
    if found.unable:
        with st.expander(f"{plural(len(found.unable), 'kind')} could not tell", key="finding_unable"):
            st.text("\n".join(f"{titled[kind]}: {reason}" for kind, reason in found.unable))


page()
