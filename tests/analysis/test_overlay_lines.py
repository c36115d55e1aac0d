"""The lines of one panel of several runs: placed on an axis, seeds told by names and tags and drawn as one, less a baseline."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.compare.overlay_lines import (
    OverlayLine,
    any_seeds,
    less_baseline,
    placed,
    places,
    seed_groups,
    setting,
    with_seeds_joined,
)
from board.analysis.compare.run_overlay import CURVE


def by_step(values: dict[int, float], half: float = 0.5) -> pd.DataFrame:
    """A number by step with a band so wide to either side."""
    value = np.array([*values.values()], np.float64)
    return pd.DataFrame({"step": [*values], "value": value, "low": value - half, "high": value + half})


def line(name: str, run: int, values: dict[int, float]) -> OverlayLine:
    """A run's line along its steps."""
    found = by_step(values)
    return OverlayLine(name, f"#00000{run}", placed(found, pd.Series(found["step"].to_numpy(float), index=found["step"])), (run,))


def test_a_number_stands_at_its_place(tmp_path: Path) -> None:
    """By rollouts: where each step ends; a step without a place is left out, and of two at one place the last is kept."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(step) for step in (1, 1, 3)]}))
    assert places(run, "rollouts").to_dict() == {1: 2.0, 3: 3.0}
    found = placed(by_step({1: 5.0, 2: 6.0, 3: 7.0}), places(run, "rollouts"))
    assert list(found.columns) == list(CURVE)
    assert found[["at", "step", "value"]].to_numpy().tolist() == [[2, 1, 5], [3, 3, 7]]
    still = placed(by_step({1: 5.0, 2: 6.0, 3: 7.0}), pd.Series([0.0, 0.0, 4.0], index=[1, 2, 3]), from_first=True)
    assert still[["at", "value", "low"]].to_numpy().tolist() == [[0, 0, -0.5], [4, 1, 0.5]]


def test_a_step_without_a_number_is_a_gap() -> None:
    """It stays where it stands, in the difference to another run and in the mean of seeds, too; but not where the place has a number."""
    nan = float("nan")
    gap, whole = line("gap", 0, {0: nan, 1: 1.0, 2: nan, 3: 3.0}), line("whole", 1, {0: 0.0, 1: 0.0, 2: 0.0, 3: 0.0})
    np.testing.assert_array_equal(gap.curve["value"], [nan, 1, nan, 3])
    (difference,) = less_baseline([whole, gap], 1)
    np.testing.assert_array_equal(difference.curve["value"], [nan, 1, nan, 3])
    (other_way,) = less_baseline([gap, whole], 0)
    np.testing.assert_array_equal(other_way.curve["value"], [nan, -1, nan, -3])
    (mean,) = with_seeds_joined([whole, gap], [("both", [0, 1])])
    np.testing.assert_array_equal(mean.curve["value"], [nan, 0.5, nan, 1.5])
    shared = placed(by_step({1: 5.0, 2: nan, 3: 7.0}), pd.Series([4.0, 4.0, 5.0], index=[1, 2, 3]), from_first=True)
    assert shared[["at", "value"]].to_numpy().tolist() == [[4, 0], [5, 2]]


def test_seeds_are_joined_and_others_stay() -> None:
    """The mean has the colour of the first, and says of how many runs it is; a setting with one line is that line."""
    lines = [line("a1", 0, {0: 1.0, 1: 2.0}), line("b", 1, {0: 9.0}), line("a2", 2, {0: 3.0, 1: 4.0})]
    mean, alone = with_seeds_joined(lines, [("a", [0, 2]), ("b", [1]), ("c", [3])])
    assert (mean.name, mean.color, mean.runs, mean.counted) == ("a", "#000000", (0, 2), 2)
    assert mean.curve["value"].tolist() == [2.0, 3.0]
    assert alone is lines[1]
    assert with_seeds_joined(lines[:1], [("a", [0, 2])]) == lines[:1]


def test_all_are_drawn_less_the_baseline() -> None:
    """The baseline's own line goes; without its number there is nothing to draw. A mean over seeds can be the baseline."""
    lines = [line("a", 0, {0: 1.0, 1: 2.0}), line("b", 1, {0: 4.0, 1: 7.0}), line("c", 2, {0: 1.0, 5: 1.0})]
    b, c = less_baseline(lines, 0)
    assert b.curve["value"].tolist() == [3.0, 5.0]
    assert c.curve["at"].tolist() == [0.0]
    assert less_baseline(lines, 3) == []
    joined = with_seeds_joined(lines, [("ab", [0, 1]), ("c", [2])])
    assert [one.name for one in less_baseline(joined, 1)] == ["c"]


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
