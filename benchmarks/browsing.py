"""The real server and a real browser at a hundred thousand rollouts: from a click until the page is idle."""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, ViewportSize
from playwright.sync_api import Error as PlaywrightError

from benchmarks import idle, rollouts
from benchmarks.idle import Busy
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure
from benchmarks.serving import chromium, served_board
from board.serving.page_addresses import TABS

VIEWPORT: Final[ViewportSize] = {"width": 1400, "height": 1000}
AN_HOUR: Final = 3600
LOADED: Final = re.compile(r"^[0-9,]+ rows · (nothing refused|[0-9,]+ problem)")
"""What the board says when a run is loaded; while it loads, it says the rows and the rate."""

LOAD_MILLISECONDS: Final = 300_000

COLUMNS: Final = ("click", "idle after", "with what is not painted")

Row = tuple[str, Cell, Cell]
"""A name and its figures, or why there are none."""


@dataclass(frozen=True)
class Click:
    """What a reader does on a page, the `at`-th time."""

    name: str
    page: str
    act: Callable[[Page, int], None]
    query: str = ""


def step(page: Page, _: int) -> None:
    """To the next step, by its button."""
    page.get_by_role("button", name="step after").click()


def rollout(page: Page, _: int) -> None:
    """To the next rollout, by its button."""
    page.locator(".st-key-rollout_Next button").click()


def sort(page: Page, _: int) -> None:
    """By a number, by a click on its head: the largest first, then the smallest."""
    page.get_by_role("columnheader", name="reward", exact=True).click()


def search(page: Page, at: int) -> None:
    """For another text: the key that ends it counts as the click."""
    page.get_by_role("searchbox", name="Text in prompt or response").fill(f"word{at + 5}")
    page.keyboard.press("Enter")


def colour(page: Page, at: int) -> None:
    """Another metric in the token view than that it opens with: the page below it follows."""
    page.locator(".tv-metric").nth(2 + at % 3).click()


def go(name: str) -> Callable[[Page, int], None]:
    """To a page, by its name in the navigation."""
    return lambda page, _: page.locator(".st-key-tabs").get_by_role("link", name=name, exact=True).click()


CLICKS: Final = (
    Click("step, Rewards", "", step),
    Click("step, Metrics", "metrics", step),
    Click("step, Responses", "responses", step),
    Click("step, Tokens", "tokens", step),
    Click("rollout, Responses", "responses", rollout),
    Click("rollout, Tokens", "tokens", rollout),
    Click("sort a step", "responses", sort),
    Click("sort all steps", "responses", sort, "&scope=All+steps"),
    Click("filter a step", "responses", search),
    Click("filter all steps", "responses", search, "&scope=All+steps"),
    Click("colour, Tokens", "tokens", colour),
)
TRIP: Final = (*(tab.title for tab in TABS[2:]), *(tab.title for tab in TABS[:2]))
"""Every page, from that which a link without a page opens round to it again."""


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table at the largest number of rollouts."""
    count = max(plan.rollouts)
    say(f"browsing: writing {count:,} rollouts")
    root = place / "root"
    rollouts.of_size(root / "run", count)
    grow_old(root / "run")
    goal = "click_idle" if count >= 100_000 else None
    with served_board(root, place / "cache") as (address, _), chromium() as browser:
        rows: list[Row] = []
        for click in CLICKS:
            rows += attempted(browser, click.name, partial(clicked, address=address, click=click, rounds=plan.rounds, goal=goal))
        rows += attempted(browser, "page", partial(page_changes, address=address, rounds=plan.rounds, goal=goal))
    failed = ", ".join(name for name, cell, _ in rows if isinstance(cell, str))
    note = f"Medians of {plan.rounds} after a first one thrown away; what idle means is said above."
    title = f"Browser idle after a click, {count:,} rollouts"
    yield Section("browsing", title, COLUMNS, tuple(rows), note, failed)


def attempted(browser: Browser, name: str, measure: Callable[[Page], list[Row]]) -> list[Row]:
    """The rows that are measured on a fresh page; one with the reason where the page broke or did not come to rest."""
    say(f"browsing: {name}")
    page = browser.new_page(viewport=VIEWPORT)
    try:
        return measure(page)
    except (RuntimeError, PlaywrightError) as error:
        say(f"browsing: {error}")
        return [(name, f"failed: {str(error)[:200]}", "")]
    finally:
        page.close()


def clicked(page: Page, address: str, click: Click, rounds: int, goal: str | None) -> list[Row]:
    """The row of one click."""
    return [row(click.name, [*times(page, address, click, rounds)], goal)]


def row(name: str, took: Sequence[Busy], goal: str | None) -> Row:
    """The goal is on what can be seen."""
    return name, figure([one.seen for one in took], "ms", goal), figure([one.altogether for one in took], "ms")


def grow_old(run: Path) -> None:
    """Date the shards an hour back, so that the board does not follow the run: its looks every second are not the click's work."""
    then = time.time() - AN_HOUR
    for shard in rollouts.shards(run):
        os.utime(shard, (then, then))


def visit(page: Page, address: str, name: str, query: str = "") -> None:
    """Open a page at a step in the middle of the run, and wait until it is idle."""
    page.set_default_timeout(idle.TIMEOUT_MILLISECONDS)
    idle.watch(page)
    page.goto(f"{address}{name}?run=run&step=3{query}")
    page.get_by_text(LOADED).first.wait_for(timeout=LOAD_MILLISECONDS)
    idle.settle(page)


def times(page: Page, address: str, click: Click, rounds: int) -> Iterator[Busy]:
    """How long the page is busy, of each time after the first. Raises RuntimeError when the page shows an error."""
    visit(page, address, click.page, click.query)
    for at in range(rounds + 1):
        before = page.url
        click.act(page, at)
        took = idle.busy(page)
        checked(page)
        if page.url == before:
            raise RuntimeError("the click changed nothing in the link")
        if at:
            yield took


def page_changes(page: Page, address: str, rounds: int, goal: str | None) -> list[Row]:
    """The reader goes round the pages; the first time round is thrown away."""
    visit(page, address, "")
    found: dict[str, list[Busy]] = {name: [] for name in TRIP}
    for at in range(rounds + 1):
        say(f"browsing: round the pages, {at} of {rounds}")
        for name in TRIP:
            go(name)(page, at)
            took = idle.busy(page)
            checked(page)
            if at:
                found[name].append(took)
    return [row(f"page, to {name}", took, goal) for name, took in found.items()]


def checked(page: Page) -> None:
    """Raises RuntimeError for a page that broke: it is idle soon."""
    broken = page.get_by_test_id("stException")
    if broken.count():
        raise RuntimeError(f"the page shows {broken.first.inner_text().splitlines()[0]}")
