"""Rollouts as rows: which, in which order, with what of each."""

from pathlib import Path
from typing import Any

import pytest
from asked import asked_run, empty_run
from rows import add_run, row

from board.cli.replies import rollouts as replying
from board.cli.replies.rollouts import RolloutQuestion, choose, rollouts
from board.errors import ArgumentRefused
from board.runs.opening import open_run

QUESTIONS: dict[str, tuple[dict[str, Any], list[int], int]] = {
    "all": ({}, [1, 2, 3, 4, 5, 6, 7, 8], 8),
    "some": ({"top": 2}, [1, 2], 8),
    "none": ({"top": 0}, [], 8),
    "the best": ({"sort": "-reward", "top": 3}, [8, 5, 2], 8),
    "the worst, the missing last": ({"sort": "reward"}, [1, 3, 4, 2, 7, 5, 8, 6], 8),
    "of a condition": ({"where": "step = 1 AND reward > 1.5", "sort": "-reward"}, [8, 5], 2),
    "of a text": ({"where": "response LIKE 'r03%'"}, [4], 1),
    "by text health": ({"where": "compression_ratio IS NOT NULL OR step >= 0", "top": 1}, [1], 8),
}


@pytest.mark.parametrize(("asked", "lines", "matching"), QUESTIONS.values(), ids=QUESTIONS)
def test_which_and_in_which_order(asked: dict[str, Any], lines: list[int], matching: int, tmp_path: Path) -> None:
    """Rows by line, and how many satisfied the condition."""
    told = rollouts(open_run(asked_run(tmp_path)), "run", RolloutQuestion(**asked))

    assert [one.rollout for one in told.rollouts] == [f"rank_0.jsonl:{line}" for line in lines]
    assert told.matching == matching


def test_what_of_each(tmp_path: Path) -> None:
    """Columns and texts in the order asked for; a missing number is null, a long text is cut where that is asked."""
    run = open_run(asked_run(tmp_path))

    whole = rollouts(run, "run", RolloutQuestion(columns=("response", "reward"), where="step = 1", top=2))
    cut = rollouts(run, "run", RolloutQuestion(columns=("response",), longest=3, top=1))

    assert [one.values for one in whole.rollouts] == [
        {"response": "r10 中文", "reward": 2.0},
        {"response": "r11 中文", "reward": None},
    ]
    assert cut.rollouts[0].values == {"response": "r00…"}


def test_batches_are_one_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are read at a time."""
    run = open_run(asked_run(tmp_path))
    question = RolloutQuestion(columns=("response", "step"), sort="-reward")
    at_once = list(choose(run, question).rows())

    monkeypatch.setattr(replying, "BATCH", 3)

    assert list(choose(run, question).rows()) == at_once
    assert len(at_once) == 8


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a column there is not": ({"columns": ("rewrad",)}, "'rewrad'.*reward"),
    "sorted by a text": ({"sort": "response"}, "cannot be sorted by 'response'"),
    "a condition that is none": ({"where": "rewrad > 1"}, "reward"),
    "fewer than none": ({"top": -1}, "-1"),
}


@pytest.mark.parametrize(("asked", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(asked: dict[str, Any], why: str, tmp_path: Path) -> None:
    """With what to ask instead."""
    with pytest.raises(ArgumentRefused, match=f"(?s){why}"):
        choose(open_run(asked_run(tmp_path)), RolloutQuestion(**asked))


def test_odd_runs(tmp_path: Path) -> None:
    """A run without rollouts has none that match; columns of any name can be asked for."""
    none = rollouts(open_run(empty_run(tmp_path)), "run", RolloutQuestion(where="step > 0"))
    odd = open_run(add_run(tmp_path, "odd", [row(0, **{"a,b\u202e": 1e308}), row(0, **{"a,b\u202e": float("inf")})]))

    told = rollouts(odd, "run", RolloutQuestion(columns=("a,b\u202e",)))

    assert (none.matching, none.rollouts) == (0, [])
    assert [one.values["a,b\u202e"] for one in told.rollouts] == [1e308, None]
