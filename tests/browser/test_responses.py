"""The table of the Responses page in a browser: it ends where the window does, and a click on a head sorts it."""

import re
from pathlib import Path

import pytest
from browsing import click_row, go_to_page, row_of
from playwright.sync_api import Page, expect
from servers import Written
from settling import settled

IMAGE = "![](http://127.0.0.1:9/x.png) <img src=http://127.0.0.1:9/y.png>"


def opened(page: Page, address: str) -> None:
    """The page, with its table drawn."""
    page.goto(address)
    settled(page)
    go_to_page(page, "Responses")
    expect(page.get_by_role("grid", name="rollouts")).to_be_visible()


def below(page: Page) -> float:
    """How far the table's end is from the window's."""
    box = page.get_by_role("grid").bounding_box()
    assert box is not None
    return float(page.evaluate("window.innerHeight")) - box["y"] - box["height"]


GROWN = """async (grid) => {
  const lines = () => grid.querySelectorAll(".tb-row").length;
  const before = lines();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  grid.parentElement.style.setProperty("--tall", "1400px");
  await frame(); // in which the grid grows, after this
  await frame();
  return [before, lines(), Math.floor(grid.clientHeight / grid.querySelector(".tb-row").clientHeight)];
}"""
"""How many rows are there before a table grows, and once the frame in which it does is painted; and how many then fit."""


def test_a_table_that_grew_is_full_when_it_is_painted(board_server: str, page: Page) -> None:
    """Its new room is never seen empty, and takes no frame more."""
    page.set_viewport_size({"width": 1400, "height": 700})
    opened(page, f"{board_server}?run=tiny_ppo_hacked&step=18&scope=All+steps")
    before, after, room = page.get_by_role("grid", name="rollouts").evaluate(GROWN)
    assert before < room <= after


def test_the_table_reaches_the_bottom_of_the_window(board_server: str, page: Page) -> None:
    """At any height of the window, also after it changes; on a narrow one it is of a size to read, below the choices."""
    page.set_viewport_size({"width": 1400, "height": 700})
    opened(page, f"{board_server}?run=tiny_ppo_hacked&step=18")
    assert below(page) == pytest.approx(16, abs=2)
    words = row_of(page, 0).locator(".tb-words").first
    assert words.evaluate("words => words.getBoundingClientRect().height") == 40  # two lines

    page.set_viewport_size({"width": 1400, "height": 1100})
    expect(page.get_by_role("grid")).to_have_css("max-height", re.compile(r"[67]\d\dpx"))
    assert below(page) == pytest.approx(16, abs=2)

    page.set_viewport_size({"width": 480, "height": 900})
    expect(page.get_by_role("grid")).to_have_css("max-height", re.compile(r"[345]\d\dpx"))
    box = page.get_by_role("grid").bounding_box()
    assert box is not None
    assert 300 < box["height"] < 600


def test_a_click_on_a_head_sorts_and_opens_the_top_row(written: Written, page: Page) -> None:
    """The first click sorts by the column, a second the other way round; names of columns are text wherever they stand."""
    rows = [{"step": 0, "response": f"r{at}", IMAGE: 0.5, "reward": float(reward)} for at, reward in enumerate((2, 9, 4))]
    opened(page, written(rows).link)
    expect(page).to_have_url(re.compile("rollout=rank_0.jsonl%3A1(&|$)"))
    settled(page)

    for top, order in ((2, "descending"), (1, "ascending")):
        head = page.get_by_role("columnheader", name="reward", exact=True)
        head.click()
        expect(page).to_have_url(
            re.compile(f"sort=reward.*rollout=rank_0.jsonl%3A{top}(&|$)|rollout=rank_0.jsonl%3A{top}&.*sort=reward")
        )
        expect(head).to_have_attribute("aria-sort", order)
        settled(page)
    expect(page).to_have_url(re.compile("order=ascending"))

    page.get_by_text("All numbers").click()
    settled(page)
    page.get_by_role("button", name="Order", exact=True).click()
    page.get_by_role("combobox", name="Sort by").click()
    expect(page.get_by_role("option", name=IMAGE)).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.get_by_test_id("stPopoverBody").get_by_text(IMAGE).first).to_be_visible()


