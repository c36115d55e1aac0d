"""The vocabulary of a whole run: read back as it was made, and made again where the run has grown."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import row, token_row, write_run

from board import open_run
from board.analysis.texts.vocabulary import TABLE, Vocabulary, of_run, vocabulary
from board.runs.cache import run_tables


def lines(steps: int) -> list[dict[str, Any]]:
    """Two rollouts a step, one without ref_logprobs, so that not all numbers are known."""
    some = [token_row(step) for step in range(steps)]
    return some + [
        row(step, response_tokens=["a", " b", f" c{step}"], logprobs=[-1.0, -2.0, -0.5], response="a b c")
        for step in range(steps)
    ]


def same(one: Vocabulary, other: Vocabulary) -> bool:
    """Whether two are equal to the digit."""
    np.testing.assert_equal(
        [getattr(one, field.name) for field in fields(one)], [getattr(other, field.name) for field in fields(other)]
    )
    return True


@pytest.mark.parametrize("steps", [1, 9, 130])
def test_comes_back_as_it_was_made(steps: int, tmp_path: Path) -> None:
    """Made, then read by another who opens the run; rare tokens, unknown numbers and many steps among it."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": lines(steps)}))
    made = of_run(run)
    assert run_tables.read(open_run(tmp_path / "run"), TABLE, "120 20000 5") is not None
    assert same(of_run(open_run(tmp_path / "run")), made)
    assert same(made, vocabulary(run))


def test_a_run_that_grows_is_counted_again(tmp_path: Path) -> None:
    """What was kept of less is not shown for more, and steps alone are not kept."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": lines(3)}))
    before = of_run(run)
    grown = open_run(write_run(tmp_path / "run", {"b.jsonl": lines(5)}))
    assert of_run(grown).total == vocabulary(grown).total > before.total
    some = grown.of_steps(0, 1)
    assert of_run(some).total == vocabulary(some).total
    assert same(of_run(grown), vocabulary(grown))
