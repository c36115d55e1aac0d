"""The report of a comparison as files: JSON as `compare --json` prints, and CSV."""

from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from board.analysis.compare import pair_report, run_settings
from board.analysis.compare.run_pair import RunPair
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import sides as compared_sides
from board.ui.state import caches

_WORDS: Final = "What was compared, how many prompts matched, and every number and interval."


def draw(pair: RunPair, sides: tuple[ComparedSide, ComparedSide]) -> None:
    """The buttons, in the container that is open; a file is made when its button is clicked, not before."""
    a, b = sides
    name = f"{a.name}-against-{b.name}".replace("/", "_")
    caveats = compared_sides.caveats(a, b, pair.metric)
    _button("Report as JSON", lambda: as_json(pair, sides, caveats), f"{name}.json", "application/json", "pair_json")
    _button("Report as CSV", lambda: as_csv(pair, sides, caveats), f"{name}.csv", "text/csv", "pair_csv")


def _button(label: str, make: Callable[[], str], name: str, kind: str, key: str) -> None:
    st.download_button(label, make, name, kind, key=key, type="tertiary", on_click="ignore", help=_WORDS)


def as_json(pair: RunPair, sides: tuple[ComparedSide, ComparedSide], caveats: Sequence[str] = ()) -> str:
    """The document of `pair_report.as_json`, with settings, as JSON text.

    The settings are from files next to the runs, within the root. `caveats` are further notes.
    """
    differing, said = _settings(sides)
    return pair_report.as_json(pair, (sides[0].address, sides[1].address), differing, [*said, *caveats])


def as_csv(pair: RunPair, sides: tuple[ComparedSide, ComparedSide], caveats: Sequence[str] = ()) -> str:
    """The table of `board.analysis.compare.pair_report.as_table`, with the same notes."""
    _, said = _settings(sides)
    return pair_report.as_table(pair, (sides[0].address, sides[1].address), [*said, *caveats]).to_csv(index=False)


def _settings(sides: tuple[ComparedSide, ComparedSide]) -> tuple[pair_report.Settings, list[str]]:
    """What differs in the settings files next to the runs, and notes on them."""
    of_a, of_b = (caches.settings_of(side.whole.location) for side in sides)
    differing = run_settings.compared(of_a, of_b)
    return differing, [*run_settings.notes(of_a, of_b, differing)]
