"""Tests of what leads to the list of runs: the bare address alone, and only where there are several."""

from pathlib import Path

import pytest
from rows import row, write_run
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from board.serving.home_gate import HomeGate, are_several

CASES = {
    "the bare address": ("/board/", True, "/board/runs"),
    "what else the link says is kept": ("/board/?runs_tag=a%26b", True, "/board/runs?runs_tag=a%26b"),
    "a link that names no run": ("/board/?run=", True, "/board/runs?run="),
    "a link to a run": ("/board/?run=a&step=3", True, None),
    "a page": ("/board/metrics", True, None),
    "one run": ("/board/", False, None),
}


@pytest.mark.parametrize("name", CASES)
def test_who_names_no_run_is_led_to_the_list(name: str) -> None:
    """By an answer that no browser keeps; every other request goes where it went."""
    target, several, wanted = CASES[name]

    def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse("the page")

    gate = Middleware(HomeGate, home="/board/", runs="/board/runs", are_several=lambda: several)
    client = TestClient(Starlette(routes=[Route("/board/{rest:path}", page)], middleware=[gate]), follow_redirects=False)
    answer = client.get(target)
    assert answer.headers.get("location") == wanted
    assert answer.status_code == (307 if wanted else 200)
    if wanted:
        assert answer.headers["cache-control"] == "no-store"


def test_several_are_runs_that_can_be_opened(tmp_path: Path) -> None:
    """Empty folders do not count, nor a root that is gone."""
    write_run(tmp_path / "one" / "a", {"a.jsonl": [row(0)]})
    (tmp_path / "one" / "b").mkdir()
    write_run(tmp_path / "two" / "a", {"a.jsonl": [row(0)]})
    write_run(tmp_path / "two" / "b", {"a.jsonl": [row(0)]})
    assert [are_several(tmp_path / name) for name in ("one", "two", "gone")] == [False, True, False]
