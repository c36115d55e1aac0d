"""Values → JSON text, short and exact. Knows nothing of rollouts, files or threads."""

import json
from typing import Any, Final

import numpy as np
import orjson

from board.recorder.snapshot import Floats, to_numpy

OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATACLASS
"""Dataclasses go to `_plain`, which refuses them: orjson would turn a NaN inside one into null unseen."""


Parts = dict[str, bytes]
"""A row as JSON texts by field name."""


def encode(value: object) -> bytes:
    """One value as JSON that `json.loads` reads back exactly, NaN and the infinities as the literals Python's json writes.

    orjson is fast but writes null for what is not finite, so whenever a null appears, and whenever orjson refuses (lone
    surrogates, integers beyond 64 bits), the literals are put in or Python's own json writes the value. Raises what json raises
    if that fails too.
    """
    value = to_numpy(value)
    if isinstance(value, np.ndarray):
        value = np.asarray(value, order="C")
    try:
        fast = orjson.dumps(value, default=_plain, option=OPTIONS)
    except TypeError:
        return json.dumps(value, default=_plain).encode("ascii")
    if b"null" not in fast:
        return fast
    if isinstance(value, np.ndarray):
        return _with_literals(fast, value)
    return json.dumps(value, default=_plain).encode("ascii")


def line(parts: Parts) -> bytes:
    """The row as one line, its newline included."""
    return b"{" + b",".join(key_text(name) + b":" + part for name, part in parts.items()) + b"}\n"


def key_text(name: str) -> bytes:
    """A field's name as JSON text; one that UTF-8 cannot hold in escapes."""
    try:
        return orjson.dumps(name)
    except TypeError:
        return encode(name)


def compact(value: object) -> object:
    """Floats as float32, whose shortest digits are half as long: a flat list of floats or a float64 array; all else as it is.

    The board keeps token arrays as float32, so it loses nothing. What float32 cannot hold stays as it is.
    """
    if isinstance(value, Floats) or (isinstance(value, list) and set(map(type, value)) == {float}):
        wide = np.array(value, np.float64)
    elif isinstance(value, np.ndarray) and value.dtype == np.float64:
        wide = value
    else:
        return value
    with np.errstate(over="ignore", under="ignore"):
        narrow = wide.astype(np.float32)
    return narrow if np.array_equal(np.isfinite(narrow), np.isfinite(wide)) else value


def _with_literals(fast: bytes, array: np.ndarray) -> bytes:
    """orjson's text of an array of floats, its nulls replaced by what they stand for: they come in the array's own order."""
    literals = [
        b"NaN" if np.isnan(number) else b"Infinity" if number > 0 else b"-Infinity" for number in array[~np.isfinite(array)]
    ]
    first, *rest = fast.split(b"null")
    return first + b"".join(literal + piece for literal, piece in zip(literals, rest, strict=True))


def _plain(value: object) -> object:
    """Arrays, tensors and vLLM's log-probabilities as something json and orjson both know; TypeError for any other object."""
    array = to_numpy(value)
    if isinstance(array, np.generic):
        array = np.asarray(array)
    if isinstance(array, np.ndarray):
        return _shortest(array) if array.dtype in (np.float16, np.float32) else array.tolist()
    if hasattr(value, "logprob") and hasattr(value, "decoded_token"):
        return {"logprob": value.logprob, "decoded_token": value.decoded_token}
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _shortest(array: np.ndarray) -> Any:
    """float16 or float32 as Python floats with float32's shortest digits (0.1, not 0.10000000149011612)."""
    return array.astype(np.float32).astype(str).astype(np.float64).tolist()
