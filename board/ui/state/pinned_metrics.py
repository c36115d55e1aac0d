"""The metrics that the reader pinned, and what is to be said when a pin cannot be kept. Draws nothing."""

from board.errors import BoardError
from board.settings import saved
from board.ui.state import place


def keys() -> tuple[tuple[str, ...], str]:
    """Keys of the metrics that the reader pinned, in the order of pinning, and why they cannot be read or kept; "" when they can."""
    try:
        pinned = tuple(saved.PINS.read())
    except BoardError as error:
        return (), str(error)
    unkept = place.remembered("unkept_pin") or ""
    place.remember(unkept_pin=None)
    return pinned, unkept


def toggle(key: str) -> None:
    """Pin a metric, or take its pin off."""
    try:
        saved.toggle_pin(key)
    except BoardError as error:
        place.remember(unkept_pin=str(error))
