"""A bar while something is computed or loaded, seen where that takes a moment."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from board.errors import BoardError
from board.runs.progress import Progress
from board.text.format_number import size

_TICK_SECONDS: Final = 0.1
_LOAD_TICK_SECONDS: Final = 0.2


@contextmanager
def progress(text: str, within: DeltaGenerator | None = None) -> Iterator[Callable[[float], None]]:
    """A bar while something is counted, seen only where that takes a moment; it says how much is left. `within` is an empty place for it.

    It is given the share that is done; 0 is seen at once.
    """
    slot, last = within or st.empty(), 0.0
    first: tuple[float, float] | None = None

    def draw_share(share: float) -> None:
        nonlocal first, last
        if not share:
            slot.progress(0.0, text=text)
            return
        now = time.monotonic()
        first = first or (now, share)  # what comes before the first share goes by no rate: the start of a process
        if share > first[1] and now > max(last, first[0]) + _TICK_SECONDS:
            last = now
            left = (now - first[0]) / (share - first[1]) * (1 - share)
            slot.progress(min(1.0, share), text=f"{text} · {left:.0f} s left")

    try:
        yield draw_share
    except BoardError:
        slot.empty()
        raise
    slot.empty()


def of_load(slot: DeltaGenerator, name: str = "") -> Callable[[Progress], None]:
    """What draws the progress of a load until the first rows are there; a `name` says of which run, where it is not the page's."""
    ticks = [0.0]

    def show(progress: Progress) -> None:
        if time.monotonic() - ticks[0] < _LOAD_TICK_SECONDS:
            return
        ticks[0] = time.monotonic()
        left = f"{progress.seconds_left:.0f} s left" if np.isfinite(progress.seconds_left) else "starting"
        line = f"{progress.rows:,} rows · {size(progress.rate)}/s · {left}"
        with slot.container():
            st.progress(progress.share, text=line)
            if name:
                st.text(name)

    return show
