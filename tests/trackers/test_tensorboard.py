"""Tests of TensorBoard as a tracker, with the real TensorBoard: its writers, its readers and its server."""

import json
import shutil
import struct
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.plugin_util import markdown_to_safe_html, safe_html
from tensorboard.summary import Writer as TensorBoardsOwnWriter
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tracked import Steps, by_name, curves

from board.errors import BoardError
from board.trackers import tensorboard
from board.trackers.contract import page, plain_rows

HOSTILE = (
    "<script>alert(1)</script>\n```\n# head\n</code></pre><img src=https://evil.example/a.png onerror=x>\n"
    "![p](https://evil.example/b.png) [l](javascript:alert(1))\n\n<!-- c\n\x02wzxhzdk:0\x03 \x1b[31m &lt;img src=x&gt;"
)

STEPS = {
    0: {"reward/mean": 0.1, "kl/k1 mean ∑": -3e-9},
    1: {"reward/mean": 1e30, "kl/k1 mean ∑": 7.0},
    12: {"reward/mean": -0.25},
}


def write(folder: Path, steps: Steps = STEPS, **options: Any) -> Path:
    """A run written with our writer; the folder it went to."""
    writer = tensorboard.open_writer("run ä", log_dir=folder, **options)
    for step, values in steps.items():
        writer.scalars(step, values)
    writer.close()
    return Path(writer.place)


def owns(folder: Path) -> dict[str, dict[int, float]]:
    """The scalars that TensorBoard's own reader finds, all of them."""
    accumulator = EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0})
    accumulator.Reload()
    old = {tag: {event.step: event.value for event in accumulator.Scalars(tag)} for tag in accumulator.Tags()["scalars"]}
    new = {
        tag: {event.step: float(event.tensor_proto.float_val[0]) for event in accumulator.Tensors(tag)}
        for tag in accumulator.Tags()["tensors"]
    }
    return old | new


def ours(path: Path) -> dict[str, dict[int, float]]:
    """The scalars that we find."""
    return curves(tensorboard.read, path)


def as_float32(steps: Steps) -> dict[str, dict[int, float]]:
    """What was logged, by name, as float32 holds it."""
    return {name: {step: float(np.float32(value)) for step, value in curve.items()} for name, curve in by_name(steps).items()}


def only_file(folder: Path) -> Path:
    """The one event file of a folder."""
    (file,) = folder.iterdir()
    return file


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """TensorBoard's reader and ours find every number that was logged, as float32."""
    folder = write(tmp_path)

    assert owns(folder) == ours(folder) == ours(only_file(folder)) == as_float32(STEPS)
    assert tensorboard.find(tmp_path) == [folder]


def test_each_run_has_a_timestamped_folder_of_its_own(tmp_path: Path) -> None:
    """Two runs begun within one second do not share a folder, and both say when they began."""
    folders = {write(tmp_path / "logs with spaces") for _ in range(3)}

    assert len(folders) == 3
    assert all(folder.name.startswith(f"run ä-{time.localtime().tm_year}") for folder in folders)


def test_a_run_goes_on(tmp_path: Path) -> None:
    """What a writer that goes on adds stands beside what there was."""
    write(tmp_path, STEPS, resume="allow")
    writer = tensorboard.open_writer("run ä", log_dir=tmp_path, resume="allow")
    writer.scalars(13, {"reward/mean": 0.5})
    writer.close()

    assert owns(tmp_path / "run ä") == ours(tmp_path / "run ä") == as_float32(STEPS | {13: {"reward/mean": 0.5}})


def test_a_run_that_is_not_to_be_gone_on_with_is_another(tmp_path: Path) -> None:
    """Each has a folder of its own, which says its name."""
    places = []
    for _ in range(3):
        writer = tensorboard.open_writer("run", log_dir=tmp_path, resume="never")
        places.append((writer.name, writer.place))
        writer.close()

    assert places == [(name, str(tmp_path / name)) for name in ("run", "run-2", "run-3")]


@pytest.mark.parametrize("run", ["../../etc", "a/b", ".", "..", "", "x" * 400, "C:\\x", "nul\x00"])
def test_a_run_cannot_leave_its_log_dir(tmp_path: Path, run: str) -> None:
    """Whatever a run is called, its folder lies directly in log_dir."""
    writer = tensorboard.open_writer(run, log_dir=tmp_path / "in")
    writer.close()

    assert Path(writer.place).resolve().parent == tmp_path / "in"


def test_old_and_new_scalars_are_read(tmp_path: Path) -> None:
    """Scalars that TensorBoard's own writer keeps as tensors are read beside those of the first kind; texts and vectors are not."""
    theirs = TensorBoardsOwnWriter(str(tmp_path / "run"))
    for step in range(3):
        theirs.add_scalar("loss", step / 7, step)
    theirs.close()
    writer = tensorboard.open_writer("run", log_dir=tmp_path, resume="allow")
    writer.scalars(3, {"loss": 0.5, "lr": 1e-6})
    writer.examples(3, "examples", [{"response": "text"}])
    writer.close()

    expected = as_float32({**{step: {"loss": step / 7} for step in range(3)}, 3: {"loss": 0.5, "lr": 1e-6}})
    assert ours(tmp_path / "run") == expected


