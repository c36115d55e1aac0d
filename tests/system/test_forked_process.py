"""board.system.forked_process: a copy answers, ends with its orders or when told, and does nothing of what the program is about."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from board.system import child_process, forked_process

_ECHO = """
import os, sys
from board.system import forked_process

def serve(orders, said):
    for line in orders:
        said.write(b"%d: " % os.getpid() + line)
        said.flush()
"""


def _run(script: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """The script in a process of its own: this one may have threads of the test runner's, and must not be copied then."""
    packages = str(Path(child_process.__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": packages}
    command = [sys.executable, "-c", textwrap.dedent(_ECHO) + textwrap.dedent(script)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_copy_answers(tmp_path: Path) -> None:
    """Order by order, from a process of its own, until there are no more orders."""
    done = _run(
        """
        copy = forked_process.forked(serve)
        answers = []
        for order in (b"one\\n", b"two\\n"):
            copy.stdin.write(order)
            copy.stdin.flush()
            answers.append(copy.stdout.readline())
        assert answers == [b"%d: one\\n" % copy.pid, b"%d: two\\n" % copy.pid], answers
        assert copy.pid != os.getpid() and copy.poll() is None
        copy.communicate()
        assert copy.poll() == 0
        copy.kill()  # of what has ended nothing is left to end
        """,
        tmp_path,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_copy_does_nothing_of_the_programs_own(tmp_path: Path) -> None:
    """What the program has still to say, its end, and what it wants done on a signal are done once, though a copy fails or is told to end."""
    done = _run(
        """
        import atexit, signal, time
        atexit.register(lambda: os.write(1, b"end "))
        signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"handled "))
        sys.stdout.write("said ")

        def fails(orders, said):
            raise ValueError("no traceback of this is printed, as whoever waits for the answer says what went wrong")

        failed, ended = forked_process.forked(fails), forked_process.forked(serve)
        ended.stdin.write(b"\\n")
        ended.stdin.flush()
        ended.stdout.readline()
        os.kill(ended.pid, signal.SIGTERM)
        for copy in (failed, ended):
            copy.communicate()
        assert (failed.poll(), ended.poll()) == (0, -signal.SIGTERM)
        """,
        tmp_path,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "said end ", "")


def test_a_killed_copy_is_seen_to_have_ended(tmp_path: Path) -> None:
    """By the signal, as a process that was started anew would say."""
    done = _run(
        f"""
        copy = forked_process.forked(serve)
        copy.kill()
        copy.communicate()
        assert copy.poll() == -{int(signal.SIGKILL)}
        """,
        tmp_path,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_copies_end_with_a_program_that_was_killed(tmp_path: Path) -> None:
    """None of several waits for orders that nobody will give."""
    done = _run(
        f"""
        copies = [forked_process.forked(serve) for _ in range(3)]
        os.write(1, " ".join(str(copy.pid) for copy in copies).encode())
        os.kill(os.getpid(), {int(signal.SIGKILL)})
        """,
        tmp_path,
    )

    assert done.returncode == -signal.SIGKILL
    assert len(done.stdout.split()) == 3  # its output has ended, and with it all who could have written to it


def test_it_is_only_copied_where_it_is_alone(tmp_path: Path) -> None:
    """A process with a second thread of Python's, of whatever module, is not: its locks would be copied as they are held."""
    done = _run(
        """
        import _thread
        print(forked_process.may_fork())
        begun, held = [], _thread.allocate_lock()
        held.acquire()
        _thread.start_new_thread(lambda: (begun.append(True), held.acquire()), ())
        while not begun:
            pass
        print(forked_process.may_fork())
        """,
        tmp_path,
    )

    assert done.stdout.split() == [str(sys.platform == "linux"), "False"]
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        assert not forked_process.may_fork()
    finally:
        release.set()
        thread.join()


IN_USE: dict[str, str] = {
    "an accelerator": "import torch.cuda",
    "an accelerator that cannot say": "import torch.xpu",
    "a library that bears no copy": "import jax",
    "a library's thread": """
        import ctypes
        libc, thread = ctypes.CDLL("libc.so.6"), ctypes.c_ulong()
        assert not libc.pthread_create(ctypes.byref(thread), None, libc.pause, None)
        assert not libc.pthread_setname_np(thread, b"grpc_poller")
    """,
}
"""What a program has done before it opens a run."""

STAND_INS: dict[str, str] = {
    "torch/__init__.py": "",
    "torch/cuda.py": "def is_initialized(): return True",
    "torch/mtia.py": "def is_initialized(): return False",
    "torch/xpu.py": "def is_initialized(): raise RuntimeError('no driver')",
    "jax/__init__.py": "",
}
"""As much of libraries that need a machine of their own as is looked at."""


@pytest.mark.parametrize("done_before", IN_USE.values(), ids=IN_USE)
def test_it_is_not_copied_with_what_bears_no_copy(tmp_path: Path, done_before: str) -> None:
    """A trainer's script that has a graphics card, or such a library, at work: processes are started anew there."""
    _with_stand_ins(tmp_path)

    done = _run(f"{textwrap.dedent(done_before)}\nprint(forked_process.may_fork())", tmp_path)

    assert (done.stdout.split(), done.stderr) == (["False"], "")


def test_what_is_imported_and_not_in_use_hinders_nothing(tmp_path: Path) -> None:
    """An accelerator's library alone, and the threads of those that the board has itself."""
    _with_stand_ins(tmp_path)

    done = _run(
        """
        import torch.mtia
        import numpy, pandas, pyarrow.parquet
        pyarrow.parquet.write_table(pyarrow.table({"a": numpy.dot(numpy.ones((500, 500)), numpy.ones(500))}), "a.parquet")
        pyarrow.parquet.read_table("a.parquet")
        print(forked_process.may_fork())
        """,
        tmp_path,
    )

    assert (done.stdout.split(), done.stderr) == ([str(sys.platform == "linux")], "")


def _with_stand_ins(folder: Path) -> None:
    """Write them where a script that runs there finds them."""
    for name, text in STAND_INS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


DEVICES: dict[str, bool] = {
    "/dev/nvidiactl": True,
    "/dev/nvidia0": True,
    "/dev/nvidia-uvm": True,
    "/dev/kfd": True,
    "/dev/dri/renderD128": True,
    "/dev/accel/accel0": True,
    "/dev/vfio/0": True,
    "/dev/infiniband/uverbs0": True,
    "/dev/null": False,
    "/dev/dri/card0": False,
    "/dev/shm/nvidia": False,
    "/home/ana/dev/nvidia0": False,
    "pipe:[1234]": False,
}


@pytest.mark.parametrize("path", DEVICES)
def test_open_devices(path: str) -> None:
    """Those of accelerators, and of network cards that write into memory, are known by their paths."""
    assert forked_process.holds_a_device(["/dev/null", path]) == DEVICES[path]


def test_a_large_process_is_not_copied(tmp_path: Path) -> None:
    """The tables of its memory alone would take longer to copy than a new process takes to start."""
    done = _run("held = bytearray(b'x') * (1100 << 20)\nprint(forked_process.may_fork())", tmp_path)

    assert done.stdout.split() == ["False"]


def test_the_memory_of_what_started_it_is_not_its_own(tmp_path: Path) -> None:
    """Linux counts into a process's peak what the one that started it held."""
    small = "from board.system import forked_process; print(forked_process.may_fork())"
    done = _run(
        f"""
        import subprocess
        held = bytearray(b"x") * (1100 << 20)
        subprocess.run([sys.executable, "-c", {small!r}], check=True)
        """,
        tmp_path,
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(sys.platform == "linux"), "")
