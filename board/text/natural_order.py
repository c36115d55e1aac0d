"""The order in which people put names with numbers in them."""

import re


def natural_key(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key under which `rank_2` comes before `rank_10`; different names have different keys (`rank_1`, `rank_01`)."""
    texts_and_digits = enumerate(re.split(r"([0-9]+)", name))
    key = [_digits_key(part) if at % 2 else (-1, part) for at, part in texts_and_digits]
    return (*key, (-1, name))


def _digits_key(digits: str) -> tuple[int, str]:
    """Orders digits by value without making a number of them: Python refuses to, beyond 4,300 digits."""
    significant = digits.lstrip("0")
    return len(significant), significant
