"""A run that is read while it is looked at, in a real browser: how far it is, stopping, going on, and a reader who stays."""

import json
import re
from pathlib import Path

import pytest
from opened_pages import whole_row
from playwright.sync_api import Page, expect
from servers import Serve
from settling import settled

STEPS = 5_000

SLOWLY = """
from board.runs.loading import background_load; from board.runs.parsing import parsed_shard, range_parsing
range_parsing.SMALL_BYTES, parsed_shard.RANGE_BYTES, background_load.FIRST_SECONDS = 10**12, 2_000, 0.0
"""
"""Read many small ranges, one after the other."""


@pytest.fixture
def board(serve: Serve, tmp_path: Path) -> str:
    """The address of a board over a run that takes a while to read."""
    (tmp_path / "run").mkdir()
    lines = [json.dumps(whole_row(step, reward=step / 100)) for step in range(STEPS)]
    (tmp_path / "run" / "a.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return serve(tmp_path, first=SLOWLY)


def test_the_line_says_how_far_the_run_is_read(board: str, page: Page) -> None:
    """It tells the share and of how many rollouts the page is; it stops, goes on when asked, and is gone when all is there. The step stays."""
    page.goto(f"{board}?run=run&step=0")
    line = page.locator(".st-key-reading").last  # the former one may still stand there for a moment
    expect(line).to_contain_text(re.compile(r"Reading: \d+% · [\d,]+ of about [\d,]+ rollouts"))
    expect(line).to_contain_text(re.compile(r"curves, counts and checks are of [\d,]+ rollout"))
    line.get_by_role("button", name="Stop").click()
    expect(line).to_contain_text("A part of this run: ")
    settled(page)
    expect(page.locator(".uplot canvas").first).to_be_visible()

    line.get_by_role("button", name="Go on").click()

    expect(line).to_have_count(0, timeout=120_000)
    expect(page.get_by_text(f"{STEPS:,} rows")).to_be_visible(timeout=120_000)
    expect(page).to_have_url(re.compile(r"step=0(&|$)"))
