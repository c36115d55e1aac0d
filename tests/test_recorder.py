"""board.recorder: what is written is read back, and nothing that goes wrong reaches the training loop."""

import itertools
import json
import logging
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from board.recorder import RolloutRecorder, encode

ROOT = Path(__file__).parents[1]

TEXT = st.text(st.characters(exclude_categories=[]), max_size=20).filter(
    # JSON itself cannot tell a surrogate pair written as two code points from the character it encodes
    lambda text: not any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in itertools.pairwise(text))
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Every line of a shard, parsed; fails on a line that is not JSON."""
    data = path.read_bytes()

    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values that tells types and signs of zero apart and holds for NaN."""
    return repr(a) == repr(b)


@given(VALUE)
def test_any_json_value_is_read_back_exactly(value: Any) -> None:
    """Python's json reads back exactly what was given, whatever its floats, integers and characters."""
    assert same(json.loads(encode(value)), value)


@given(
    hnp.arrays(
        st.sampled_from([np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64, np.bool_]),
        hnp.array_shapes(max_dims=2, max_side=5),
    ),
    st.booleans(),
)
def test_arrays_are_read_back_bit_for_bit(array: np.ndarray, reverse: bool) -> None:
    """An array of any dtype, contiguous or not, is the same array after a round trip through text."""
    array = array[::-1] if reverse else array

    back = np.array(json.loads(encode(array)), dtype=array.dtype)

    np.testing.assert_array_equal(array, back)
    assert np.array_equal(np.signbit(array.astype(float)), np.signbit(back.astype(float))) or np.isnan(array.astype(float)).any()


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([0.1, -2.5], "[0.1,-2.5]", id="list"),
        pytest.param((1, "a"), '[1,"a"]', id="tuple"),
        pytest.param(np.array([0.1, -0.0], np.float32), "[0.1,-0.0]", id="float32 is shortest"),
        pytest.param(
            np.array([0.1, np.nan], np.float32),
            "[0.1, NaN]",
            id="float32 is shortest beside NaN",
        ),
        pytest.param(np.float32(0.1), "0.1", id="float32 scalar"),
        pytest.param(np.int64(3), "3", id="integer scalar"),
        pytest.param(np.array(7), "7", id="array of no dimension"),
        pytest.param(np.array([[1, 2], [3, 4]]).T, "[[1, 3], [2, 4]]", id="not contiguous"),
        pytest.param([math.nan, math.inf, -math.inf], "[NaN, Infinity, -Infinity]", id="literals"),
        pytest.param({"a": [None, math.nan]}, '{"a": [null, NaN]}', id="null and NaN told apart"),
        pytest.param("null", '"null"', id="a text that says null"),
        pytest.param(DeviceTensor([0.1, 2.0]), "[0.1,2.0]", id="foreign tensor"),
        pytest.param(
            [DeviceTensor([0.5]), DeviceTensor([1.5])],
            "[[0.5],[1.5]]",
            id="list of tensors",
        ),
    ],
)
def test_encoding(value: object, expected: str) -> None:
    """Numbers are written short and exact, and what is not finite as a literal."""
    assert encode(value).decode().replace(" ", "") == expected.replace(" ", "")


def test_torch_tensors(tmp_path: Path) -> None:
    """Tensors are written whatever their dtype and whether or not they require gradients."""
    torch = pytest.importorskip("torch")
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(
            step=torch.tensor(3),
            logprobs=torch.tensor([0.1, -1.0], requires_grad=True),
            values=torch.tensor([0.5, float("nan")], dtype=torch.bfloat16),
            loss_mask=torch.tensor([True, False]),
            reward=torch.tensor(0.25),
        )

    (row,) = rows_of(recorder.path)

    assert recorder.dropped == 0
    assert same(
        row,
        {
            "step": 3,
            "rank": 0,
            "logprobs": [0.1, -1.0],
            "values": [0.5, math.nan],
            "loss_mask": [True, False],
            "reward": 0.25,
        },
    )


