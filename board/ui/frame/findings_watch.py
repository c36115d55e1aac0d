"""The findings of the run on the screen, and the light in the top line that counts them."""

import os
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
import streamlit as st

from board.analysis.steps import newest_step
from board.analysis.steps.highlights import Highlight, HighlightKind
from board.analysis.steps.metric_names import alike
from board.errors import BoardError
from board.findings.background_scan import ScanOrder, ScanState
from board.findings.checks.contract import SEVERITIES, Severity
from board.findings.contract import Finding
from board.findings.ranking import PutAside, parted
from board.runs.run import Run
from board.serving.page_addresses import FINDINGS
from board.settings import finding_settings
from board.settings.finding_settings import FindingSettings
from board.text.counting import plural
from board.text.terminal import on_one_line
from board.ui.components import curves, page_links
from board.ui.components.curves import CurveMark
from board.ui.frame.reading_line import OpenedAs
from board.ui.state import caches, place

POLL_SECONDS: Final = 2.0
"""So often the light looks whether there is something new, and says that the run is still on a screen."""

PROGRESS_SECONDS: Final = 1.0

_HELP: Final = (
    "What went wrong in this run, with the rollouts that show it. Looked for in the background, and again as the run grows."
)


def watch(run: Run, opened: OpenedAs) -> None:
    """This run is the one on the screen from now on; while it is being read nothing is looked for."""
    tokenizer, mapping = (os.environ.get(f"RL_BOARD_{name}", "") for name in ("TOKENIZER", "MAPPING"))
    place.remember(findings_run=run.address)
    settings_changed()
    order = ScanOrder(opened.location, opened.root, opened.pads, tokenizer, mapping, opened.family, settings().thresholds)
    place.remember(findings_order=None if run.reading else (run.address, order, run.fingerprint))
    place.remember(findings_state=_now())


def newest(run: Run) -> list[Highlight]:
    """The mark of a newest step that is incomplete; none under a filter, which hides whether rollouts are missing."""
    if "reward" not in run.frame.columns or "filter" in run.selection:
        return []
    stats = caches.step_stats(run, "reward")
    lacking = newest_step.lacking(stats.index.to_numpy(np.int64), (stats["count"] + stats["missing"]).to_numpy(np.int64))
    return [Highlight(lacking[0], f"{lacking[1]:,} of {lacking[2]:,} rollouts so far at step {lacking[0]}")] if lacking else []


def counted(address: str) -> int | None:
    """How many findings the run at an address has that are more than notes; None if it was never scanned."""
    report = caches.findings_watcher().known(address)
    return None if report is None else sum(one.severity != "note" for one in report.findings)


def _now(*, requested: bool = False) -> ScanState:
    """What is known now. A run is watched as long as somebody wants to know."""
    watched: tuple[str, ScanOrder, Hashable] | None = place.remembered("findings_order")
    return caches.findings_watcher().see(*watched, requested=requested) if watched else ScanState()


def state() -> ScanState:
    """What was known when this drawing of the page began: all of the page says the same."""
    found: ScanState = place.remembered("findings_state") or ScanState()
    return found


def by_itself() -> bool:
    """Whether runs are scanned without a request."""
    return caches.findings_watcher().by_itself


def look_now() -> None:
    """Request a scan, for the reader who presses the button."""
    _now(requested=True)


def findings() -> tuple[Finding, ...]:
    """Those to be shown on every page, in rank order."""
    return _parted(state())[0]


def dismissed() -> tuple[PutAside, ...]:
    """Those that the reader muted or understood."""
    return _parted(state())[1]


def _parted(known: ScanState) -> tuple[tuple[Finding, ...], tuple[PutAside, ...]]:
    return parted(known.report.findings if known.report else (), settings().muted, settings().understood)


def settings() -> FindingSettings:
    """What the reader made of the findings of this run."""
    stored: FindingSettings = place.remembered("findings_settings") or FindingSettings()
    return stored


