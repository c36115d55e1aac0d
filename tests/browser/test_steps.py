"""The page Steps in a browser: what is drawn around in the scatter becomes a filter, a click opens, and marks say why."""

import re

from playwright.sync_api import Page, expect
from settling import settled


def test_what_is_selected_in_the_scatter_is_filtered(board_server: str, page: Page) -> None:
    """A box over the right half is a chip that leaves fewer rollouts; a lasso another; then a click on a point opens its rollout."""
    page.goto(f"{board_server}steps?run=tiny_ppo_hacked&step=40&steps_view=Scatter")
    settled(page)
    plot = page.locator(".sc-over")
    box = plot.bounding_box()
    assert box is not None
    left, top, width, height = box["x"], box["y"], box["width"], box["height"]

    page.mouse.move(left + 0.3 * width, top + 40)
    page.mouse.down()
    page.mouse.move(left + 0.6 * width, top + 0.5 * height)
    page.mouse.move(left + width - 16, top + height - 45)
    page.mouse.up()
    settled(page)
    assert "BETWEEN" in re.sub(r"[+]|%20", " ", page.url)

    page.get_by_role("button", name="Lasso").click()
    page.mouse.move(left + 50, top + 30)
    page.mouse.down()
    for across, down in ((0.5, 30), (0.98, 30), (0.98, 0.7 * height), (0.5, height - 45), (0.1, 0.7 * height)):
        page.mouse.move(left + across * width, top + down, steps=4)
    page.mouse.up()
    settled(page)
    assert "::INT" in page.url.replace("%3A", ":")

    page.locator(".sc-plot").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sc-tip")).to_contain_text("reward")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.locator(".st-key-rollout_links")).to_contain_text("Open its tokens")
    assert "rollout=" in page.url


def test_a_mark_of_the_strip_says_why(board_server: str, page: Page) -> None:
    """Under the pointer, and in words for who does not see it; Page Down goes to the mark before."""
    page.goto(f"{board_server}steps?run=tiny_ppo_hacked")
    settled(page)
    strip = page.locator(".strip")
    expect(page.locator(".strip-told")).to_contain_text("validation reward breaks at step")

    mark = page.locator(".strip-mark").first
    mark.hover(force=True)  # a mark of the next bar may lie over it: what counts is where the pointer is
    expect(page.locator(".strip-reasons")).to_contain_text("at step")

    strip.focus()
    page.keyboard.press("PageDown")
    settled(page)
    assert re.search(r"step=\d+", page.url)
    expect(strip).to_have_attribute("aria-valuetext", re.compile("at step"))
