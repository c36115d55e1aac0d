"""From which reward on a response is right, kept for each run."""

import math
from pathlib import Path

import pytest

from board.user_files import right_rewards


def test_kept_for_its_run_alone_until_it_is_forgotten(tmp_path: Path) -> None:
    """Whatever the path says of the folder; None forgets it."""
    (tmp_path / "a").mkdir()
    right_rewards.save(tmp_path / "a", 0.45)

    assert right_rewards.read(tmp_path / "b" / ".." / "a") == 0.45
    assert math.isnan(right_rewards.read(tmp_path / "b"))
    right_rewards.save(tmp_path / "a", None)
    assert math.isnan(right_rewards.read(tmp_path / "a"))


@pytest.mark.parametrize("damage", [None, True, "1", [], math.inf], ids=str)
def test_what_is_no_number_counts_as_not_said(tmp_path: Path, damage: object) -> None:
    """The pages ask again, and what they are told takes its place."""
    right_rewards.save(tmp_path, 3)
    right_rewards.KEPT.change(lambda held: dict.fromkeys(held, damage))

    assert math.isnan(right_rewards.read(tmp_path))
    right_rewards.save(tmp_path, 2)
    assert right_rewards.read(tmp_path) == 2
