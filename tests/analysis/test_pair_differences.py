"""board.analysis.rollouts.pair_differences: two rollouts against each other."""

from pathlib import Path

import pytest
from rows import add_run, token_row

from board import open_run
from board.analysis.rollouts.pair_differences import numbers, parting

PARTED: dict[str, tuple[str, str, int | None]] = {
    "at the first": ("abc", "xbc", 0),
    "in the middle": ("abc", "abd", 2),
    "one goes on": ("ab", "abc", 2),
    "one is empty": ("", "a", 0),
    "the same": ("abc", "abc", None),
    "both empty": ("", "", None),
}


@pytest.mark.parametrize(("first", "second", "at"), PARTED.values(), ids=PARTED)
def test_where_tokens_part(first: str, second: str, at: int | None) -> None:
    """How many tokens the two have in common from the start; None where they are the same to the end."""
    assert parting(list(first), list(second)) == at
    assert parting(list(second), list(first)) == at


def test_numbers_are_those_that_any_of_the_two_has(tmp_path: Path) -> None:
    """Advantage and ending stand beside reward and length; what neither row has is no column, what one lacks is missing in its row."""
    rows = [
        token_row(0, reward=1.0, advantages=[2.0, 4.0], finish_reason="stop"),
        token_row(0, reward=0.0, finish_reason="length"),
    ]
    run = open_run(add_run(tmp_path, "run", rows))

    found = numbers(run, [1, 0])

    assert found.columns.tolist() == ["reward", "advantage, mean", "tokens", "KL k3", "ending"]
    assert found["reward"].tolist() == [0.0, 1.0]
    assert found["advantage, mean"].isna().tolist() == [True, False]
    assert found["ending"].tolist() == ["length", "stop"]
