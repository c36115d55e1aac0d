"""Search in texts: what is found by words, phrases and expressions, how often, and what the rollouts with a hit earn."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, write_run

from board import open_run
from board.analysis.texts.text_search import LONGEST, How, SearchText, by_step, checked, count_hits, hits_in
from board.errors import BoardError

TEXTS = ["The cat sat on the mat", "concat the CATs", "今天天气很好，今天", "a.b a.b axb", None, "", "one\ntwo\none"]

CASES: dict[str, tuple[str, How, bool, list[int]]] = {
    "a phrase in any case": ("the", "phrase", False, [2, 1, 0, 0, 0, 0, 0]),
    "a phrase in its case": ("The", "phrase", True, [1, 0, 0, 0, 0, 0, 0]),
    "a phrase is no expression": ("a.b", "phrase", False, [0, 0, 0, 2, 0, 0, 0]),
    "a phrase over a line end": ("one\ntwo", "phrase", False, [0, 0, 0, 0, 0, 0, 1]),
    "a whole word": ("cat", "words", False, [1, 0, 0, 0, 0, 0, 0]),
    "all words, wherever": ("mat the", "words", False, [3, 0, 0, 0, 0, 0, 0]),
    "words of which one is missing": ("cat dog", "words", False, [0, 0, 0, 0, 0, 0, 0]),
    "words without spaces": ("今天", "words", False, [0, 0, 2, 0, 0, 0, 0]),
    "an expression": ("[cm]at", "expression", False, [2, 2, 0, 0, 0, 0, 0]),
    "an expression of a line": ("^one$", "expression", False, [0, 0, 0, 0, 0, 0, 2]),
    "letters of a script": (r"\p{Han}+", "expression", False, [0, 0, 2, 0, 0, 0, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_how_often_a_text_holds_it(name: str) -> None:
    """Hits are counted text by text; a missing text has none."""
    text, how, exact_case, wanted = CASES[name]

    found = hits_in(pa.chunked_array([TEXTS], pa.large_string()), checked(SearchText(text, how, exact_case)))

    assert found.tolist() == wanted


REFUSED: dict[str, tuple[SearchText, str]] = {
    "nothing": (SearchText("  "), "nothing to look for"),
    "too long": (SearchText("a" * (LONGEST + 1)), "1,001 characters, and 1,000 is the most"),
    "no expression": (SearchText("(a", "expression"), "no regular expression: missing \\)"),
    "looking back": (SearchText("(?<=a)b", "expression"), "no regular expression: invalid perl operator"),
    "satisfied by nothing": (SearchText("a*", "expression"), "found everywhere"),
    "half a character": (SearchText("\ud800"), "no text"),
    "without end": (SearchText("((a{100}){100}){100}", "expression"), "no regular expression"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_looked_for(name: str) -> None:
    """What no text can be searched for says why."""
    wanted, reason = REFUSED[name]

    with pytest.raises(BoardError, match=reason):
        checked(wanted)


@given(st.lists(st.text("ab .", max_size=12), min_size=1, max_size=6), st.text("ab.", min_size=1, max_size=3))
def test_phrases_are_counted_as_python_counts(texts: list[str], phrase: str) -> None:
    """A phrase is found as often as it stands in a text without overlap."""
    found = hits_in(pa.chunked_array([texts], pa.large_string()), SearchText(phrase, exact_case=True))

    assert found.tolist() == [len(re.findall(re.escape(phrase), text)) for text in texts]


def test_a_run_is_searched_whole_or_in_part(tmp_path: Path) -> None:
    """Each rollout of the frame has its counts, in the frame's order, however few of the run's they are; the share done only rises."""
    rows = [row(step, prompt=f"prompt {at}", response="yes " * at) for step in range(5) for at in range(4)]
    run = open_run(write_run(tmp_path / "run", {"b.jsonl": rows[:8], "a.jsonl": rows[8:]}))
    shares: list[float] = []

    whole = count_hits(run, SearchText("yes"), progress=shares.append)

    assert whole.index.equals(run.frame.index)
    assert whole["response"].tolist() == [0, 1, 2, 3] * 5
    assert whole["prompt"].tolist() == [0] * 20
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    few = count_hits(run.of_steps(3, 3), SearchText("prompt [23]", "expression"))
    assert few["prompt"].tolist() == [0, 0, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.one_of(st.just(np.nan), st.floats(-2, 2))), max_size=20))
def test_steps_are_means_of_their_rollouts(given_rows: list[tuple[int, bool, float]]) -> None:
    """Per step: how many rollouts are hit, and the mean reward of those and of the rest, as a loop over rows finds them."""
    rows = sorted(given_rows, key=lambda one: one[0])
    frame = pd.DataFrame({"step": [r[0] for r in rows], "reward": [r[2] for r in rows]}).astype(
        {"step": np.int64, "reward": np.float64}
    )

    found = by_step(frame, np.array([r[1] for r in rows], bool))

    for step in {r[0] for r in rows}:
        of = [r for r in rows if r[0] == step]
        told = found.loc[step]
        assert (told["rollouts"], told["hits"]) == (len(of), sum(r[1] for r in of))
        assert told["share"] == pytest.approx(sum(r[1] for r in of) / len(of))
        for name, hit in (("with_hit", True), ("without", False)):
            rewards = [r[2] for r in of if r[1] == hit and not np.isnan(r[2])]
            wanted = np.mean(rewards) if rewards else np.nan
            assert told[name] == pytest.approx(wanted, nan_ok=True, abs=1e-12)


def test_without_rewards_there_is_no_mean() -> None:
    """A run without rewards has hits, and no number is invented."""
    found = by_step(pd.DataFrame({"step": [0, 0, 1]}), np.array([True, False, True]))

    assert found["hits"].tolist() == [1, 1]
    assert found[["with_hit", "without"]].isna().all().all()
