"""Runs laid over each other as a reader meets them: their values under the crosshair, another axis, one taken away, and the way back."""

import re

from browsing import go_back, go_to_page
from playwright.sync_api import Page, expect
from settling import BACKGROUND_MILLISECONDS, settled


def test_runs_over_each_other(board_server: str, page: Page) -> None:
    """Every run says its value under the crosshair; along rollouts a click goes to a step; a chip takes a run away, and Back brings it back."""
    page.goto(f"{board_server}?run=tiny_ppo_rhyme&beside=tiny_ppo_hacked")
    panel = page.locator(".st-key-reward_curves .cv-card").first
    expect(panel.locator(".cv-run-name")).to_have_text(["tiny_ppo_rhyme", "tiny_ppo_hacked"], timeout=BACKGROUND_MILLISECONDS)
    settled(page)
    expect(panel.locator(".cv-caption")).to_contain_text("bootstrap over prompts")

    plot = panel.locator(".cv-plot canvas")
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    expect(panel.locator(".cv-caption")).to_have_text(re.compile(r"^step \d+$"))
    expect(panel.locator(".cv-run-value b")).to_have_text([re.compile(r"^[0-9.]+$")] * 2)

    page.locator(".st-key-overlay_choices").get_by_text("rollouts", exact=True).click()
    expect(page).to_have_url(re.compile(r"along=rollouts"))
    settled(page)
    box = plot.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    expect(page).to_have_url(re.compile(r"step=(?!119)\d+"))
    settled(page)

    go_to_page(page, "Metrics")
    expect(page.locator(".cv-run-name").first).to_have_text("tiny_ppo_rhyme")
    settled(page)
    page.get_by_role("button", name="Take tiny_ppo_hacked away").click()
    expect(page).not_to_have_url(re.compile(r"beside="))
    settled(page)
    expect(page.locator(".st-key-run_chips")).to_have_count(0)
    go_back(page)
    expect(page.locator(".st-key-run_chips").get_by_text("tiny_ppo_hacked")).to_be_visible()
