"""Several processes that serve the pages, started together, each again when it dies, ended together. Knows processes, not what they serve."""

import asyncio
import json
import logging
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from board.errors import BoardError
from board.serving import handing
from board.serving.front import Front
from board.serving.handing import Handed
from board.system import child_process

MODULE: Final = "board.cli.worker"
"""What a worker is: it imports the pages, which are above this wing."""

END_SECONDS: Final = 6.0
"""So long a worker may take to end; it ends by itself before, whatever its readers do."""

MOST_FAILURES: Final = 3
"""A worker that so often, one after the other, ends before it has served anybody will not serve at all."""

AGAIN_SECONDS: Final = 1.0
SHORT_SECONDS: Final = 10.0
"""Who lived no longer is started again after AGAIN_SECONDS, others at once."""

_LOG: Final = logging.getLogger(__name__)


class Worker:
    """One place of work, and whoever works there now. `order` is what the process is told as it starts."""

    def __init__(self, number: int, order: bytes, take_back: Callable[[Handed], None]) -> None:
        """With `take_back`, which is called with each connection that goes on with another worker."""
        self.number = number
        self.ready = asyncio.Event()
        self.end: socket.socket | None = None
        self._order = order
        self._take_back = take_back
        self._readers = 0
        self._given = 0
        self._taken = 0
        """Connections that whoever works here has taken, of all that were handed there."""
        self._on_the_way: deque[Handed | None] = deque()
        """Those that were handed there since: where it ends now nobody has read any more of them. None is one that could not be kept."""

    @property
    def load(self) -> int:
        """How many readers it has, as far as is known: those whom it told of, and connections it was handed since."""
        return self._readers + self._given

    def handed(self, what: Handed) -> None:
        """It was handed a connection, which is kept until it is taken: a worker that is just ending takes no more."""
        self._given += 1
        try:
            self._on_the_way.append(Handed(what.connection.dup(), what.read))
        except OSError:  # too many open files
            self._on_the_way.append(None)

    async def keep(self) -> None:
        """Have a process work here until cancelled. Raises BoardError when it will not start, OSError when none can be started."""
        failures = 0
        while True:
            began = time.monotonic()
            worked, code = await self._work()
            failures = 0 if worked else failures + 1
            if failures >= MOST_FAILURES:
                raise BoardError(
                    f"Worker {self.number} ended {failures} times before it could serve: its last words stand above."
                )
            _LOG.warning("Worker %d ended with %d and is started again; its readers reconnect by themselves.", self.number, code)
            if time.monotonic() - began < SHORT_SECONDS:
                await asyncio.sleep(AGAIN_SECONDS)

    async def _work(self) -> tuple[bool, int]:
        """One process from its start to its end: whether it came to serve, and its exit code."""
        ours, theirs = handing.pair()
        with ours:
            with theirs:
                ours.send(self._order)
                process = await asyncio.create_subprocess_exec(
                    *child_process.command(MODULE),
                    env=child_process.found_from(os.environ),
                    stdin=theirs.fileno(),
                    start_new_session=True,  # a Ctrl-C in the terminal is for us, who end it
                )
            self.end, listening = ours, asyncio.ensure_future(self._listen(ours))
            try:
                code = await process.wait()
                worked = self.ready.is_set()
                listening.cancel()
                self._hear_the_rest(ours)
                for one in self._undelivered():
                    self._take_back(one)
                return worked, code
            finally:
                self.ready.clear()
                self.end, self._readers, self._given, self._taken = None, 0, 0, 0
                listening.cancel()
                ours.close()
                for one in self._undelivered():
                    one.connection.close()
                await _ended(process)

    def _undelivered(self) -> Iterator[Handed]:
        """What is on its way, and is no more."""
        while self._on_the_way:
            if one := self._on_the_way.popleft():
                yield one

    async def _listen(self, ours: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while said := await _heard(loop, ours):
                self._hear(said)

    def _hear_the_rest(self, ours: socket.socket) -> None:
        """What a worker that has ended had said before."""
        with suppress(OSError):
            while said := handing.heard(ours):
                self._hear(said)

    def _hear(self, said: Handed | bytes) -> None:
        if isinstance(said, Handed):
            self._take_back(said)
            return
        word = json.loads(said)
        while self._taken < word["taken"]:
            self._taken += 1
            if taken := self._on_the_way.popleft():
                taken.connection.close()
        if "readers" in word:
            self._readers, self._given = word["readers"], 0
            self.ready.set()


async def _heard(loop: asyncio.AbstractEventLoop, ours: socket.socket) -> Handed | bytes:
    """What a worker says next: a word, or a connection; nothing once it has ended."""
    while True:
        with suppress(BlockingIOError):
            return handing.heard(ours)
        says = asyncio.Event()
        loop.add_reader(ours, says.set)
        try:
            await says.wait()
        finally:
            loop.remove_reader(ours)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait until it has ended by itself, as nobody hands it anything any more; make it end where it does not."""
    try:
        await asyncio.wait_for(process.wait(), END_SECONDS)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def serve(listener: socket.socket, orders: Sequence[bytes], announce: Callable[[], None], *, encrypted: bool) -> None:
    """Serve on what listens by a worker for each order, until interrupted; call `announce` when all of them can answer.

    Raises BoardError when they do not start, KeyboardInterrupt at Ctrl-C; a request to end (SIGTERM) is followed.
    """
    with suppress(asyncio.CancelledError):
        asyncio.run(_serve(listener, orders, announce, encrypted=encrypted))


async def _serve(listener: socket.socket, orders: Sequence[bytes], announce: Callable[[], None], *, encrypted: bool) -> None:
    workers = [Worker(number, order, lambda handed: front.again(handed)) for number, order in enumerate(orders)]
    front = Front(listener, workers, encrypted=encrypted)
    if this := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)

    async def tell() -> None:
        for one in workers:
            await one.ready.wait()
        announce()
        await asyncio.Event().wait()

    tasks = [asyncio.ensure_future(doing) for doing in (*(one.keep() for one in workers), tell())]
    tasks.append(asyncio.ensure_future(front.take()))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
