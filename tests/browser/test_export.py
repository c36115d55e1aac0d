"""A filtered run saved as a file by the browser, through the server that writes it."""

import json
import re
import threading
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest
from opened_pages import GOOD, whole_row
from playwright.sync_api import Page, expect
from rows import add_run, lines
from servers import Serve, Written
from settling import settled

from board import open_run
from board.cli.main import main

RUN = Path("rollout_samples/tiny_ppo_hacked")


def saved(page: Page) -> tuple[str, bytes]:
    """The name and the bytes of what the link gives."""
    with page.expect_download() as download:
        page.get_by_role("link", name="Download", exact=True).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def of_command(folder: Path, to: Path, *options: str) -> bytes:
    """What the command writes."""
    main(["export", str(folder), str(to), *options], standalone_mode=False)
    return to.read_bytes()


@pytest.mark.journey
def test_what_the_filter_leaves_is_saved(board_server: str, page: Page, tmp_path: Path) -> None:
    """In each format the file is the one that the command writes, under the run's name; the page stays."""
    page.goto(f"{board_server}responses?run={RUN.name}&filter=reward > 2")
    settled(page)
    expect(page.locator(".st-key-reading")).to_have_count(0)
    settled(page)
    page.get_by_role("button", name="Export", exact=True).click()
    settled(page)
    where = ("--where", "reward > 2")

    name, data = saved(page)
    count = int((open_run(RUN).frame["reward"] > 2).sum())
    assert name == f"{RUN.name}-{count}-rollouts.csv"
    assert data == of_command(RUN, tmp_path / "plain.csv", *where)

    page.get_by_text("With token arrays").click()
    for label, ending in (("JSON lines", "jsonl"), ("Parquet", "parquet")):
        page.get_by_text(label, exact=True).click()
        link = page.get_by_role("link", name="Download", exact=True)
        expect(link).to_have_attribute("href", re.compile(f"format={ending}&arrays=1"))
        name, data = saved(page)
        assert name == f"{RUN.name}-{count}-rollouts.{ending}"
        assert data == of_command(RUN, tmp_path / f"arrays.{ending}", "--arrays", *where)
    assert "/responses?" in page.url


def test_a_run_that_grows_meanwhile(written: Written, page: Page) -> None:
    """A file is of the run as it was when it was asked for, to its last line; the next is of what is there then."""
    link, folder = written(GOOD, "steps")
    shard = folder / "rank_0.jsonl"
    stop, grown = threading.Event(), [len(GOOD)]

    def grow() -> None:
        while not stop.wait(0.05):
            with shard.open("ab") as out:
                out.write(lines([whole_row(grown[0], reward=1.0)]))
            grown[0] += 1

    writer = threading.Thread(target=grow)
    page.goto(link)
    settled(page)
    page.get_by_role("button", name="Export", exact=True).click()
    writer.start()
    try:
        sizes = []
        for _ in range(3):
            before = grown[0]
            with urllib.request.urlopen(f"{link.replace('steps', 'export')}&format=jsonl") as answer:
                rows = [json.loads(line) for line in answer.read().splitlines()]
            sizes.append(len(rows))
            assert before <= len(rows) <= grown[0] + 1
            assert len({row["line"] for row in rows}) == len(rows)
            while grown[0] <= len(rows):  # the next finds more
                stop.wait(0.02)
        name, data = saved(page)
        assert name == f"{folder.name}.csv"
        assert data.count(b"The answer is 42") > len(GOOD)
    finally:
        stop.set()
        writer.join()
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 1


def test_only_who_has_the_token(serve: Serve, page: Page, tmp_path: Path) -> None:
    """Without its cookie the address says nothing of a run, nor whether there is one; with it what is wrong is a sentence."""
    add_run(tmp_path / "runs", "secret-run", GOOD)
    address, _, token = serve(tmp_path / "runs", "--token").partition("?token=")
    for run in ("secret-run", "none"):
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(f"{address}export?run={run}")
        assert refused.value.code == 403
        assert b"secret" not in refused.value.read()

    page.goto(f"{address}steps?token={token}&run=secret-run")
    settled(page)
    page.get_by_role("button", name="Export", exact=True).click()
    assert saved(page)[1].count(b"The answer is 42") == len(GOOD)
    for query, status, said in (
        ("run=none", 404, "There is no run 'none' under this root."),
        ("run=../secret-run", 404, "There is no run '../secret-run' under this root."),
        ("run=secret-run&format=xlsx", 400, "format is one of csv, jsonl, parquet."),
        ("run=secret-run&filter=nothing > 1", 400, "nothing"),
    ):
        answer = page.request.get(f"{address}export?{query}")
        assert answer.status == status
        assert said in answer.text()
    assert page.request.post(f"{address}export?run=secret-run").status == 405
