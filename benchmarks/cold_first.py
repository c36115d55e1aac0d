"""How soon a run that was never opened can be read: its first curve, a rollout that a link names, and all of it; beside an empty page.

Each visit is a browser context of its own, to a server of its own with an empty cache, that has just started.
"""

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page

from benchmarks import rollouts
from benchmarks.browsing import LOADED, VIEWPORT, checked, grow_old
from benchmarks.first_view import CHART, EMPTY_LINE, LOAD_MILLISECONDS
from benchmarks.plan import Plan, say
from benchmarks.sections import Section, figure
from benchmarks.serving import chromium, served_board, served_page

COLUMNS: Final = ("what", "after navigation", "beyond the empty page")
GOALS_FROM: Final = 10_000
"""Megabytes of a run from which on the goals are asked for."""

COMPLETE_MILLISECONDS: Final = 1_800_000
PARSING_ENDS_SECONDS: Final = 30


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """A table for the largest run that is written, and one for the largest that it is multiplied to."""
    megabytes = max(plan.megabytes)
    say(f"cold first: writing {megabytes} MB")
    root = place / "root"
    rollouts.write(root / "run", megabytes * 1_000_000)
    empty = place / "empty.py"
    empty.write_text(f"import streamlit as st\n\nst.text({EMPTY_LINE!r})\n", encoding="utf-8")
    with chromium() as browser, served_page(empty) as empty_link:
        yield measured(browser, empty_link, root, place, megabytes, plan)
        for size in [max(plan.growth)] if plan.growth else []:
            say(f"cold first: multiplying to {size} MB")
            rollouts.multiplied(root / "run", place / "larger" / "run", max(1, size // megabytes))
            shutil.rmtree(root)
            yield measured(browser, empty_link, place / "larger", place, size, plan)


def measured(browser: Browser, empty_link: str, root: Path, place: Path, megabytes: int, plan: Plan) -> Section:
    """The table of one run."""
    grow_old(root / "run")
    link = middle(root / "run")
    rounds = []
    for at in range(plan.large_rounds + 1):
        say(f"cold first: {megabytes} MB, round {at} of {plan.large_rounds}, the first is thrown away")
        rounds.append(one_round(browser, empty_link, root, place / "cache", link))
    rounds = rounds[1:]
    floor = [found["an empty page"] for found in rounds]
    goals = {"first curve": "cold_curve", "the linked rollout": "cold_link"} if megabytes >= GOALS_FROM else {}
    rows = []
    for name in rounds[0]:
        took = [found[name] for found in rounds]
        beyond = [a - b for a, b in zip(took, floor, strict=True)]
        rows.append((name, figure(took, "s"), "" if beyond == [0.0] * len(beyond) else figure(beyond, "s", goals.get(name))))
    note = f"Medians of {plan.large_rounds}. The link names line {link.rpartition(':')[2]} of the second shard, its middle."
    return Section("cold_first", f"A run of {megabytes} MB that was never opened", COLUMNS, tuple(rows), note)


def middle(run: Path) -> str:
    """How a link names the rollout in the middle of the run's last shard."""
    shard = rollouts.shards(run)[-1]
    with shard.open("rb") as stream:
        count = sum(1 for _ in stream)
    return f"{shard.name}:{count // 2}"


def one_round(browser: Browser, empty_link: str, root: Path, cache: Path, link: str) -> dict[str, float]:
    """Seconds from navigation to what is waited for, by its name."""
    found: dict[str, float] = {}
    page, started = visited(browser, empty_link)
    page.get_by_text(EMPTY_LINE).wait_for()
    found["an empty page"] = time.perf_counter() - started
    page.context.close()
    with served_board(root, cache) as (address, _):
        page, started = visited(browser, f"{address}?run=run")
        page.locator(CHART).first.wait_for()
        found["first curve"] = time.perf_counter() - started
        page.get_by_text(LOADED).first.wait_for(timeout=COMPLETE_MILLISECONDS)
        complete = time.perf_counter() - started
        checked(page)
        page.context.close()
    emptied(cache)
    with served_board(root, cache) as (address, _):
        page, started = visited(browser, f"{address}tokens?run=run&rollout={link}")
        page.get_by_text(re.compile(rf"step \d+ · {re.escape(link)}")).first.wait_for()
        page.locator(".tv-tok").first.wait_for()
        found["the linked rollout"] = time.perf_counter() - started
        checked(page)
        page.context.close()
    emptied(cache)
    return found | {"the whole run": complete}


def emptied(cache: Path) -> None:
    """Remove a cache whose server was ended amid its reading: processes that parse for it write the part they are at before they end."""
    ends = time.monotonic() + PARSING_ENDS_SECONDS
    while cache.exists():
        shutil.rmtree(cache, ignore_errors=time.monotonic() < ends)
        time.sleep(0.1)


def visited(browser: Browser, link: str) -> tuple[Page, float]:
    """A page that begins to load, and when it began."""
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.set_default_timeout(LOAD_MILLISECONDS)
    started = time.perf_counter()
    page.goto(link, wait_until="commit")
    return page, started
