"""board.runs.parsing.repeated_steps: steps that a shard holds more than once are found, and ranks and larger batches are not taken for them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from board.runs.parsing.repeated_steps import NAMED_WRITES, repeated_steps


def scalars(steps: list[int], prompts: list[int] | None = None, shard: str = "a.jsonl") -> pd.DataFrame:
    """Rows in the order they were read; prompts by number, all the same if not given."""
    rows = range(len(steps))
    keys = prompts or [0] * len(steps)
    return pd.DataFrame({"step": steps, "shard": shard, "line": [at + 1 for at in rows], "prompt_key": keys})


REPEATED: dict[str, tuple[list[int], list[int] | None, list[str]]] = {
    "in order": ([0, 0, 1, 1, 2, 2], None, []),
    "backwards": ([2, 2, 1, 1, 0, 0], None, []),
    "nothing": ([], None, []),
    "one row": ([5], None, []),
    "comes back": ([0, 0, 1, 1, 0, 0], None, ["5: step 0 is written 2 times (lines 1 to 2, lines 5 to 6)"]),
    "neighbours in turns": ([0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 3, 3], None, []),
    "two steps in turns": ([0] * 6 + [1] * 2 + [0] * 2 + [1] * 6, None, []),
    "two steps of which the first is written again": (
        [0] * 6 + [1] * 2 + [0] * 6 + [1] * 6,
        None,
        [
            "9: step 0 is written 2 times (lines 1 to 6, lines 9 to 14)",
            "15: step 1 is written 2 times (lines 7 to 8, lines 15 to 20)",
        ],
    ),
    "comes back to a step that was whole": (
        [0, 0, 1, 1, 2, 2, 3, 3, 1, 1, 4, 4],
        None,
        ["9: step 1 is written 2 times (lines 3 to 4, lines 9 to 10)"],
    ),
    "comes back twice": (
        [0, 1, 0, 1, 0],
        None,
        ["3: step 0 is written 3 times (line 1, line 3, line 5)", "4: step 1 is written 2 times"],
    ),
    "prompts twice in one go": (
        [0, 0, 1, 1, 1, 1, 2, 2],
        [1, 2, 1, 2, 1, 2, 1, 2],
        ["5: step 1 is written 2 times (lines 3 to 4, lines 5 to 6)"],
    ),
    "prompts three times": ([0, 1, 1, 1, 2], [1, 2, 2, 2, 3], ["3: step 1 is written 3 times (line 2, line 3, line 4)"]),
    "a larger batch of other prompts": ([0, 0, 1, 1, 1, 1, 2, 2], [1, 2, 1, 2, 3, 4, 1, 2], []),
    "no multiple of its neighbours": ([0, 0, 1, 1, 1, 2, 2], [1, 2, 1, 2, 1, 1, 2], []),
    "a larger batch of the only prompt": ([0, 0, 1, 1, 1, 1, 2, 2], None, []),
    "too few steps to tell what is usual": ([0, 1, 1], [1, 2, 2], []),
}


@pytest.mark.parametrize(
    ("name", "values", "count"),
    [("rank", [0] * 24 + [1] * 12, 0), ("split", ["train"] * 24 + ["evaluation"] * 12, 0), ("rank", [0, 1] * 18, 3)],
    ids=["rank after rank", "the evaluation at the end", "ranks in turns, written again"],
)
def test_ranks_and_splits_one_behind_the_other(name: str, values: list[Any], count: int) -> None:
    """A file that was put together of several holds each step once in each of them."""
    rows = scalars([step for step in [*range(6), *range(3)] for _ in range(4)])
    rows[name] = values
    assert len(repeated_steps(rows)) == count


@pytest.mark.parametrize(("steps", "prompts", "expected"), REPEATED.values(), ids=REPEATED)
def test_steps_written_twice(steps: list[int], prompts: list[int] | None, expected: list[str]) -> None:
    """A step that comes back, or repeats its own prompts where its neighbours do not, is flagged at its second write."""
    problems = repeated_steps(scalars(steps, prompts))

    assert len(problems) == len(expected)
    assert all(str(problem).startswith(f"a.jsonl:{start}") for problem, start in zip(problems, expected, strict=True))
    assert all(problem.severity == "flagged" and problem.reason.endswith("no row is dropped") for problem in problems)


def test_shards_are_looked_at_one_by_one() -> None:
    """Every rank writes every step: that is no repetition."""
    both = pd.concat([scalars([0, 1, 2], shard="rank_0.jsonl"), scalars([0, 1, 2], shard="rank_1.jsonl")])

    assert repeated_steps(both) == []


def test_step_written_very_often_is_said_briefly() -> None:
    """Two jobs taking turns in one file: the reason stays a sentence."""
    problems = repeated_steps(scalars([0, 1] * 500))

    assert [problem.line for problem in problems] == [3, 4]
    assert f"500 times (line 1, line 3, line 5, line 7 and {500 - NAMED_WRITES} more)" in problems[0].reason
    assert all(len(problem.reason) < 200 for problem in problems)


@pytest.mark.parametrize("written", [False, True])
def test_an_evaluation_beside_steps_in_turns_is_no_second_write(written: bool) -> None:
    """A step with an evaluation has more rows, as all that have one; a step whose training is there twice is told all the same."""
    dice = np.random.default_rng(0)
    sizes = {"train": 12, "evaluation": 30}
    rows = [
        (step + 1.4 * dice.random(), step, split)
        for step in range(20)
        for split, count in sizes.items()
        for _ in range(count * (split == "train" or step % 4 == 0) * (2 if written and step == 9 else 1))
    ]
    steps = [step for _, step, _ in sorted(rows)]
    problems = repeated_steps(scalars(steps).assign(split=[split for *_, split in sorted(rows)]))

    assert [problem.reason.split(" is ")[0] for problem in problems] == ["step 9"] * written


@pytest.mark.parametrize("seed", range(6))
def test_steps_of_a_few_rows_more_or_less_are_written_once(seed: int) -> None:
    """A file of one of several ranks has two rows of a step, or four: that is chance."""
    dice = np.random.default_rng(seed)
    rows = [(step + 1.4 * dice.random(), step) for step in range(20) for _ in range(1 + dice.binomial(4, 0.3))]

    assert repeated_steps(scalars([step for _, step in sorted(rows)])) == []


def test_rows_that_are_discarded_are_of_the_step_s_batch() -> None:
    """A group of a step that is written in turns was discarded: as many rows as ever, two kept and three not, three kept and two not."""
    rows = [(step + 1.4 * at / 5 + 0.01 * (step % 3), step, at) for step in range(20) for at in range(5)]
    kept = {4: 2, 9: 3, 14: 0}
    splits = ["discarded" if at >= kept.get(step, 5) else "train" for _, step, at in sorted(rows)]

    assert repeated_steps(scalars([step for _, step, _ in sorted(rows)]).assign(split=splits)) == []
