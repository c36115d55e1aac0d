"""A module of the board as a process of its own, bounded in time and memory.

It is given orders, a line of JSON each. Its answer: any number of lines `{"progress": number}`, then a line with the answer; where that names
`payload`, so many bytes follow it. A process that ends costs only the order it had. Both sides of the pipe are here; neither knows what is
ordered.
"""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, Self, TypeVar

LEAST: Final = 2_000_000_000
"""Bytes of its own that a process may take on the smallest machine; on others a share of what there is."""


def processors() -> int:
    """How many processors this process may use, at least 1: as many as the machine has, unless `taskset` or a batch system gave it fewer."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bound(share: int = 2) -> None:
    """Let this process take no more memory of its own than a `share`-th of the machine's, and LEAST at least; beyond it is a MemoryError."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = max(LEAST, there // share)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


_PACKAGES: Final = Path(__file__).parents[2]
"""The folder that holds this very board, installed or not."""

_FRUGAL: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""For numpy, which else has a thread for each core: several processes work at a time, and each has one thing to do."""

_MOST_BYTES: Final = 256_000_000
"""Of an answer."""

_SAY_SECONDS: Final = 0.1
"""Progress is said no sooner again."""

_POLL_SECONDS: Final = 0.2

_BEAT_SECONDS: Final = 1.0
"""It is said at least so often: where the parent no longer reads, the process ends."""

Answer = dict[str, Any]

Tell = Callable[[float], None]

Ask = Callable[[Mapping[str, Any], Tell], Answer]
"""What a process says to an order, its progress being told meanwhile. Raises OSError; ChildEnded where it ended."""

_T = TypeVar("_T")
_R = TypeVar("_R")


class ChildEnded(OSError):
    """It ended, or was ended, before it had answered; `code` is how, negative for a signal, None where it said nonsense."""

    def __init__(self, code: int | None, why: str) -> None:
        super().__init__(why)
        self.code = code


class ChildProcess:
    """`python -m MODULE`; one thread at a time gives it orders, any thread may end it. Raises OSError where it cannot be started.

    It finds this board and whatever PYTHONPATH names for us, but nothing in the folder we were called from, which may hold anything. It has
    that environment alone, and of our open files those of `files`, under the same numbers.
    """

    def __init__(self, module: str, environment: Mapping[str, str] | None = None, files: Sequence[int] = ()) -> None:
        found = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
        given = {**(os.environ if environment is None else environment), **_FRUGAL, "PYTHONPATH": found}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module], env=given, pass_fds=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout

    def ask(
        self, order: Mapping[str, Any], *, seconds: float = threading.TIMEOUT_MAX, tell: Tell = lambda progress: None
    ) -> Answer:
        """What it answers; `tell` is called with its progress, at least every second, and may raise.

        Raises TimeoutError after so many seconds, ChildEnded where it says nothing that can be used: then it is gone.
        """
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            self._say(order)
            while "progress" in (said := self._heard()):
                tell(said["progress"])
            return said
        except ChildEnded as error:
            self.close()
            if late.is_set():
                raise TimeoutError(f"it took longer than {seconds:g} seconds") from error
            raise
        finally:
            timer.cancel()

    def _say(self, order: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError):  # it has ended, which is seen when it is heard
            self._orders.write(json.dumps(order, default=str).encode() + b"\n")
            self._orders.flush()

    def _heard(self) -> Answer:
        line = self._answers.readline(_MOST_BYTES)
        if not line.endswith(b"\n"):
            raise ChildEnded(None, "it said too much") if len(line) == _MOST_BYTES else self._ended()
        try:
            said: Answer = dict(json.loads(line))
            size = min(said.get("payload", 0), _MOST_BYTES)
        except (ValueError, TypeError) as error:
            raise ChildEnded(None, f"it said what is no answer: {error}") from error
        if size:
            said["payload"] = self._answers.read(size)
            if len(said["payload"]) < size:
                raise self._ended()
        return said

    def _ended(self) -> ChildEnded:
        """How, once its pipe is closed: it needs a moment to be gone."""
        try:
            code = self._process.wait(_BEAT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        by_signal = f"it was ended by signal {-code}, perhaps for lack of memory"
        return ChildEnded(code, by_signal if code < 0 else f"it ended with exit status {code}")

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """End it and let go of it. By the thread that asks it."""
        self.kill()
        with suppress(BrokenPipeError):  # an order that it did not live to read
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Helpers(Generic[_T, _R]):
    """Threads that work on what `take` gives until it gives None: a context, at whose end they and their processes are gone, done or not.

    Each does its one of `works`, and has a process of `module` for itself, which starts when its work first asks it. The threads end with
    the server, which would wait for those of an executor; a pool of `multiprocessing` would run a script without a guard of its main part again.
    """

    def __init__(self, module: str, take: Callable[[], _T | None], works: Sequence[Callable[[_T, Ask], _R]]) -> None:
        self._module, self._take = module, take
        self._ended = threading.Event()
        self._processes: list[ChildProcess] = []
        self._results: SimpleQueue[tuple[_T, _R] | Exception | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._serve, args=[work], name="helping", daemon=True) for work in works]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for process in self._processes.copy():
            process.kill()
        for thread in self._threads:
            thread.join()

    def results(self, tick: Callable[[], None]) -> Iterator[tuple[_T, _R]]:
        """What became of each, as it comes; `tick` is called while waiting, so that a reader who leaves is heard. Raises what a work raises."""
        working = len(self._threads)
        while working:
            try:
                result = self._results.get(timeout=_POLL_SECONDS)
            except Empty:
                tick()
                continue
            if isinstance(result, Exception):
                raise result
            if result is None:
                working -= 1
            else:
                yield result

    def _serve(self, work: Callable[[_T, Ask], _R]) -> None:
        process: ChildProcess | None = None

        def ask(order: Mapping[str, Any], tell: Tell) -> Answer:
            nonlocal process
            if process is None or not process.is_running:
                process = self._started()
            return process.ask(order, tell=tell)

        try:
            while not self._ended.is_set() and (given := self._take()) is not None:
                self._results.put((given, work(given, ask)))
        except Exception as error:  # noqa: BLE001 - it is raised where the results are taken
            self._results.put(error)
        finally:
            if process:  # while others go on, as to give back what it held takes it some time
                process.close()
            self._results.put(None)

    def _started(self) -> ChildProcess:
        if self._ended.is_set():  # the work asks again, its process having been ended
            raise OSError("nobody waits for it any more")
        process = ChildProcess(self._module)
        self._processes.append(process)
        if self._ended.is_set():
            process.kill()
        return process


def serve(answer: Callable[[Answer, Tell], Answer], *, niceness: int = 0, memory_share: int | None = None) -> None:
    """Answer orders until there are no more: in the child. What `answer` raises ends it, and is printed to standard error.

    `niceness` gives way to other processes. It takes no more than a `memory_share`-th of the machine's memory. Whatever
    libraries print goes to standard error.
    """
    os.nice(niceness)
    if memory_share is not None:
        bound(memory_share)
    voice = _Voice()
    for line in sys.stdin.buffer:
        voice.begin()
        voice.end(answer(json.loads(line), voice.tell))


class _Voice:
    """What says words to the parent, from one thread or another, and hears that there is none."""

    def __init__(self) -> None:
        self._pipe = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._speaking = threading.Lock()
        self._busy, self._progress, self._said = False, 0.0, 0.0
        threading.Thread(target=self._beat, daemon=True).start()

    def begin(self) -> None:
        """An order is being worked on."""
        with self._speaking:
            self._busy, self._progress, self._said = True, 0.0, 0.0

    def tell(self, progress: float) -> None:
        """How far that is; said now and then."""
        self._progress = progress
        if time.monotonic() > self._said + _SAY_SECONDS:
            with self._speaking:
                self._say({"progress": progress})

    def end(self, answer: Answer) -> None:
        """The order is answered."""
        payload = answer.get("payload", b"")
        with self._speaking:
            self._busy = False
            self._say({**answer, "payload": len(payload)} if payload else answer, payload)

    def _say(self, words: Answer, payload: bytes = b"") -> None:
        self._said = time.monotonic()
        try:
            self._pipe.write(json.dumps(words).encode() + b"\n")
            self._pipe.write(payload)
            self._pipe.flush()
        except OSError:  # the parent no longer reads
            os._exit(1)

    def _beat(self) -> None:
        while True:
            time.sleep(_BEAT_SECONDS)
            with self._speaking:
                if self._busy and time.monotonic() > self._said + _BEAT_SECONDS / 2:
                    self._say({"progress": self._progress})
