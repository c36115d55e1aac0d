"""Controls to mute kinds of findings, mark one as understood, bring them back, and set thresholds.

Saved in the reader's settings, never in the run.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from board.errors import BoardError
from board.findings.all_kinds import KINDS
from board.findings.contract import Finding, Kind, Threshold
from board.findings.ranking import PutAside
from board.settings import finding_settings
from board.text.counting import plural
from board.text.format_number import exact
from board.ui.frame import findings_watch
from board.ui.pages.findings import cards as finding_cards
from board.ui.shared.messages import COLORS, in_line
from board.ui.state import place

_REASON: str = "finding_reason"


def dismiss_controls(finding: Finding, run: str) -> None:
    """In the chosen finding's card: mute its kind in this run, or mark it as understood, with a reason."""
    with st.popover("Dismiss"):
        st.text_input(
            "Why",
            key=_REASON,
            placeholder="so that others, and you later, know",
            max_chars=finding_settings.LONGEST_REASON,
            on_change=place.moved,
        )
        with st.container(horizontal=True, gap="small"):
            st.button(
                "It is understood", key="finding_understood", on_click=_dismiss, args=(run, finding, finding_settings.understand)
            )
            st.button(
                "Mute findings of this type in this run",
                key="finding_mute",
                on_click=_dismiss,
                args=(run, finding, finding_settings.mute),
            )


def _dismiss(run: str, finding: Finding, setter: Callable[[str, str, str | None], object]) -> None:
    name = finding.id if setter is finding_settings.understand else finding.kind
    _save(lambda: setter(run, name, place.widget_text(_REASON)))
    place.set_widgets(**{_REASON: ""})
    place.go(finding=None)


def _save(change: Callable[[], object]) -> None:
    """Make a change to the settings; an error is shown on the page."""
    try:
        change()
    except BoardError as error:
        place.remember(findings_problem=str(error))
    else:
        place.remember(findings_problem=None)
    findings_watch.settings_changed()


def dismissed_list(dismissed: Sequence[PutAside], run: str) -> None:
    """What is muted or understood, with its reason, folded; each can be brought back."""
    if not dismissed:
        return
    with st.expander(f"{plural(len(dismissed), 'finding')} dismissed", key="findings_dismissed"):
        for number, one in enumerate(dismissed):
            with in_line(f"finding_dismissed_{number}"):
                st.badge(one.finding.severity, color=COLORS[one.finding.severity])
                reason = f": {one.reason}" if one.reason else ""
                st.text(f"{one.finding.title}, {one.finding.steps} · {one.why}{reason}", width="content")
                st.button("Bring back", key=f"finding_back_{number}", type="tertiary", on_click=_bring_back, args=(run, one))


def _bring_back(run: str, one: PutAside) -> None:
    if one.why == "muted":
        _save(lambda: finding_settings.mute(run, one.finding.kind, None))
    else:
        _save(lambda: finding_settings.understand(run, one.finding.id, None))


def thresholds(run: str, chosen: str | None) -> None:
    """The thresholds of one kind at a time, folded; `chosen` is the kind that is offered first."""
    settings = findings_watch.settings()
    with st.expander("Thresholds", key="finding_thresholds", on_change=place.moved) as area:
        if not area.open:
            return
        names = [kind.name for kind in KINDS]
        name = st.selectbox(
            "Kind",
            names,
            index=names.index(chosen) if chosen in names else 0,
            format_func=finding_cards.title_of,
            key="finding_kind",
            on_change=place.moved,
            width=420,
        )
        kind = next(one for one in KINDS if one.name == name)
        st.text(kind.says)
        for one in kind.thresholds:
            _threshold(run, kind, one, settings.thresholds.get(kind.name, {}).get(one.name))
        if settings.thresholds:
            st.text(f"You have set thresholds of: {', '.join(map(finding_cards.title_of, settings.thresholds))}.")
        st.text(
            "Saved for this run in your settings. Commands take the declared ones; findings --thresholds FILE takes those of a file."
        )


def _threshold(run: str, kind: Kind, one: Threshold, own: float | None) -> None:
    key = f"threshold_{kind.name}_{one.name}"

    def changed() -> None:
        value = place.widget_value(key)
        number = float(value) if isinstance(value, int | float) else None
        _save(lambda: finding_settings.set_threshold(run, kind.name, one.name, None if number == one.value else number))

    def reset() -> None:
        place.set_widgets(**{key: one.value})
        _save(lambda: finding_settings.set_threshold(run, kind.name, one.name, None))

    with in_line(f"finding_limit_{one.name}"):
        held = one.value if own is None else own
        if place.widget_value(key) is None:
            place.set_widgets(**{key: float(held)})
        st.number_input(
            f"Threshold {one.name}", key=key, format="%g", step=None, on_change=changed, label_visibility="collapsed", width=140
        )
        st.text(f"{one.name}: {one.meaning} (declared {exact(one.value)}; {one.source})", width="stretch")
        if own is not None:
            st.button("As declared", key=f"{key}_reset", type="tertiary", on_click=reset)
