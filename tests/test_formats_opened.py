"""Tests that a folder as its trainer lays it out opens as a run."""

from pathlib import Path

import pytest
from test_formats_golden import FOLDERS, GOLDEN, MODULES, records, shards, sidecars

from board import open_run
from board.formats.contract import Place


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_golden_run_opens(folder: str) -> None:
    """Every rollout is a row, under the format's name; no record is refused, and what lies beside the rollouts is left out."""
    if any(path.suffix == ".pt" for path in shards(folder)):
        pytest.importorskip("torch")
    module = MODULES[folder]
    expected = [
        one
        for path in shards(folder)
        for at, record in enumerate(records(path), 1)
        for one in module.rollouts(record, Place(path.relative_to(GOLDEN / folder).as_posix(), at))
    ]

    run = open_run(str(GOLDEN / folder))

    assert len(run.frame) == len(expected)
    assert sorted(run.frame["step"]) == sorted(int(one["step"]) for one in expected)
    assert run.report.formats == {module.NAME: len(shards(folder))}
    assert [problem for problem in run.report.problems if problem.severity == "refused"] == []
    assert {Path(name) for name in run.report.skipped} <= {path.relative_to(GOLDEN / folder) for path in sidecars(folder)}
