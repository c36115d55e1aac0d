"""Payload of panels of curves: one Arrow column of all numbers, and a little JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.figures.curves import CurvePanel, DrawnCurve, Healthy
from board.figures.theme import COLORS
from board.findings.checks.contract import Severity
from board.metrics.formulas import Float64Array

DASHES: Final = {"solid": [], "dot": [2, 3], "dash": [7, 4], "dashdot": [7, 3, 2, 3], "longdash": [12, 4]}
"""Lengths of strokes and gaps in pixels, by the names that lines have in `board.figures`."""

_OWN_WIDTH: Final = 2.0
_OTHER_WIDTH: Final = 1.6
"""Of what trackers and the reference say, in pixels."""


@dataclass(frozen=True)
class Texts:
    """What stands around a panel; all of it is shown as text, letter for letter."""

    help: tuple[tuple[str, str], ...] = ()
    """What it is and its text: the whole name, the formula and more."""
    gloss: str = ""
    said: tuple[str, ...] = ()
    """Sentences below the plot."""
    look: str = ""
    """What leads to the page that shows more; empty without one."""


@dataclass(frozen=True)
class Card:
    """A panel as a page shows it; `key` tells it from the others of its component."""

    key: str
    panel: CurvePanel
    texts: Texts = Texts()
    shows: tuple[str, ...] = ()
    """Columns and metrics whose curves these are: marks that name one are drawn."""


@dataclass(frozen=True)
class CurveMark:
    """Something that begins at a step, in the curves of what it names."""

    step: int
    text: str
    """Shown as text, letter for letter."""
    severity: Severity | Literal["unlike"]
    """Of a finding; a step that is unlike its neighbours, or not complete, is drawn hollow."""
    names: tuple[str, ...]
    """Columns and metrics, by every name they are known by; none for all curves of this run."""


@dataclass(frozen=True)
class CurveAxis:
    """What the curves go along."""

    word: str = "step"
    """What a number on the axis counts: said before it where it is a step, behind it else."""
    keeps: bool = True
    """Whether all pages can be filtered by a range of it."""


STEPS: Final = CurveAxis()


@dataclass(frozen=True)
class CurvesPayload:
    """Ready to be sent: `data` as a component of Streamlit takes it."""

    data: dict[str, Any]
    keys: tuple[str, ...]
    """Of the cards, in their order."""
    missing: tuple[str, ...] = ()
    """Panels that could not be made, and why."""


@dataclass
class _Numbers:
    """Arrays end to end; one that is there already is not put in again."""

    arrays: list[Float64Array] = field(default_factory=list)
    places: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    length: int = 0

    def put(self, values: NDArray[Any]) -> list[int]:
        """Where the array lies: its first place and its length. What is not finite becomes NaN."""
        array = values.astype(np.float64)
        array[~np.isfinite(array)] = np.nan
        name = blake2b(array.data, digest_size=16).digest()
        if name not in self.places:
            self.places[name] = (self.length, array.size)
            self.arrays.append(array)
            self.length += array.size
        return list(self.places[name])


def build(
    cards: Sequence[Card],
    *,
    span: tuple[int, int],
    height: int = 200,
    columns: int = 3,
    even: bool = False,
    pins: bool = False,
    missing: Sequence[str] = (),
    axis: CurveAxis = STEPS,
) -> CurvesPayload:
    """The payload of panels that share an axis of steps from `span[0]` to `span[1]`, or further where a curve goes further.

    `height` is a plot's in pixels; no more than `columns` panels stand in a row, or, with `even`, one fewer where that leaves less
    of the last row empty. `pins` says whether panels can be pinned; `missing` is stored with the payload. Along another `axis` than that of
    steps `span` and all curves are in its measure.
    """
    numbers = _Numbers()
    sent = [_sent(card, numbers) for card in cards]
    steps = [curve.steps for card in cards for curve in card.panel.curves if curve.steps.size]
    first = min([span[0], *(math.floor(one[0]) for one in steps)])
    last = max([span[1], *(math.ceil(one[-1]) for one in steps)])
    meta = {"cards": sent, "span": [first, last], "height": height, "columns": columns, "even": even, "pins": pins}
    meta |= {"axis": asdict(axis)}
    flat = np.concatenate([np.empty(0), *numbers.arrays])
    stamp = blake2b(json.dumps(meta).encode() + flat.tobytes(), digest_size=12).hexdigest()
    data = {"meta": meta | {"stamp": stamp}, "numbers": pa.table({"v": flat})}
    return CurvesPayload(data, tuple(card.key for card in cards), tuple(missing))


def _sent(card: Card, numbers: _Numbers) -> dict[str, Any]:
    panel, texts = card.panel, card.texts
    return {
        "key": card.key,
        "title": panel.title,
        "unit": panel.unit,
        "drawn": panel.drawn,
        "log": panel.log,
        "fromZero": panel.from_zero,
        "runs": panel.runs,
        "shows": list(card.shows),
        **_healthy(panel.healthy),
        "texts": {
            "note": panel.note,
            "help": [list(pair) for pair in texts.help],
            "gloss": texts.gloss,
            "said": list(texts.said),
            "look": texts.look,
        },
        "curves": [_curve(curve, numbers) for curve in panel.curves],
    }


def _healthy(healthy: Healthy | None) -> dict[str, Any]:
    if healthy is None:
        return {"healthy": None, "departure": None}
    left = healthy.left_at
    departure = {"step": left[0], "value": left[1]} if left is not None and np.isfinite(left[1]) else None
    return {"healthy": {"low": healthy.low, "high": healthy.high}, "departure": departure}


def _curve(curve: DrawnCurve, numbers: _Numbers) -> dict[str, Any]:
    """The arrays that say something: without smoothing the raw line is the line."""
    banded, counted = np.isfinite(curve.low).any(), (curve.count >= 0).any()
    smoothed = not np.array_equal(curve.raw, curve.line, equal_nan=True)
    more = {
        **({"low": curve.low, "high": curve.high} if banded else {}),
        **({"raw": curve.raw} if smoothed else {}),
        **({"count": np.where(curve.count >= 0, curve.count, np.nan)} if counted else {}),
    }
    arrays = {"steps": curve.steps, "values": curve.line, **more}
    return {
        "name": curve.name,
        "color": curve.color,
        "dash": DASHES[curve.dash],
        "width": _OTHER_WIDTH if curve.color == COLORS["reference"] else _OWN_WIDTH,
        **{name: numbers.put(array) for name, array in arrays.items()},
    }
