"""Points in the order they were logged, gathered into one curve for each name. Knows no tracker's format."""

from array import array
from typing import Final

import numpy as np

from board.errors import BoardError
from board.trackers.contract import Curve, Curves

MAX_NAMES: Final = 20_000
"""Names of scalars in one source; more are data, not metrics."""

MOST_TEXTS: Final = 1_000
"""So many texts of one name are kept, the last ones."""

MOST_LETTERS: Final = 10_000
"""A text is cut there."""

_STEPS: Final = range(-(2**63), 2**63)


class Points:
    """What was logged so far, 16 bytes a point."""

    def __init__(self, source: object) -> None:
        self._source = source
        self._by_name: dict[str, tuple[array[int], array[float]]] = {}
        self._texts: dict[str, dict[int, str]] = {}
        self._others: dict[str, None] = {}

    def note(self, name: str, step: int, value: object) -> None:
        """One more value of any kind: true and false count as 1 and 0, None is no value. Raises as `add`."""
        if isinstance(value, int | float):
            self.add(name, step, float(value))
        elif value is not None:
            if len(self._texts) + len(self._others) >= MAX_NAMES:
                raise BoardError(f"{self._source}: more than {MAX_NAMES:,} names that are no scalars.")
            if isinstance(value, str):
                self._add_text(self._texts.setdefault(name, {}), step, value[:MOST_LETTERS])
            else:
                self._others[name] = None

    def _add_text(self, texts: dict[int, str], step: int, text: str) -> None:
        if not texts or next(reversed(texts.values())) != text:
            texts.pop(step, None)
            texts[step] = text
        if len(texts) > MOST_TEXTS:
            del texts[next(iter(texts))]

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

    def curves(self) -> Curves:
        """Each name's curve in rising order of steps; of a step that was logged more than once the last value."""
        found = {name: _curve(np.array(steps, np.int64), np.array(values)) for name, (steps, values) in self._by_name.items()}
        others = [name for name in self._others if name not in found and name not in self._texts]
        return Curves(found, self._texts, others)


def _curve(steps: np.ndarray[tuple[int], np.dtype[np.int64]], values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Curve:
    order = np.argsort(steps, kind="stable")
    steps = steps[order]
    last = np.append(steps[1:] != steps[:-1], [True] * bool(len(steps)))
    return Curve(steps[last], values[order][last])
