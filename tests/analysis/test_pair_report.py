"""The comparison of two runs as a table: what was compared stands in every row. (As JSON and as text: tests/cli/test_compare.py.)"""

from io import StringIO
from pathlib import Path

import pandas as pd
from rows import add_run, row

from board.analysis.compare.pair_report import as_table, as_text
from board.analysis.compare.run_pair import compare
from board.runs.opening import open_run

A = [row(step, prompt=prompt, reward=float(step)) for step in range(2) for prompt in ("p", "q", 'only, in "A"')]
B = [row(step, prompt=prompt, reward=2.0 * step + at) for step in range(2) for at, prompt in enumerate(("p", "q"))]


def test_the_whole_and_each_step(tmp_path: Path) -> None:
    """The first row is of all pairs, the others of a step each; as CSV it is read back as it was."""
    a, b = (open_run(add_run(tmp_path, name, rows)) for name, rows in (("a", A), ("b", B)))
    pair = compare(a, b)

    found = as_table(pair, ("a, the first", "b"))
    read = pd.read_csv(StringIO(found.to_csv(index=False)))

    assert read["step"].tolist()[1:] == [0, 1]
    assert pd.isna(read["step"].iloc[0])
    assert read["difference"].tolist() == [1.0, 0.5, 1.5]
    assert read["prompts"].tolist() == [2, 2, 2]
    whole = read[["pairs", "unpaired_a", "unpaired_b", "win", "tie", "loss"]].iloc[0]
    assert whole.to_list() == [4, 1, 0, 2, 0, 0]
    assert set(read["run_a"]) == {"a, the first"}
    assert set(read["visits"]) == {"same step"}


def test_nothing_paired(tmp_path: Path) -> None:
    """One row says so; last visits have no steps."""
    a, b = (open_run(add_run(tmp_path, name, [row(0, prompt=name, reward=1.0)])) for name in "ab")

    for found in (as_table(compare(a, b), ("a", "b")), as_table(compare(a, b, visits="last"), ("a", "b"))):
        assert len(found) == 1
        assert found.loc[0, "prompts"] == 0
        assert found[["difference", "step"]].isna().to_numpy().all()


def test_other_scales_leave_the_verdict_out(tmp_path: Path) -> None:
    """Of 0 to 1 and 0 to 5 nobody is told which wins; the difference stands, with the reason."""
    a, b = (
        open_run(add_run(tmp_path, name, [one | {"reward": one["reward"] * factor} for one in A]))
        for name, factor in (("a", 1.0), ("b", 5.0))
    )

    said = [as_text(compare(a, other), ("a", "b"), {}, ()) for other in (b, a)]

    assert "not counted: the runs may be on different scales" in said[0]
    assert "from 0 to 1 in A and from 0 to 5 in B" in said[0]
    assert "B above A on" in said[1]
