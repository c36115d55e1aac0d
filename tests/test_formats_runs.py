"""Tests that the golden runs open as runs: files found, read by their own format, and nothing lost."""

import pytest
from test_formats_golden import FOLDERS, GOLDEN, MODULES, records, shards

from board import open_run
from board.formats.contract import Place


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_golden_run_opens_whole(folder: str) -> None:
    """Every shard gives the rows that its records hold, none is refused, and what lies beside is left out."""
    module = MODULES[folder]
    expected = {
        path.relative_to(GOLDEN / folder).as_posix(): sum(
            len(list(module.rollouts(record, Place(path.name, 1)))) for record in records(path)
        )
        for path in shards(folder)
    }

    run = open_run(str(GOLDEN / folder))

    assert [str(problem) for problem in run.report.problems if problem.severity == "refused"] == []
    assert run.frame["shard"].value_counts().to_dict() == expected
