"""Which runs are one setting with other seeds."""

import pytest

from board.analysis.compare.overlay_lines import any_seeds, seed_groups, setting


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("ppo_seed3", "ppo"),
        ("ppo_seed_3_lr1e-5", "ppo_lr1e-5"),
        ("seed=12/ppo", "ppo"),
        ("ppo_s1", "ppo"),
        ("steps10", "steps"),
        ("run-2", "run"),
        ("lr1e-5_run2", "lr1e-5_run"),
        ("sweep/7/run", "sweep//run"),
        ("42", "42"),
        ("seed1", "seed1"),
        ("none", "none"),
        ("", ""),
    ],
)
def test_a_name_without_its_seed(name: str, bare: str) -> None:
    """What says that it is a seed goes, else the last number; a name that is nothing else stays."""
    assert setting(name) == bare


NAMES = ["a_seed1", "b", "a_seed2", "c"]
TAGS = [["new", "x"], ["x"], [], ["x", "x2"]]


def test_runs_of_one_name_or_tag_are_one_setting() -> None:
    """In the order of the first of each; of several tags the one counts that most have; a run alone keeps its name."""
    assert seed_groups(NAMES, TAGS, "apart") == [(name, [at]) for at, name in enumerate(NAMES)]
    assert seed_groups(NAMES, TAGS, "name") == [("a", [0, 2]), ("b", [1]), ("c", [3])]
    assert seed_groups(NAMES, TAGS, "tag") == [("x", [0, 1, 3]), ("a_seed2", [2])]
    assert any_seeds(NAMES, TAGS) == ["tag", "name"]
    assert any_seeds(["a", "b"], [["x"], []]) == []
    assert seed_groups([], [], "name") == []
