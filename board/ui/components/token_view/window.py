"""Which tokens of a long response are sent to the browser. Pure arithmetic."""

from dataclasses import dataclass
from typing import Final

WINDOW_TOKENS: Final = 1_000_000
"""Tokens in one window: what is sent to the browser at once. It draws only what is in sight of them."""


@dataclass(frozen=True)
class Window:
    """A half-open range of token indices, counted from 0, out of `total`."""

    start: int
    stop: int
    total: int
    size: int

    @property
    def index(self) -> int:
        """Which window this is, counted from 0."""
        return self.start // self.size

    @property
    def count(self) -> int:
        """How many windows the response has; an empty response has one."""
        return max(1, -(-self.total // self.size))

    @property
    def slice(self) -> slice:
        """Cuts the window out of a list or array as long as the response: `tokens[window.slice]`."""
        return slice(self.start, self.stop)

    def __str__(self) -> str:
        """The words of the screen, tokens counted from 1: "tokens 1,000,001–2,000,000 of 3,500,000"."""
        if self.total <= self.size:
            return "1 token" if self.total == 1 else f"{self.total:,} tokens"
        return f"tokens {self.start + 1:,}–{self.stop:,} of {self.total:,}"


def window(n_tokens: int, start: int = 0, size: int = WINDOW_TOKENS) -> Window:
    """The window that contains token `start` (from 0) of a response of `n_tokens`.

    Windows tile the response from its first token, so the same token always opens the same window; only the last may be
    shorter. `start` may come from a link: outside the response it means the nearest end. Raises ValueError if `size` < 1 or
    `n_tokens` < 0.
    """
    if size < 1 or n_tokens < 0:
        raise ValueError(f"no window of {size} tokens over {n_tokens}")
    inside = min(max(start, 0), max(n_tokens - 1, 0))
    first = inside - inside % size
    return Window(first, min(first + size, n_tokens), n_tokens, size)
