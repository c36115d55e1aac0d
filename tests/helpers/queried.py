"""A small frame to ask queries of."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

FRAME = pd.DataFrame(
    {
        "step": np.repeat(np.arange(3), 4),
        "data_source": pd.Categorical(["math", "code", "math", None] * 3),
        "reward": [1.0, 2.0, 3.0, np.nan] * 3,
        "length": np.arange(12.0),
    }
)

ENDLESS = {
    "recursion": "WITH RECURSIVE r AS (SELECT 1 AS step UNION ALL SELECT 1 FROM r) SELECT max(step) AS step, 1 AS y FROM r",
    "rows": "SELECT count(*) AS step, 1 AS y FROM range(1000000000000)",
    "one function": "SELECT 1 AS step, levenshtein(repeat('a', 300000), repeat('b', 300000)) AS y",
}


def children() -> set[int]:
    """The processes this one started, and those of its threads that have ended meanwhile left out."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):
            found.update(map(int, (task / "children").read_text().split()))
    return found
