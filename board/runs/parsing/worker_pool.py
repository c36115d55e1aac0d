"""Helper processes that parse: started when they are needed, ended with the work.

Orders and answers are those of `board.runs.parsing.worker`.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

from board.errors import BoardError, RunNotFound
from board.runs.cache.part_folder import Piece, piece_from
from board.runs.child_process import Answer, ChildProcess, Tell
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.work_queue import WorkQueue
from board.sources.shards import is_plain

Given = TypeVar("Given")
Got = TypeVar("Got")

Outcome = Piece | BoardError | OSError
"""What became of a byte range: its stored piece, the shard's fault, or the cache's."""


Take = Callable[[], ByteRange | None]
"""Called by a helper that is free, gives the range whose turn it is then; None when there is none left."""

Submit = Callable[[Take], "Future[tuple[ByteRange, Outcome] | None]"]

_POLL_SECONDS: Final = 0.2


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
) -> Iterator[Helpers]:
    """Has `count` byte ranges parsed at a time: one of them `here`, which begins at once, the others by processes that must start first.

    `order` is called when the turn of a range comes, and gives the order for its process, a `board.runs.parsing.worker`.

    Without `here` all are parsed by processes. All processes are gone when the context ends, finished or not. A compressed shard is one long
    byte range and always goes to a process, which can be ended at any time; `under_way` receives how many of its bytes, by name, have been read.
    A pool of `multiprocessing` would run the server's script, or one without a guard of its main part, again in each.
    """
    free = threading.Lock()
    processes = _Processes()

    def parsed(byte_range: ByteRange) -> Outcome:
        if here and is_plain(byte_range.shard) and free.acquire(blocking=False):
            try:
                return here(byte_range)
            finally:
                free.release()

        def tell(count: float) -> None:
            under_way[byte_range.shard.name] = int(count)

        return outcome_of(processes.answer(order(byte_range), tell))

    def parsed_next(take: Take) -> tuple[ByteRange, Outcome] | None:
        byte_range = None if processes.ended.is_set() else take()
        return None if byte_range is None else (byte_range, parsed(byte_range))

    pool = _Threads(count, parsed_next)
    try:
        yield Helpers(pool.submit, processes.kill)
    finally:
        processes.kill()
        pool.end()
        processes.close()


class _Processes:
    """Those that answer: no more than are used at a time."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self._all: list[ChildProcess] = []
        self._waiting: list[ChildProcess] = []

    def answer(self, order: dict[str, Any], tell: Tell = lambda progress: None) -> Answer:
        """What one that has nothing to do says to it; `failed` where none can be started, or it ends."""
        try:
            process = self._taken()
            said = process.ask(order, tell=tell)
        except OSError as error:
            return {"failed": f"a helper process ended: {error}"}
        self._waiting.append(process)
        return said

    def _taken(self) -> ChildProcess:
        """Whichever is free, as the thread that parses here is now this one and now that. Raises OSError."""
        if self.ended.is_set():
            raise OSError("the load has ended")
        with suppress(IndexError):
            while True:
                process = self._waiting.pop()
                if process.is_running:  # it was not killed
                    return process
        process = ChildProcess("board.runs.parsing.worker")
        self._all.append(process)
        if self.ended.is_set():
            process.kill()
        return process

    def kill(self) -> None:
        """End them all, and whatever is started yet."""
        self.ended.set()
        for process in self._all.copy():
            process.kill()

    def close(self) -> None:
        """Wait until none is left."""
        for process in self._all:
            process.close()


class _Threads(Generic[Given, Got]):
    """Threads that do what is submitted, in its order. They end with the server, which does not wait for them as for an executor's."""

    def __init__(self, count: int, work: Callable[[Given], Got]) -> None:
        self._work = work
        self._submitted: SimpleQueue[tuple[Given, Future[Got]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._serve, name="parsing", daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, given: Given) -> "Future[Got]":
        """To be done when a thread is free."""
        future: Future[Got] = Future()
        self._submitted.put((given, future))
        return future

    def _serve(self) -> None:
        while submitted := self._submitted.get():
            given, future = submitted
            try:
                future.set_result(self._work(given))
            except Exception as error:  # noqa: BLE001 - it is raised where the answer is taken
                future.set_exception(error)

    def end(self) -> None:
        """Wait until what was submitted is done."""
        for _ in self._threads:
            self._submitted.put(None)
        for thread in self._threads:
            thread.join()


def outcome_of(answer: dict[str, Any]) -> Outcome:
    """What became of a byte range, as its parser says."""
    if "piece" in answer:
        return piece_from(answer["piece"])
    if "refused" in answer:
        return RunNotFound(answer["refused"])
    return OSError(answer.get("failed", "a parsing process ended"))
