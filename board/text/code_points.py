"""Code points as a character class of `regex` holds them: by script, by category."""

from functools import cache
from typing import Final

import numpy as np
import regex
from numpy.typing import NDArray

PLANE: Final = 1 << 16
"""Code points of the Basic Multilingual Plane, which are the units of UTF-16."""


def held(pattern: str, count: int = PLANE) -> NDArray[np.bool_]:
    """Which of the first `count` code points a class such as r"[\\p{Greek}&&\\p{L}]" holds. Shape (count,); raises `regex.error`."""
    found = np.zeros(count, np.bool_)
    for run in regex.finditer(f"{pattern}+", _every(count), flags=regex.V1):
        found[run.start() : run.end()] = True
    return found


@cache
def _every(count: int) -> str:
    return np.arange(count, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
