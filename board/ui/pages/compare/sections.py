"""The sections of the page Compare: a title and what draws it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import checkpoints as compare_checkpoints
from board.ui.pages.compare import distributions as compare_distributions
from board.ui.pages.compare import same_prompts
from board.ui.pages.compare import settings as compare_settings
from board.ui.pages.compare import text_health as compare_text_health
from board.ui.pages.compare import words as compare_words


@dataclass(frozen=True)
class Section:
    """One way to compare runs."""

    title: str
    """As the screen and the link call it."""
    draw: Callable[[Sequence[ComparedSide]], None]
    """Called with two runs or more, the one of the place first, when the reader has chosen this section."""


SECTIONS: Final = (
    Section("Same prompts", same_prompts.draw),
    Section("Distributions", compare_distributions.draw),
    Section("Words", compare_words.draw),
    Section("Text health", compare_text_health.draw),
    Section("Settings", compare_settings.draw),
    Section("Checkpoints", compare_checkpoints.draw),
)
