"""What a training loop imports to write rollouts: one JSON line per rollout, one file per rank.

    with RolloutRecorder("runs/my_run", rank=rank) as recorder:
        recorder.write(step=step, prompt=prompt, response_tokens=tokens, logprobs=logprobs, reward=reward)

Knows nothing of the board that will read the lines, and imports neither torch nor pandas. It never raises into training:
what cannot be written is counted in `dropped` and logged once. A row is one system call to the file, with no queue behind it,
so a killed process loses nothing it had written and leaves at most one cut last line.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import orjson

logger = logging.getLogger(__name__)

ORJSON_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATACLASS
"""Dataclasses go to `_plain`, which refuses them: orjson would turn a NaN inside one into null unseen."""


class RolloutRecorder:
    """Appends the rollouts of one data-parallel rank to `<folder>/rank_<rank>.jsonl`.

    Numbers may be Python's, numpy's or tensors of any device and dtype. float32 is written in its shortest exact form; NaN and
    the infinities as the literals NaN, Infinity and -Infinity, as Python's own json writes them. Every write reaches the
    operating system before the call returns; it is not fsynced. Not for use by several threads at once.
    """

    def __init__(self, folder: str | os.PathLike[str], rank: int = 0) -> None:
        """Open the shard for appending, making the folder if need be. A failure is logged, and tried again at each write."""
        self.rank = rank
        self.path = Path(folder) / f"rank_{rank}.jsonl"
        self.dropped = 0
        """Things not written so far: a row, or one value of a row that was written without it."""
        self._descriptor: int | None = None
        self._line_is_cut = False
        self._closed = False
        self._warned = False
        try:
            self._open()
        except OSError as error:
            self._warn("the shard", error)

    def write(self, *, step: int, **fields: object) -> None:
        """Append one rollout: `step`, then any fields; `board/schema.py` lists those the board knows by name.

        Token arrays are one number per response token. `rank` is added unless given. A value that cannot be written as JSON
        is left out of its row; a row whose `step` cannot be written is dropped whole.
        """
        try:
            self._append(self._line({"step": step, "rank": self.rank, **fields}))
        except Exception as error:  # noqa: BLE001 - the boundary to training: whatever a value or a disk does wrong ends here
            self._drop(1, "a row", error)

    def write_batch(self, *, step: object, **columns: object) -> None:
        """Append a batch: each field is a column with one entry per rollout, or one scalar (a number, text, dict) for all.

        A column is a list, a tuple, or an array or tensor of at least one dimension; all must be equally long. Rows of a padded
        (batch, tokens) tensor are written padding included: cut them to the response first.
        """
        try:
            batch = {name: _to_numpy(column) for name, column in {"step": step, **columns}.items()}
            rows = list(_rows(batch))
        except Exception as error:  # noqa: BLE001 - the boundary to training, as in `write`
            lengths = [len(column) for column in columns.values() if isinstance(column, list | tuple)]
            self._drop(max(lengths, default=1), "a batch", error)
            return
        for row in rows:
            self.write(**row)

    def close(self) -> None:
        """Close the shard. Later writes are dropped and counted; closing twice is harmless."""
        self._closed = True
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                os.close(descriptor)
            except OSError as error:
                self._warn("the end of the shard", error)

    def __enter__(self) -> Self:
        """The recorder itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close; an exception of the training loop passes through."""
        self.close()

    def _open(self) -> int:
        """The open descriptor of the shard; notes when an earlier process was killed in the middle of its last line."""
        if self._closed:
            raise ValueError("the recorder is closed")
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            size = os.fstat(descriptor).st_size
            self._line_is_cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            self._descriptor = descriptor
        return self._descriptor

    def _append(self, line: bytes) -> None:
        """Write one whole line. After a cut one (a kill, a full disk) a newline first, so that only the cut row is lost."""
        descriptor = self._open()
        rest = memoryview(b"\n" + line if self._line_is_cut else line)
        while rest:
            written = os.write(descriptor, rest)
            self._line_is_cut = written < len(rest)
            rest = rest[written:]

    def _line(self, row: Mapping[str, object]) -> bytes:
        """The row as one JSON line, without the values that cannot be written."""
        parts = []
        for name, value in row.items():
            try:
                parts.append(encode(name) + b":" + encode(value))
            except Exception as error:  # a value may be any object, and fail in any way
                if name == "step":
                    raise
                self._drop(1, f"field {name!r}", error)
        return b"{" + b",".join(parts) + b"}\n"

    def _drop(self, count: int, what: str, error: Exception) -> None:
        """Count what is lost, and say so once."""
        self.dropped += count
        self._warn(what, error)

    def _warn(self, what: str, error: Exception) -> None:
        """Log the first loss only. Not by `warnings`, which raise under -W error; logging survives an error it cannot print."""
        if not self._warned:
            self._warned = True
            text = "%s could not be written to %s (%s: %s); training goes on, later losses are only counted"
            logger.warning(text, what, self.path, type(error).__name__, error)


def encode(value: object) -> bytes:
    """One value as JSON that `json.loads` reads back exactly, NaN and infinities included.

    orjson is fast but writes null for what is not finite, so whenever a null appears, and whenever orjson refuses (lone
    surrogates, integers beyond 64 bits), Python's own json writes the value instead. Raises what json raises if that fails too.
    """
    try:
        fast = orjson.dumps(value, default=_plain, option=ORJSON_OPTIONS)
        if b"null" not in fast:
            return fast
    except TypeError:
        pass
    return json.dumps(value, default=_plain).encode("ascii")


def _rows(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rollouts of a batch of columns; raises ValueError unless the columns agree on how many there are."""
    lengths = {name: len(column) for name, column in batch.items() if _is_column(column)}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"a batch needs columns of one length, got {lengths or 'scalars only'}")
    for index in range(next(iter(lengths.values()))):
        yield {name: column[index] if name in lengths else column for name, column in batch.items()}


def _is_column(value: object) -> bool:
    """Whether a field of a batch has one entry per rollout, rather than one value for all."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _to_numpy(value: Any) -> Any:
    """A tensor as a numpy array, anything else as it is. Tensors are known by their methods, so torch is not imported."""
    if not (hasattr(value, "detach") and hasattr(value, "numpy")):
        return value
    tensor = value.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:
        return tensor.float().numpy()  # bfloat16 and the 8-bit floats, which numpy lacks and float32 holds exactly


def _plain(value: object) -> object:
    """Arrays and tensors as something json and orjson both know; raises TypeError for any other object."""
    array = _to_numpy(value)
    if isinstance(array, np.generic):
        array = np.asarray(array)
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    if array.dtype in (np.float16, np.float32):
        return _shortest(array)
    return array.tolist()


def _shortest(array: np.ndarray) -> object:
    """float16 or float32 as Python floats with float32's shortest digits (0.1, not 0.10000000149011612)."""
    return array.astype(np.float32).astype(str).astype(np.float64).tolist()
