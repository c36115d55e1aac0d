"""Calls into a tracker's library that must come to an end. Knows no library."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


def within(seconds: float, what: str, call: Callable[[], Any]) -> Any:
    """What a call gives, made in a thread of its own, so that it can be given up; the thread does not keep the process from ending.

    A library that is begun in the main thread may take the process's signals; begun here it cannot. Raises TimeoutError, which says what
    did not end, and whatever the call raises.
    """
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is asked for
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError as error:
        if future.done():
            raise
        raise TimeoutError(f"{what} did not end within {seconds:g} s.") from error
