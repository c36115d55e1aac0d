"""The page All tokens in a browser: from a bar and a place of the picture to a token, and from token to token by keys."""

import re

from playwright.sync_api import Locator, Page, expect
from settling import settled


def click_at(part: Locator, across: float, down: float) -> None:
    """Click so far from the left and the top, as shares of its size."""
    part.wait_for()
    box = part.bounding_box()
    assert box is not None
    part.click(position={"x": box["width"] * across, "y": box["height"] * down})


def test_from_the_picture_to_a_token_and_on(board_server: str, page: Page) -> None:
    """A click on a bar lists its tokens and on the picture the rollouts there; Enter opens a token, ] goes on and [ back."""
    page.set_viewport_size({"width": 1500, "height": 1300})
    page.goto(f"{board_server}all_tokens?run=tiny_ppo_hacked&step=40")
    settled(page)
    assert not page.evaluate("performance.getEntriesByType('resource').some(one => /plotly/i.test(one.name))")

    click_at(page.locator(".cb-plot"), 0.99, 0.5)
    expect(page).to_have_url(re.compile(r"bar=\d+"))
    expect(page.get_by_text("of the marked bar")).to_be_visible()
    click_at(page.locator(".cb-plot"), 0.99, 0.5)
    expect(page).not_to_have_url(re.compile(r"bar="))

    click_at(page.locator(".hm-plot"), 10.5 / 80, 0.99)
    expect(page).to_have_url(re.compile(r"cell=0-10-49"))
    expect(page).to_have_url(re.compile(r"[?&]step=10(&|$)"))
    expect(page.get_by_text("Rollouts of step 10 by their mean log_ratio at 98–100 %")).to_be_visible()
    settled(page)

    page.locator("body").press("]")
    expect(page.get_by_text("Token 1 of the 200 listed")).to_be_visible()
    page.locator("body").press("]")
    expect(page.get_by_text("Token 2 of the 200 listed")).to_be_visible()
    settled(page)
    page.locator("body").press("Enter")
    expect(page).to_have_url(re.compile(r"/tokens\?"))
    expect(page.locator(".tv-tok").first).to_be_visible()
    expect(page.get_by_text("Token 2 of the 200 listed")).to_be_visible()
    settled(page)
    before = page.url
    page.locator("body").press("[")
    expect(page.get_by_text("Token 1 of the 200 listed")).to_be_visible()
    expect(page).not_to_have_url(before)
    settled(page)
    page.locator(".tv-tok").first.click()
    settled(page)
    page.locator(".tv-text").first.press("]")
    expect(page.get_by_text(re.compile("Token . of the 200 listed"))).to_be_visible()