def settings_changed() -> None:
    """Read them again; a file that cannot be read counts as none, and the page Findings says so."""
    try:
        place.remember(findings_settings=finding_settings.read(str(place.remembered("findings_run"))), findings_damage=None)
    except BoardError as error:
        place.remember(findings_settings=None, findings_damage=str(error))


def problem() -> str:
    """What is wrong with the settings, or with the last change to them; empty where nothing is."""
    return str(place.remembered("findings_problem") or place.remembered("findings_damage") or "")


def highlights() -> list[Highlight]:
    """Where findings begin, in rank order, for the strip of steps; notes are as quiet as what is only worth a look."""
    kinds: dict[Severity, HighlightKind] = {"error": "error", "warning": "finding", "note": "note"}
    return [Highlight(one.first_step, _mark_title(one), kinds[one.severity]) for one in findings()]


def curve_marks() -> list[CurveMark]:
    """Where findings begin, for the curves of what they are about; and steps of other rollouts than they should be, for all curves."""
    unlike = [(step, found.title) for one in findings() for found in (one, *one.signs) for step in found.at_steps]
    hollow = {step: f"Step {step:,}: {on_one_line(title)}" for step, title in sorted(unlike)}
    hollow |= {one.step: one.text for one in newest(place.view().run)}
    return [CurveMark(step, text, "unlike", ()) for step, text in hollow.items()] + [
        CurveMark(
            one.first_step,
            _mark_title(one),
            one.severity,
            tuple(sorted({same for name in one.all_metrics for same in alike(name)})),
        )
        for one in findings()
        if one.all_metrics
    ]


def on_curves(key: str = "curves_choice") -> None:
    """Show the chosen step, the zoom and where findings begin on the page's curves."""
    curves.choose(place.view().step, zoom=place.step_range("zoom"), marks=curve_marks(), key=key)


def _mark_title(finding: Finding) -> str:
    return f"Finding from step {finding.first_step:,}: {on_one_line(finding.title)}"


def light() -> None:
    """How many findings there are, as a link to them; a new one lights up by itself. Empty while the run is read."""
    with st.container(key="findings_light"):
        if place.remembered("findings_order"):
            st.fragment(_light, run_every=POLL_SECONDS)([one.id for one in findings()])


def progress() -> None:
    """How far a look is, while one is under way or to come; when it has ended the page is drawn anew."""
    known = state()
    if known.share is not None or known.waits:
        st.fragment(_progress, run_every=PROGRESS_SECONDS)(known)


def _light(drawn: Sequence[str]) -> None:
    now = _now()
    shown, _ = _parted(now)
    if [one.id for one in shown] != drawn:
        place.draw_anew()
    words, kind = _words(now, shown)
    page_links.show([page_links.PageLink(words, FINDINGS.path, kind)], key="findings_light_link")


def _progress(drawn: ScanState) -> None:
    now = _now()
    if now.report is not drawn.report or now.trouble != drawn.trouble or now.current != drawn.current:
        place.draw_anew()
    if now.share is None:
        st.text("Waits to be looked through.")
        return
    left = f" · {now.seconds_left:.0f} s left" if now.seconds_left == now.seconds_left else ""
    st.progress(now.share, text=f"Looking through the run in the background: {now.share:.0%}{left}")


def _words(known: ScanState, shown: Sequence[Finding]) -> tuple[str, str]:
    """What the light says, and its kind: a severity, or `none`."""
    if known.report is None:
        return "Findings: looking" if known.share is not None else "Findings", "none"
    if not shown:
        return "No findings", "none"
    severities = [one.severity for one in shown]
    errors = severities.count("error")
    error_count = f", {plural(errors, 'error')}" if errors else ""
    worst = min(severities, key=SEVERITIES.index)
    return plural(len(shown), "finding") + error_count, "none" if worst == "note" else worst
