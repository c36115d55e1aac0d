"""Tests of wandb's transaction log as it is while it grows and after it was damaged: waited for, refused, never read as numbers."""

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from bounded import run_bounded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wandb.proto.wandb_internal_pb2 import Record
from wandb_runs import ours, write

from board.errors import BoardError
from board.trackers import wandb

pytestmark = pytest.mark.usefixtures("no_environment")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a transaction log of several blocks, with records that reach over their borders."""
    folder = tmp_path_factory.mktemp("log")
    place = write(folder, {step: {f"metric/{number}": step / 7 for number in range(60)} for step in range(20)})
    data = next(place.glob("*.wandb")).read_bytes()
    assert len(data) > 2 * 32768
    return data


def saved(folder: Path, data: bytes) -> Path:
    """Bytes as a transaction log."""
    path = folder / "run-x.wandb"
    path.write_bytes(data)
    return path


def row(step: int, values: dict[str, str]) -> bytes:
    """One row of history, whose values may be lies."""
    record = Record()
    record.history.step.num = step
    for key, value in values.items():
        record.history.item.add(key=key, value_json=value)
    return record.SerializeToString()


MARK = b":W&B\xe1\xbe\x00"


def test_a_half_written_record_is_waited_for(tmp_path: Path, log: bytes) -> None:
    """Cut anywhere, at the borders of blocks too, a log gives the steps whose records are whole."""
    borders = [cut for border in (0, 32768, 65536) for cut in range(max(border - 12, 0), border + 12)]
    found = [
        len(ours(saved(tmp_path, log[:cut])).get("metric/0", {})) for cut in [*borders, *range(0, len(log), 5_003), len(log)]
    ]

    assert found[0] == 0
    assert found[: len(borders)] == sorted(found[: len(borders)])
    assert found[-1] == 20


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_damage_is_never_read_as_numbers(tmp_path: Path, log: bytes, where: float, bit: int) -> None:
    """One flipped bit is an error that names the file, or lies in the zeros that fill a block; no number changes."""
    data = bytearray(log)
    data[int(where * len(data))] ^= 1 << bit
    whole = ours(saved(tmp_path, log))
    path = saved(tmp_path, bytes(data))
    reasons = []
    try:
        found = ours(path)
    except BoardError as error:
        found = {}
        reasons.append(str(error))

    assert all(str(path) in reason for reason in reasons)
    assert all(whole[name][step] == value for name, curve in found.items() for step, value in curve.items())
    assert reasons or found == whole or int(where * len(data)) >= len(data) - 40_000


def piece(data: bytes, kind: int = 1) -> bytes:
    """One piece with a right checksum."""
    return struct.pack("<IHB", zlib.crc32(data, zlib.crc32(bytes([kind]))), len(data), kind) + data


MIDDLE = piece(b"x", 3)

LIES = {
    "another file": (b"SQLite format 3\x00", "no transaction log of this tracker"),
    "another version": (b":W&B\xe1\xbe\x09" + piece(b""), "no transaction log of this tracker"),
    "no record": (MARK + piece(b"\xff\xff"), "a record is none of W&B"),
    "a middle first": (MARK + piece(b"x", 3), "pieces are out of order"),
    "two beginnings": (MARK + piece(b"x", 2) + piece(b"x", 1), "pieces are out of order"),
    "a kind that is none": (MARK + piece(b"x", 9), "pieces are out of order"),
}


@pytest.mark.parametrize(("data", "reason"), LIES.values(), ids=LIES)
def test_lies_are_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    """A log that is none, or whose pieces do not fit, gives an error that names the file."""
    with pytest.raises(BoardError, match=f"run-x.wandb.*{reason}"):
        wandb.read(saved(tmp_path, data))


def test_a_record_of_a_million_pieces_is_put_together_at_once(tmp_path: Path) -> None:
    """However small its pieces are, a record takes time in proportion to its bytes."""
    count = 1_000_000
    whole = bytearray(MARK)
    for number in range(count):
        if (left := 32768 - len(whole) % 32768) < 8:  # in which a head alone would fit
            whole += piece(b"", 3) if left == 7 else bytes(left)
        whole += MIDDLE if 0 < number < count - 1 else piece(b"x", 4 if number else 2)

    told = run_bounded(
        "import sys; from pathlib import Path; from board.trackers.wandb import LOGS\n"
        "print(*map(len, LOGS.records(Path(sys.argv[1]))))",
        saved(tmp_path, bytes(whole)),
        cpu_seconds=30,
    )

    assert int(told) == count


def test_values_that_are_no_numbers_are_none(tmp_path: Path) -> None:
    """What begins like a number and is none leaves no point."""
    values = ["-", "1.2.3", "Nonsense", "[1]", '"1"', "", "1e5", "9" * 400]
    data = log_of(row(step, {"x": value}) for step, value in enumerate(values))

    assert ours(saved(tmp_path, data)) == {"x": {6: 1e5}}


def log_of(rows: Iterable[bytes]) -> bytes:
    """A log of many records, cut into pieces at the borders of blocks as W&B cuts them."""
    data = bytearray(MARK)
    for record in rows:
        first = True
        while first or record:
            if (left := 32768 - len(data) % 32768) < 7:
                data += bytes(left)
                left = 32768
            part, record = record[: left - 7], record[left - 7 :]
            data += piece(part, (2 if record else 1) if first else (3 if record else 4))
            first = False
    return bytes(data)


def test_ten_thousand_steps(tmp_path: Path) -> None:
    """Long runs are read whole, by their 60 metrics."""
    names = [f"metric/{number}" for number in range(60)]
    path = saved(tmp_path, log_of(row(step, dict.fromkeys(names, f"{step / 7!r}")) for step in range(10_000)))

    found = wandb.read(path)
    assert set(found) == set(names)
    assert all(np.array_equal(curve.values, np.arange(10_000) / 7) for curve in found.values())
