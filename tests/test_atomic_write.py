"""board.atomic_write: under a name stands the whole of a file or what stood there before."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from board import atomic_write

REPOSITORY = Path(__file__).parents[1]


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_takes_the_place_of_another(tmp_path: Path, durable: bool) -> None:
    """What was there is replaced, and nothing is left beside it."""
    path = tmp_path / "a.json"

    atomic_write.write(path, b"one", durable=durable)
    atomic_write.write(path, b"two", durable=durable)

    assert path.read_bytes() == b"two"
    assert [*tmp_path.iterdir()] == [path]


def test_nothing_is_there_before_all_is(tmp_path: Path) -> None:
    """While a file is being written its name holds what it held, and what is unfinished is hidden."""
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    with atomic_write.replacing(path) as stream:
        stream.write(b"new" * 100_000)
        assert path.read_bytes() == b"old"
        assert [name.name[0] for name in tmp_path.iterdir() if name != path] == ["."]

    assert path.read_bytes() == b"new" * 100_000


def half_written(path: Path, interruption: BaseException) -> None:
    """Begin to write a file, and be interrupted."""
    with atomic_write.replacing(path) as stream:
        stream.write(b"half")
        raise interruption


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt])
def test_an_interrupted_write_changes_nothing(tmp_path: Path, interruption: type[BaseException]) -> None:
    """Whatever ends the writing, what stood there stays, and nothing is left beside it."""
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    with pytest.raises(interruption):
        half_written(path, interruption())

    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


REFUSED = {
    "a folder stands there": ("folder", IsADirectoryError),
    "no such folder": ("none/a", FileNotFoundError),
    "a file for a folder": ("file/a", NotADirectoryError),
}


@pytest.mark.parametrize(("name", "error"), REFUSED.values(), ids=REFUSED.keys())
def test_the_disk_s_own_error_is_raised(tmp_path: Path, name: str, error: type[OSError]) -> None:
    """What is in the way is told by the system's error, and nothing is left beside it."""
    (tmp_path / "folder" / "x").mkdir(parents=True)
    (tmp_path / "file").write_text("")

    with pytest.raises(error):
        atomic_write.write(tmp_path / name, b"data")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    """A name as long as the file system allows is no longer while it is being written."""
    path = tmp_path / ("a" * 255)

    atomic_write.write(path, b"data")

    assert path.read_bytes() == b"data"


WRITE_ON = """
import sys
from itertools import count
from pathlib import Path
from board import atomic_write
for number in count():
    atomic_write.write(Path(sys.argv[1]), str(number % 10).encode() * 200_000)
"""


def test_a_killed_process_leaves_a_whole_file(tmp_path: Path) -> None:
    """A process that is killed while it writes leaves the file as it was or as it was to be."""
    path = tmp_path / "a"
    for _ in range(5):
        path.unlink(missing_ok=True)
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
        process = subprocess.Popen([sys.executable, "-c", WRITE_ON, str(path)], env=environment)
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()

        data = path.read_bytes()
        assert (len(data), len(set(data))) == (200_000, 1)
