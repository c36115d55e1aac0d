"""Values of training: copied before training changes them, and as JSON text, short and exact.

Tensors become numpy arrays, lists and dicts lists and dicts of their own; tensors are known by their methods, so torch is not imported.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np
import orjson

from board.recorder.loss_counts import FAILURES
from board.schema import TOKEN_METRICS

ATOMS: Final = frozenset({str, int, float, bool, type(None)})
"""Types that never change: a list of them is copied at once."""

WEIGHT: Final = 32
"""Bytes a Python number takes, about, with the reference to it."""


def snapshot(value: Any) -> Any:
    """A copy that no later change of the original reaches; an object of an unknown type stays as it is.

    A tensor on a device is copied to main memory, which waits for the device. Raises RecursionError for what contains itself.
    """
    if isinstance(value, list | tuple):
        return list(value) if ATOMS.issuperset(map(type, value)) else [snapshot(item) for item in value]
    if isinstance(value, dict):
        return {key: snapshot(item) for key, item in value.items()}
    array = to_numpy(value)
    return array.copy()[()] if isinstance(array, np.ndarray) else array  # of no dimension it is a number


def copies(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they are now, by name; in the place of one that cannot be copied stands the error, which cannot be written, either."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        try:
            found[name] = snapshot(value)
        except FAILURES as error:  # the boundary to training: a value may be any object, and fail in any way
            found[name] = error
    return found


def weigh(value: Any) -> int:
    """About how many bytes of memory a snapshot takes; a list is judged by its first entry, so that weighing costs nothing."""
    if isinstance(value, dict):
        return WEIGHT + sum(map(weigh, value.values()))
    if isinstance(value, list):
        return WEIGHT + len(value) * (weigh(value[0]) if value else 0)
    return WEIGHT + (len(value) if isinstance(value, str) else int(value.nbytes) if isinstance(value, np.ndarray) else 0)


def rows(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rollouts of a batch of columns, and of values that all share, as `snapshot` gives them.

    Raises ValueError unless the columns are equally long.
    """
    lengths = {name: len(column) for name, column in batch.items() if isinstance(column, list | np.ndarray)}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"a batch needs columns of one length, got {lengths or 'scalars only'}")
    for index in range(next(iter(lengths.values()))):
        yield {name: column[index] if name in lengths else snapshot(column) for name, column in batch.items()}


def whole(value: Any) -> int:
    """A step as an integer; raises ValueError or TypeError for what is no whole number, as the board would refuse the row."""
    plain = to_numpy(value)
    step = int(plain)
    if plain != step or not -(2**63) <= step < 2**63:
        raise ValueError("its step is not a whole number")
    return step


def to_numpy(value: Any) -> Any:
    """A tensor as a numpy array that may share its memory, anything else as it is."""
    if not (hasattr(value, "detach") and hasattr(value, "numpy")):
        return value
    tensor = value.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:
        return tensor.float().numpy()  # bfloat16 and the 8-bit floats, which numpy lacks and float32 holds exactly


_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATACLASS
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
    with suppress(TypeError):
        fast = orjson.dumps(value, default=_plain, option=_OPTIONS)
        if b"null" not in fast:
            return fast
        if isinstance(value, np.ndarray):  # its nulls stand in its own order
            literals = iter(json.dumps(value[~np.isfinite(value)].tolist())[1:-1].encode("ascii").split(b", "))
            return re.sub(b"null", lambda _: next(literals), fast)
    return json.dumps(value, default=_plain).encode("ascii")


def line(parts: Parts) -> bytes:
    """The row as one line, its newline included."""
    return b"{" + b",".join(encode(name) + b":" + part for name, part in parts.items()) + b"}\n"


def is_per_token(name: str, value: Any, length: int | None) -> bool:
    """Whether the board keeps a list or array as one entry per response token, of which there are so many; None where that is unknown."""
    is_flat = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return is_flat and (name in TOKEN_METRICS or len(value) == length)


def compact(value: Any) -> Any:
    """Floats as float32, whose shortest digits are half as long: a flat list of floats or a float64 array; all else as it is.

    The board keeps token arrays as float32, so it loses nothing. What float32 cannot hold stays as it is.
    """
    is_wide = (
        value.dtype == np.float64 if isinstance(value, np.ndarray) else isinstance(value, list) and {*map(type, value)} == {float}
    )
    if not is_wide:
        return value
    with np.errstate(over="ignore", under="ignore"):
        narrow = np.asarray(value, np.float32)
    return narrow if np.array_equal(np.isfinite(narrow), np.isfinite(value)) else value


def _plain(value: object) -> object:
    """Arrays, tensors and vLLM's log-probabilities as something json and orjson both know; TypeError for any other object."""
    array = to_numpy(value)
    if isinstance(array, np.ndarray | np.generic):
        return array.tolist()
    if hasattr(value, "logprob") and hasattr(value, "decoded_token"):
        return {"logprob": value.logprob, "decoded_token": value.decoded_token}
    raise TypeError(f"{type(value).__name__} is not a JSON value")
