"""What tests of the recorder share: a shard's lines, equality of JSON, a tensor of a library nobody imported."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from board.recorder.writer import account_path


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Every line of a shard, parsed; fails on a line that is not JSON."""
    data = path.read_bytes()

    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def shard_of(folder: Path, rank: int = 0) -> Path:
    """The only shard of a rank."""
    (shard,) = folder.glob(f"rank_{rank}.*.jsonl")
    return shard


def account(shard: Path) -> dict[str, Any]:
    """What the recorder keeps beside a shard."""
    return dict(json.loads(account_path(shard).read_bytes()))


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values that tells types and signs of zero apart and holds for NaN."""
    return repr(a) == repr(b)


def to(stream: Any) -> dict[str, Any]:
    """Options of a recorder that tracks to a stream, one JSON object a step."""
    return {"track_with": "stdout", "tracker_kwargs": {"stream": stream, "format": "jsonl"}}


class Hostile:
    """Fails at everything it is asked."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


class DeviceTensor:
    """A tensor of another library: on a device, requiring gradients, in a dtype numpy has not."""

    def __init__(self, values: list[float], where: str = "device") -> None:
        self.values, self.where = values, where

    def detach(self) -> "DeviceTensor":
        """Without its gradient."""
        return DeviceTensor(self.values, "detached")

    def cpu(self) -> "DeviceTensor":
        """In main memory; only once detached."""
        assert self.where == "detached"
        return DeviceTensor(self.values, "cpu")

    def float(self) -> "DeviceTensor":
        """In float32."""
        return DeviceTensor(self.values, "float32")

    def numpy(self) -> np.ndarray:
        """As an array, if numpy has the dtype."""
        if self.where != "float32":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.array(self.values, dtype=np.float32)
