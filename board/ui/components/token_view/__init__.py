"""The token view: a rollout's tokens as coloured text above a heatmap of its metrics.

Nothing else draws tokens. `show` mounts it on a page, `window` says which tokens of a long response to send.
"""

from board.ui.components.token_view.face import TokenViewResult, mount, show
from board.ui.components.token_view.notes import Notes
from board.ui.components.token_view.payload import Choice, SharedEnds, TokenViewPayload, build
from board.ui.components.token_view.pins import read_pins, write_pins
from board.ui.components.token_view.window import WINDOW_TOKENS, Window, window

__all__ = [
    "WINDOW_TOKENS",
    "Choice",
    "Notes",
    "SharedEnds",
    "TokenViewPayload",
    "TokenViewResult",
    "Window",
    "build",
    "mount",
    "read_pins",
    "show",
    "window",
    "write_pins",
]
