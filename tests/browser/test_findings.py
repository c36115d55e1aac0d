"""Findings in a browser: looked through unasked, from the first finding to its rollout to its tokens; and as a run grows."""

import re
from pathlib import Path

import pytest
from browsing import click_row
from hacked import TURN, hacked_rows
from playwright.sync_api import Page, expect
from rows import lines, row, write_run
from servers import Serve
from settling import BACKGROUND_MILLISECONDS, settled

RUNS = Path(__file__).parents[2] / "rollout_samples"


@pytest.mark.journey
def test_from_the_light_to_a_token(serve: Serve, page: Page) -> None:
    """The hacked run: the light of the first page says that there is something, and leads to the finding, its rollout and its tokens."""
    address = serve(RUNS, "--findings")
    page.goto(f"{address}?run=tiny_ppo_hacked")
    light = page.locator(".st-key-findings_light a")
    expect(light.first).to_contain_text(re.compile("^[0-9]+ finding"), timeout=BACKGROUND_MILLISECONDS)
    settled(page)
    expect(light).to_have_count(1)
    assert page.locator(".cv-over path.cv-found").count() > 0

    light.click()
    settled(page)
    page.locator(".st-key-finding_1 button").click()
    settled(page)
    expect(page).to_have_url(re.compile("finding="))
    expect(page.locator(".st-key-finding_1 button p")).to_have_css("text-decoration-line", "none")
    expect(page.locator(".st-key-finding_filters button p").first).to_have_css("text-decoration-line", "underline")
    click_row(page, 0)
    settled(page)
    expect(page).to_have_url(re.compile("rollout=rank_"))
    page.get_by_role("link", name="Open its tokens").click()
    settled(page)
    expect(page.locator(".tv-tok").first).to_be_visible()


def test_a_run_that_grows_lights_up(serve: Serve, page: Page, tmp_path: Path) -> None:
    """While a reader looks at another page, a run is written on step by step and its reward is exploited: the light says so by itself.

    Nothing is loaded anew, and the reader stays where they are.
    """
    rows = hacked_rows()
    honest = [row for row in rows if row["step"] < TURN]
    write_run(tmp_path / "run", {"rank_0.jsonl": honest})
    page.goto(f"{serve(tmp_path, '--findings')}steps?run=run&step=3")
    light = page.locator(".st-key-findings_light a")
    expect(light).to_have_text("No findings", timeout=BACKGROUND_MILLISECONDS)
    settled(page)
    place = page.url
    page.evaluate("() => { window.sameLoad = true; }")

    with (tmp_path / "run" / "rank_0.jsonl").open("ab") as shard:
        for step in range(TURN, max(row["step"] for row in rows) + 1):
            shard.write(lines(row for row in rows if row["step"] == step))
            shard.flush()
            expect(page.get_by_text(f"Step (of {step + 1})")).to_be_visible()
    expect(light).to_contain_text(re.compile("^[0-9]+ finding"), timeout=BACKGROUND_MILLISECONDS)

    assert page.url == place
    assert page.evaluate("() => window.sameLoad === true")


def test_steps_unlike_their_neighbours_are_hollow(serve: Serve, page: Page, tmp_path: Path) -> None:
    """In every curve: those that are an evaluation, once they are found, and the newest while it is being written."""
    rows = [
        row(step, prompt=f"{kind} {at // each} {step * (kind == 'train')}", reward=float((step * 7 + at * 3) % 5 > 2))
        for step in range(21)
        for kind, each, count in ([("train", 4, 24)] if step % 5 else [("held out", 1, 64)])
        for at in range(2 if step == 20 else count)
    ]
    write_run(tmp_path / "run", {"rank_0.jsonl": rows})
    page.goto(f"{serve(tmp_path, '--findings')}rewards?run=run")
    expect(page.locator(".st-key-findings_light a")).to_contain_text("finding", timeout=BACKGROUND_MILLISECONDS)
    settled(page)
    expect(page.locator(".cv-card").first.locator("circle.cv-unlike")).to_have_count(5)


def test_what_shows_a_finding_opens_marked(serve: Serve, page: Page) -> None:
    """A click on a rollout marks the phrase in its response; so does the next rollout, and the page Responses."""
    page.goto(f"{serve(RUNS, '--findings')}findings?run=tiny_ppo_hacked&finding=phrase_exploit")
    expect(page.locator(".st-key-finding_1 button")).to_be_visible(timeout=BACKGROUND_MILLISECONDS)
    settled(page)
    mark = page.locator(".st-key-text_Response mark")
    expect(mark).to_have_count(0)
    click_row(page, 0)
    settled(page)
    expect(mark).to_be_in_viewport()
    first = mark.inner_text()
    page.get_by_role("button", name="Next").click()
    expect(mark).not_to_have_text(first)
    settled(page)
    phrase = mark.inner_text()
    page.goto(page.url.replace("/findings", "/responses"))
    settled(page)
    expect(mark).to_have_count(1)
    assert mark.inner_text() == phrase
