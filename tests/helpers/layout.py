"""What a layout of rows is made of, and what a guess must hold of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Layout:
    """Rows of a layout, and the keys that a guess must name."""

    rows: Rows
    response: str
    others: dict[str, str] = field(default_factory=dict)
    """Of our other names those whose keys are beyond doubt."""
    each: bool = False
    """Whether a row holds a list of samples."""
    name: str = "rows.jsonl"


def rows(make: Callable[[int], dict[str, Any]], count: int = 4) -> Rows:
    """So many rows."""
    return [make(at) for at in range(count)]


def chat(at: int, model: str = "assistant", asks: str = "user") -> list[dict[str, Any]]:
    """A question and an answer."""
    return [
        {"role": "system", "content": "Answer in one word."},
        {"role": asks, "content": f"What is {at} and {at}?"},
        {"role": model, "content": f"I add {at} to {at}, which is {2 * at}."},
    ]


def texts(at: int, count: int = 3) -> list[str]:
    """Samples of one answer."""
    return [f"I add {at} to itself in way {way}, and the sum is {2 * at}." for way in range(count)]


SHA: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
