"""Logs of trackers that are swapped for others between being found and being read."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from logs_of_runs import (
    in_a_checkpoint,
    in_a_database_of_mlflow,
    in_a_folder_of_lines,
    in_a_timed_folder,
    in_mlflow,
    in_swanlab,
    in_trackio,
    in_wandb,
)

from board import trackers
from board.analysis.steps.logged_curves import CurveReader, find


@pytest.mark.parametrize(
    "write",
    [
        in_wandb,
        in_swanlab,
        in_a_timed_folder,
        in_a_folder_of_lines,
        in_trackio,
        in_mlflow,
        in_a_database_of_mlflow,
        in_a_checkpoint,
    ],
)
def test_a_log_swapped_for_one_outside_is_not_read(
    tmp_path: Path, write: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of logs that becomes a link out of the root after it was found shows nothing; within the root it is read."""
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "root"
    (root / "run").mkdir(parents=True)
    write(root, "run")
    sources = find(root / "run", None, root)
    (logs,) = {root / source.path.relative_to(root).parts[0] for source in sources}
    shutil.move(logs, tmp_path / "outside")
    logs.symlink_to(tmp_path / "outside")

    swapped = CurveReader().read(sources)
    recorded = [trackers.tracker(source.tracker).read(source.path) for source in sources]
    logs.unlink()
    shutil.move(tmp_path / "outside", root / "elsewhere")
    logs.symlink_to("elsewhere")

    assert all(recorded)  # without a root, as for a place that the reader names, links are followed
    assert swapped.logged == () == swapped.texts
    assert all("outside the root" in problem for problem in swapped.problems)
    assert len(swapped.problems) == len(sources)
    assert CurveReader().read(sources).logged
