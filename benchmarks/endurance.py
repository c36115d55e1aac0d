"""What many clicks leave behind in a server, and what readers feel of a large run that another reader opens for the first time."""

import asyncio
import random
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.machine import load, private, with_children
from benchmarks.plan import Plan, say
from benchmarks.reader_client import Click, Reader, connected
from benchmarks.readers import Steps, library_of
from benchmarks.sections import Cell, Section, figure
from benchmarks.serving import served_board

CLICKS: Final = 10_000
EVERY: Final = 1_000
READERS: Final = 4
"""So many click without a pause until all clicks are done."""

SECONDS: Final = 600
"""Whatever is not clicked by then is left out, and told."""

BESIDE_SECONDS: Final = 30
PAUSE: Final = 0.5


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """A cold run beside readers; many clicks."""
    library = library_of(plan, place)
    yield beside_cold(library.root, library.cache, library.steps, library.megabytes)
    yield soak(library.root, library.cache, library.steps)


def soak(root: Path, cache: Path, steps: Steps) -> Section:
    """The server's memory as the clicks add up; after the first EVERY, caches that are bounded by number may still fill."""
    say(f"endurance: {CLICKS:,} clicks, load {load()}")
    with served_board(root, cache) as (address, process):
        rows = asyncio.run(_soaked(address, process, steps))
    note = f"{READERS} readers of one run click without a pause: steps, rollouts, pages, sorting, filters. Memory is what would come free."
    return Section("endurance", "Memory over many clicks", ("clicks", "server's memory", "errors"), tuple(rows), note)


async def _soaked(address: str, process: int, steps: Steps) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(connected(address, steps, seed)) for seed in range(READERS)]
        for one in readers:
            await one.ask("first")
        done, until = 0, time.monotonic() + SECONDS
        while done < CLICKS and time.monotonic() < until:
            await asyncio.gather(*(_clicks(one, EVERY // READERS, until) for one in readers))
            done = sum(len(one.clicks) for one in readers)
            memory = sum(map(private, with_children(process)))
            errors = sum(bool(click.error) for one in readers for click in one.clicks)
            rows.append((f"{done:,}", figure([memory], "MB"), figure([float(errors)], "errors")))
            say(f"endurance: {done:,} clicks, {memory:.0f} MB, {errors} errors")
    return rows


async def _clicks(reader: Reader, count: int, until: float) -> None:
    for _ in range(count):
        if time.monotonic() < until:
            await reader.click()


def beside_cold(root: Path, cache: Path, steps: Steps, megabytes: int) -> Section:
    """What ten readers of one run wait before and while another run, of the same shards, is read for the first time."""
    cold = root / "cold"
    shutil.copytree(root / "run", cold, copy_function=shutil.copy)
    say(f"endurance: a run of {megabytes} MB is read beside ten readers, load {load()}")
    with served_board(root, cache) as (address, _):
        before, during, took = asyncio.run(_beside(address, steps))
    shutil.rmtree(cold)
    rows = [_waited("before", before), _waited(f"while it is read ({took:.0f} s)", during)]
    note = f"Ten readers of a cached run click every second or so; another opens a run of {megabytes} MB that nobody has opened."
    columns = ("", "answers", "median (s)", "95 % (s)", "worst (s)", "errors")
    return Section("endurance", "Readers beside a run that is read for the first time", columns, tuple(rows), note)


def _waited(when: str, clicks: Sequence[Click]) -> tuple[Cell, ...]:
    waited = sorted(one.seconds for one in clicks) or [float("nan")]
    values = (statistics.median(waited), waited[int(0.95 * (len(waited) - 1))], waited[-1])
    errors = float(sum(bool(one.error) for one in clicks))
    return (when, str(len(clicks)), *(figure([value], "s") for value in values), figure([errors], "errors"))


async def _beside(address: str, steps: Steps) -> tuple[list[Click], list[Click], float]:
    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(connected(address, steps, seed)) for seed in range(10)]
        for one in readers:
            await one.ask("first")
        before = await _for(readers, asyncio.ensure_future(asyncio.sleep(BESIDE_SECONDS)))
        opener = await stack.enter_async_context(connected(address, [[]], 99))
        opener.place = {"run": "cold"}
        began = time.monotonic()
        during = await _for(readers, asyncio.ensure_future(_until_read(opener)))
        return before, during, time.monotonic() - began


async def _until_read(opener: Reader) -> None:
    """Ask again and again, as a browser does, until the page no longer says that the run is being read."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        opener.saw_reading = False
        await opener.ask("cold")
        if not opener.saw_reading and opener.clicks[-1].error == "":
            return
        await asyncio.sleep(PAUSE)


async def _for(readers: Sequence[Reader], something: "asyncio.Future[None]") -> list[Click]:
    """What readers wait for as long as something is under way."""
    for one in readers:
        one.clicks.clear()

    async def click(reader: Reader) -> None:
        dice = random.Random(reader.page)
        while not something.done():
            await reader.click()
            await asyncio.sleep(dice.expovariate(1))

    await asyncio.gather(something, *(click(one) for one in readers))
    return [click for one in readers for click in one.clicks]
