"""Tries again what may pass: with waits that double and vary, so that many readers do not come back at once. Knows no store."""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from board.remote.object_store import Passing

MOST_TRIES: Final = 6
FIRST_SECONDS: Final = 0.25
LONGEST_SECONDS: Final = 8.0

_T = TypeVar("_T")


def pause(tried: int) -> float:
    """Seconds to wait after so many tries, from 1: between half of a bound that doubles each time and all of it."""
    most = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** (tried - 1))
    return most * random.uniform(0.5, 1.0)


def with_retries(act: Callable[[], _T], progress: Callable[[], object] = lambda: None) -> _T:
    """What `act` gives, tried again while it raises Passing; a try that got further, as `progress` tells, is the first again."""
    tried, before = 0, progress()
    while True:
        try:
            return act()
        except Passing:
            now = progress()
            tried = 1 if now != before else tried + 1
            before = now
            if tried >= MOST_TRIES:
                raise
            time.sleep(pause(tried))
