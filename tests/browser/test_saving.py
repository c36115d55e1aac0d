"""What a reader takes away of a panel of curves: files, the clipboard, and a table below the plot."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from settling import settled

from board import open_run

RUN = Path("rollout_samples/tiny_ppo_rhyme")


@pytest.fixture
def card(board_server: str, page: Page) -> Locator:
    """The first panel of Rewards."""
    page.goto(f"{board_server}?run={RUN.name}&step=5")
    settled(page)
    expect(page.locator(".st-key-reading")).to_have_count(0)  # while it is read the curves are of a part of it
    return page.locator(".cv-card").first


def saved(page: Page, card: Locator, way: str) -> tuple[str, bytes]:
    """The name and the bytes of the file that the menu gives."""
    card.hover()
    card.get_by_role("button", name="Save or copy").click()
    with page.expect_download() as download:
        card.get_by_role("button", name=way, exact=True).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_pictures_and_numbers_are_saved(page: Page, card: Locator) -> None:
    """A PNG of the plot and its names, and a CSV with every step's mean to the last digit, each called as the panel is."""
    width, height = card.locator("canvas").evaluate("canvas => [canvas.width, canvas.height]")
    name, picture = saved(page, card, "PNG")
    assert (name.endswith(".png"), picture[:8], picture[16:20]) == (True, b"\x89PNG\r\n\x1a\n", width.to_bytes(4))
    assert int.from_bytes(picture[20:24]) > height
    name, numbers = saved(page, card, "CSV")
    assert name.endswith(".csv")
    head, *rows = csv.reader(numbers.decode().splitlines())
    means = open_run(RUN).frame.groupby("step")["reward"].mean()
    assert head[0] == "step"
    assert {int(row[0]): float(row[head.index("policy")]) for row in rows} == pytest.approx(means.to_dict(), rel=1e-12)


def test_numbers_are_listed(page: Page, card: Locator) -> None:
    """The table below the plot holds a row per step; Escape closes the menu, a second choice the table."""
    menu = card.get_by_role("button", name="Save or copy")
    steps = open_run(RUN).frame["step"].nunique()

    card.hover()
    menu.press("Enter")
    page.keyboard.press("Escape")
    expect(card.get_by_role("button", name="Table of the numbers")).to_be_hidden()
    menu.press("Enter")
    card.get_by_role("button", name="Table of the numbers").press("Enter")
    expect(card.get_by_role("table").get_by_role("row")).to_have_count(steps + 1)
    menu.press("Enter")
    card.get_by_role("button", name="Table of the numbers").press("Enter")
    expect(card.get_by_role("table")).to_be_hidden()
