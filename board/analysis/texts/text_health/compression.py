"""How far a response can be compressed: repetitive text compresses well."""

import zlib
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from board.analysis.texts.text_health.texts import utf8
from board.metrics.formulas import Float64Array
from board.schema import Column

COLUMNS: Final = (
    Column(
        "compression_ratio",
        "number",
        "length of the response's last 10,000 characters in UTF-8 over their length compressed by zlib; prose has 1.5 to 4, "
        "far more where it repeats itself",
        "ratio",
        "compression ratio",
    ),
)


def measure(ends: pa.Array) -> dict[str, Float64Array]:
    """The compression ratio of each text, (n,); NaN for an empty or missing one.

    Bytes over zlib bytes at its usual level, as slime's and Telescope's repetition checks have it, who look from a ratio of 10 on.
    """
    data, bounds = utf8(ends)
    found = np.full(len(ends), np.nan)
    for row, (start, stop) in enumerate(pairwise(bounds.tolist())):
        if stop > start:
            found[row] = (stop - start) / len(zlib.compress(data[start:stop]))
    return {"compression_ratio": found}
