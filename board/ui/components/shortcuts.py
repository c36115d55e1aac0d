"""The keys that act on a page, and what they do; the token view has its own."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Shortcut:
    """A key, and what it does in few words."""

    key: str
    does: str


STEP_BEFORE: Final = Shortcut("H", "step before")
STEP_AFTER: Final = Shortcut("L", "step after")
ROLLOUT_BEFORE: Final = Shortcut("K", "previous rollout of the list")
ROLLOUT_AFTER: Final = Shortcut("J", "next rollout of the list")
VISIT_AFTER: Final = Shortcut("J", "next step with the prompt")
VISIT_BEFORE: Final = Shortcut("K", "previous step with the prompt")
CHOOSE: Final = Shortcut("Enter", "compare the rollout that is marked")
TOKEN_BEFORE: Final = Shortcut("[", "previous token of the list on All tokens")
TOKEN_AFTER: Final = Shortcut("]", "next token of the list on All tokens")
OPEN_TOKEN: Final = Shortcut("Enter", "open the chosen token on Tokens")
AGAIN: Final = Shortcut("R", "draw the page again")
"""Streamlit's own, on every page."""
HELP: Final = Shortcut("?", "this list")

SHORTCUTS: Final = {
    "On every page": (STEP_BEFORE, STEP_AFTER, AGAIN, HELP),
    "On Responses and Tokens": (ROLLOUT_BEFORE, ROLLOUT_AFTER),
    "On a prompt's timeline": (VISIT_BEFORE, VISIT_AFTER, CHOOSE),
    "On Tokens and All tokens": (TOKEN_BEFORE, TOKEN_AFTER),
    "On All tokens": (OPEN_TOKEN,),
}
