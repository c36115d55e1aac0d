"""Further pinned tokens, as a link and the browser write them: both are checked here."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

MOST_OTHERS: Final = 5
"""Together with the token the page follows, what can be compared at a glance; as in `pins.js`."""

_WRITTEN: Final = re.compile("[0-9]{1,12}(?:,[0-9]{1,12})*")


def read_pins(text: object) -> tuple[int, ...]:
    """The positions in a link's "12,40", from 0; none when it says anything else."""
    if not isinstance(text, str) or not _WRITTEN.fullmatch(text):
        return ()
    return tuple(dict.fromkeys(int(part) for part in text.split(",")))[:MOST_OTHERS]


def write_pins(pins: Iterable[int]) -> str | None:
    """The way back: "12,40", None for no pin."""
    return ",".join(map(str, pins)) or None


def believed(pins: object, pinned: int | None, total: int) -> tuple[int, ...]:
    """The pins before `pinned` as the browser reports them, checked: different positions of a response of `total`, none without `pinned`."""
    if pinned is None or not isinstance(pins, Sequence) or isinstance(pins, str):
        return ()
    whole = [one for one in pins if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < total and one != pinned]
    return tuple(dict.fromkeys(whole))[:MOST_OTHERS]
