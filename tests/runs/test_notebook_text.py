"""board.runs.notebook_text: a run or a rollout that stands alone in a notebook says what it is, and its text stays text."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rows import row, token_row, write_run

from board import open_run
from board.runs import notebook_text
from board.runs.opening import opened_whole
from board.runs.run import Run

HOSTILE = "<script>alert(1)</script><img src=x onerror='alert(2)'>&lt; \"</pre>\" $x$"


class Seen(HTMLParser):
    """What a browser would make of a table: its elements, and their text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.loose = self.inside = ""
        self._pre = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.elements.add(tag)
        self._pre = self._pre or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        self._pre = self._pre and tag != "pre"

    def handle_data(self, data: str) -> None:
        """Text, within `<pre>` or outside."""
        self.inside, self.loose = (self.inside + data, self.loose) if self._pre else (self.inside, self.loose + data)


def opened(folder: Path, *rows: Any) -> Run:
    """A run of one shard."""
    return opened_whole(write_run(folder, {"rank_0.jsonl": list(rows)}))


RUNS = {
    "sound": ([token_row(1), token_row(2), token_row(2)], "Run('tiny', 3 rollouts, 2 steps, 0 problems)"),
    "one of each": ([row(4, reward=1), b"{"], "Run('tiny', 1 rollout, 1 step, 1 problem)"),
    "nothing in it": ([b"{]"], "Run('tiny', 0 rollouts, 0 steps, 1 problem)"),
}


@pytest.mark.parametrize(("rows", "said"), RUNS.values(), ids=RUNS.keys())
def test_a_run_says_what_it_is(tmp_path: Path, rows: list[Any], said: str) -> None:
    """Name, rollouts, steps and problems in one line, and in a table too."""
    run = opened(tmp_path / "tiny", *rows)

    assert repr(run) == said
    assert "rollouts" in run._repr_html_()


ROLLOUTS = {
    "with all": (token_row(7, reward=0.5), "Rollout('rank_0.jsonl:1', step 7, 2 tokens, reward 0.500)"),
    "without tokens": (row(7, reward=1), "Rollout('rank_0.jsonl:1', step 7, 0 tokens, reward 1)"),
    "without a reward": (row(7), "Rollout('rank_0.jsonl:1', step 7, 0 tokens, reward –)"),
}


@pytest.mark.parametrize(("written", "said"), ROLLOUTS.values(), ids=ROLLOUTS.keys())
def test_a_rollout_says_what_it_is(tmp_path: Path, written: dict[str, Any], said: str) -> None:
    """Source, step, tokens and reward in one line."""
    assert repr(opened(tmp_path / "tiny", written).rollout(0)) == said


def test_text_of_a_run_is_never_html(tmp_path: Path) -> None:
    """Whatever a file's name, a field's name, a problem or a model says is to be read, and makes no element; nor is it taken for a formula."""
    rows = [token_row(1, response=HOSTILE, prompt=HOSTILE, **{HOSTILE: "text", f"{HOSTILE}2": [1.0, 2.0]}), {HOSTILE: HOSTILE}]
    run = open_run(write_run(tmp_path / "<b>run", {"<i>.jsonl": rows}))

    seen = [Seen(run._repr_html_()), Seen(run.rollout(0)._repr_html_())]

    assert [one.elements for one in seen] == [{"table", "caption", "tbody", "tr", "td", "pre"}] * 2
    assert [one.loose for one in seen] == ["", ""]
    assert all(HOSTILE in one.inside for one in seen)
    assert "<b>run" in seen[0].inside
    assert "<i>.jsonl:2" in seen[0].inside


def test_long_texts_are_cut(tmp_path: Path) -> None:
    """A notebook keeps what a cell says: a long text is cut, and says so."""
    shown = opened(tmp_path / "run", row(1, response="a" * 5_000)).rollout(0)._repr_html_()

    assert "a" * notebook_text.LONGEST + "…" in shown
    assert "a" * (notebook_text.LONGEST + 1) not in shown