def test_a_batch_is_columns(tmp_path: Path) -> None:
    """A batch gives one row per entry of its columns, and repeats scalars, texts and dicts."""
    with RolloutRecorder(tmp_path, rank=2) as recorder:
        recorder.write_batch(
            step=4,
            prompt=["a", "b"],
            values=np.array([[1, 2], [3, 4]]),
            reward=DeviceTensor([0.5, 1.5]),
            meta={"k": 1},
        )

    assert rows_of(tmp_path / "rank_2.jsonl") == [
        {
            "step": 4,
            "rank": 2,
            "prompt": "a",
            "values": [1, 2],
            "reward": 0.5,
            "meta": {"k": 1},
        },
        {
            "step": 4,
            "rank": 2,
            "prompt": "b",
            "values": [3, 4],
            "reward": 1.5,
            "meta": {"k": 1},
        },
    ]


@pytest.mark.parametrize(
    ("columns", "dropped"),
    [
        pytest.param({"prompt": ["a", "b"], "reward": [1.0]}, 2, id="unequal columns"),
        pytest.param({"prompt": "a"}, 1, id="no column"),
    ],
)
def test_a_batch_that_makes_no_sense_is_dropped_whole(tmp_path: Path, columns: dict[str, Any], dropped: int) -> None:
    """Columns that do not agree are never paired by guess."""
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write_batch(step=0, **columns)

    assert (dropped, []) == (recorder.dropped, rows_of(recorder.path))


class Hostile:
    """Fails at everything it is asked."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def endless() -> list[Any]:
    """A list that contains itself."""
    inner: list[Any] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(object(), id="object"),
        pytest.param({1, 2}, id="set"),
        pytest.param(1j, id="complex"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param(Hostile(), id="hostile"),
        pytest.param(endless(), id="endless"),
        pytest.param(10**5000, id="integer longer than Python prints"),
    ],
)
def test_a_broken_value_is_left_out_and_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture, value: object) -> None:
    """A value that is not JSON costs itself alone; the loss is counted each time and logged the first."""
    with caplog.at_level(logging.WARNING), RolloutRecorder(tmp_path) as recorder:
        for step in range(3):
            recorder.write(step=step, prompt="kept", broken=value)

    assert [{"step": step, "rank": 0, "prompt": "kept"} for step in range(3)] == rows_of(recorder.path)
    assert (recorder.dropped, len(caplog.records)) == (3, 1)
    assert "'broken'" in caplog.text


@pytest.mark.parametrize("step", [object(), Hostile()], ids=["object", "hostile"])
def test_a_row_without_a_step_is_dropped(tmp_path: Path, step: Any) -> None:
    """A row no board could place is not written."""
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(step=step, prompt="lost")

    assert (recorder.dropped, rows_of(recorder.path)) == (1, [])


def test_a_folder_that_cannot_be_made_does_not_stop_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Rows are dropped while the folder is impossible, and written as soon as it is not."""
    obstacle = tmp_path / "run"
    obstacle.write_text("a file where the folder should be")
    with caplog.at_level(logging.WARNING), RolloutRecorder(obstacle) as recorder:
        recorder.write(step=0)
        recorder.write_batch(step=1, prompt=["a", "b"])
        obstacle.unlink()
        recorder.write(step=2)

    assert (recorder.dropped, len(caplog.records)) == (3, 1)
    assert rows_of(obstacle / "rank_0.jsonl") == [{"step": 2, "rank": 0}]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's always-full device")
def test_a_full_disk_does_not_stop_training(tmp_path: Path) -> None:
    """An error while writing is a dropped row."""
    (tmp_path / "rank_0.jsonl").symlink_to("/dev/full")
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(step=0)

    assert recorder.dropped == 1


