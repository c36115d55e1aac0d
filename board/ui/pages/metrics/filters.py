"""Controls of the Metrics page, which return the choices as a frozen dataclass."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import streamlit as st

from board.analysis.steps.metric_list import HEADINGS, Origin
from board.metrics import declared
from board.ui.shared.messages import in_line
from board.ui.state import linked

Language = Literal["en", "zh"]

LANGUAGES: Final[dict[str, Language]] = {"en": "en", "中文": "zh"}
ORIGINS: Final[dict[str, Origin]] = {"all": "all", "rollouts": "rollouts", "trainer": "tracker"}

_WIDTH: Final = 320
"""Of what is folded, in pixels."""

_FAMILIES: Final = {words.en: family for family, words in HEADINGS.items()}


@dataclass(frozen=True)
class MetricChoices:
    """Which metrics are shown, under which names, and how they are drawn."""

    dialect: str
    query: str
    families: tuple[str, ...]
    """Empty for all."""
    origin: Origin
    smoothing: float
    """Weight of the exponential moving average, 0 (none) to below 1."""
    log: bool
    language: Language

    @property
    def narrowed(self) -> bool:
        """Whether the reader looks for something: then what is found is open."""
        return bool(self.query or self.families or self.origin != "all")


def metric_choices() -> MetricChoices:
    """Draw the search and, folded, the other choices, and return them; all are in the link. What narrows the panels is stated."""
    dialects = {dialect.title: name for name, dialect in declared.DIALECTS.items()}
    with in_line("metric_choices"):
        query = st.text_input(
            "Name or meaning",
            **linked.text("find"),
            type="search",
            placeholder="Name or meaning",
            label_visibility="collapsed",
            width=240,
        )
        with st.popover("Chart options"):
            chosen = _folded(dialects, query or "")
        if said := _narrowed(chosen, next(iter(dialects.values()))):
            with st.container(width="content", key="familynote_choices"):
                st.text(said)
    return chosen


def _folded(dialects: Mapping[str, str], query: str) -> MetricChoices:
    """Draw what is rarely changed; `dialects` are names by their titles."""
    smoothing = st.slider("Smoothing", **linked.number("smoothing", 0.0, 0.0, 0.95), step=0.05, width=_WIDTH)
    log = st.toggle("Log axis", **linked.flag("log_axis"))
    families = st.multiselect("Families", **linked.choices("families", list(_FAMILIES)), placeholder="All", width=_WIDTH)
    origin = st.segmented_control(
        "Known from",
        **linked.choice("origin", list(ORIGINS), "all"),
        required=True,
        help="Computed from rollouts, or logged by the trainer in a tracker.",
    )
    dialect = st.segmented_control("Names as in", **linked.choice("dialect", list(dialects)), required=True)
    language = st.segmented_control("Glossary", **linked.choice("glossary", list(LANGUAGES), "en"), required=True)
    return MetricChoices(
        dialects[dialect or next(iter(dialects))],
        query,
        tuple(_FAMILIES[family] for family in families),
        ORIGINS[origin or "all"],
        float(smoothing),
        bool(log),
        LANGUAGES[language or "en"],
    )


def _narrowed(chosen: MetricChoices, usual: str) -> str:
    """What narrows or renames the panels, in a few words: no panel says so. `usual` is the default dialect."""
    said = {
        f"{len(chosen.families)} of {len(_FAMILIES)} families": bool(chosen.families),
        f"known from {next(label for label, origin in ORIGINS.items() if origin == chosen.origin)}": chosen.origin != "all",
        f"names as in {declared.DIALECTS[chosen.dialect].title}": chosen.dialect != usual,
    }
    return " · ".join(text for text, changed in said.items() if changed)
