"""Which sections the page Compare has: a section is its title, and what draws it of the runs that lie side by side. Draws nothing itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from board.ui import (
    compare_checkpoints,
    compare_distributions,
    compare_settings,
    compare_text_health,
    compare_words,
    same_prompts,
)
from board.ui.beside_runs import BesideRun


@dataclass(frozen=True)
class Section:
    """One way to compare runs."""

    title: str
    """As the screen and the link call it."""
    draw: Callable[[Sequence[BesideRun]], None]
    """Called with two runs or more, the one of the place first, when the reader has chosen this section."""


SECTIONS: Final = (
    Section("Same prompts", same_prompts.draw),
    Section("Distributions", compare_distributions.draw),
    Section("Words", compare_words.draw),
    Section("Text health", compare_text_health.draw),
    Section("Settings", compare_settings.draw),
    Section("Checkpoints", compare_checkpoints.draw),
)
