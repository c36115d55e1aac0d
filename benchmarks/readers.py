"""How long many readers wait: websocket clients of the real server on one large run, who change step, page, sorting and filter.

A reader is what a browser's connection is to the server, without a browser: it sends what a click sends, and has its answer when the script has
ended. What browsers do with the answer is measured by `first_view.py` and `browsing.py`.
"""

import asyncio
import os
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks import rollouts
from benchmarks.machine import private
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure
from benchmarks.serving import served_board
from board.runs.opening import open_run

SECONDS: Final = 40
"""So long readers click, after all have their first page."""

WITHOUT_PAUSE: Final = 20
CROWD: Final = 100
PAUSE: Final = 10.0
"""Seconds between two clicks of a reader in the crowd, on average."""

PATIENCE: Final = 120
"""Seconds after which an answer counts as an error."""

PAGES: Final = ("Responses", "Tokens", "Rewards")


@dataclass
class Reader:
    """One reader's connection, and how long each of his clicks took."""

    socket: ClientConnection
    steps: int
    dice: random.Random
    page: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    place: dict[str, str] = field(default_factory=lambda: {"run": "run"})
    waited: list[tuple[str, float]] = field(default_factory=list)
    errors: int = 0

    async def ask(self, what: str) -> None:
        """Send a click and wait for the end of the script; what fails, or shows an exception, is an error."""
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(self.place)
        asked.rerun_script.page_script_hash = self.page
        began = time.perf_counter()
        try:
            await self.socket.send(asked.SerializeToString())
            await asyncio.wait_for(self._finished(), PATIENCE)
        except (TimeoutError, OSError):
            self.errors += 1
        self.waited.append((what, time.perf_counter() - began))

    async def _finished(self) -> None:
        while True:
            said = ForwardMsg()
            said.ParseFromString(await self.socket.recv(decode=False))
            if said.HasField("navigation"):
                self.pages |= {page.page_name: page.page_script_hash for page in said.navigation.app_pages}
            if said.HasField("delta") and said.delta.new_element.HasField("exception"):
                self.errors += 1
            if said.HasField("script_finished"):
                return

    async def click(self) -> None:
        """One of the four kinds, mostly another step."""
        kind = self.dice.choices(["step", "page", "sort", "filter"], [7, 2, 1, 1])[0]
        if kind == "step":
            self.place["step"] = str(self.dice.randrange(self.steps))
        elif kind == "page":
            self.page = self.pages[self.dice.choice(PAGES)]
        elif kind == "sort":
            self.page, self.place["sort"] = self.pages["Responses"], self.dice.choice(["reward", "response_length", "kl_k3_mean"])
        else:
            self.place["filter"] = f"reward > {self.dice.random():.2f}"
        await self.ask(kind)


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """A table of those who never rest, and one of a crowd that reads."""
    megabytes = max(plan.megabytes)
    root, cache = place / "root", place / "cache"
    say(f"readers: writing {megabytes} MB")
    rollouts.write(root / "run", megabytes * 1_000_000)
    steps = _steps_of(root / "run", cache)
    yield _section("Readers who never rest", root, cache, megabytes, steps, (1, WITHOUT_PAUSE), 0.0)
    yield _section("A crowd that reads", root, cache, megabytes, steps, (CROWD,), PAUSE)


def _steps_of(run: Path, cache: Path) -> int:
    """How many steps there are; the cache is filled on the way, as readers come to a run that was opened before."""
    os.environ["RL_BOARD_CACHE"] = str(cache)
    return len(open_run(run).steps)


def _section(title: str, root: Path, cache: Path, megabytes: int, steps: int, crowds: tuple[int, ...], pause: float) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for count in crowds:
        say(f"readers: {count} readers")
        with served_board(root, cache) as (address, process):
            asyncio.run(_visit(address, 1, steps, 0.0, 1.0))  # the run is open
            before = private(process)
            began = time.perf_counter()
            readers = asyncio.run(_visit(address, count, steps, pause, SECONDS))
            gone = time.perf_counter() - began
            more = (private(process) - before) / count
        waited = sorted(seconds for one in readers for _, seconds in one.waited)
        goal = "crowd_p95" if pause and megabytes >= 1000 else None
        cells = [figure([value], "s", key) for value, key in zip(_percentiles(waited), (None, goal, None), strict=True)]
        rows.append(
            (
                str(count),
                figure([len(waited) / gone], "answers/s"),
                *cells,
                figure([more], "MB"),
                figure([float(sum(one.errors for one in readers))], "errors"),
            )
        )
    columns = ("readers", "answers a second", "median (s)", "95 % (s)", "worst (s)", "memory a reader (MB)", "errors")
    note = f"A run of {megabytes} MB, {SECONDS} s of clicks: another step, page, sorting or filter" + (
        f", one each {pause:g} s on average for each reader." if pause else ", the next as soon as the last is answered."
    )
    return Section("readers", title, columns, tuple(rows), note)


def _percentiles(waited: list[float]) -> tuple[float, float, float]:
    return statistics.median(waited), waited[int(0.95 * (len(waited) - 1))], waited[-1]


async def _visit(address: str, count: int, steps: int, pause: float, seconds: float) -> list[Reader]:
    """The readers come, all look at their first page, then all click for so many seconds."""
    stream = f"{address.replace('http', 'ws', 1)}_stcore/stream"
    sockets = [connect(stream, origin=address.rstrip("/"), max_size=None, subprotocols=["streamlit"]) for _ in range(count)]  # type: ignore[arg-type, list-item]
    readers = [Reader(await socket, steps, random.Random(at)) for at, socket in enumerate(sockets)]
    for one in readers:
        await one.ask("first")
        one.waited.clear()
    end = time.perf_counter() + seconds
    await asyncio.gather(*(_click_until(end, one, pause) for one in readers))
    for one in readers:
        await one.socket.close()
    return readers


async def _click_until(end: float, reader: Reader, pause: float) -> None:
    await asyncio.sleep(reader.dice.random() * pause)
    while time.perf_counter() < end:
        await reader.click()
        await asyncio.sleep(reader.dice.expovariate(1 / pause) if pause else 0)
