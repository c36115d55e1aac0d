"""How many there are of something, in words."""


def plural(count: int, noun: str) -> str:
    """`1 token`, `2 tokens`, `1,000 tokens`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