def test_a_row_is_chosen_by_click_and_by_key(written: Written, page: Page) -> None:
    """The rollout beside the table and the link follow; the chosen row is marked, told to who hears, and in sight by link."""
    opened(page, written({"step": 0, "response": f"r{at}", "reward": float(at)} for at in range(300)).link)
    grid = page.get_by_role("grid", name="rollouts")
    expect(grid).to_have_attribute("aria-rowcount", "301")
    expect(row_of(page, 0)).to_have_attribute("aria-selected", "true")

    click_row(page, 3)
    expect(page).to_have_url(re.compile("rollout=rank_0.jsonl%3A4(&|$)"))
    expect(page.locator('.tb-row[aria-selected="true"]')).to_have_attribute("aria-rowindex", "5")
    settled(page)

    for key in ("ArrowDown", "PageDown", "Home", "End", "ArrowUp"):
        grid.press(key)
    here = page.locator("#tb-here")
    expect(here.locator("..")).to_have_attribute("aria-rowindex", "300")
    expect(page).to_have_url(re.compile("rollout=rank_0.jsonl%3A4(&|$)"))
    grid.press("Enter")
    expect(page).to_have_url(re.compile("rollout=rank_0.jsonl%3A299(&|$)"))
    settled(page)

    page.reload()
    settled(page)
    expect(row_of(page, 298)).to_be_in_viewport()
    expect(row_of(page, 298)).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Previous").click()
    expect(row_of(page, 297)).to_have_attribute("aria-selected", "true")


SCROLL = """
async (grid) => {
    const counts = new Set();
    const rows = [];
    for (let at = 0; at <= 20; at += 1) {
        grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * at / 20;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        counts.add(grid.querySelectorAll(".tb-row").length);
        const middle = grid.getBoundingClientRect();
        const row = grid.getRootNode().elementFromPoint(middle.left + 20, middle.top + middle.height / 2)?.closest(".tb-row");
        rows.push(Number(row?.getAttribute("aria-rowindex")));
    }
    return [Math.max(...counts), rows];
}
"""


def test_many_rows_are_as_few_elements_as_few(written: Written, page: Page) -> None:
    """Wherever a list of a thousand is scrolled to, rows are there, in order, and never more than some beyond those in sight."""
    opened(page, written({"step": 0, "response": f"r{at}", "reward": float(at)} for at in range(1_000)).link)

    most, rows = page.get_by_role("grid").evaluate(SCROLL)

    assert most < 40
    assert rows == sorted(rows)
    assert rows[0] < 20
    assert rows[-1] > 980


def test_text_columns_sort_here_and_rows_are_found_copied_and_saved(written: Written, page: Page) -> None:
    """What the server does not sort the browser does; what is found alone is shown; text of a run is text wherever it stands."""
    rows = [
        {"step": 0, "response": f"{name} {IMAGE}", "reward": float(at)}
        for at, name in enumerate(("pear", "apple", "fig", "apple"))
    ]
    opened(page, written(rows).link)
    grid, head = page.get_by_role("grid"), page.get_by_role("columnheader", name="response")

    def shown() -> list[str]:
        return [text.split(" ")[0] for text in grid.locator(".tb-words").all_inner_texts()]

    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert shown() == ["apple", "apple", "fig", "pear"]
    click_row(page, 1)
    expect(page).to_have_url(re.compile("rollout=rank_0.jsonl%3A4(&|$)"))
    settled(page)
    assert shown() == ["apple", "apple", "fig", "pear"]

    grid.press("Control+f")
    page.get_by_role("searchbox", name="Find in these rows").fill("APPLE")
    expect(grid).to_have_attribute("aria-rowcount", "3")
    expect(page.get_by_role("status").get_by_text("2 of 4")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save these rows as CSV").click()
    assert download.value.suggested_filename == "rollouts.csv"
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ["reward", "1", "3"]
    page.get_by_role("searchbox", name="Find in these rows").press("Escape")
    expect(grid).to_have_attribute("aria-rowcount", "5")

    grid.press("Home")
    grid.press("ArrowRight")
    grid.press(" ")
    expect(page.get_by_role("dialog", name="response")).to_contain_text(f"apple {IMAGE[:20]}")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="response")).to_have_count(0)
    assert page.locator("img[src*='127.0.0.1:9']").count() == 0


def test_all_rows_of_a_page_are_printed(written: Written, page: Page) -> None:
    """Not those in sight alone; paper does not scroll, so that no column is beyond its edge and no number is cut."""
    opened(page, written({"step": 0, "prompt": "p" * 200, "response": f"r{at}", "reward": at / 7} for at in range(120)).link)
    rows = page.locator(".tb-row")
    assert rows.count() < 40

    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")

    expect(rows).to_have_count(120)
    grid = page.get_by_role("grid")
    assert grid.evaluate("grid => grid.scrollHeight <= grid.clientHeight + 1 && grid.scrollWidth <= grid.clientWidth + 1")
    bars = page.locator(".tb-bar")
    assert not any(bars.nth(at).evaluate("bar => bar.scrollWidth > bar.clientWidth") for at in (0, 60, 119))
    page.emulate_media(media="screen")
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert rows.count() < 40
