"""The page Findings in a browser: looked through unasked, from the first finding to its rollout to its tokens."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect
from servers import Serve
from settling import settled

RUNS = Path(__file__).parents[2] / "rollout_samples"


def test_from_the_light_to_a_token(serve: Serve, page: Page) -> None:
    """The hacked run: the light of the first page says that there is something, and leads to the finding, its rollout and its tokens."""
    address = serve(RUNS, "--findings")
    page.goto(f"{address}?run=tiny_ppo_hacked")
    light = page.locator(".st-key-findings_light a")
    expect(light.first).to_contain_text(re.compile("^[0-9]+ finding"), timeout=60_000)
    settled(page)
    expect(light).to_have_count(1)
    assert page.locator(".cv-over path.cv-found").count() > 0

    light.click()
    settled(page)
    page.locator(".st-key-finding_1 button").click()
    settled(page)
    expect(page).to_have_url(re.compile("finding="))
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert box is not None
    # a grid that was drawn anew takes a click only where the pointer came, and not out of nowhere
    page.mouse.move(box["x"] + 150, box["y"] + 70)
    page.wait_for_timeout(300)
    page.mouse.move(box["x"] + 200, box["y"] + 35 + 17, steps=4)
    page.wait_for_timeout(300)
    page.mouse.click(box["x"] + 200, box["y"] + 35 + 17)
    settled(page)
    expect(page).to_have_url(re.compile("rollout=rank_"))
    page.get_by_role("link", name="Open its tokens").click()
    settled(page)
    expect(page.locator(".tv-tok").first).to_be_visible()
