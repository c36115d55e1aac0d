"""Tests that a folder as its trainer lays it out opens as a run."""

from pathlib import Path
from typing import Any

import pytest
from golden_runs import FOLDERS, GOLDEN, MODULES, records, shards, sidecars

from board import open_run
from board.formats.contract import Place

TOGETHER = {"train_data/12.pt", "train_data/13_0.pt", "train_data/13_1.pt"}
"""Files that give no rollouts of their own, as they belong to those of others."""

WITH_DISCARDED = "run/rollouts/step_12/train/all/traces.jsonl"
"""A file of which only those rollouts are read that the trainer discarded."""

REPEATING = {
    "offline-run-20261122_042851-ztzenxix/files/media/table/completions_74_aeccf4404ca56e5a8dfd.table.json",
}
"""Files that are left out because others hold the same rollouts."""


def read_of(path: Path) -> list[dict[str, Any]]:
    """The records of a file that are read: of one with the discarded rollouts those that the file of the others does not hold."""
    if not path.as_posix().endswith(WITH_DISCARDED):
        return records(path)
    others = records(Path(path.as_posix().replace("/all/", "/effective/")))
    return [record for record in records(path) if record["id"] not in {other["id"] for other in others}]


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
        for at, record in enumerate(read_of(path), 1)
        for one in module.rollouts(record, Place(path.relative_to(GOLDEN / folder).as_posix(), at))
        if isinstance(one, dict)
    ]

    run = open_run(str(GOLDEN / folder))

    assert len(run.frame) == len(expected)
    assert sorted(run.frame["step"]) == sorted(int(one["step"]) for one in expected)
    assert run.report.formats == {module.NAME: len(alone)}
    assert [problem for problem in run.report.problems if problem.severity == "refused"] == []
    beside = {path.relative_to(GOLDEN / folder).as_posix() for path in sidecars(folder)}
    assert {*run.report.skipped} <= beside | REPEATING
