"""The list of runs as a reader meets it: opened first, told of soon, a name clicked, a row chosen and named."""

import re
from pathlib import Path

import pytest
from browsing import click_row, go_back, go_to_page
from playwright.sync_api import Page, expect
from rows import row, write_run
from servers import Serve
from settling import BACKGROUND_MILLISECONDS, settled


@pytest.mark.journey
def test_from_the_list_of_runs_into_one_and_back(serve: Serve, page: Page) -> None:
    """The bare address lists the runs; a click on a name opens its rewards, the tab lists them again, a row is chosen and given a name."""
    address = serve("rollout_samples")
    page.goto(address)
    expect(page).to_have_url(re.compile(r"/runs$"))
    expect(page.get_by_text(re.compile(r"^3 runs · [0-9.]+ MB$"))).to_be_visible(timeout=BACKGROUND_MILLISECONDS)
    settled(page)

    click_row(page, 0, "run")
    expect(page).to_have_url(re.compile(r"/\?run=tiny_ppo_"))
    settled(page)
    expect(page.get_by_text("Does the reward rise?")).to_be_visible()

    go_to_page(page, "Runs")
    settled(page)
    expect(page.get_by_role("searchbox", name="Text in name, path, tags, note")).to_be_visible()
    settled(page)
    click_row(page, 1, "rollouts")
    expect(page).to_have_url(re.compile(r"/runs\?.*run=tiny_ppo_"))
    settled(page)
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.fill("The <b>second</b>")
    name.press("Enter")
    expect(page.locator(".st-key-run_panel").get_by_text("The <b>second</b>").first).to_be_visible()
    page.get_by_role("link", name="Open the run").click()
    settled(page)
    expect(page.get_by_text("Does the reward rise?")).to_be_visible()


def test_back_from_a_run_that_was_not_read_is_one_press(serve: Serve, page: Page, tmp_path: Path) -> None:
    """Its newest step is not known from the parts that the list has read, and is in the address before the run opens all the same."""
    text = "so it goes " * 300
    write_run(tmp_path / "large", {"a.jsonl": [row(step, response=f"{text}{step}", reward=1.0) for step in range(1500)]})
    write_run(tmp_path / "small", {"a.jsonl": [row(0)]})
    page.goto(serve(tmp_path))
    expect(page.get_by_text("about 1,500")).to_be_visible(timeout=BACKGROUND_MILLISECONDS)
    settled(page)
    page.get_by_role("gridcell", name="large").first.click()
    expect(page).to_have_url(re.compile(r"/\?.*run=large"))
    expect(page.get_by_text("Does the reward rise?")).to_be_visible()
    settled(page)
    expect(page).to_have_url(re.compile(r"step=1499(&|$)"))

    go_back(page)
    expect(page).to_have_url(re.compile(r"/runs"))
