"""Points in the order they were logged, gathered into one curve for each name. Knows no tracker's format."""

from array import array
from collections import defaultdict
from typing import Final

import numpy as np

from board.errors import BoardError
from board.trackers.contract import Curve, Curves

MAX_NAMES: Final = 20_000
"""Names in one source; more are data, not metrics."""

MOST_TEXTS: Final = 1_000
"""So many texts of one name are kept, the last ones."""

MOST_LETTERS: Final = 10_000
"""A text is cut there."""

_STEPS: Final = range(-(2**63), 2**63)


class Points:
    """What was logged so far, 16 bytes a point."""

    def __init__(self, source: object) -> None:
        self._source = source
        self._numbers: defaultdict[str, tuple[array[int], array[float]]] = defaultdict(lambda: (array("q"), array("d")))
        self._texts: defaultdict[str, dict[int, str]] = defaultdict(dict)
        self._others: dict[str, None] = {}

    def add(self, name: str, step: int, value: object) -> None:
        """One more value of any kind: true and false count as 1 and 0, None is no value.

        Raises BoardError for a step beyond 64 bits, and for more than MAX_NAMES names.
        """
        if step not in _STEPS:
            raise BoardError(f"{self._source}: a step does not fit 64 bits.")
        if isinstance(value, int | float):
            steps, values = self._numbers[name]
            steps.append(step)
            values.append(value)
        elif isinstance(value, str):
            self._add_text(self._texts[name], step, value[:MOST_LETTERS])
        elif value is not None:
            self._others[name] = None
        if len(self._numbers) + len(self._texts) + len(self._others) > MAX_NAMES:
            raise BoardError(f"{self._source}: more than {MAX_NAMES:,} names.")

    def _add_text(self, texts: dict[int, str], step: int, text: str) -> None:
        if not texts or next(reversed(texts.values())) != text:
            texts.pop(step, None)
            texts[step] = text
        if len(texts) > MOST_TEXTS:
            del texts[next(iter(texts))]

    def curves(self) -> Curves:
        """Each name's curve in rising order of steps; of a step that was logged more than once the last value."""
        found = {name: _curve(np.array(steps, np.int64), np.array(values)) for name, (steps, values) in self._numbers.items()}
        others = [name for name in self._others if name not in found and name not in self._texts]
        return Curves(found, self._texts, others)


def _curve(steps: np.ndarray[tuple[int], np.dtype[np.int64]], values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Curve:
    order = np.argsort(steps, kind="stable")
    steps = steps[order]
    last = np.append(steps[1:] != steps[:-1], [True] * bool(len(steps)))
    return Curve(steps[last], values[order][last])
