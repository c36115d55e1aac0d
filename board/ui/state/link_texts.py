"""Texts of a link as values: whole numbers, ranges of steps, stretches of a text."""

import math
import re
from typing import Any


def is_whole(text: str) -> bool:
    """Whether a text of the URL or of a widget is a whole number that fits 64 bits, or nearly."""
    return re.fullmatch(r"-?[0-9]{1,19}", text) is not None


def number(text: str) -> float | None:
    """A finite number; None where a text is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def number_text(value: float) -> str:
    """A finite number as short as a text of it can be."""
    return str(int(value) if float(value).is_integer() else value)


def step_range(text: str) -> tuple[int, int] | None:
    """A range of steps, written "10-40"; None where it is none."""
    found = re.fullmatch(r"(-?[0-9]{1,18})-(-?[0-9]{1,18})", text)
    first, last = (int(found[1]), int(found[2])) if found else (1, 0)
    return (first, last) if first <= last else None


def range_text(given: Any) -> str | None:
    """A range of steps as the curves report it, {"range": [10, 40]}, as the link has it; None where it is none."""
    ends = (given or {}).get("range")
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    known = all(isinstance(end, int | float) and math.isfinite(end) for end in ends)
    return f"{int(ends[0])}-{int(ends[1])}" if known else None


def mark_text(text: str, start: int, stop: int) -> str:
    """Some characters of a text, as `marked` reads them."""
    return f"{text}:{start}-{stop}"


def marked(mark: str, text: str) -> tuple[int, int] | None:
    """The characters of that text which are marked, written "response:10-14"; None where they are of another."""
    found = re.fullmatch(r"(.*):([0-9]{1,18})-([0-9]{1,18})", mark, re.DOTALL)
    return (int(found[2]), int(found[3])) if found and found[1] == text else None
