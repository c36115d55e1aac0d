"""The table of the Responses page in a browser: it ends where the window does, and a click on a head sorts it."""

import re
from pathlib import Path

import pytest
from browsing import click_table, go_to_page
from playwright.sync_api import Page, expect
from rows import add_run
from servers import Serve
from settling import settled

IMAGE = "![](http://127.0.0.1:9/x.png) <img src=http://127.0.0.1:9/y.png>"


def opened(page: Page, address: str) -> None:
    """The page, with its table drawn."""
    page.goto(address)
    settled(page)
    go_to_page(page, "Responses")
    expect(page.locator(".st-key-rollout_table canvas").first).to_be_visible()


LINES = """
canvas => {
    const [left, top, width, height] = [250, 37, 180, 56];  // in the response of the first row
    const { data } = canvas.getContext("2d").getImageData(left, top, width, height);
    const isInk = (value, at) => at % 4 < 3 && value < 110;
    const ink = Array.from({ length: height }, (_, y) => data.slice(y * width * 4, (y + 1) * width * 4).some(isInk));
    return ink.filter((dark, y) => dark && !ink[y - 1]).length;
}
"""
"""How many lines of letters a cell has."""


def below(page: Page) -> float:
    """How far the table's end is from the window's."""
    box = page.locator('.st-key-rollout_table [data-testid="stDataFrame"]').bounding_box()
    assert box is not None
    return float(page.evaluate("window.innerHeight")) - box["y"] - box["height"]


def test_the_table_reaches_the_bottom_of_the_window(board_server: str, page: Page) -> None:
    """At any height of the window, also after it changes; on a narrow one it is of a size to read, below the choices. Texts have two lines."""
    page.set_viewport_size({"width": 1400, "height": 700})
    opened(page, f"{board_server}?run=tiny_ppo_hacked&step=18")
    assert below(page) == pytest.approx(16, abs=2)
    assert page.locator(".st-key-rollout_table canvas").first.evaluate(LINES) >= 2

    page.set_viewport_size({"width": 1400, "height": 1100})
    page.wait_for_function("() => parseInt(document.documentElement.style.getPropertyValue('--rest-of-window')) > 600")
    assert below(page) == pytest.approx(16, abs=2)

    page.set_viewport_size({"width": 480, "height": 900})
    page.wait_for_function("() => parseInt(document.documentElement.style.getPropertyValue('--rest-of-window')) < 600")
    box = page.locator('.st-key-rollout_table [data-testid="stDataFrame"]').bounding_box()
    assert box is not None
    assert 300 < box["height"] < 600


def test_a_click_on_a_head_sorts_and_opens_the_top_row(serve: Serve, page: Page, tmp_path: Path) -> None:
    """The first click sorts by the column, a second the other way round; names of columns are text wherever they stand."""
    rows = [{"step": 0, "response": f"r{at}", IMAGE: 0.5, "reward": float(reward)} for at, reward in enumerate((2, 9, 4))]
    add_run(tmp_path, "run", rows)
    opened(page, serve(tmp_path))
    expect(page).to_have_url(re.compile("rollout=rank_0.jsonl%3A1(&|$)"))
    settled(page)

    for top in (2, 1):
        click_table(page, 60, 17)
        expect(page).to_have_url(
            re.compile(f"sort=reward.*rollout=rank_0.jsonl%3A{top}(&|$)|rollout=rank_0.jsonl%3A{top}&.*sort=reward")
        )
        settled(page)
    expect(page).to_have_url(re.compile("order=ascending"))

    page.get_by_text("All numbers").click()
    settled(page)
    page.get_by_role("combobox", name="Sort by").click()
    expect(page.get_by_role("option", name=IMAGE)).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_text(IMAGE).first).to_be_visible()
