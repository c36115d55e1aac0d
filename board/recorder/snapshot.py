"""What training handed over, copied before training changes it: tensors to numpy, lists and dicts to lists and dicts of their own.

Tensors are known by their methods, so torch is not imported. Knows nothing of JSON, files or threads.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

ATOMS: Final = frozenset({str, int, float, bool, type(None)})
"""Types that never change: a list of them is copied at once."""

WEIGHT: Final = 32
"""Bytes a Python number takes, about, with the reference to it."""


class Floats(list[float]):
    """A list that was found to hold floats and nothing else, so that nobody looks again: looking costs as much as writing them."""


def snapshot(value: Any) -> Any:
    """A copy that no later change of the original reaches; an object of an unknown type stays as it is.

    A tensor on a device is copied to main memory, which waits for the device. Raises RecursionError for what contains itself.
    """
    if isinstance(value, list | tuple):
        types = set(map(type, value))
        if types == {float}:
            return Floats(value)
        return list(value) if types <= ATOMS else [snapshot(item) for item in value]
    if isinstance(value, dict):
        return {key: snapshot(item) for key, item in value.items()}
    array = to_numpy(value)
    return array.copy() if isinstance(array, np.ndarray) else array


def weigh(value: Any) -> int:
    """About how many bytes of memory a snapshot takes; a list is judged by its first entry, so that weighing costs nothing."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes) + WEIGHT
    if isinstance(value, str):
        return len(value) + WEIGHT
    if isinstance(value, dict):
        return sum(map(weigh, value.values())) + WEIGHT * len(value)
    if isinstance(value, list):
        return WEIGHT + len(value) * (weigh(value[0]) if value else 0)
    return WEIGHT


def rows(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rollouts of a batch of columns; raises ValueError unless the columns agree on how many there are."""
    lengths = {name: len(column) for name, column in batch.items() if _is_column(column)}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"a batch needs columns of one length, got {lengths or 'scalars only'}")
    for index in range(next(iter(lengths.values()))):
        yield {name: column[index] if name in lengths else snapshot(column) for name, column in batch.items()}


def to_numpy(value: Any) -> Any:
    """A tensor as a numpy array that may share its memory, anything else as it is."""
    if not (hasattr(value, "detach") and hasattr(value, "numpy")):
        return value
    tensor = value.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:
        return tensor.float().numpy()  # bfloat16 and the 8-bit floats, which numpy lacks and float32 holds exactly


def _is_column(value: object) -> bool:
    """Whether a field of a batch has one entry per rollout, rather than one value for all."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
