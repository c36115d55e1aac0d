"""Runs side by side beyond pairs of prompts, as a reader meets them: a word that one run alone says, and the responses that hold it."""

import re

from browsing import click_row
from playwright.sync_api import Page, expect
from settling import BACKGROUND_MILLISECONDS, settled

LINK = "compare?run=tiny_ppo_rhyme&beside=tiny_ppo_rhyme&beside=tiny_ppo_hacked&compare_section="


def test_from_a_word_to_the_responses_of_the_other_run(board_server: str, page: Page) -> None:
    """A click on the first word of B's is in the link, names how many responses hold it, and leads to those of the run that is B."""
    page.goto(f"{board_server}{LINK}Words")
    expect(page.get_by_text(re.compile(r"^B says more · tiny_ppo_hacked · \d+ words$"))).to_be_visible(
        timeout=BACKGROUND_MILLISECONDS
    )
    settled(page)

    click_row(page, 0)
    way = page.get_by_role("link", name=re.compile(r"^2,404 responses of B$"))
    expect(way).to_be_visible()
    expect(page).to_have_url(re.compile(r"phrase=[^&]*Our"))
    settled(page)
    way.click()

    expect(page).to_have_url(re.compile(r"/search\?.*run=tiny_ppo_hacked"))
    expect(page.get_by_text(re.compile(r"in 2,404 of 3,840 rollouts"))).to_be_visible()


def test_distributions_are_drawn(board_server: str, page: Page) -> None:
    """The table at once, both charts when the reader comes to them."""
    page.goto(f"{board_server}{LINK}Distributions")
    expect(page.get_by_text("Differences from tiny_ppo_rhyme in reward")).to_be_visible(timeout=BACKGROUND_MILLISECONDS)
    settled(page)
    page.mouse.move(500, 700)
    page.mouse.wheel(0, 40)
    expect(page.get_by_text("How is it spread?")).to_be_visible()
    expect(page.get_by_text("Which part of it lies apart?")).to_be_visible()
