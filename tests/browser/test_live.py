"""A run that grows under a reader's eyes, in a real browser: what comes is there without a click, and the reader stays where they are."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from late_browser import LateBrowser
from playwright.sync_api import Locator, Page, expect
from servers import Written, WrittenRun
from settling import settled, tab

TOKENS = 3_000
WORDS = (" the", " sum", " of", " x", ",", ".\n", " again")


def row(step: int, tokens: int = 5) -> dict[str, Any]:
    """One rollout as the recorder writes it."""
    numbers = [-0.1 - at % 13 / 40 for at in range(tokens)]
    return {
        "step": step,
        "prompt": "p",
        "response": "r",
        "response_tokens": [WORDS[at % len(WORDS)] for at in range(tokens)],
        "logprobs": numbers,
        "ref_logprobs": [number - 0.01 for number in numbers],
        "reward": 1.0,
    }


def line(step: int) -> str:
    """One short rollout, with its line end."""
    return json.dumps(row(step)) + "\n"


def append(shard: Path, text: str) -> None:
    """Write on at the end of a shard, which may be new."""
    with shard.open("a", encoding="utf-8") as stream:
        stream.write(text)


def switch(page: Page) -> Locator:
    """What turns following on and off."""
    return page.get_by_label("Live", exact=True)


@pytest.fixture
def run(written: Written) -> WrittenRun:
    """A run of three steps in one shard, the second of them long."""
    return written(row(step, TOKENS if step == 1 else 5) for step in range(3))


def scrolled(page: Page, text: Locator) -> tuple[float, float]:
    """How far the page and the response are scrolled."""
    down = page.get_by_test_id("stMain").evaluate("node => node.scrollTop")
    return float(down), float(text.evaluate("node => node.scrollTop"))


@pytest.mark.journey
def test_reader_of_a_live_run_stays_where_they_are(page: Page, run: WrittenRun) -> None:
    """A new step, a line written in halves and a new shard appear without a click; step, rollout, token and scroll stay."""
    page.set_viewport_size({"width": 1400, "height": 600})
    page.goto(f"{run.link}&step=1&rollout=rank_0.jsonl:2&token=1500")
    settled(page)
    tab(page, "Tokens").click()
    text = page.locator(".tv-text")
    expect(text.locator("[data-pinned]")).to_be_visible()
    settled(page)
    page.get_by_test_id("stMain").evaluate("node => { node.scrollTop = 120; }")
    text.evaluate("node => { node.scrollTop += 30; }")
    settled(page)
    place, before = page.url, scrolled(page, text)
    assert min(before) > 0
    half = line(4)

    append(run.folder / "rank_0.jsonl", line(3) + half[:40])
    expect(page.get_by_text("Step (of 4)")).to_be_visible()
    append(run.folder / "rank_0.jsonl", half[40:])
    expect(page.get_by_text("Step (of 5)")).to_be_visible()
    append(run.folder / "rank_1.jsonl", line(5))
    expect(page.get_by_text("Step (of 6)")).to_be_visible()
    expect(page.get_by_text("6 rows · nothing refused")).to_be_visible()
    settled(page)

    assert page.url == place
    assert scrolled(page, text) == before
    expect(text.locator("[data-pinned]")).to_have_count(1)
    assert re.search("token=1500(&|$)", place)


def test_live_is_on_for_a_run_just_written(page: Page, run: WrittenRun, written: Written) -> None:
    """The switch is on for a run that changed in the last minutes and off for an old one, loaded when asked for."""
    link, folder = written([row(0)])
    os.utime(folder / "rank_0.jsonl", (1e9, 1e9))

    page.goto(run.link)
    settled(page)
    expect(switch(page)).to_be_checked()

    page.goto("about:blank")
    page.goto(link)
    settled(page)
    expect(switch(page)).not_to_be_checked()
    append(folder / "rank_0.jsonl", line(1))
    os.utime(folder / "rank_0.jsonl", (1e9, 1e9))

    reload = page.get_by_role("button", name="Changed on disk: reload")
    expect(reload).to_be_visible()
    expect(page.get_by_text("1 row · nothing refused")).to_be_visible()
    reload.click()
    expect(page.get_by_text("2 rows · nothing refused")).to_be_visible()
    expect(reload).to_have_count(0)
    expect(page).to_have_url(re.compile("step=1(&|$)"))


def test_a_switch_that_the_browser_has_from_before_leads_nowhere(board_server: str, page: Page) -> None:
    """Of a reader who left the newest step a slow browser still says that following is on: that is no wish to go back there."""
    late = LateBrowser(page)
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=79")
    settled(page)
    expect(page.get_by_role("switch", name="Follow newest step")).to_be_checked()

    late.hold()
    page.keyboard.press("h")
    late.answered()  # the server has drawn the step before, and the browser does not know it
    switch(page).click(force=True)
    late.answered()
    late.release()

    settled(page)
    expect(page).to_have_url(re.compile("step=78"))
    expect(page.get_by_role("switch", name="Follow newest step")).not_to_be_checked()
