"""Calls into a tracker's library that must come to an end, and must not print. Knows no library."""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import redirect_stdout
from typing import Any, TextIO, cast


def within(seconds: float, what: str, call: Callable[[], Any]) -> Any:
    """What a call gives, made in a thread of its own, so that it can be given up; the thread does not keep the process from ending.

    A library that is begun in the main thread may take the process's signals; begun here it cannot. What it prints in that thread is dropped,
    as it cannot be told not to. Raises TimeoutError, which says what did not end, and whatever the call raises.
    """
    future: Future[Any] = Future()

    def run() -> None:
        try:
            with redirect_stdout(cast(TextIO, _AllButOne(sys.stdout))):
                result = call()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is asked for
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError as error:
        if future.done():
            raise
        raise TimeoutError(f"{what} did not end within {seconds:g} s.") from error


class _AllButOne:
    """A stream that drops what one thread writes and hands on everybody else's."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        """Characters taken, written or dropped."""
        return len(text) if threading.get_ident() == self._thread else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
