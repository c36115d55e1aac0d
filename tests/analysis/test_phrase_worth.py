"""Whom rollouts are compared with, what tells right ones, and what a phrase is worth among either."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.texts.phrase_sample import phrase_sample
from board.analysis.texts.phrases import Compared, compared, worths


def of(folder: Path, rows: list[dict[str, Any]]) -> Compared:
    """Whom the rows are compared with."""
    run = open_run(write_run(folder / "run", {"rank_0.jsonl": rows}))
    return compared(run, phrase_sample(run))


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "groups and a validation reward": ({"prompt": "p", "valid_reward": None}, "group", "valid_reward"),
    "no prompts": ({}, "step", ""),
    "a validation reward that is the reward": ({"prompt": "p", "valid_reward": "same"}, "group", ""),
    "an expected answer": ({"prompt": "p", "ground_truth": "3"}, "group", "ground_truth"),
    "an answer that all hold": ({"prompt": "p", "ground_truth": "it is"}, "group", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_whom_and_what_is_right(name: str, tmp_path: Path) -> None:
    """Groups where there are any, else steps; right by whichever tells some from others."""
    fields, within, truth = CASES[name]
    rows = [row(at // 6, response=f"it is {at % 6}", reward=float(at % 2), **fields) for at in range(12)]
    if "valid_reward" in fields:
        rows = [
            one | {"valid_reward": one["reward"] if fields["valid_reward"] else float(at % 3 == 0)} for at, one in enumerate(rows)
        ]
    found = of(tmp_path, rows)
    assert (found.within, found.truth) == (within, truth)


def test_worth(tmp_path: Path) -> None:
    """Worth 1 among wrong responses and nothing among right ones; permuted rewards stay in their groups."""
    rows = [
        row(0, prompt=f"p{at // 8}", response="x", reward=10.0 * (at // 8) + max(right, has), valid_reward=right)
        for at in range(32)
        for right, has in [(float(at % 4 < 2), float(at % 2))]
    ]
    found = of(tmp_path, rows)
    (one,) = worths(found, [np.arange(1, 32, 2, dtype=np.int32)]).to_dict("records")
    assert (one["gain_right"], one["gain_wrong"], one["valid_gain"]) == (0, 1, 0)
    assert one["compared"] == 4
    permuted = found.permuted()
    assert not np.array_equal(permuted, found.rewards)
    for group in range(4):
        np.testing.assert_array_equal(np.sort(permuted[found.groups == group]), np.sort(found.rewards[found.groups == group]))
