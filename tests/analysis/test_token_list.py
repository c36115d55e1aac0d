"""Tokens of a run as a table: what narrows it, and the text around each."""

from pathlib import Path
from typing import Any

import pytest
from rows import row, write_run

from board.analysis.tokens.token_histogram import count_tokens
from board.analysis.tokens.token_list import SHOWN, TokenFilter, in_context, matching_tokens
from board.runs.opening import open_run
from board.runs.run import Run

THINKING = ["<think>", "Wait", ",", " no", "</think>", "\n", "Wait", " 42"]


def opened(tmp_path: Path, **fields: Any) -> Run:
    """A rollout of a step that thinks and answers, another without tokens, one of a later step in byte-level BPE."""
    numbers = [0.1, 0.9, 0.2, -0.3, 0.4, 0.5, -0.8, 0.7]
    rows = [
        row(0, response_tokens=THINKING, values=numbers, advantages=[1, -1, 1, -1, 0, None, 1, -1], **fields),
        row(0, values=[0.95, 0.05]),
        row(1, response_tokens=["Ġthe", "Ġcat", "Ċ", "Ġwait"], values=[0.6, 0.01, 0.02, 0.03]),
    ]
    return open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))


CASES: dict[str, tuple[TokenFilter, list[float]]] = {
    "all": (TokenFilter(), [0.95, 0.9, -0.8, 0.7, 0.6, 0.5, 0.4, -0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01]),
    "a text in any case": (TokenFilter(text="wait"), [0.9, -0.8, 0.03]),
    "a space": (TokenFilter(text=" n"), [-0.3]),
    "none is no text": (TokenFilter(text="none"), []),
    "a segment": (TokenFilter(segment="think"), [0.9, 0.4, -0.3, 0.2, 0.1]),
    "text after it": (TokenFilter(segment="text", text="wait"), [-0.8, 0.03]),
    "positions": (TokenFilter(first=2, last=3), [0.9, 0.2, 0.05, 0.02, 0.01]),
    "positive advantage": (TokenFilter(sign="positive"), [-0.8, 0.2, 0.1]),
    "negative advantage": (TokenFilter(sign="negative"), [0.9, 0.7, -0.3]),
    "a step": (TokenFilter(step=1), [0.6, 0.03, 0.02, 0.01]),
    "several": (TokenFilter(text="wait", sign="negative", segment="think"), [0.9]),
}


@pytest.mark.parametrize("name", CASES)
def test_narrowed(name: str, tmp_path: Path) -> None:
    """Each condition leaves the tokens that meet it, in their order; a token that cannot be told never does."""
    wanted, values = CASES[name]
    run = opened(tmp_path)

    found = matching_tokens(run, count_tokens(run, "value").tokens, wanted)

    assert found.tokens["value"].tolist() == pytest.approx(values)
    assert (found.matching, found.looked_at) == (len(values), None)


def test_context(tmp_path: Path) -> None:
    """Some tokens either side, decoded, line ends marked, within the rollout; nothing where a row has no tokens."""
    run = opened(tmp_path)
    found = matching_tokens(run, count_tokens(run, "value").tokens, TokenFilter()).tokens
    rows = in_context(run, found, around=2).to_numpy(str).tolist()
    table = dict(zip(zip(found["key"], found["position"], strict=True), rows, strict=True))

    assert table[0, 6] == ["</think>↵", "Wait", " 42"]
    assert table[0, 0] == ["", "<think>", "Wait,"]
    assert table[1, 0] == ["", "", ""]
    long = open_run(
        write_run(tmp_path / "long", {"a.jsonl": [row(0, response_tokens=["ab cdefgh "] * 9, values=[0.0] * 8 + [1.0])]})
    )
    assert in_context(long, count_tokens(long, "value").tokens.head(1))["before"].tolist() == ["…" + ("ab cdefgh " * 4)[-32:]]
    byte_level = found[found["key"] == 2]
    assert in_context(run, byte_level)["token"].tolist() == ["·the", "·wait", "↵", "·cat"]


def test_segments_are_looked_for_until_enough_are_found(tmp_path: Path) -> None:
    """Where the first tokens fill the list the others are not looked at, and it is told in how many was."""
    run = open_run(
        write_run(tmp_path / "run", {"a.jsonl": [row(s, response_tokens=["a"] * 250, values=[1.0] * 250) for s in (0, 1, 2)]})
    )
    tokens = count_tokens(run, "value").tokens

    found = matching_tokens(run, tokens, TokenFilter(segment="text"))

    assert (len(found.tokens), found.looked_at) == (SHOWN, 200)
    assert matching_tokens(run, tokens, TokenFilter(segment="code")).looked_at is None


def test_bounded(tmp_path: Path) -> None:
    """No more than so many are matching_tokens, and how many there are is told; nothing is found in a run without tokens' names."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(step, values=[1.0] * 300) for step in range(3)]}))
    tokens = count_tokens(run, "value").tokens

    found = matching_tokens(run, tokens, TokenFilter())

    assert (len(found.tokens), found.matching) == (SHOWN, 600)
    assert matching_tokens(run, tokens, TokenFilter(text="a")).matching == 0
    assert matching_tokens(run, tokens, TokenFilter(segment="text")).matching == 0
    assert matching_tokens(run, tokens, TokenFilter(sign="positive")).matching == 0


OPTIONS: dict[str, tuple[TokenFilter, list[str]]] = {
    "nothing": (TokenFilter(), []),
    "a text, which stands in its field": (TokenFilter(text="wait"), []),
    "from a position": (TokenFilter(first=5), ["positions 5 to the end"]),
    "to a position": (TokenFilter(last=1_000), ["positions 1 to 1,000"]),
    "all": (
        TokenFilter(segment="think", first=2, last=3, sign="negative"),
        ["in segments of think", "positions 2 to 3", "negative advantage"],
    ),
}


@pytest.mark.parametrize(("wanted", "told"), OPTIONS.values(), ids=OPTIONS)
def test_options_that_are_folded_away_are_told(wanted: TokenFilter, told: list[str]) -> None:
    """What narrows a list without being seen is said in words."""
    assert wanted.options() == told
