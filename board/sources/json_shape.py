"""Whether a value out of JSON has the shape that a file of ours has.

    fits({"name": "a", "sizes": [1, 2]}, {"name": str, "sizes": [int]})

What others may have written is looked at before it is used. A shape is a type (`int` is a whole number from 0 to before 2⁶⁴), a list with
the shape of all items, a dict of such keys (others may be there too), `MapOf` with the shape of all values of a dict of any keys, or a
tuple of shapes of which one fits.
"""

from dataclasses import dataclass
from typing import Any

_BEYOND = 2**64


@dataclass(frozen=True)
class MapOf:
    """A dict of any keys, all of whose values have a shape."""

    values: Any


def fits(value: Any, shape: Any) -> bool:
    """Whether the value has the shape."""
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, MapOf):
        return isinstance(value, dict) and all(fits(one, shape.values) for one in value.values())
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(name in value and fits(value[name], one) for name, one in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list | tuple) and all(fits(one, shape[0]) for one in value)
    if shape is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _BEYOND
    return value is None if shape is None else isinstance(value, shape)
