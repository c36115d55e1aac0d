"""How many there are of something, and which, in words."""

from collections.abc import Iterable
from typing import Any


def plural(count: int, noun: str) -> str:
    """`1 token`, `2 tokens`, `1,000 tokens`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def of_steps(first: int, last: int) -> str:
    """`step 3`, `steps 3 to 1,000`."""
    return f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"


def listed(some: Iterable[Any], most: int, count: int = 0) -> str:
    """The first few of them, and how many more there are: `3, 5 and 1,000 more`; of `count`, where not all are given."""
    texts = [*map(str, some)]
    more = max(count, len(texts)) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")
