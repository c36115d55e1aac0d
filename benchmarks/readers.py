"""How long many readers wait: websocket clients of the real server on one large run, who change step, rollout, page, sorting and filter.

The clients are one process beside the server and share the machine's cores with it; what they took of the processor is told.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import rollouts
from benchmarks.machine import load, private, processor_seconds, with_children
from benchmarks.plan import LARGE_MEGABYTES, Plan, say
from benchmarks.reader_client import KINDS, Click, Reader, connected
from benchmarks.sections import Cell, Figure, Section, figure
from benchmarks.serving import served_board
from board.runs.opening import open_run

SECONDS: Final = 40
"""So long readers click, after all have their first page."""

WARM_CLICKS: Final = 40
"""So many clicks of one reader come before anything is measured: pages are imported, what all readers share is computed."""

AT_THE_DOOR: Final = 4
"""So many readers wait for their first page at a time."""

ARRIVAL_SECONDS: Final = 120
"""Whoever has not come within so long is left out, and told."""

WITHOUT_PAUSE: Final = 20
CROWD: Final = 100
PAUSE: Final = 10.0
"""Seconds between two clicks of a reader in the crowd, on average."""

LOOKS: Final = 4
CLICKS_A_LOOK: Final = 500
"""One reader clicks so often between two looks at the server's memory."""

Steps = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Crowd:
    """Who reads: so many, with so long a pause between two clicks."""

    count: int
    pause: float


@dataclass(frozen=True)
class Visit:
    """What became of a crowd."""

    clicks: list[Click]
    came: int
    first: list[float]
    """Seconds that each waited for the first page."""
    seconds: float
    server_work: float
    """Processor seconds of the server's processes while the crowd clicked; and of the clients."""
    client_work: float


@dataclass(frozen=True)
class Library:
    """What is read: the folder over one large run, the cache that holds it, its size, and the rollouts of each step."""

    root: Path
    cache: Path
    megabytes: int
    steps: Steps


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """A table of crowds, one of the last one's clicks by kind, and one of the server's memory over many clicks."""
    library = library_of(plan, place)
    crowds = [Crowd(1, 0.0), Crowd(WITHOUT_PAUSE, 0.0), Crowd(CROWD, PAUSE)]
    yield from measured(crowds, library.root, library.cache, library.megabytes, library.steps)
    yield grown(library)


def library_of(plan: Plan, place: Path) -> Library:
    """A run of the plan's largest size, written and opened once."""
    megabytes = max(plan.megabytes)
    root, cache = place / "root", place / "cache"
    say(f"readers: writing {megabytes} MB")
    rollouts.write(root / "run", megabytes * 1_000_000)
    return Library(root, cache, megabytes, steps_of(root / "run", cache))


def steps_of(run: Path, cache: Path) -> Steps:
    """The rollouts of each step; the cache is filled on the way, as readers come to a run that was opened before."""
    os.environ["RL_BOARD_CACHE"] = str(cache)
    opened = open_run(run)
    return [opened.sources(rows.to_numpy()) for rows in opened.frame.groupby("step", sort=True).groups.values()]


def measured(crowds: Sequence[Crowd], root: Path, cache: Path, megabytes: int, steps: Steps) -> Iterator[Section]:
    """A row for each crowd, each with a server of its own; then the clicks of the last by kind."""
    rows: list[tuple[Cell, ...]] = []
    visit = None
    for crowd in crowds:
        say(f"readers: {crowd.count} readers, load {load()}")
        with served_board(root, cache) as (address, process):
            asyncio.run(_warm(address, steps))
            each = [*map(private, with_children(process))]
            before = sum(each)
            say(f"readers: {', '.join(f'{one:.0f}' for one in each)} MB in the processes of the server, each its own")
            visit = asyncio.run(_visit(address, crowd, steps, process))
            more = (sum(map(private, with_children(process))) - before) / crowd.count
        rows.append(_row(crowd, visit, before, more, megabytes))
        say(f"readers: {len(visit.clicks)} answers, {len(_errors(visit))} errors {_errors(visit)[:3]}, load {load()}")
    if visit is None:
        return
    title = "Many readers"
    columns = (
        "readers",
        "answers a second",
        "median (s)",
        "95 % (s)",
        "worst (s)",
        "first page, worst (s)",
        "server's work an answer",
        "clients' work an answer",
        "server before",
        "memory a reader",
        "errors",
    )
    note = (
        f"A run of {megabytes} MB, {SECONDS} s of clicks: another step, rollout, page, sorting or filter. Those of a crowd of {CROWD} "
        f"click every {PAUSE:g} s on average, fewer click as soon as they have their answer. The clients share this machine's cores with "
        "the server."
    )
    yield Section("readers", title, columns, tuple(rows), note)
    by_kind = ("click", "answers", "median (s)", "95 % (s)", "worst (s)", "size of an answer")
    yield Section("readers", f"{title}: {crowds[-1].count} readers by what they click", by_kind, tuple(_by_kind(visit.clicks)))


