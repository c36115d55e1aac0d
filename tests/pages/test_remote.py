"""Tests of the pages of a root that lies elsewhere: it is shown as one on this machine, and what is wrong with its store is said."""

import time
from pathlib import Path

import pytest
from opened_pages import ENTRY, GOOD
from range_server import range_server
from rows import lines
from streamlit.testing.v1 import AppTest
from top_line import the_list

from board.sources.remote import listings


def shown(test: AppTest) -> str:
    """All plain text on the page."""
    return "\n".join(str(one.value) for one in test.text)


def test_a_root_on_the_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its run opens; once the server refuses, a sentence says so and the run stays; once it serves again the sentence goes."""
    monkeypatch.setattr(listings, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(listings, "COSTS", 0.0)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "rank_0.jsonl").write_bytes(lines(GOOD))
    with range_server(tmp_path) as web:
        monkeypatch.setenv("RL_BOARD_ROOT", web.address)
        test = AppTest.from_file(str(ENTRY), default_timeout=60)
        test.query_params["run"] = "a"
        test.run()
        assert not test.exception
        assert the_list(test, "run").options == ["a"]
        root = listings.mounted(web.address)
        web.status = 403
        listings.refresh(root, wait=True)
        test.run()
        assert "the server refuses it (403)" in shown(test)
        assert not test.exception
        web.status = 0
        until = time.monotonic() + 20
        while listings.troubles(root) and time.monotonic() < until:  # a look in the background may have been refused last
            listings.refresh(root, wait=True)
        test.run()
        assert "refuses" not in shown(test)
