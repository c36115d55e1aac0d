"""Columns of some rollouts of an index that are at hand, by their keys. Knows neither files nor what a column means."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class KeptRows:
    """Columns of some rollouts that are at hand. `column` gives one by its name, (rows,), in the order of `keys`."""

    def __init__(self, keys: NDArray[np.int64], column: Callable[[str], NDArray[Any]]) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._rising = keys[self._order]
        self.column = column

    def places(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each key, -1 where it is not among them."""
        if not len(self._rising):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._rising, keys), len(self._rising) - 1)
        return np.where(self._rising[at] == keys, self._order[at], -1)
