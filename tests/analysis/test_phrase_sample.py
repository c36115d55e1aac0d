"""The rollouts that phrases are looked for in: those with a response, groups side by side, long texts cut, many thinned out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.texts import phrase_sample as module
from board.analysis.texts.phrase_sample import LONGEST, even_sample, group_codes, phrase_sample
from board.text.text_units import GAP


def test_texts(tmp_path: Path) -> None:
    """A long response keeps its beginning and its end; one that is missing is left out; groups lie side by side."""
    rows = [
        row(1, prompt="b", response="x" * LONGEST + "end"),
        row(0, prompt="a", response="one"),
        row(0, prompt="b", response="two"),
        row(0, prompt="a", response="three"),
        row(0, prompt="a", response=None),
    ]
    found = phrase_sample(open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows})))
    assert found.texts[:3] == ["one", "three", "two"] or found.texts[:3] == ["two", "one", "three"]
    assert found.texts[3].endswith("xend")
    assert (GAP in found.texts[3], len(found.texts[3])) == (True, LONGEST + 1)
    assert (found.cut, found.of) == (1, 4)
    assert found.frame["step"].tolist() == [0, 0, 0, 1]
    assert len(found.keys) == 4


def test_many_long_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run of long responses fewer rollouts are looked at, by their bytes."""
    monkeypatch.setattr(module, "MOST_BYTES", 3_000)
    monkeypatch.setattr(module, "LEAST_ROLLOUTS", 5)
    rows = [row(step, response="é" * 100) for step in range(50)]
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows}))
    assert len(phrase_sample(run).texts) == 15
    monkeypatch.setattr(module, "MOST_BYTES", 30)
    assert len(phrase_sample(run).texts) == 5


def frame(steps: int, groups: int, size: int) -> pd.DataFrame:
    """Rollouts of so many groups of a size in each step; group 0 stands for none."""
    step, group, _ = (one.ravel() for one in np.meshgrid(np.arange(steps), np.arange(groups), np.arange(size), indexing="ij"))
    return pd.DataFrame({"step": step, "group": np.where(group > 0, group.astype(float), np.nan)})


def test_groups_within_steps() -> None:
    """The same number in another step is another group; a rollout of none has none."""
    found = group_codes(pd.DataFrame({"step": [0, 0, 1, 1], "group": [1.0, 1.0, 1.0, np.nan]}))
    assert found.tolist() == [0, 0, 1, -1]
    assert group_codes(pd.DataFrame({"step": [0]})).tolist() == [-1]


@pytest.mark.parametrize("most", [1, 7, 40, 100, 239])
def test_whole_groups_of_all_steps(most: int) -> None:
    """Groups are whole, no step has much more than another, and the sample is nearly as large as it may be."""
    whole = frame(10, 6, 4)
    rows = even_sample(whole, most)
    assert len(rows) <= most
    assert len(rows) > most - 4
    assert (np.diff(rows) > 0).all()
    codes = group_codes(whole)
    if most >= 4:
        assert all((codes[rows] == code).sum() == 4 for code in set(codes[rows].tolist()) - {-1})
        counts = np.bincount(whole["step"].to_numpy()[rows], minlength=10)
        assert counts.max() - counts.min() <= 4
    np.testing.assert_array_equal(rows, even_sample(whole, most))


def test_all_where_there_are_few() -> None:
    """Nothing is left out of what fits, and nothing is taken from nothing."""
    assert even_sample(frame(2, 2, 2), 8).tolist() == list(range(8))
    assert even_sample(frame(0, 1, 1), 8).size == 0


def test_steps_at_both_ends_of_64_bits() -> None:
    """The difference of two steps may be no 64-bit number; each has its rollout in the sample, and nothing warns."""
    steps = [-(2**63), -(2**63), 0, 0, 2**63 - 1, 2**63 - 1]
    rows = even_sample(pd.DataFrame({"step": np.array(steps, np.int64)}), 3)
    assert [steps[row] for row in rows] == [-(2**63), 0, 2**63 - 1]
