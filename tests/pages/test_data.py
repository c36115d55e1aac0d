"""The page Data by AppTest: findings with links, the empty state, one examination for all readers."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from opened_pages import opened
from rows import row, token_row, write_run
from streamlit.testing.v1 import AppTest

from board.runs.cache import shared_values
from board.runs.cache.shared_values import LatestValue
from board.ui.state import caches


def texts(test: AppTest) -> list[str]:
    """Every plain text on the page."""
    return [str(element.value) for element in test.text]


def folded(test: AppTest) -> list[str]:
    """What stands on the lines that unfold."""
    return [expander.label for expander in test.expander]


def links(test: AppTest) -> list[str]:
    """The parameters of the page's links to a rollout."""
    return [element.proto.query_string for element in test.get("page_link") if element.proto.label == "Open the first rollout"]


def test_findings_are_listed_with_a_link(root: Path) -> None:
    """Each finding says how bad it is in a word, what, where, why and what to do, and leads to its first rollout."""
    rows: list[Any] = [token_row(0), token_row(1, reward=None), token_row(2, logprobs=[0.5, -1.0], prompt="![](http://evil)")]
    write_run(root / "run", {"rank_0.jsonl": rows})

    test = opened("data")

    assert not test.exception
    assert "1 error, 1 warning, 0 notes in 3 rollouts" in texts(test)
    assert any(
        text.startswith("1 number in 1 rollout above 0 (logprob: 1)\nWhere: rank_0.jsonl:3\nWhy it matters: A log-probability")
        for text in texts(test)
    )
    badges = [element.proto.body for element in test.markdown]
    assert badges[0].startswith(":red-badge[error]")
    assert any("badge[warning]" in body for body in badges)
    assert ["step=2" in link and "rank_0.jsonl%3A3" in link for link in links(test)] == [True, False]


def test_nothing_found_says_what_was_looked_for(root: Path) -> None:
    """An empty list of findings names the checks that ran and those that could not."""
    write_run(root / "run", {"rank_0.jsonl": [row(step, reward=1.0) for step in range(6)]})

    test = opened("data")

    passed, unable = folded(test)
    count = next(text for text in texts(test) if "Lines or files not loaded" in text).count("\n") + 1
    assert passed == f"{count} checks passed, in 6 rollouts"
    assert unable.endswith(" checks could not tell")
    assert not any(expander.proto.expanded for expander in test.expander)
    assert any("Lines or files not loaded" in text for text in texts(test))
    assert any("Logprobs one token out of step: no rollout has logprobs" in text for text in texts(test))


def test_names_from_the_run_are_text(root: Path) -> None:
    """A shard's name and a reason reach no element that renders Markdown."""
    write_run(root / "run", {"![x](evil).jsonl": [token_row(0), json.dumps({"![k](http://evil)": 1}).encode()]})

    test = opened("data")

    assert not any("evil" in str(element.value) for element in test.markdown)
    assert any("![x](evil).jsonl:2" in text for text in texts(test))


def test_examined_once_for_all_readers() -> None:
    """Readers who come while it is being made wait for it, and it is made once."""
    latest: LatestValue[str] = LatestValue()
    made, got, begun, go_on = [], [], threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        go_on.wait(10)
        made.append(1)
        return "checked"

    first = threading.Thread(target=lambda: got.append(latest.get("load", make)))
    first.start()
    assert begun.wait(10)
    second = threading.Thread(target=lambda: got.append(latest.get("load", make)))
    second.start()
    go_on.set()
    first.join(10)
    second.join(10)

    assert (got, made) == ([("checked", True)] * 2, [1])


def test_reader_who_leaves_does_not_spoil_it() -> None:
    """What interrupts making it is that reader's alone: the next one makes it."""
    latest: LatestValue[str] = LatestValue()

    def leave() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        latest.get("load", leave)

    assert latest.get("load", lambda: "checked") == ("checked", True)


def test_growing_run_is_examined_anew_where_that_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a load of more rows a quick examination is made again, a slow one only when asked for."""
    latest: LatestValue[str] = LatestValue()
    assert latest.get("first", lambda: "one") == ("one", True)
    assert latest.get("second", lambda: "two") == ("two", True)

    monkeypatch.setattr(shared_values, "QUICK_SECONDS", 0.0)

    assert latest.get("third", lambda: "three") == ("two", False)
    assert latest.get("third", lambda: "three", again=True) == ("three", True)


def test_slow_examination_of_a_grown_run_waits_for_the_reader(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page keeps what was found, says that the run has changed since, and examines again at a click."""
    monkeypatch.setattr(shared_values, "QUICK_SECONDS", 0.0)
    folder = write_run(root / "run", {"rank_0.jsonl": [row(0, reward=1.0)]})
    test = opened("data")
    assert any(line.endswith(" passed, in 1 rollout") for line in folded(test))

    write_run(folder, {"rank_1.jsonl": [row(1, reward=1.0), row(1, reward=None)]})
    caches.library().refresh(caches.library().open(folder, root), root)
    test.run()

    assert any(line.endswith(" passed, in 1 rollout") for line in folded(test))
    assert "The run has changed since: it has 3 rollouts now." in texts(test)

    test.button(key="examine_again").click().run()

    assert "0 errors, 1 warning, 0 notes in 3 rollouts" in texts(test)
    assert not any("has changed since" in text for text in texts(test))