def test_closing(tmp_path: Path) -> None:
    """Closing twice is harmless, and a write after it is a loss, not an error."""
    recorder = RolloutRecorder(tmp_path)
    recorder.write(step=0)
    recorder.close()
    recorder.close()
    recorder.write(step=1)

    assert (recorder.dropped, rows_of(recorder.path)) == (1, [{"step": 0, "rank": 0}])


def test_an_exception_of_the_training_loop_passes_and_closes(tmp_path: Path) -> None:
    """The recorder hides no error that is not its own."""
    with pytest.raises(KeyError), RolloutRecorder(tmp_path) as recorder:
        raise KeyError("training")
    recorder.write(step=0)

    assert recorder.dropped == 1


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        pytest.param(b"", [b'{"step":1,"rank":0}'], id="empty"),
        pytest.param(b'{"step":0}\n', [b'{"step":0}', b'{"step":1,"rank":0}'], id="whole"),
        pytest.param(b'{"step":0,"prom', [b'{"step":0,"prom', b'{"step":1,"rank":0}'], id="cut"),
        pytest.param(
            b'{"step":0}',
            [b'{"step":0}', b'{"step":1,"rank":0}'],
            id="only the newline lost",
        ),
    ],
)
def test_reopening_never_glues_a_row_to_a_cut_line(tmp_path: Path, left: bytes, expected: list[bytes]) -> None:
    """What a killed process left stays as it is, and the next row starts a line of its own."""
    (tmp_path / "rank_0.jsonl").write_bytes(left)
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(step=1)

    assert expected == recorder.path.read_bytes().splitlines()


def test_every_row_is_on_disk_when_write_returns(tmp_path: Path) -> None:
    """Another process sees whole lines at any moment, with the recorder still open."""
    recorder = RolloutRecorder(tmp_path)
    for step in range(5):
        recorder.write(step=step, values=np.zeros(100))

        assert step + 1 == len(rows_of(recorder.path))
    recorder.close()


WRITER = """
import sys
from board.recorder import RolloutRecorder
with RolloutRecorder(sys.argv[1], rank=int(sys.argv[2])) as recorder:
    for step in range(int(sys.argv[3])):
        recorder.write(step=step, values=[float(step)] * 2000)
"""


def start_writer(folder: Path, rank: int, rows: int) -> subprocess.Popen[bytes]:
    """A process of its own that writes `rows` rows."""
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), str(rank), str(rows)], cwd=ROOT)


def test_two_ranks_write_two_files_of_whole_lines(tmp_path: Path) -> None:
    """Ranks in processes of their own share a folder and nothing else."""
    writers = [start_writer(tmp_path, rank, 50) for rank in (0, 1)]
    assert [writer.wait(60) for writer in writers] == [0, 0]

    for rank in (0, 1):
        rows = rows_of(tmp_path / f"rank_{rank}.jsonl")
        assert [(step, rank) for step in range(50)] == [(row["step"], row["rank"]) for row in rows]


def test_a_killed_process_leaves_whole_lines_but_the_last(tmp_path: Path) -> None:
    """SIGKILL in the middle of writing costs at most one line, and the next process goes on beside it."""
    writer = start_writer(tmp_path, 0, 10**9)
    shard = tmp_path / "rank_0.jsonl"
    while not shard.exists() or shard.stat().st_size < 2_000_000:
        assert writer.poll() is None
        time.sleep(0.01)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait(60)
    *whole, last = shard.read_bytes().split(b"\n")
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(step=-1)

    assert [*range(len(whole))] == [json.loads(line)["step"] for line in whole]
    assert json.loads(shard.read_bytes().splitlines()[-1]) == {"step": -1, "rank": 0}
    assert shard.read_bytes().count(b"\n") == len(whole) + 1 + (last != b"")


def test_needs_neither_torch_nor_pandas_nor_streamlit() -> None:
    """The recorder costs a training environment nothing but numpy and orjson."""
    code = "import sys, board.recorder; print(*sorted({'torch', 'pandas', 'streamlit', 'pyarrow', 'plotly'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == ""
