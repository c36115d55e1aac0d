"""What the reader chooses on the Metrics page, as a frozen dataclass. Draws controls only; computes and loads nothing."""

from dataclasses import dataclass
from typing import Final, Literal

import streamlit as st

from board.analysis.metric_list import HEADINGS, Origin
from board.metrics import declared

Language = Literal["en", "zh"]

LANGUAGES: Final[dict[str, Language]] = {"en": "en", "中文": "zh"}
ORIGINS: Final[dict[str, Origin]] = {"all": "all", "rollouts": "rollouts", "trainer": "tracker"}

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
    """Draw the choices in one row and return them; all are in the link."""
    dialects = {dialect.title: name for name, dialect in declared.DIALECTS.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", key="metric_choices"):
        dialect = st.segmented_control(
            "Names as in",
            list(dialects),
            default=next(iter(dialects)),
            required=True,
            key="dialect",
            bind="query-params",
            persist_state="session",
        )
        query = st.text_input("Name or meaning", type="search", key="find", bind="query-params", width=140)
        families = st.multiselect("Families", list(_FAMILIES), key="families", bind="query-params", placeholder="All", width=150)
        origin = st.segmented_control(
            "Known from",
            list(ORIGINS),
            default="all",
            required=True,
            key="origin",
            bind="query-params",
            help="Computed from rollouts, or logged by the trainer in a tracker.",
        )
        smoothing = st.slider("Smoothing", 0.0, 0.95, 0.0, 0.05, key="smoothing", bind="query-params", width=90)
        language = st.segmented_control(
            "Glossary",
            list(LANGUAGES),
            default="en",
            required=True,
            key="glossary",
            bind="query-params",
            persist_state="session",
        )
        log = st.toggle("Log axis", key="log_axis", bind="query-params")
    return MetricChoices(
        dialects[dialect or next(iter(dialects))],
        query or "",
        tuple(_FAMILIES[family] for family in families),
        ORIGINS[origin or "all"],
        float(smoothing),
        bool(log),
        LANGUAGES[language or "en"],
    )
