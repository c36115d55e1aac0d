"""Tests of the look that all figures share."""

import pytest

from board.figures.theme import COLORS, RUN_COLORS, column_color, run_colors


@pytest.mark.parametrize(
    ("column", "meaning"),
    [("kl_k3_mean", "kl"), ("log_ratio_max", "kl"), ("entropy_mean", "entropy"), ("value_mean", "value"), ("my_score", "other")],
)
def test_a_column_has_the_colour_of_its_meaning(column: str, meaning: str) -> None:
    """KL is orange wherever it is drawn; a trainer's own number has the colour of others."""
    assert column_color(column) == COLORS[meaning]


@pytest.mark.parametrize(
    ("wished", "given"),
    [
        (["", "", ""], ["teal", "orange", "violet"]),
        (["", "teal", ""], ["orange", "teal", "violet"]),
        (["pink", "pink"], ["pink", "pink"]),
        (["no colour", ""], ["teal", "orange"]),
        ([""] * 9, [*RUN_COLORS, "teal"]),
        ([*RUN_COLORS, ""], [*RUN_COLORS, "teal"]),
        ([], []),
    ],
)
def test_runs_have_the_colours_wished_for_and_the_first_ones_left(wished: list[str], given: list[str]) -> None:
    """A wish is kept even where two have the same; nobody else has a colour that was wished for, while there are others."""
    assert run_colors(wished) == [RUN_COLORS[name] for name in given]


def test_a_run_keeps_the_colour_of_its_seat() -> None:
    """Whoever else goes; and where its colour was given to another it takes none that another's seat has."""
    assert run_colors(["", ""], [0, 2]) == [RUN_COLORS["teal"], RUN_COLORS["violet"]]
    assert run_colors(["", "", "teal"], [0, 1, 7]) == [RUN_COLORS["violet"], RUN_COLORS["orange"], RUN_COLORS["teal"]]