def grown(library: Library) -> Section:
    """A row for the server's memory after each so many clicks of one reader."""
    say("readers: memory over clicks")
    with served_board(library.root, library.cache) as (address, process):
        asyncio.run(_warm(address, library.steps))
        held = asyncio.run(_looked_at(address, library.steps, process))
    rows = tuple((f"{CLICKS_A_LOOK * at:,}", figure([one], "MB"), figure([one - held[0]], "MB")) for at, one in enumerate(held))
    note = f"Private memory of the server's processes on a run of {library.megabytes} MB, one reader clicking without a pause."
    return Section("readers", "Memory over clicks", ("clicks", "private dirty", "more than at first"), rows, note)


async def _looked_at(address: str, steps: Steps, process: int) -> list[float]:
    async with AsyncExitStack() as stack:
        reader = await stack.enter_async_context(connected(address, steps, 1))
        await reader.ask("first")
        held = [sum(map(private, with_children(process)))]
        for _ in range(LOOKS):
            for _ in range(CLICKS_A_LOOK):
                await reader.click()
            held.append(sum(map(private, with_children(process))))
        return held


def _row(crowd: Crowd, visit: Visit, before: float, more: float, megabytes: int) -> tuple[Cell, ...]:
    goal = "crowd_p95" if crowd.count >= CROWD and megabytes >= LARGE_MEGABYTES else None
    answers = len(visit.clicks) or 1
    return (
        f"{crowd.count}{'' if visit.came == crowd.count else f' ({visit.came} came)'}",
        figure([len(visit.clicks) / visit.seconds], "answers/s"),
        *_percentiles(visit.clicks, goal),
        figure([max(visit.first, default=float("nan"))], "s"),
        figure([1e3 * visit.server_work / answers], "ms"),
        figure([1e3 * visit.client_work / answers], "ms"),
        figure([before], "MB"),
        figure([more], "MB"),
        figure([float(len(_errors(visit)) + crowd.count - visit.came)], "errors"),
    )


def _by_kind(clicks: Sequence[Click]) -> Iterator[tuple[Cell, ...]]:
    for kind in KINDS:
        if found := [one for one in clicks if one.kind == kind]:
            size = statistics.median(one.size for one in found) / 1e3
            yield kind, str(len(found)), *_percentiles(found, None), figure([size], "kB")


def _percentiles(clicks: Sequence[Click], goal: str | None) -> tuple[Figure, Figure, Figure]:
    """Median, 95th percentile and worst."""
    waited = sorted(one.seconds for one in clicks) or [float("nan")]
    values = (statistics.median(waited), waited[int(0.95 * (len(waited) - 1))], waited[-1])
    middle, most, worst = (figure([value], "s", key) for value, key in zip(values, (None, goal, None), strict=True))
    return middle, most, worst


def _errors(visit: Visit) -> list[str]:
    return [one.error for one in visit.clicks if one.error]


async def _warm(address: str, steps: Steps) -> None:
    """One reader after another, until what all readers share is there."""
    async with AsyncExitStack() as stack:
        early = [await stack.enter_async_context(connected(address, steps, seed)) for seed in range(4)]
        for one in early:
            await one.ask("first")
        for at in range(WARM_CLICKS):
            await early[at % len(early)].click()


async def _visit(address: str, crowd: Crowd, steps: Steps, process: int) -> Visit:
    """The readers come, a few at a time; when all have their first page, all click for so many seconds."""
    async with AsyncExitStack() as stack:
        door, readers, first = asyncio.Semaphore(AT_THE_DOOR), [], []

        async def arrive(seed: int) -> None:
            async with door:
                reader = await stack.enter_async_context(connected(address, steps, seed))
                await reader.ask("first")
                first.append(reader.clicks.pop().seconds)
                readers.append(reader)

        came = [asyncio.ensure_future(arrive(1000 + at)) for at in range(crowd.count)]
        await asyncio.wait(came, timeout=ARRIVAL_SECONDS)
        for one in came:
            one.cancel()
        say(f"readers: {len(readers)} of {crowd.count} have their first page")
        served, ours, began = _work(process), time.process_time(), time.perf_counter()
        await asyncio.gather(*(_click_until(began + SECONDS, one, crowd.pause) for one in readers))
        gone = time.perf_counter() - began
        clicks = [click for one in readers for click in one.clicks]
        return Visit(clicks, len(readers), first, gone, _work(process) - served, time.process_time() - ours)


def _work(process: int) -> float:
    return sum(map(processor_seconds, with_children(process)))


async def _click_until(end: float, reader: Reader, pause: float) -> None:
    await asyncio.sleep(reader.dice.random() * pause)
    while time.perf_counter() < end:
        await reader.click()
        await asyncio.sleep(min(reader.dice.expovariate(1 / pause), max(0.0, end - time.perf_counter())) if pause else 0)
