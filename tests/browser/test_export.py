"""A filtered run saved as a file by the browser, through the server that writes it."""

import csv
import io
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Page, expect
from settling import settled

from board import open_run

RUN = Path("rollout_samples/tiny_ppo_hacked")


def test_what_the_filter_leaves_is_saved(board_server: str, page: Page) -> None:
    """The file has the rollouts that the filter leaves, under the run's name; the page stays, and the link is used up."""
    page.goto(f"{board_server}responses?run={RUN.name}&filter=reward > 2")
    settled(page)
    expect(page.locator(".st-key-reading")).to_have_count(0)
    settled(page)
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_text("With token arrays").click()
    settled(page)

    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()

    wanted = open_run(RUN).frame.query("reward > 2")
    assert download.value.suggested_filename == f"{RUN.name}-{len(wanted)}-rollouts.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(), newline="")))
    assert [float(row["reward"]) for row in rows] == wanted["reward"].tolist()
    assert all(row["logprobs"].startswith("[") for row in rows)
    expect(page.get_by_text(f"Sent: {len(wanted):,} rollouts")).to_be_visible()
    assert "/responses?" in page.url
    with pytest.raises(HTTPError, match="410"):
        urllib.request.urlopen(download.value.url)
