"""What the tests of trackers share: curves as plain dicts, a server that counts who calls, a process without a library."""

import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from board.trackers.contract import Curve

REPOSITORY = Path(__file__).parents[2]

HOSTILE = "<script>alert(1)</script> [a](javascript:x)\n\x1b[31m \ud800 half"
PLAIN = "<script>alert(1)</script> [a](javascript:x)\n\\u001b[31m \\ud800 half"
"""The same with what is no text made text."""

Steps = dict[int, dict[str, float]]

STEPS: Steps = {
    0: {"reward/mean": 0.1, "kl/k1 mean ∑": -3e-9},
    1: {"reward/mean": 1e300},
    12: {"reward/mean": -0.25, "kl/k1 mean ∑": 7.0},
}


def by_name(steps: Steps) -> dict[str, dict[int, float]]:
    """What was logged, by name."""
    names = dict.fromkeys(name for values in steps.values() for name in values)
    return {name: {step: values[name] for step, values in steps.items() if name in values} for name in names}


def curves(read: Callable[[Path], Mapping[str, Curve]], path: Path) -> dict[str, dict[int, float]]:
    """The scalars that a tracker's module reads, by name and step."""
    return {name: dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True)) for name, curve in read(path).items()}


class Counting(socketserver.ThreadingTCPServer):
    """Counts whoever connects, and answers nobody."""

    connections = 0
    daemon_threads = True

    def finish_request(self, request: Any, client_address: Any) -> None:
        """One more."""
        self.connections += 1

    @property
    def address(self) -> str:
        """For a library that asks where its service is."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def counting() -> Iterator[Counting]:
    """A server that takes a service's place."""
    with Counting(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


_BLOCKED = """
import shlex
import sys
name, folder, reads = sys.argv[1:]
sys.modules[name] = None
from pathlib import Path
from board.trackers import tracker
from board.trackers.contract import TrackerMissing
module = tracker(name)
(found,) = module.find(Path(folder))
attempts = [lambda: module.open_writer("run")]
if reads == "with":
    attempts.append(lambda: module.read(found))
else:
    assert module.read(found)
for attempt in attempts:
    try:
        attempt()
    except TrackerMissing as error:
        assert f"{shlex.quote(sys.executable)} -m pip install {name}" in str(error), error
    else:
        raise SystemExit("no error")
"""


def without_library(name: str, folder: Path, *, reads_without: bool = False) -> None:
    """Check, in a process where a tracker's library cannot be imported, that what it left is found and that writing, and reading too unless
    it `reads_without`, say how to get it."""
    command = [sys.executable, "-c", _BLOCKED, name, str(folder), "without" if reads_without else "with"]
    subprocess.run(command, check=True, timeout=60, cwd=REPOSITORY)
