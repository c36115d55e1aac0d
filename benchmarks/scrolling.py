"""Metrics with 150 panels open, scrolled through from top to bottom: the longest task of the browser's main thread.

What counts is the processor's time of a task, as Chromium's tracing has it: on a busy machine a task's seconds are those of its neighbours, too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from playwright.sync_api import CDPSession, Page

from benchmarks import idle
from benchmarks.browsing import LOAD_MILLISECONDS, LOADED, VIEWPORT, checked
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure
from benchmarks.serving import chromium, served_board

PANELS: Final = 150
ROLLOUTS: Final = 4
STEPS: Final = (300, 3000)
NAMED: Final = "extra_"
WHEEL_PIXELS: Final = 300
WHEEL_MILLISECONDS: Final = 30

TRACED: Final = {
    "transferMode": "ReportEvents",
    "traceConfig": {"includedCategories": ["toplevel", "disabled-by-default-devtools.timeline"]},
}
TASK: Final = "RunTask"
COLUMNS: Final = (
    "steps",
    "panels drawn",
    "longest task while the page comes",
    "longest task while it is scrolled",
    "processor while it is scrolled",
)


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table, a row for each number of steps."""
    root = place / "root"
    for steps in STEPS:
        say(f"scrolling: writing {PANELS} metrics of {steps:,} steps")
        write(root / f"run_{steps}", steps)
    rows = []
    with served_board(root, place / "cache") as (address, _), chromium() as browser:
        for steps in STEPS:
            link = f"{address}metrics?run=run_{steps}&find={NAMED}"
            found = []
            for at in range(plan.rounds + 1):
                say(f"scrolling: {steps:,} steps, round {at}")
                page = browser.new_page(viewport=VIEWPORT)
                found.append(scrolled(page, link))
                page.close()
            rows.append(row(steps, found[1:]))
    note = f"Medians of {plan.rounds} after a first one thrown away. A turn of the wheel of {WHEEL_PIXELS} pixels every {WHEEL_MILLISECONDS} ms."
    yield Section("scrolling", f"Metrics with {PANELS} panels, scrolled through", COLUMNS, tuple(rows), note)


def row(steps: int, found: list[tuple[int, float, float, float]]) -> tuple[Cell, ...]:
    """The goal is on scrolling."""
    drawn, coming, scrolling, all_of_it = zip(*found, strict=True)
    return (
        f"{steps:,}",
        figure([float(one) for one in drawn], ""),
        figure([*coming], "ms"),
        figure([*scrolling], "ms", "panels_scroll"),
        figure([*all_of_it], "ms"),
    )


def write(folder: Path, steps: int) -> None:
    """A run whose rows have so many numbers of the trainer's own."""
    folder.mkdir(parents=True)
    dice = np.random.default_rng(0)
    with (folder / "rank_0.jsonl").open("wb") as out:
        for step in range(steps):
            for _ in range(ROLLOUTS):
                numbers = dice.normal(step / steps, 1, PANELS).tolist()
                record: dict[str, object] = {"step": step, "prompt": "p", "response": "r", "reward": numbers[0]}
                out.write(orjson.dumps(record | {f"{NAMED}{at:03}": one for at, one in enumerate(numbers)}) + b"\n")


def scrolled(page: Page, link: str) -> tuple[int, float, float, float]:
    """Panels drawn in the end, the longest task until the page stands and while it is scrolled, and all tasks of that: milliseconds."""
    page.set_default_timeout(LOAD_MILLISECONDS)
    idle.watch(page)
    session = page.context.new_cdp_session(page)
    coming = Trace(session)
    page.goto(link)
    page.get_by_text(LOADED).first.wait_for()
    page.locator(".cv canvas").first.wait_for()
    idle.settle(page)
    came = coming.tasks(page)
    scrolling = Trace(session)
    main = page.locator("[data-testid=stMain]")
    page.mouse.move(700, 600)
    while main.evaluate("(one) => one.scrollTop + one.clientHeight + 4 < one.scrollHeight"):
        page.mouse.wheel(0, WHEEL_PIXELS)
        page.wait_for_timeout(WHEEL_MILLISECONDS)
    idle.settle(page)
    tasks = scrolling.tasks(page)
    checked(page)
    return page.locator(".cv canvas").count(), max(came), max(tasks), sum(tasks)


class Trace:
    """The browser's trace from now on."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._events: list[dict[str, Any]] = []
        self._ended = False
        session.on("Tracing.dataCollected", self._take)
        session.on("Tracing.tracingComplete", self._end)
        session.send("Tracing.start", TRACED)

    def tasks(self, page: Page) -> list[float]:
        """End it; how long the processor worked on each task of the busiest page's main thread, in milliseconds."""
        self._session.send("Tracing.end")
        while not self._ended:
            page.wait_for_timeout(20)
        threads: dict[tuple[int, int], list[float]] = {}
        for event in self._events:
            if event.get("name") == TASK and event.get("ph") == "X":
                threads.setdefault((event["pid"], event["tid"]), []).append(event.get("tdur", 0) / 1000)
        mains = {(one["pid"], one["tid"]) for one in self._events if one.get("args", {}).get("name") == "CrRendererMain"}
        return max((threads[one] for one in mains if one in threads), key=sum, default=[0.0])

    def _take(self, told: dict[str, Any]) -> None:
        self._events += [] if self._ended else told["value"]

    def _end(self, _: dict[str, Any]) -> None:
        self._ended = True
