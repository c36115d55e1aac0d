"""Which rollouts stand for a prompt of two runs, against what can be said of them by hand."""

from pathlib import Path

import pytest
from rows import add_run, row

from board.analysis.compare.run_pair import Response, RunPair, Visit, compare, rollouts_of_prompt
from board.runs.opening import open_run

A = [(0, "p", 1.0), (0, "p", 3.0), (0, "p", 2.0), (0, "q", 0.0), (5, "p", 2.0), (7, "p", 9.0), (8, "p", None)]
B = [(0, "p", 2.0), (0, "q", 0.0), (5, "p", -6.0), (5, "p", -5.0), (5, "p", -7.0)]
"""Step, prompt, reward: the prompt p is seen by both at the steps 0 and 5, where they lie furthest apart at 5."""


def pair_of(root: Path) -> RunPair:
    """Both runs, on the steps that they share."""
    folders = [
        add_run(
            root,
            name,
            [row(step, prompt=prompt, reward=reward, response=f"{at}") for at, (step, prompt, reward) in enumerate(rows)],
        )
        for name, rows in (("a", A), ("b", B))
    ]
    a, b = (open_run(folder) for folder in folders)
    return compare(a, b)


CHOSEN: list[tuple[Visit, Response, int, int]] = [
    ("furthest apart", "highest", 4, 3),
    ("furthest apart", "lowest", 4, 4),
    ("furthest apart", "first", 4, 2),
    ("last", "highest", 5, 3),
    ("last", "first", 5, 2),
]


@pytest.mark.parametrize(("visit", "response", "of_a", "of_b"), CHOSEN)
def test_a_rollout_of_either_run(tmp_path: Path, visit: Visit, response: Response, of_a: int, of_b: int) -> None:
    """At the visits furthest apart, or at each run's last with the number; the largest, the least or the first of it."""
    pair = pair_of(tmp_path)
    prompt = int(pair.prompts.index[0])

    found = rollouts_of_prompt(pair, prompt, visit, response)

    texts = [side.run.texts("response", [key]).to_pylist()[0] for side, key in zip((pair.a, pair.b), found, strict=True)]
    assert texts == [str(of_a), str(of_b)]
