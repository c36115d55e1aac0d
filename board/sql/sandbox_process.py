"""The process that answers a query: started, listened to while it works, and ended. Knows neither tables nor what is asked."""

import os
from collections.abc import Callable
from typing import BinaryIO, Final

from board.errors import BoardError
from board.system.child_process import ChildEnded, ChildProcess
from board.text.counting import plural
from board.text.format_number import size

_PASSED_ON: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All that the process is given of the environment: Python itself may need them to start."""

_FRUGAL: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Arrow's own allocator would take a gigabyte of the memory there is at the first bytes it is asked for."""


def said_to(asked: BinaryIO, seconds: int, memory: int, show: Callable[[float], None]) -> bytes:
    """The Arrow stream that the worker answers with; it is gone when this returns, or raises.

    `show` is called now and then with the share that is done. Raises BoardError when there is no answer, or not in so many seconds.
    """

    def tell(share: float) -> None:
        if share:
            show(share)

    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    with ChildProcess("board.sql.sandbox_worker", environment | _FRUGAL, [asked.fileno()]) as process:
        try:
            written: bytes = process.ask({"table": asked.fileno()}, seconds=seconds, tell=tell)["payload"]
        except TimeoutError as error:
            raise BoardError(f"The query was stopped: it took longer than {plural(seconds, 'second')}.") from error
        except ChildEnded as error:
            if error.code is not None and error.code < 0:
                why = f"The query was stopped: it needed more than the {size(memory)} it may take, or DuckDB failed."
                raise BoardError(why) from error
            raise BoardError(f"The process that answers queries failed: {error}.") from error
    return written
