"""Tests that a folder as its trainer lays it out opens as a run."""

import pytest
from golden_runs import FOLDERS, GOLDEN, MODULES, records, shards, sidecars

from board import open_run
from board.formats.contract import Place

TOGETHER = {"train_data/12.pt", "train_data/13_0.pt", "train_data/13_1.pt"}
"""Files that give no rollouts of their own, as they belong to those of others."""

REPEATING = {
    "run/rollouts/step_12/train/all/traces.jsonl",
    "offline-run-20261122_042851-ztzenxix/files/media/table/completions_74_aeccf4404ca56e5a8dfd.table.json",
}
"""Files that are left out because others hold the same rollouts."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_golden_run_opens(folder: str) -> None:
    """Every rollout is a row, under the format's name; no record is refused, and what lies beside the rollouts is left out."""
    if any(path.suffix == ".pt" for path in shards(folder)):
        pytest.importorskip("torch")
    module = MODULES[folder]
    alone = [path for path in shards(folder) if path.relative_to(GOLDEN / folder).as_posix() not in {*TOGETHER, *REPEATING}]
    expected = [
        one
        for path in alone
        for at, record in enumerate(records(path), 1)
        for one in module.rollouts(record, Place(path.relative_to(GOLDEN / folder).as_posix(), at))
    ]

    run = open_run(str(GOLDEN / folder))

    assert len(run.frame) == len(expected)
    assert sorted(run.frame["step"]) == sorted(int(one["step"]) for one in expected)
    assert run.report.formats == {module.NAME: len(alone)}
    assert [problem for problem in run.report.problems if problem.severity == "refused"] == []
    beside = {path.relative_to(GOLDEN / folder).as_posix() for path in sidecars(folder)}
    assert {*run.report.skipped} <= beside | REPEATING
