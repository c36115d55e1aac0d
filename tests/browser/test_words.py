"""The page Words in a browser: from a phrase that pays to its places, to the list of tokens, and by the link back to the same row."""

import re

import pytest
from browsing import click_row
from playwright.sync_api import Page, expect
from settling import settled


@pytest.mark.journey
def test_from_a_phrase_to_its_places(board_server: str, page: Page) -> None:
    """A click on the first phrase shows its places with their rewards, and is in the link; the same link shows the same places."""
    page.goto(f"{board_server}words?run=tiny_ppo_hacked")
    expect(page.get_by_role("grid").first).to_be_visible()
    settled(page)

    click_row(page, 0)
    places = page.get_by_text(re.compile(r"^[0-9,]+ places in [0-9,]+ of [0-9,]+ rollouts"))
    expect(places).to_be_visible()
    expect(page).to_have_url(re.compile("phrase="))
    settled(page)
    told = places.inner_text()

    page.goto(page.url)
    expect(places).to_have_text(told)
    settled(page)
    page.get_by_text("Tokens that rise and fall", exact=True).click()
    expect(page.get_by_text(re.compile(r"^[0-9,]+ tokens, [0-9,]+ different"))).to_be_visible()
    settled(page)
    click_row(page, 0)
    expect(page.get_by_text(told, exact=True)).to_have_count(0)  # while the page is drawn anew they stand beside the new ones
