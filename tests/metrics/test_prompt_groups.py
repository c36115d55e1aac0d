"""Tests of which rollouts of a step belong together."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import token_row, write_run

from board import open_run
from board.cli.replies.summary import summary
from board.metrics.prompt_groups import group_numbers

NO = -7
"""The key of no prompt."""

NAN = float("nan")
CASES: dict[str, tuple[list[int], list[str | None] | None, list[int], list[float]]] = {
    "equal prompts of a step": ([0, 0, 0, 0], None, [5, 5, 6, 6], [1, 1, 2, 2]),
    "in any order": ([0, 0, 0, 0], None, [5, 6, 5, 6], [1, 2, 1, 2]),
    "the same prompt in two steps": ([0, 0, 1, 1], None, [5, 5, 5, 5], [1, 1, 1, 1]),
    "numbers begin anew in each step": ([0, 0, 1, 1], None, [5, 5, 6, 6], [1, 1, 1, 1]),
    "the trainer's own, whatever the prompt": ([0, 0, 0], ["a", "b", "a"], [5, 5, 5], [1, 2, 1]),
    "the trainer's own for some": ([0, 0, 0, 0], ["a", None, "a", None], [5, 5, 5, 5], [1, 2, 1, 2]),
    "no prompt and no group": ([0, 0, 0], None, [NO, 5, 5], [NAN, 1, 1]),
    "a group id without a prompt": ([0, 0], ["a", "a"], [NO, NO], [1, 1]),
    "nobody has a second member": ([0, 0, 1], None, [5, 6, 5], [NAN, NAN, NAN]),
    "nothing": ([], None, [], []),
    "no prompt at all": ([0, 0], None, [NO, NO], [NAN, NAN]),
}


@pytest.mark.parametrize(("steps", "ids", "prompts", "numbers"), CASES.values(), ids=CASES)
def test_groups_of_a_step(steps: list[int], ids: list[str | None] | None, prompts: list[int], numbers: list[float]) -> None:
    """The trainer's group where a row has one, else the rows of the step with the same prompt; none is made up."""
    given_ids = None if ids is None else pd.Series(pd.Categorical(ids))

    found = group_numbers(np.array(steps, np.int64), given_ids, np.array(prompts, np.int64), NO)

    np.testing.assert_array_equal(found, np.array(numbers, float))


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.sampled_from([None, "a", "b"]), st.sampled_from([NO, 1, 2, 2**62])), max_size=30)
)
def test_groups_equal_a_slow_walk(rows: list[tuple[int, str | None, int]]) -> None:
    """Against a walk through the rows with a dict per step."""
    steps, ids, prompts = zip(*rows, strict=True) if rows else ((), (), ())
    seen: dict[int, dict[object, int]] = {}
    expected: list[float] = []
    for step, own, prompt in rows:
        key = ("id", own) if own else ("prompt", prompt)
        groups = seen.setdefault(step, {})
        expected.append(NAN if key == ("prompt", NO) else groups.setdefault(key, len(groups) + 1))
    members = [(step, number) for (step, _, _), number in zip(rows, expected, strict=True) if number == number]
    if len(set(members)) == len(members):
        expected = [NAN] * len(rows)

    found = group_numbers(np.array(steps, np.int64), pd.Series(ids, dtype=object), np.array(prompts, np.int64), NO)

    np.testing.assert_array_equal(found, np.array(expected, float))


def test_frame_has_the_groups(tmp_path: Path) -> None:
    """A run sampled in groups has their numbers, over all shards of a step; a run that is not has no such column."""
    rows = {f"rank_{rank}.jsonl": [token_row(0, prompt=f"p{at}") for at in (0, 1)] for rank in (0, 1)}
    grouped = open_run(write_run(tmp_path / "grouped", rows)).frame
    alone = open_run(write_run(tmp_path / "alone", {"a.jsonl": [token_row(0, prompt="p"), token_row(1, prompt="p")]})).frame

    assert grouped["group"].tolist() == [1.0, 2.0, 1.0, 2.0]
    assert "group" not in alone


@pytest.mark.parametrize("named", [{}, {"group_id": "g"}, {"prompt_id": "q"}], ids=["by text", "by group", "by id"])
def test_an_evaluation_is_a_group_of_its_own(tmp_path: Path, named: dict[str, str]) -> None:
    """Rollouts of training and of an evaluation for one prompt at one step are compared apart; what was discarded is of those of training."""
    splits = ["train", "evaluation", "discarded", "evaluation"]
    rows = [token_row(0, prompt="p", split=split, **named) for split in splits]

    whole = open_run(write_run(tmp_path, {"a.jsonl": rows})).frame

    assert dict(zip(whole["split"], whole["group"], strict=True)) == {"train": 1.0, "evaluation": 2.0, "discarded": 1.0}
    assert summary(open_run(tmp_path), "run").groups == 2


def test_field_of_that_name_is_kept_as_logged(tmp_path: Path) -> None:
    """A number the trainer calls group is not taken for ours."""
    frame = open_run(write_run(tmp_path, {"a.jsonl": [token_row(0, group=9), token_row(0, group=9)]})).frame

    assert frame["group (logged)"].tolist() == [9.0, 9.0]
    assert frame["group"].tolist() == [1.0, 1.0]
