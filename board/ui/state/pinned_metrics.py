"""The metrics that the reader pinned, and the message when a pin cannot be saved."""

from board.errors import BoardError
from board.settings import saved
from board.ui.state import place


def keys() -> tuple[tuple[str, ...], str]:
    """Keys of the pinned metrics, in the order of pinning, and why they cannot be read or saved; "" when they can."""
    try:
        pinned = tuple(saved.PINS.read())
    except BoardError as error:
        return (), str(error)
    problem = place.remembered("unsaved_pin") or ""
    place.remember(unsaved_pin=None)
    return pinned, problem


def toggle(key: str) -> None:
    """Pin a metric, or take its pin off."""
    try:
        saved.toggle_pin(key)
    except BoardError as error:
        place.remember(unsaved_pin=str(error))
