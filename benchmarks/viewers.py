"""What a second and a third viewer cost the server in memory, and how soon an appended step is seen: the real server on a large run."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page

from benchmarks import idle, rollouts
from benchmarks.browsing import LOADED, VIEWPORT, go, grow_old, visit
from benchmarks.machine import memory, private
from benchmarks.openers import LATER_STEP
from benchmarks.plan import Plan, say
from benchmarks.sections import Section, figure
from benchmarks.serving import chromium, served_board

VIEWERS: Final = 3
STEP_ROLLOUTS: Final = 256
SEEN_MILLISECONDS: Final = 60_000


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """Both tables, on one run that the first server parses."""
    megabytes = max(plan.megabytes)
    say(f"viewers: writing {megabytes} MB")
    root, cache = place / "root", place / "cache"
    rollouts.write(root / "run", megabytes * 1_000_000)
    grow_old(root / "run")
    with chromium() as browser:
        yield viewers(browser, root, cache, megabytes, plan)
        yield seen(browser, root, cache, megabytes, plan)


def viewers(browser: Browser, root: Path, cache: Path, megabytes: int, plan: Plan) -> Section:
    """A server for each round; one viewer after the other visits all pages and stays."""
    rounds: list[list[dict[str, float]]] = []
    for at in range(plan.large_rounds + 1):
        say(f"viewers: round {at} of {plan.large_rounds}, the first fills the cache")
        with served_board(root, cache) as (address, process):
            rounds.append(one_after_another(browser, address, process))
    rounds = rounds[1:]
    rows = []
    for number in range(VIEWERS + 1):
        own = [found[number]["private"] for found in rounds]
        before = [found[number - 1]["private"] for found in rounds] if number else own
        more = figure([a - b for a, b in zip(own, before, strict=True)], "MB", "second_session" if number > 1 else None)
        rest = [figure([found[number][kind] for found in rounds], "MB") for kind in ("anonymous", "mapped", "peak")]
        rows.append((str(number), figure(own, "MB"), more if number else "", *rest))
    columns = ("viewers", "private dirty (MB)", "more than before (MB)", "anonymous (MB)", "mapped (MB)", "peak (MB)")
    note = (
        f"Memory of the server after so many viewers have visited all three pages of a run of {megabytes} MB; all stay connected."
    )
    return Section("viewers", f"Memory of each viewer, {megabytes} MB", columns, tuple(rows), note)


def one_after_another(browser: Browser, address: str, process: int) -> list[dict[str, float]]:
    """The server's memory with no viewer, one, two and three."""
    found, contexts = [of(process)], []
    for _ in range(VIEWERS):
        contexts.append(browser.new_context(viewport=VIEWPORT))
        page = contexts[-1].new_page()
        visit(page, address, "")
        for name in ("Responses", "Tokens", "Rewards"):
            go(name)(page, 0)
            idle.settle(page)
        found.append(of(process))
    for context in contexts:
        context.close()
    return found


def of(process: int) -> dict[str, float]:
    """The server's memory once it has been left alone for a second."""
    time.sleep(1)
    return {"private": private(process)} | memory(process)


def seen(browser: Browser, root: Path, cache: Path, megabytes: int, plan: Plan) -> Section:
    """From the end of the append to the new number of rows on the screen, the board following the run by itself."""
    for shard in rollouts.shards(root / "run"):
        os.utime(shard)
    took = []
    with served_board(root, cache) as (address, _):
        page = browser.new_page(viewport=VIEWPORT)
        visit(page, address, "")
        for at in range(plan.rounds + 1):
            say(f"viewers: append {at} of {plan.rounds}")
            took.append(one_append(page, root / "run", LATER_STEP + at))
    page.close()
    rows = ((f"{STEP_ROLLOUTS} rollouts", figure(took[1:], "s")),)
    note = (
        "The board looks every second: half of one on average is waiting. The pauses between the appends are not in step with it."
    )
    return Section("viewers", f"A step appended to {megabytes} MB, seen in the browser", ("appended", "seen after"), rows, note)


def one_append(page: Page, run: Path, step: int) -> float:
    """Seconds until the rows are there. The pause before is a different one each time, so that all phases of the board's looks are met."""
    page.wait_for_timeout(3_000 + 700 * (step % 3))
    count = int(re.sub(r"\D", "", page.get_by_text(LOADED).first.inner_text().partition("rows")[0]))
    rollouts.append(run, step, STEP_ROLLOUTS)
    started = time.perf_counter()
    page.get_by_text(f"{count + STEP_ROLLOUTS:,} rows").first.wait_for(timeout=SEEN_MILLISECONDS)
    return time.perf_counter() - started
