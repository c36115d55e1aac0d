"""How long a fresh visit takes until the page has come to rest: each page of a cached run, beside an empty Streamlit page, in turns.

A visit is a browser context of its own, so nothing is in the browser's cache. Beside this checkout another one can be measured in the same
rounds: the board of before.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser

from benchmarks import idle, rollouts
from benchmarks.browsing import LOADED, VIEWPORT, checked, grow_old
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure, ratio
from benchmarks.serving import REPOSITORY, chromium, served_board, served_page
from board.serving.page_addresses import TABS

EMPTY: Final = "(a page of one line)"
EMPTY_LINE: Final = "One line."
PAGES: Final = {tab.title: tab.path for tab in TABS}
"""Name → address."""

CHART: Final = ".js-plotly-plot .main-svg, .uplot canvas"

BEGUN: Final = ".st-key-tabs a"
"""What every page begins with: a server that is slow to begin looks idle."""

LOOKED_THROUGH: Final = re.compile(r"^(No findings|[0-9,]+ finding)")
"""What the top line says once the run was looked through for findings, in the background."""

COLUMNS: Final = ("page", "at rest after", "against the empty page", "bytes of scripts")
LOAD_MILLISECONDS: Final = 300_000

SCRIPTS: Final = "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))"
SCRIPT_BYTES: Final = f"{SCRIPTS}.reduce((sum, {{ decodedBodySize }}) => sum + decodedBodySize, 0)"


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table: the pages of this board and, where there is one to compare with, of the board of before."""
    megabytes = max(plan.megabytes)
    say(f"first view: writing {megabytes} MB")
    root = place / "root"
    rollouts.write(root / "run", megabytes * 1_000_000)
    grow_old(root / "run")
    empty = place / "empty.py"
    empty.write_text(f"import streamlit as st\n\nst.text({EMPTY_LINE!r})\n", encoding="utf-8")
    checkouts = {"": REPOSITORY} | ({", before": Path(plan.before)} if plan.before else {})
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        links = {EMPTY: stack.enter_context(served_page(empty))}
        for suffix, checkout in checkouts.items():
            address, _ = stack.enter_context(served_board(root, place / f"cache{suffix}", checkout))
            prepare(browser, f"{address}?run=run&step=3")
            links |= {f"{name}{suffix}": f"{address}{path}?run=run&step=3" for name, path in PAGES.items()}
        rounds = [dict(visits(browser, links, at)) for at in range(plan.rounds + 1)][1:]
    note = f"Fresh visits to a cached run of {megabytes} MB, medians of {plan.rounds} rounds, one before them thrown away: it fills the cache."
    yield Section("first_view", f"First view of a cached run, {megabytes} MB", COLUMNS, tuple(rows(rounds, links)), note)


def prepare(browser: Browser, link: str) -> None:
    """Have the run read into the cache and looked through: neither is to go on beside the visits that follow."""
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(LOAD_MILLISECONDS)
    page.goto(link)
    page.get_by_text(LOADED).first.wait_for()
    page.get_by_text(LOOKED_THROUGH).first.wait_for()
    page.close()


def rows(rounds: list[dict[str, tuple[float, float]]], links: dict[str, str]) -> Iterator[tuple[Cell, ...]]:
    """A row of each page; the goal is on ours."""
    floor = [found[EMPTY][0] for found in rounds]
    for name in links:
        took = [found[name][0] for found in rounds]
        scripts = figure([found[name][1] / 1e6 for found in rounds], "MB")
        goal = "first_view" if name in PAGES else None
        yield name, figure(took, "ms"), "" if name == EMPTY else ratio(took, floor, goal), scripts


def visits(browser: Browser, links: dict[str, str], at: int) -> Iterator[tuple[str, tuple[float, float]]]:
    """One fresh visit to each link: milliseconds from navigation to the last change that is painted, and bytes of scripts loaded."""
    say(f"first view: round {at}")
    for name, link in links.items():
        context = browser.new_context(viewport=VIEWPORT)
        page = context.new_page()
        page.set_default_timeout(LOAD_MILLISECONDS)
        idle.watch(page)
        page.goto(link)
        page.locator(f"text={EMPTY_LINE}" if name == EMPTY else BEGUN).first.wait_for()
        took = idle.busy(page).seen
        checked(page)
        yield name, (took, float(page.evaluate(SCRIPT_BYTES)))
        context.close()
