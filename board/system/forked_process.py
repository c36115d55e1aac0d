"""A copy of this process that serves orders: there at once, where one that starts anew must import everything first.

Only where a copy is sound: another thread's locks would be copied as they are held at that moment, and nobody would let them go; and what a
driver of an accelerator or of a fast network has mapped is not the copy's. Knows nothing of what is ordered.
"""

import _thread
import os
import re
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

Serve = Callable[[BinaryIO, BinaryIO], None]
"""Reads orders from the first stream to its end, and writes answers to the second."""

_MOST_MEMORY: Final = 1 << 30
"""Bytes. To copy the tables of a process that holds more takes as long as to start one."""

_NEVER_COPIED: Final = ("cupy", "grpc", "jax", "mpi4py.MPI", "ray", "tensorflow")
"""Modules of libraries that bear no copy of their process once they are imported, or warn of each."""

_INITIALIZED: Final = ("torch.cuda", "torch.xpu", "torch.npu", "torch.mtia")
"""Modules that say by `is_initialized()` whether their accelerator is in use."""

_DEVICE: Final = re.compile(r"/dev/(nvidia|kfd$|dri/render|dxg$|accel|vfio/|davinci|hl\d|neuron|infiniband/)")
"""Of an open file: an accelerator's, or that of a network card which writes into memory by itself, whoever asked for it."""

_SOUND_THREADS: Final = ("jemalloc_bg_thd",)
"""Names of threads that know of copies: of the allocator that pyarrow brings."""


class ForkedProcess:
    """A copy under way; what of `subprocess.Popen` is needed to speak with it and to end it."""

    def __init__(self, number: int, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.pid, self.stdin, self.stdout = number, stdin, stdout
        self._ended: int | None = None
        self._looking = threading.Lock()
        """Held while it is asked how it ended, which is told once."""

    def poll(self) -> int | None:
        """How it ended; None while it has not."""
        with self._looking:
            return self._wait(os.WNOHANG)

    def kill(self) -> None:
        """End it."""
        with self._looking:
            if self._wait(os.WNOHANG) is None:
                os.kill(self.pid, signal.SIGKILL)

    def communicate(self) -> None:
        """Let it end, and wait until it has."""
        with suppress(BrokenPipeError):  # an order that it did not live to read
            self.stdin.close()
        self.stdout.close()
        with self._looking:
            self._wait(0)

    def _wait(self, options: int) -> int | None:
        if self._ended is None:
            found, status = os.waitpid(self.pid, options)
            self._ended = os.waitstatus_to_exitcode(status) if found else None
        return self._ended


def may_fork() -> bool:
    """Whether a copy of this process would be sound, and soon made: on Linux, with no thread of Python's beside this one.

    Nor with an accelerator or a library at work that bears no copy, such as in the script of a trainer; nothing is imported to find out.
    """
    if sys.platform != "linux" or _thread._count() or len(sys._current_frames()) > 1:  # `threading` does not know of all
        return False
    if any(name in sys.modules for name in _NEVER_COPIED) or any(map(_is_initialized, _INITIALIZED)):
        return False
    return _memory() <= _MOST_MEMORY and not holds_a_device(_open_files()) and not _has_named_threads()


def holds_a_device(open_files: Iterable[str]) -> bool:
    """Whether one of the files, by their paths, is an accelerator's or such a network card's."""
    return any(map(_DEVICE.match, open_files))


def _is_initialized(module: str) -> bool:
    says = getattr(sys.modules.get(module), "is_initialized", None)
    try:
        return bool(says and says())
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is no process to copy
        return True


def _open_files() -> list[str]:
    """What this process has open, as the kernel names it."""
    found = []
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that of the listing itself is closed by now
            found.append(str(one.readlink()))
    return found


def _has_named_threads() -> bool:
    """Whether a library has a thread under a name of its own: those of numpy and pyarrow, which bear copies, go by the process's."""
    names = set()
    for one in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it has just ended
            names.add((one / "comm").read_text().strip())
    return len(names.difference(_SOUND_THREADS)) > 1


def _memory() -> int:
    """Bytes that this process has in memory; not its peak, which counts what started it too."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def forked(serve: Serve) -> ForkedProcess:
    """A copy of this process that does nothing but serve, and ends with its orders. To be called where `may_fork`. Raises OSError."""
    orders, ours = os.pipe()
    theirs, said = os.pipe()
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python counts the threads of libraries, which know of copies
        number = os.fork()
    if number == 0:
        _serve(serve, orders, said, (ours, theirs))
    os.close(orders)
    os.close(said)
    return ForkedProcess(number, os.fdopen(ours, "wb"), os.fdopen(theirs, "rb"))


def _serve(serve: Serve, orders: int, said: int, others: tuple[int, int]) -> None:
    """Does not return: nothing of what the process was about is done twice, not even its end."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM):  # whatever the program wants done then is not for its copies to do
            signal.signal(number, signal.SIG_DFL)
        for one in others:
            os.close(one)
        with os.fdopen(orders, "rb") as read, os.fdopen(said, "wb") as written:
            serve(read, written)
    finally:
        os._exit(0)
