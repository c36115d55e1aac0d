"""Tests of the look that all figures share."""

import pytest

from board.figures.theme import COLORS, column_color


@pytest.mark.parametrize(
    ("column", "meaning"),
    [("kl_k3_mean", "kl"), ("log_ratio_max", "kl"), ("entropy_mean", "entropy"), ("value_mean", "value"), ("my_score", "other")],
)
def test_a_column_has_the_colour_of_its_meaning(column: str, meaning: str) -> None:
    """KL is orange wherever it is drawn; a trainer's own number has the colour of others."""
    assert column_color(column) == COLORS[meaning]
