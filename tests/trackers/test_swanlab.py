"""Tests of SwanLab as a tracker, with the real SwanLab, offline."""

import os
import shutil
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, Literal

import pytest
import swanlab as library
from swanlab.proto.swanlab.record.v1.record_pb2 import Record
from swanlab.sdk.internal.core_python.store import DataStoreReader
from tracked import HOSTILE, REPOSITORY, STEPS, Counting, Steps, by_name, curves

from board.errors import BoardError
from board.trackers import swanlab


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the reader's own SwanLab counts here, and nothing of a test stays in their home."""
    for name in [name for name in os.environ if name.startswith("SWANLAB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def write(folder: Path, steps: Steps = STEPS, **options: Any) -> Path:
    """A run written offline with our writer; the folder it went to."""
    writer = swanlab.open_writer("run ä", mode="offline", logdir=folder, **options)
    for step, values in steps.items():
        writer.scalars(step, values)
    writer.close()
    return Path(writer.place)


def ours(path: Path) -> dict[str, dict[int, float]]:
    """The scalars that we find."""
    return curves(swanlab.read, path)


def own(folder: Path) -> list[tuple[str, int, float]]:
    """The scalars that SwanLab's own reader finds, in the order in which they were logged."""
    reader = DataStoreReader()
    reader.open(next(folder.glob("*.swanlab")))
    records = [Record.FromString(data) for data in reader]
    reader.close()
    return [(r.scalar.key, r.scalar.step, r.scalar.value.number) for r in records if r.HasField("scalar")]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """SwanLab's reader and ours find every number as the 64 bits it was, in a folder with spaces too."""
    place = write(tmp_path / "log s ä")
    (log,) = swanlab.find(tmp_path)

    assert log.parent == place
    assert ours(place) == ours(log) == by_name(STEPS)
    assert sorted(own(place)) == sorted((name, step, value) for step, values in STEPS.items() for name, value in values.items())


def test_a_run_goes_on(tmp_path: Path) -> None:
    """A run gone on with by its id is read as one run although SwanLab keeps its parts apart."""
    first = write(tmp_path, run_id="abc")
    writer = swanlab.open_writer("run", mode="offline", logdir=tmp_path, run_id="abc")
    writer.scalars(13, {"reward/mean": 0.5})
    writer.close()

    (log,) = swanlab.find(tmp_path)
    assert log.parent == Path(writer.place)
    assert ours(log) == by_name(STEPS | {13: {"reward/mean": 0.5}})
    assert [step for _, step, _ in own(first) + own(Path(writer.place))] == [0, 0, 1, 12, 12, 13]


def test_examples_are_text(tmp_path: Path) -> None:
    """Rollouts go to SwanLab's text, the model's words made plain, and leave no curve."""
    writer = swanlab.open_writer("run", mode="offline", logdir=tmp_path)
    writer.scalars(1, {"x": 1.0})
    writer.examples(1, "examples/best", [{"reward": 1.5, "response": HOSTILE}])
    writer.close()

    (file,) = Path(writer.place).glob("media/text/*.txt")
    assert file.read_text() == (
        "reward: 1.5\nresponse:\n    <script>alert(1)</script> [a](javascript:x)\n    \\u001b[31m \\ud800 half"
    )
    assert ours(Path(writer.place)) == {"x": {1: 1.0}}


def test_what_trainers_log_is_read(tmp_path: Path) -> None:
    """Nested values are joined and NaN kept; what SwanLab measures of the machine is no metric of the run."""
    run = library.init(mode="offline", project="p", log_dir=str(tmp_path))
    for step in range(3):
        run.log({"actor": {"lr": step / 7}, "text": library.Text("1.5")}, step=step)
    run.log({"nan": float("nan")}, step=3)
    run.finish()
    found = ours(Path(run.dir))

    assert dict(swanlab.read(Path(run.dir)).texts) == {"text": {0: "1.5"}}
    shutil.rmtree(Path(run.dir, "media"))
    assert swanlab.read(Path(run.dir)).others == ("text",)
    assert str(found.pop("nan")) == "{3: nan}"
    assert found == {"actor/lr": {step: step / 7 for step in range(3)}}


def test_the_process_is_the_callers_again(tmp_path: Path) -> None:
    """SwanLab gives Ctrl+C and the exception hook back once our run has ended."""
    before = signal.getsignal(signal.SIGINT), sys.excepthook
    write(tmp_path)

    assert before == (signal.getsignal(signal.SIGINT), sys.excepthook)


@pytest.mark.parametrize("name", ["rl board", "a'b%20c#d ü", "x" * 120])
def test_any_folder_can_be_worked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """SwanLab calls a project without a name after the working folder, and refuses most characters: such a folder's are replaced."""
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)

    assert ours(write(tmp_path / "logs", STEPS)) == by_name(STEPS)


def test_one_run_in_a_process(tmp_path: Path) -> None:
    """With a run of the trainer's open, ours is refused and theirs goes on."""
    run = library.init(mode="offline", project="p", log_dir=str(tmp_path))
    with pytest.raises(BoardError, match="requires an inactive Run"):
        swanlab.open_writer("run", mode="offline", logdir=tmp_path)
    run.log({"x": 1.0})
    run.finish()

    assert len(ours(Path(run.dir))["x"]) == 1


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a project with a space": ({"mode": "offline", "project": "my project"}, "project.name"),
    "online without a key": ({"mode": "online"}, "no API key was provided"),
    "a mode that is none": ({"mode": "sideways"}, "Invalid mode"),
    "local without its board": ({"mode": "local"}, r"mode local needs the library swanlab\[dashboard\]"),
}


