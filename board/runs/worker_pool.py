"""Processes that parse byte ranges beside this one: started when they are needed, asked in lines of JSON, ended with the load.

Knows how to speak with `board.runs.worker` and what answers as it does; knows neither what a byte range holds nor which are missing.
"""

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

from board.errors import BoardError, RunNotFound
from board.runs.byte_range import ByteRange
from board.runs.part_folder import Piece, piece_from
from board.runs.work_queue import WorkQueue
from board.runs.worker import Answer, answer, serve
from board.sources.shards import is_plain
from board.system import child_process, forked_process
from board.system.forked_process import ForkedProcess

Child = subprocess.Popen[bytes] | ForkedProcess
"""A process that parses."""

Outcome = Piece | BoardError | OSError
"""What became of a byte range: what is kept of it, the shard's fault, or the cache's."""


Take = Callable[[], ByteRange | None]
"""Called by whoever is free, gives the range whose turn it is then; None when there is none left."""

Submit = Callable[[Take], "Future[tuple[ByteRange, Outcome] | None]"]

_POLL_SECONDS: Final = 0.2

_FRUGAL: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""For a process that parses: nothing in it is a matrix, and threads that would multiply some are started when numpy is imported."""


@dataclass(frozen=True)
class Helpers:
    """Processes that are there for a while."""

    submit: Submit
    dismiss: Callable[[], None]
    """Nothing more will come: they end while others go on, as to give back what they held takes them some time."""


def outcomes(helpers: Helpers, work: WorkQueue, tick: Callable[[], None]) -> Iterator[tuple[ByteRange, Outcome]]:
    """What becomes of each byte range, as it comes; `tick` is called while waiting, so that a reader who leaves is heard."""
    waiting = {helpers.submit(work.take) for _ in range(len(work))}
    while waiting:
        done, waiting = wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        yield from filter(None, (future.result() for future in done))
        if not done:
            tick()
    helpers.dismiss()


@contextmanager
def helpers(
    count: int,
    order: Callable[[ByteRange], dict[str, Any]],
    here: Callable[[ByteRange], Outcome] | None,
    under_way: dict[str, int],
    worker: tuple[str, Answer] = ("board.runs.worker", answer),
    fetching: Callable[[ByteRange], Outcome | None] = lambda byte_range: None,
) -> Iterator[Helpers]:
    """Has `count` byte ranges parsed at a time: one of them `here`, which begins at once, the others by processes that must start first.

    `order` is called when the turn of a range comes, and gives what its process is told: one of the module, and with the answers, of `worker`.
    `fetching` sees that the bytes are on this machine, or says why they are not.

    Without `here` all are parsed by processes. All processes are gone when the context ends, finished or not. A compressed shard is one long
    byte range and always goes to a process, which can be ended at any time; `under_way` is told how many of its bytes, by name, have been read.
    Plain processes spoken to in lines of JSON: a pool of `multiprocessing` would run the server's script again in each.
    """
    free = threading.Lock()
    processes = _Processes(count - bool(here), *worker)

    def parsed(byte_range: ByteRange) -> Outcome:
        if trouble := fetching(byte_range):
            return trouble
        if here and is_plain(byte_range.shard) and free.acquire(blocking=False):
            try:
                return here(byte_range)
            finally:
                free.release()
        try:
            process = processes.take()
        except OSError as error:
            return error
        try:
            return _answer(process, order(byte_range), under_way)
        finally:
            processes.give_back(process)

    def parsed_next(take: Take) -> tuple[ByteRange, Outcome] | None:
        byte_range = None if processes.ended.is_set() else take()
        return None if byte_range is None else (byte_range, parsed(byte_range))

    pool = _Threads(count, parsed_next)
    try:
        yield Helpers(pool.submit, processes.kill)
    finally:
        processes.kill()
        pool.end()
        processes.wait()


class _Processes:
    """Those that parse: copies of this process where they can be had, which must be made before there are threads; else new ones as needed."""

    def __init__(self, copies: int, module: str, answers: Answer) -> None:
        self._module, self.ended = module, threading.Event()
        serves = partial(serve, answers)
        self._all: list[Child] = [forked_process.forked(serves) for _ in range(copies)] if forked_process.may_fork() else []
        self._waiting = self._all.copy()

    def take(self) -> Child:
        """One that has nothing to do: whichever is free, as the thread that parses here is now this one and now that. Raises OSError."""
        with suppress(IndexError):
            while True:
                process = self._waiting.pop()
                if process.poll() is None:  # it was not killed
                    return process
        process = child_process.start(self._module, os.environ | _FRUGAL)
        self._all.append(process)
        if self.ended.is_set():
            process.kill()
        return process

    def give_back(self, process: Child) -> None:
        """It has nothing to do any more."""
        self._waiting.append(process)

    def kill(self) -> None:
        """End them all, and whatever is started yet."""
        self.ended.set()
        for process in self._all.copy():
            process.kill()

    def wait(self) -> None:
        """Until none is left."""
        for process in self._all:
            process.communicate()


class _Threads:
    """Threads that do what is submitted, in its order. They end with the server, which does not wait for them as for an executor's."""

    def __init__(self, count: int, work: Callable[[Take], tuple[ByteRange, Outcome] | None]) -> None:
        self._work = work
        self._submitted: SimpleQueue[tuple[Take, Future[tuple[ByteRange, Outcome] | None]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._serve, name="parsing", daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, take: Take) -> "Future[tuple[ByteRange, Outcome] | None]":
        """To be done when a thread is free."""
        future: Future[tuple[ByteRange, Outcome] | None] = Future()
        self._submitted.put((take, future))
        return future

    def _serve(self) -> None:
        while submitted := self._submitted.get():
            take, future = submitted
            try:
                future.set_result(self._work(take))
            except Exception as error:  # noqa: BLE001 - it is raised where the answer is taken
                future.set_exception(error)

    def end(self) -> None:
        """Wait until what was submitted is done."""
        for _ in self._threads:
            self._submitted.put(None)
        for thread in self._threads:
            thread.join()


def _answer(process: Child, order: dict[str, Any], under_way: dict[str, int]) -> Outcome:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order, default=str).encode() + b"\n")
        process.stdin.flush()
        while "bytes" in (answer := json.loads(process.stdout.readline() or b"{}")):
            under_way[order["range"]["shard"]["name"]] = answer["bytes"]
    except (OSError, ValueError) as error:
        return OSError(f"a parsing process ended: {error}")
    return outcome_of(answer)


def outcome_of(answer: dict[str, Any]) -> Outcome:
    """What became of a byte range, as whoever parsed it says."""
    if "piece" in answer:
        return piece_from(answer["piece"])
    if "refused" in answer:
        return RunNotFound(answer["refused"])
    return OSError(answer.get("failed", "a parsing process ended"))