def test_torch_writes_what_we_read(tmp_path: Path) -> None:
    """A run of PyTorch's SummaryWriter, with its one event for each scalar, is read whole."""
    pytest.importorskip("torch")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        for step in range(50):
            writer.add_scalar("old", step / 3, step)
            writer.add_scalar("new", step / 3, step, new_style=True)
        writer.add_histogram("h", np.arange(9), 0)
        writer.add_text("t", "text", 0)

    assert ours(tmp_path) == as_float32({step: {"old": step / 3, "new": step / 3} for step in range(50)})


def test_the_last_value_of_a_step_counts(tmp_path: Path) -> None:
    """A trainer that goes back to a checkpoint logs steps again: the curve rises in steps and holds what was logged last."""
    writer = tensorboard.open_writer("run", log_dir=tmp_path, resume="allow")
    for step, value in [(1, 1.0), (2, 2.0), (3, 3.0), (2, 20.0), (2, 21.0)]:
        writer.scalars(step, {"x": value})
    writer.close()

    assert ours(tmp_path / "run") == {"x": {1: 1.0, 2: 21.0, 3: 3.0}}


def test_a_half_written_record_is_waited_for(tmp_path: Path) -> None:
    """Cut anywhere, a file gives every step whose record is whole, and nothing is said to be damaged."""
    file = only_file(write(tmp_path / "a", {step: {"x": float(step)} for step in range(4)}))
    data = file.read_bytes()
    cut = tmp_path / "events.out.tfevents.cut"
    found = []
    for length in range(len(data) + 1):
        cut.write_bytes(data[:length])
        found.append(len(ours(cut).get("x", {})))

    assert found == sorted(found)
    assert found[0] == 0
    assert found[-2:] == [3, 4]


@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_damage_is_never_read_as_numbers(tmp_path_factory: pytest.TempPathFactory, where: float, bit: int) -> None:
    """One flipped bit anywhere, in a length, a checksum or a number, is an error that names the file."""
    folder = tmp_path_factory.mktemp("flip")
    file = only_file(write(folder / "a"))
    data = bytearray(file.read_bytes())
    data[int(where * len(data))] ^= 1 << bit
    damaged = folder / "events.out.tfevents.damaged"
    damaged.write_bytes(data)

    with pytest.raises(BoardError, match=r"events\.out\.tfevents\.damaged: damaged after byte [\d,]+:"):
        tensorboard.read(damaged)


def record(data: bytes, length: int | None = None) -> bytes:
    """A record with right checksums, of bytes that may be no event, and a length that may be a lie."""
    head = struct.pack("<Q", len(data) if length is None else length)
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))


LIES = {
    "length of 16 exabytes": (record(b"", 2**64 - 1), "a record of more than 268,435,456 bytes"),
    "no event": (record(b"\xff\xff\xff"), "a record is no event"),
    "name that is no UTF-8": (record(b"*\x05\n\x03\n\x01\xff"), "a record is no event"),
}


@pytest.mark.parametrize(("data", "reason"), LIES.values(), ids=LIES)
def test_lies_are_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    """A record whose checksums are right and whose content is not gives an error that names the file."""
    file = tmp_path / "events.out.tfevents.lie"
    file.write_bytes(data)

    with pytest.raises(BoardError, match=f"tfevents.lie: .*{reason}"):
        tensorboard.read(file)


def tensor_event(shape: list[int], values: list[float]) -> bytes:
    """An event with a scalar that says it has a shape."""
    event = Event(step=1)
    value = event.summary.value.add(tag="x")
    value.metadata.plugin_data.plugin_name = "scalars"
    value.tensor.dtype = 1
    for size in shape:
        value.tensor.tensor_shape.dim.add(size=size)
    value.tensor.float_val.extend(values)
    return record(event.SerializeToString())


def test_a_scalar_of_enormous_shape_is_no_scalar(tmp_path: Path) -> None:
    """A tensor that says it has a million million elements is left out before it is made."""
    file = tmp_path / "events.out.tfevents.0"
    file.write_bytes(tensor_event([10**6, 10**6], [1.0]) + tensor_event([1, 1], [2.0]))

    assert ours(file) == {"x": {1: 2.0}}


def test_a_scalar_without_a_number_is_refused(tmp_path: Path) -> None:
    """A scalar whose number is not there is an error that names the file, not a zero."""
    file = tmp_path / "events.out.tfevents.0"
    file.write_bytes(tensor_event([], []))

    with pytest.raises(BoardError, match=r"tfevents\.0: a record is no event"):
        tensorboard.read(file)


