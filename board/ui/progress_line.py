"""A bar while something is computed for a page, seen only where that takes a moment. Knows nothing of what is computed."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st

_TICK_SECONDS: Final = 0.1


@contextmanager
def progress(text: str) -> Iterator[Callable[[float], None]]:
    """A bar while something is counted, seen only where that takes a moment; it says how much is left."""
    slot, started, last = st.empty(), time.monotonic(), 0.0

    def draw_share(share: float) -> None:
        nonlocal last
        gone = time.monotonic() - started
        if share and gone > last + _TICK_SECONDS:
            last = gone
            slot.progress(min(1.0, share), text=f"{text} · {gone / share - gone:.0f} s left")

    yield draw_share
    slot.empty()
