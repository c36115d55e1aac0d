"""board.system.forked_process: a copy answers, ends with its orders or when told, and does nothing of what the program is about."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

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
