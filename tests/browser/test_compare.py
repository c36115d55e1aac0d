"""Two runs chosen on the page Runs and compared: the prompt that differs most is opened, with its tokens in colours of both."""

import re

import pytest
from browsing import go_to_page, row_of
from playwright.sync_api import Page, expect
from settling import settled


@pytest.mark.journey
def test_from_the_list_of_runs_to_the_tokens_that_differ(board_server: str, page: Page) -> None:
    """Ticked on Runs, laid side by side, compared; a click on the first row, and on a dot, opens a prompt, which the link keeps."""
    page.goto(f"{board_server}runs?runs_sort=name&runs_order=ascending")
    expect(page.get_by_text(re.compile(r"^3 runs · [0-9.]+ MB"))).to_be_visible()
    settled(page)
    for row, ticked in ((1, "Side by side (1)"), (2, "Side by side (2)")):
        row_of(page, row).get_by_role("checkbox").click()
        expect(page.get_by_role("button", name=ticked)).to_be_visible()
        settled(page)
    page.get_by_role("button", name="Side by side (2)").click()
    expect(page).to_have_url(re.compile("run=tiny_ppo_hacked&step=79&beside=tiny_ppo_hacked&beside=tiny_ppo_rhyme"))
    settled(page)
    go_to_page(page, "Compare")
    expect(page.get_by_text("B lies below A by more than chance", exact=False)).to_be_visible()
    settled(page)
    row_of(page, 0).get_by_role("gridcell").nth(1).click()
    expect(page).to_have_url(re.compile("pair_prompt="))
    settled(page)
    expect(page.get_by_text("Colours mean the same in both.", exact=False)).to_be_visible()
    expect(page.locator(".tv")).to_have_count(2)
    legends = page.locator(".tv-legend")
    assert legends.nth(0).inner_text() == legends.nth(1).inner_text()
    first = re.search(r"pair_prompt=(-?\d+)", page.url)

    plot = page.locator(".sc-plot")
    plot.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sc-tip")).to_contain_text("mean reward in B")
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile(f"pair_prompt={first and first[1]}"))
    settled(page)
    page.get_by_role("link", name="Tokens of B").click()
    expect(page).to_have_url(re.compile(r"/tokens\?.*run=tiny_ppo_rhyme"))
    settled(page)
    expect(page.locator(".tv-tok").first).to_be_visible()
