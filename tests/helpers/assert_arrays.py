"""Arrays compared as float32, missing numbers alike."""

from typing import Any

import numpy as np


def assert_same_array(found: Any, expected: list[float]) -> None:
    """float32, equal, NaN where NaN."""
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array(expected, np.float32))
