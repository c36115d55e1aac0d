"""The process that answers a query: started, listened to while it works, and ended. Knows neither tables nor what is asked."""

import os
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, Final

from board.errors import BoardError
from board.sql.sandbox_table import PROGRESS
from board.system import child_process
from board.text.counting import plural
from board.text.format_number import size

_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All that the process is given of the environment: Python itself may need them to start."""

_FRUGAL: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""For numpy and Arrow, which else have a thread for each core: with many cores their stacks alone would take the memory there is. Arrow's
own allocator would take a gigabyte of it at the first bytes it is asked for."""


def said_to(asked: BinaryIO, seconds: int, memory: int, show: Callable[[float], None]) -> bytes:
    """What the worker wrote on its standard output; it is gone when this returns, or raises.

    `show` is called now and then with the share that is done. Raises BoardError when it wrote nothing, or took longer than so many seconds.
    """
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    process = child_process.start("board.sql.sandbox_worker", environment | _FRUGAL, stdin=asked, stderr=subprocess.PIPE)
    assert process.stdout is not None
    overdue = threading.Event()
    timer = threading.Timer(seconds, _end, (process, overdue))
    with process, ThreadPoolExecutor(1) as listener:
        try:
            timer.start()
            written = listener.submit(process.stdout.read)
            said = _last_words(process, show)
            process.wait()
        finally:
            timer.cancel()
            process.kill()
    if overdue.is_set():
        raise BoardError(f"The query was stopped: it took longer than {plural(seconds, 'second')}.")
    if process.returncode < 0:
        raise BoardError(f"The query was stopped: it needed more than the {size(memory)} it may take, or DuckDB failed.")
    if process.returncode:
        raise BoardError(f"The process that answers queries failed: {said or process.returncode}.")
    return written.result()


def _last_words(process: "subprocess.Popen[bytes]", show: Callable[[float], None]) -> str:
    """The last line that it wrote on its standard error and that is no progress, once it is done."""
    assert process.stderr is not None
    last = b""
    for line in process.stderr:
        if line.startswith(PROGRESS):
            show(float(line.removeprefix(PROGRESS)))
        else:
            last = line.strip() or last
    return last.decode(errors="backslashreplace")


def _end(process: "subprocess.Popen[bytes]", overdue: threading.Event) -> None:
    overdue.set()
    process.kill()
