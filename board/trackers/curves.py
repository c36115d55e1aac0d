"""Points in the order they were logged, gathered into one curve for each name. Knows no tracker's format."""

from array import array
from typing import Final

import numpy as np

from board.errors import BoardError
from board.trackers.contract import Curve

MAX_NAMES: Final = 20_000
"""Names of scalars in one source; more are data, not metrics."""

_STEPS: Final = range(-(2**63), 2**63)


class Points:
    """What was logged so far, 16 bytes a point."""

    def __init__(self, source: object) -> None:
        self._source = source
        self._by_name: dict[str, tuple[array[int], array[float]]] = {}

    def add(self, name: str, step: int, value: float) -> None:
        """One more point of a curve. Raises BoardError for a step beyond 64 bits, and for more than MAX_NAMES names."""
        if step not in _STEPS:
            raise BoardError(f"{self._source}: a step does not fit 64 bits.")
        if name not in self._by_name:
            if len(self._by_name) == MAX_NAMES:
                raise BoardError(f"{self._source}: more than {MAX_NAMES:,} names of scalars.")
            self._by_name[name] = (array("q"), array("d"))
        steps, values = self._by_name[name]
        steps.append(step)
        values.append(value)

    def curves(self) -> dict[str, Curve]:
        """Each name's curve in rising order of steps; of a step that was logged more than once the last value."""
        return {name: _curve(np.array(steps, np.int64), np.array(values)) for name, (steps, values) in self._by_name.items()}


def _curve(steps: np.ndarray[tuple[int], np.dtype[np.int64]], values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Curve:
    order = np.argsort(steps, kind="stable")
    steps = steps[order]
    last = np.append(steps[1:] != steps[:-1], [True] * bool(len(steps)))
    return Curve(steps[last], values[order][last])
