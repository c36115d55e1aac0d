"""A board in a process of its own, as its command starts it, for tests that look at the process."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SECONDS = 60.0


@contextmanager
def started(root: Path, aside: Path, *options: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]", Path]]:
    """Its address, which ends in a slash, its process, which is gone with the block, and the file that it prints into, in `aside`."""
    output = aside / "output.txt"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "board", "serve", str(root), "--port", "0", "--no-findings", *options],
            cwd=REPOSITORY,
            env=os.environ | {"HOME": str(aside), "RL_BOARD_CACHE": str(aside / "cache"), "PYTHONPATH": str(REPOSITORY)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            preexec_fn=_hear_ctrl_c,
        )
    try:
        eventually(lambda: b"http" in output.read_bytes() or process.poll() is not None)
        found = re.search(r"https?://\S+/", output.read_text())
        assert found, output.read_text()
        yield found[0], process, output
    finally:
        process.terminate()
        process.wait(timeout=SECONDS)


def _hear_ctrl_c() -> None:
    """A shell has what it starts in the background ignore Ctrl-C, and whatever that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait until something is so; fail where it does not become so."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
