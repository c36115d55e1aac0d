"""From which reward on a response is right, kept for each run."""

import math
from pathlib import Path

import pytest

from board.errors import BoardError
from board.user_files import right_rewards


def test_kept_for_its_run_alone_until_it_is_forgotten(tmp_path: Path) -> None:
    """Whatever the path says of the folder; None forgets it."""
    (tmp_path / "a").mkdir()
    right_rewards.save(tmp_path / "a", 0.45)

    assert right_rewards.read(tmp_path / "b" / ".." / "a") == 0.45
    assert math.isnan(right_rewards.read(tmp_path / "b"))
    right_rewards.save(tmp_path / "a", None)
    assert math.isnan(right_rewards.read(tmp_path / "a"))


@pytest.mark.parametrize("damage", ["null", "true", '"1"', "[]", "Infinity"])
def test_what_is_no_number_is_told(tmp_path: Path, damage: str) -> None:
    """The pages ask again, and what they are told takes its place."""
    right_rewards.save(tmp_path, 3)
    right_rewards.KEPT.path.write_text(f'{{"a": {damage}}}')

    with pytest.raises(BoardError, match="no reward from which on"):
        right_rewards.read(tmp_path)
    right_rewards.save(tmp_path, 2)
    assert right_rewards.read(tmp_path) == 2
