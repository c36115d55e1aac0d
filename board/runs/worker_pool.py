"""Processes that parse byte ranges beside this one: started when they are needed, asked in lines of JSON, ended with the load.

Knows how to speak with `board.runs.worker`; knows neither what a byte range holds nor which are missing.
"""

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final

from board.errors import BoardError, RunNotFound
from board.runs.byte_range import ByteRange
from board.runs.read_options import ReadOptions
from board.runs.store import Piece, Store, piece_from
from board.sources.shards import is_plain
from board.system import child_process

Outcome = Piece | BoardError | OSError
"""What became of a byte range: what is kept of it, the shard's fault, or the cache's."""


Submit = Callable[[ByteRange], "Future[Outcome]"]

_POLL_SECONDS: Final = 0.2


def outcomes(submit: Submit, work: Sequence[ByteRange], tick: Callable[[], None]) -> Iterator[tuple[ByteRange, Outcome]]:
    """What becomes of each byte range, as it comes; `tick` is called while waiting, so that a reader who leaves is heard."""
    waiting = {submit(byte_range): byte_range for byte_range in work}
    while waiting:
        done, _ = wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            yield waiting.pop(future), future.result()
        if not done:
            tick()


@contextmanager
def helpers(
    count: int, store: Store, reading: ReadOptions, here: Callable[[ByteRange], Outcome], under_way: dict[str, int]
) -> Iterator[Submit]:
    """Has `count` byte ranges parsed at a time: one of them `here`, which begins at once, the others by processes that must start first.

    All processes are gone when the context ends, finished or not. A compressed shard is one long byte range and always goes to a process,
    which can be ended at any time; `under_way` is told how many of its bytes, by name, have been read.
    Plain processes spoken to in lines of JSON: a pool of `multiprocessing` would run the server's script again in each.
    """
    local, started, free, ended = threading.local(), [], threading.Lock(), threading.Event()
    order = {"location": str(store.location), "cache": str(store.folder.parent.parent), "reading": reading.written()}

    def parsed(byte_range: ByteRange) -> Outcome:
        if is_plain(byte_range.shard) and free.acquire(blocking=False):
            try:
                return here(byte_range)
            finally:
                free.release()
        if getattr(local, "process", None) is None or local.process.poll() is not None:  # none yet, or it was killed
            try:
                local.process = child_process.start("board.runs.worker", os.environ)
            except OSError as error:
                return error
            started.append(local.process)
            if ended.is_set():
                local.process.kill()
        return _answer(local.process, order | {"range": asdict(byte_range)}, under_way)

    pool = ThreadPoolExecutor(count)
    try:
        yield lambda byte_range: pool.submit(parsed, byte_range)
    finally:
        ended.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for process in started.copy():
            process.kill()
        pool.shutdown(wait=True)
        for process in started:
            process.communicate()


def _answer(process: "subprocess.Popen[bytes]", order: dict[str, Any], under_way: dict[str, int]) -> Outcome:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order, default=str).encode() + b"\n")
        process.stdin.flush()
        while "bytes" in (answer := json.loads(process.stdout.readline() or b"{}")):
            under_way[order["range"]["shard"]["name"]] = answer["bytes"]
    except (OSError, ValueError) as error:
        return OSError(f"a parsing process ended: {error}")
    if "piece" in answer:
        return piece_from(answer["piece"])
    if "refused" in answer:
        return RunNotFound(answer["refused"])
    return OSError(answer.get("failed", "a parsing process ended"))