def test_ten_thousand_steps(tmp_path: Path) -> None:
    """Long runs are read whole."""
    values = {f"metric/{number}": number / 7 for number in range(40)}
    found = tensorboard.read(write(tmp_path, dict.fromkeys(range(10000), values)))

    assert len(found) == 40
    assert all(np.array_equal(curve.steps, np.arange(10_000)) for curve in found.values())
    assert all(np.all(found[name].values == np.float32(value)) for name, value in values.items())


@pytest.mark.parametrize("quick", [True, False], ids=["with google-crc32c", "without"])
def test_long_records_are_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool) -> None:
    """A long text between the numbers is passed over when whole and found out when damaged."""
    if not quick:
        monkeypatch.setitem(sys.modules, "google_crc32c", None)
    writer = tensorboard.open_writer("run", log_dir=tmp_path, resume="allow")
    writer.scalars(1, {"x": 1.0})
    writer.examples(1, "e", [{"response": "long " * 5_000}])
    writer.scalars(2, {"x": 2.0})
    writer.close()
    assert ours(tmp_path / "run") == {"x": {1: 1.0, 2: 2.0}}

    file = only_file(tmp_path / "run")
    file.write_bytes(file.read_bytes().replace(b"long long", b"long song", 1))
    with pytest.raises(BoardError, match="a checksum is wrong"):
        tensorboard.read(file)


@given(text=st.text() | st.text(alphabet="<>&`~#*_[]()!\\/-=|\t\n\r \x02\x03ai:"))
def test_no_text_becomes_more_than_text(text: str) -> None:
    """Whatever a model writes, TensorBoard's page holds no tag of it, with Markdown on and with Markdown off."""
    shown = tensorboard.inert_markdown(page(plain_rows([{"response": text}])))

    rendered = markdown_to_safe_html(shown)
    assert rendered.startswith("<pre><code>")
    assert rendered.rstrip().endswith("</code></pre>")
    assert "<" not in rendered.strip()[len("<pre><code>") : -len("</code></pre>")]
    assert "<" not in safe_html(shown)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A running TensorBoard over a run of ours: its address, and the name it gives the run."""
    logs = tmp_path_factory.mktemp("logs")
    writer = tensorboard.open_writer("tiny run", log_dir=logs)
    for step, values in STEPS.items():
        writer.scalars(step, values)
    writer.examples(12, "examples/worst", [{"reward": -0.25, "response": HOSTILE}])
    writer.close()
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logs), "--port", "0", "--host", "127.0.0.1"]
    with subprocess.Popen([*command, "--load_fast", "false"], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            address = next(word for line in server.stderr for word in line.split() if word.startswith("http://"))
            yield address, Path(writer.place).name
        finally:
            server.kill()


def asked(address: str, route: str, **query: str) -> Any:
    """What a server answers, as JSON."""
    with urllib.request.urlopen(f"{address}data/{route}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
        return json.load(answer)


def until(condition: Any) -> Any:
    """The first answer that is not empty; TensorBoard loads runs after it has begun to serve."""
    for _ in range(150):
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("TensorBoard did not load the run within 15 s")


def test_a_running_tensorboard_shows_the_numbers(served: tuple[str, str]) -> None:
    """The server answers with every step and every number that was logged."""
    address, run = served
    until(lambda: asked(address, "plugin/scalars/tags").get(run))

    for tag, values in as_float32(STEPS).items():
        answer = asked(address, "plugin/scalars/scalars", run=run, tag=tag)
        assert {step: value for _, step, value in answer} == values


def test_a_running_tensorboard_shows_a_model_text_as_text(served: tuple[str, str]) -> None:
    """The server's HTML holds the hostile text escaped, and no tag of it, with Markdown on and off."""
    address, run = served
    until(lambda: asked(address, "plugin/text/tags").get(run))

    for markdown in ("true", "false"):
        (answer,) = asked(address, "plugin/text/text", run=run, tag="examples/worst", markdown=markdown)
        body = answer["text"].replace("<pre><code>", "").replace("</code></pre>", "")
        assert answer["step"] == 12
        assert "<" not in body
        assert "alert(1)" in body
        assert "\x1b" not in body


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where the folder should be is the system's own error, at once."""
    (tmp_path / "file").write_text("")

    with pytest.raises(OSError, match="file"):
        tensorboard.open_writer("run", log_dir=tmp_path / "file")


def test_event_file_writer_of_tensorboard(tmp_path: Path) -> None:
    """What TensorBoard's asynchronous writer leaves behind is read while it still writes, and copied away."""
    writer = EventFileWriter(str(tmp_path / "live"))
    event = Event(step=3)
    event.summary.value.add(tag="x", simple_value=float("nan"))
    writer.add_event(event)
    writer.flush()
    shutil.copytree(tmp_path / "live", tmp_path / "copy")
    writer.close()

    (curve,) = tensorboard.read(tmp_path / "copy").values()
    assert curve.steps.tolist() == [3]
    assert np.isnan(curve.values).all()