@pytest.mark.parametrize(("options", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_swanlab_does_not_take_is_said(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    """A name, a mode or a project that SwanLab refuses is one error that says which."""
    with pytest.raises(BoardError, match=reason):
        swanlab.open_writer("run", logdir=tmp_path, **options)


def piece(data: bytes) -> bytes:
    """A whole record with a right checksum."""
    return struct.pack("<IHB", zlib.crc32(data, zlib.crc32(b"\x01")), len(data), 1) + data


def scalar(step: int, value: float | None) -> bytes:
    """A record of one scalar, with or without its number."""
    record = Record()
    record.scalar.key = "x"
    record.scalar.step = step
    if value is not None:
        record.scalar.value.number = value
    return piece(record.SerializeToString())


MARK = struct.pack("<4sHB", b":SWL", 0xE1D6, 2)
LIES = {
    "another file": (b"{}        ", "no transaction log of this tracker"),
    "W&B's": (b":W&B\xe1\xbe\x00", "no transaction log of this tracker"),
    "an older layout": (struct.pack("<4sHB", b":SWL", 0xE1D6, 1), "version that is not known"),
    "no record": (MARK + piece(b"\xff\xff"), "a record is none of SwanLab"),
    "a wrong checksum": (MARK + scalar(1, 1.0)[:-1] + b"\x00", "damaged at byte 7"),
}


@pytest.mark.parametrize(("data", "reason"), LIES.values(), ids=LIES)
def test_damage_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    """A log that is none, or is damaged, gives an error that names the file."""
    path = tmp_path / "run-x.swanlab"
    path.write_bytes(data)

    with pytest.raises(BoardError, match=f"run-x.swanlab.*{reason}"):
        swanlab.read(path)


def test_a_half_written_record_is_waited_for(tmp_path: Path) -> None:
    """Cut anywhere, a log gives the steps whose records are whole; zero is a number, and none is none."""
    data = MARK + scalar(1, 0.0) + scalar(2, None) + scalar(3, 0.5)
    path = tmp_path / "run-x.swanlab"
    found = []
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        found.append(len(ours(path).get("x", {})))

    assert found == sorted(found)
    assert ours(path) == {"x": {1: 0.0, 3: 0.5}}


def test_ten_thousand_steps(tmp_path: Path) -> None:
    """Long runs written by SwanLab are read whole."""
    steps = {step: {"x": step / 7} for step in range(10_000)}

    assert ours(write(tmp_path, steps)) == by_name(steps)


WRITING = """
import sys
from board.trackers import swanlab
writer = swanlab.open_writer("run", logdir=sys.argv[1], mode="offline", project="p")
for step in range(3):
    writer.scalars(step, {"x": step / 7})
writer.close()
"""


def in_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process that writes a run with our writer."""
    command = [sys.executable, "-c", WRITING, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=REPOSITORY, env=os.environ | environment)


def test_offline_is_obeyed(tmp_path: Path, server: Counting) -> None:
    """Offline nothing is sent to SwanLab's address, and nothing goes wrong."""
    ended = in_process(str(tmp_path), SWANLAB_API_HOST=server.address, SWANLAB_WEB_HOST=server.address, SWANLAB_API_KEY="k" * 21)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert server.connections == 0


@pytest.mark.parametrize("mode", [None, "offline"])
def test_offline_is_obeyed_with_a_log_in(
    tmp_path: Path, server: Counting, monkeypatch: pytest.MonkeyPatch, mode: Literal["offline"] | None
) -> None:
    """Nobody logs in offline, be it asked for by SWANLAB_MODE or as an argument, though a key and a host are given."""
    if mode is None:
        monkeypatch.setenv("SWANLAB_MODE", "offline")

    writer = swanlab.open_writer("run", mode=mode, logdir=tmp_path, login_kwargs={"api_key": "made up", "host": server.address})
    writer.scalars(0, {"a": 1.0})
    writer.close()

    assert server.connections == 0
    assert ours(Path(writer.place)) == {"a": {0: 1.0}}
