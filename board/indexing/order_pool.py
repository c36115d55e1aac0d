"""Processes of this machine that answer orders in lines of JSON, each as it is free.

Knows neither what an order says nor what an answer means.
"""

import json
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from subprocess import Popen
from typing import Any, Final

from board.system import child_process

_POLL_SECONDS: Final = 0.2
_FRUGAL: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""As many processes as processors work: threads of each would stand in the others' way."""

Said = tuple[int, dict[str, Any]]


def answers(module: str, count: int, orders: Sequence[dict[str, Any]], tick: Callable[[], None]) -> Generator[Said, None, None]:
    """What processes of `python -m MODULE`, so many at a time, say to each order, beside its place, as it comes.

    One that ends costs the order it had: `failed`. All are gone when this ends, whatever ends it; `tick` is called while waiting.
    """
    waiting, said = SimpleQueue[tuple[int, dict[str, Any]]](), SimpleQueue[Said]()
    for one in enumerate(orders):
        waiting.put(one)
    pool = [_Worker(module, waiting, said) for _ in range(min(count, len(orders)))]
    try:
        left = len(orders)
        while left:
            try:
                answered = said.get(timeout=_POLL_SECONDS)
            except Empty:
                tick()
                continue
            left -= 1
            yield answered
    finally:
        for worker in pool:
            worker.end()
        for worker in pool:
            worker.thread.join()


class _Worker:
    """A thread that hands orders to a process of its own, and starts another one when that has ended."""

    def __init__(self, module: str, waiting: "SimpleQueue[tuple[int, dict[str, Any]]]", said: "SimpleQueue[Said]") -> None:
        self._module, self._waiting, self._said = module, waiting, said
        self._process: Popen[bytes] | None = None
        self._changing, self._ended = threading.Lock(), False
        self.thread = threading.Thread(target=self._serve, name="orders", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        with suppress(Empty):
            while not self._ended:
                at, order = self._waiting.get_nowait()
                self._said.put((at, self._answer(order)))
        self.end()
        self._reap()

    def _answer(self, order: dict[str, Any]) -> dict[str, Any]:
        try:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            return dict(json.loads(process.stdout.readline() or b"no word"))
        except (OSError, ValueError) as error:
            self._drop()
            return {"failed": f"a process that writes the frame ended: {error}"}

    def _drop(self) -> None:
        """End a process that says nothing more, or nonsense: the next order is another one's."""
        with self._changing:
            if self._process is not None:
                self._process.kill()
                self._reap()
                self._process = None

    def _started(self) -> "Popen[bytes]":
        with self._changing:
            if self._ended:
                raise OSError("nobody waits for it")
            if self._process is not None:
                return self._process
            self._process = child_process.start(self._module, os.environ | _FRUGAL)
            return self._process

    def end(self) -> None:
        """End the process, whatever it does."""
        with self._changing:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def _reap(self) -> None:
        """Let the process go that has ended. Called by the thread that speaks with it."""
        if self._process is not None:
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # an order that it did not live to read
                    if stream is not None:
                        stream.close()
