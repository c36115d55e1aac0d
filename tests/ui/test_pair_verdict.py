"""What is said of a paired difference, and the bar of wins, ties and losses."""

import numpy as np
import pytest

from board.analysis.compare.paired_prompts import PairedDifference
from board.ui.pages.compare.pair_verdict import bar, counted, verdict

SAID: dict[str, tuple[PairedDifference, str]] = {
    "above": (PairedDifference(20, 20, 0.5, 0.1, 0.9, 15, 0, 5), "B lies above A by more than chance"),
    "below": (PairedDifference(20, 20, -0.5, -0.9, -0.1, 5, 0, 15), "B lies below A by more than chance"),
    "perhaps neither": (PairedDifference(20, 20, 0.1, -0.1, 0.3, 11, 0, 9), "do not differ by more than chance"),
    "few, and all lower": (PairedDifference(2, 2, -0.2, -0.2, -0.2, 0, 0, 2), "Too few prompts"),
    "one": (PairedDifference(1, 1, 3.0, np.nan, np.nan, 1, 0, 0), "Too few prompts"),
    "the same": (PairedDifference(20, 40, 0.0, 0.0, 0.0, 0, 20, 0), "level on every prompt"),
}


@pytest.mark.parametrize("name", SAID)
def test_verdict(name: str) -> None:
    """Nothing is told apart by an interval of a handful of prompts, however narrow it is."""
    total, expected = SAID[name]

    assert expected in verdict(total)


def test_the_bar_holds_all_prompts() -> None:
    """A part for each that there is, as wide as it is often, and the same in words."""
    total = PairedDifference(8, 8, 0.5, 0.1, 0.9, 6, 0, 2)

    drawn = bar(total, ["#12908a", "#d9730d"])

    assert [f"flex:{count} 0 0;background:{color}" in drawn for count, color in ((6, "#d9730d"), (2, "#12908a"))] == [True, True]
    assert drawn.count("<span") == 2
    assert 'aria-label="B above A in 6 prompts, level in 0 prompts, B below A in 2 prompts"' in drawn
    assert counted(total) == "win 6 (75 %) · tie 0 (0 %) · loss 2 (25 %)"
