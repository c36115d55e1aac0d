"""board.analysis.steps.logged_curves: what trackers logged is found, read once, joined to the catalogue, and told where it cannot be read."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from logs_of_runs import in_a_folder_of_lines, in_a_timed_folder, in_swanlab, in_trackio, in_wandb, jsonl

from board import trackers
from board.analysis.steps.logged_curves import CACHED, CurveReader, Scalars, filled, find, stamp
from board.errors import BoardError
from board.metrics import declared
from board.trackers.nearby import LogSource

REPOSITORY = Path(__file__).parents[2]


def tensorboard(folder: Path, curves: Mapping[str, Mapping[int, float]]) -> Path:
    """Scalars written by the board's TensorBoard writer into a folder of event files."""
    writer = trackers.tracker("tensorboard").open_writer(folder.name, log_dir=folder.parent, resume="allow")
    for step in sorted({step for curve in curves.values() for step in curve}):
        writer.scalars(step, {name: curve[step] for name, curve in curves.items() if step in curve})
    writer.close()
    return Path(writer.place)


def read(*sources: LogSource) -> Scalars:
    """What the sources hold, read afresh."""
    return CurveReader().read(sources)


def by_name(scalars: Scalars) -> dict[str, dict[int, float]]:
    """Curves by the trainer's names."""
    return {one.name: dict(zip(one.curve.steps.tolist(), one.curve.values.tolist(), strict=True)) for one in scalars.logged}


def test_what_lies_beside_a_run_is_found_and_read(tmp_path: Path) -> None:
    """Event files beside the run and metrics.jsonl inside it are both there, each under its tracker."""
    run = tmp_path / "run"
    tensorboard(tmp_path / "runs" / "run", {"actor/lr": {0: 0.5, 7: 0.25}})
    jsonl(run / "metrics.jsonl", [{"step": 3, "loss": 1.5}])

    found = find(run, None, tmp_path)
    scalars = read(*found)

    assert {source.tracker for source in found} == {"tensorboard", "jsonl"}
    assert by_name(scalars) == {"actor/lr": {0: 0.5, 7: 0.25}, "loss": {3: 1.5}}
    assert scalars.problems == ()
    assert set(scalars.sources) == set(found)


def test_nothing_near_is_nothing(tmp_path: Path) -> None:
    """A run that no tracker wrote beside has no scalars, and that is no problem."""
    (tmp_path / "run").mkdir()

    assert read(*find(tmp_path / "run", None, tmp_path)) == Scalars(stamp=hash(()))


PLACES = {
    "folder": "logs",
    "folder of the runs' folders": ".",
    "event folder": "logs/run",
}


@pytest.mark.parametrize("name", PLACES)
def test_a_place_may_be_given(tmp_path: Path, name: str) -> None:
    """Scalars kept elsewhere are read from the folder that is named."""
    tensorboard(tmp_path / "far" / "logs" / "run", {"loss": {1: 2.0}})

    scalars = read(*find(tmp_path / "runs" / "run", tmp_path / "far" / PLACES[name]))

    assert by_name(scalars) == {"loss": {1: 2.0}}


def test_a_file_may_be_given(tmp_path: Path) -> None:
    """One event file, or one metrics.jsonl, is read alone, whatever lies beside it."""
    folder = tensorboard(tmp_path / "logs", {"loss": {1: 2.0}})
    (event_file,) = (path for path in folder.iterdir() if "tfevents" in path.name)
    lines = jsonl(folder / "metrics.jsonl", [{"step": 1, "other": 1.0}])

    assert by_name(read(*find(tmp_path / "run", event_file))) == {"loss": {1: 2.0}}
    assert by_name(read(*find(tmp_path / "run", lines))) == {"other": {1: 1.0}}


def test_in_a_folder_of_many_the_run_has_its_own(tmp_path: Path) -> None:
    """Of a given folder with one folder per run, a run is shown its own scalars alone."""
    for run in ("a", "b"):
        tensorboard(tmp_path / "logs" / run, {f"loss_{run}": {1: 2.0}})

    assert by_name(read(*find(tmp_path / "b", tmp_path / "logs"))) == {"loss_b": {1: 2.0}}


def test_another_run_s_scalars_are_not_shown(tmp_path: Path) -> None:
    """Of a log folder beside many runs, what is in a folder named after another run is left out, and what is of nobody is shown."""
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
    tensorboard(tmp_path / "runs" / "b", {"loss_b": {1: 2.0}})
    tensorboard(tmp_path / "runs" / "Nov21_host", {"loss_of_nobody": {1: 2.0}})

    assert set(by_name(read(*find(tmp_path / "a", None, tmp_path)))) == {"loss_of_nobody"}
    assert set(by_name(read(*find(tmp_path / "b", None, tmp_path)))) == {"loss_b"}


@pytest.mark.parametrize("write", [in_wandb, in_swanlab, in_a_timed_folder, in_a_folder_of_lines, in_trackio])
def test_a_run_is_shown_what_was_recorded_under_its_name(
    tmp_path: Path, write: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside several runs each has what its name was recorded for, with a dialect or a count too, and none has another's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for run in ("run", "run-2", "other", "none"):
        (tmp_path / run).mkdir()
    names = {"run": {"run", "run-verl"}, "run-2": {"run-2-verl"}, "other": {"other"}, "none": set[str]()}
    for name in sorted(set.union(*names.values())):
        write(tmp_path, name)

    for run, expected in names.items():
        assert set(by_name(read(*find(tmp_path / run, None, tmp_path)))) == {f"curve of {name}" for name in expected}, run


@pytest.mark.parametrize("write", [in_wandb, in_trackio])
def test_a_name_of_nobody_is_shown_to_all(
    tmp_path: Path, write: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trainer's run under a name that no folder has is anybody's, whether or not the tracker holds another's too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
    for name in ("lively-sun-1", "b"):
        write(tmp_path, name)

    assert set(by_name(read(*find(tmp_path / "a", None, tmp_path)))) == {"curve of lively-sun-1"}
    assert "curve of b" in by_name(read(*find(tmp_path / "b", None, tmp_path)))


def test_a_run_in_a_database_is_followed(tmp_path: Path) -> None:
    """What is logged to a run of trackio later is read, although the run is no file of its own."""
    (tmp_path / "run").mkdir()
    in_trackio(tmp_path, "run")
    reader = CurveReader()
    (source,) = find(tmp_path / "run", None, tmp_path)
    before = reader.read([source])
    database = source.path.parent
    with closing(sqlite3.connect(database)) as store:
        store.execute("INSERT INTO metrics SELECT id + 1, run_id, timestamp, run_name, 2, metrics, NULL, NULL FROM metrics")
        store.commit()

    assert by_name(before) == {"curve of run": {1: 1.0}}
    assert by_name(reader.read([source])) == {"curve of run": {1: 1.0, 2: 1.0}}


def test_names_are_taken_from_the_beginning(tmp_path: Path) -> None:
    """Whose a log of W&B is stands in its first block: damage behind that leaves a run without another's curves, not with an error."""
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
    in_wandb(tmp_path, "b")
    (log,) = (tmp_path / "wandb").rglob("*.wandb")
    log.write_bytes(log.read_bytes().ljust(32 << 10, b"\0") + b"damage" * 9_999)

    assert find(tmp_path / "a", None, tmp_path) == []
    assert read(*find(tmp_path / "b", None, tmp_path)).problems


def test_a_place_without_scalars_is_an_error(tmp_path: Path) -> None:
    """A folder that was named and holds nothing of a tracker is told with what was looked for."""
    with pytest.raises(BoardError, match=r"No tracker's scalars lie in .*tensorboard"):
        find(tmp_path / "run", tmp_path)


def test_a_damaged_file_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    """One bad file becomes a sentence that names it; what the others hold is there."""
    good = jsonl(tmp_path / "good" / "metrics.jsonl", [{"step": 1, "loss": 1.0}])
    bad = tmp_path / "bad" / "metrics.jsonl"
    bad.parent.mkdir()
    bad.write_bytes(b'\xff\xfe not json\n{"step": 1, "loss": 1.0}\n')

    scalars = read(LogSource("jsonl", bad), LogSource("jsonl", good))

    assert by_name(scalars) == {"loss": {1: 1.0}}
    assert scalars.sources == (LogSource("jsonl", good),)
    (problem,) = scalars.problems
    assert str(bad) in problem


def test_a_growing_file_is_read_again_and_no_other(tmp_path: Path) -> None:
    """Of two files the one that grew is read again: the scalars of the other are the very same as before."""
    grows = jsonl(tmp_path / "a" / "metrics.jsonl", [{"step": 1, "loss": 1.0}])
    stays = jsonl(tmp_path / "b" / "metrics.jsonl", [{"step": 1, "lr": 1.0}])
    reader, sources = CurveReader(), [LogSource("jsonl", grows), LogSource("jsonl", stays)]
    before = reader.read(sources)
    again = reader.read(sources)
    with grows.open("a") as file:
        file.write('{"step": 2, "loss": 0.5}\n')

    after = reader.read(sources)

    assert again.stamp == before.stamp
    assert again.logged[0] is before.logged[0]
    assert after.stamp != before.stamp
    assert by_name(after) == {"loss": {1: 1.0, 2: 0.5}, "lr": {1: 1.0}}
    assert after.logged[1] is before.logged[1]


def test_a_mended_file_is_read_again(tmp_path: Path) -> None:
    """A file that could not be read is tried again once it has changed, and not before."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"[]\n" * 3)
    reader, source = CurveReader(), LogSource("jsonl", path)
    broken = reader.read([source])
    jsonl(path, [{"step": 1, "loss": 1.0}])

    assert broken.problems
    assert by_name(reader.read([source])) == {"loss": {1: 1.0}}


def test_a_file_that_went_away_is_told(tmp_path: Path) -> None:
    """A source that was found and is gone becomes a problem, not a traceback."""
    scalars = read(LogSource("jsonl", tmp_path / "metrics.jsonl"), LogSource("tensorboard", tmp_path / "events"))

    assert len(scalars.problems) == 2
    assert scalars.logged == ()


def test_only_so_many_files_stay_read(tmp_path: Path) -> None:
    """What was not asked for longest is let go: a server that runs for weeks keeps a bounded number of files."""
    path = jsonl(tmp_path / "metrics.jsonl", [{"step": 1, "loss": 1.0}])
    reader, first = CurveReader(), LogSource("jsonl", path)
    before = reader.read([first])
    for at in range(CACHED):
        copied = tmp_path / str(at) / "metrics.jsonl"
        copied.parent.mkdir()
        shutil.copy(path, copied)
        reader.read([LogSource("jsonl", copied)])

    after = reader.read([first])

    assert after.logged[0] is not before.logged[0]
    assert by_name(after) == by_name(before)


def test_stamp_of_a_folder_counts_what_is_in_it(tmp_path: Path) -> None:
    """A folder's stamp differs once a file in it grows, comes or goes, and is the same while nothing does."""
    (tmp_path / "inside").mkdir()
    file = tmp_path / "inside" / "file"
    file.write_bytes(b"1")
    seen = [stamp(tmp_path), stamp(tmp_path)]
    file.write_bytes(b"12")
    seen.append(stamp(tmp_path))
    (tmp_path / "other").write_bytes(b"")
    seen.append(stamp(tmp_path))
    file.unlink()
    seen.append(stamp(tmp_path))

    assert seen[0] == seen[1]
    assert len(set(seen)) == 4


def test_stamp_of_a_file_counts_what_goes_on_with_its_name(tmp_path: Path) -> None:
    """A database's log beside it is part of it; other files are not."""
    database = tmp_path / "store.db"
    database.write_bytes(b"1")
    first = stamp(database)
    (tmp_path / "other.db").write_bytes(b"1")
    unchanged = stamp(database)
    (tmp_path / "store.db-wal").write_bytes(b"1")

    assert unchanged == first
    assert stamp(database) != first
    assert stamp(tmp_path / "gone") == ()


JOINED = {
    "critic/score/mean": "reward/mean",
    "train/reward": "reward/mean",
    "eval/reward": "evaluation/mean",
    "train/rewards/my function/std": "reward/component/my function/std",
    "eval/rewards/my function/std": "evaluation/reward/component/my function/std",
    "objective/scores": "reward/mean",
    "board/reward/mean": "reward/mean",
    "board/column/my_number/mean": "column/my_number/mean",
    "no/such metric ![](http://evil)": "no/such metric ![](http://evil)",
}


@pytest.mark.parametrize("name", JOINED)
def test_names_of_any_dialect_join_the_catalogue(tmp_path: Path, name: str) -> None:
    """A scalar goes under the board's key of the metric its name stands for, in whichever dialect; an unknown one keeps its name."""
    path = jsonl(tmp_path / "metrics.jsonl", [{"step": 1, name: 1.0}])

    (one,) = read(LogSource("jsonl", path)).logged

    assert (one.name, one.key) == (name, JOINED[name])
    assert (one.metric is not None) == (JOINED[name] in declared.METRICS or "my function" in name)


def test_places_of_a_family_are_filled_in(tmp_path: Path) -> None:
    """Two devices of one family of names are two metrics, each with what stands in the name's place."""
    names = [f"memory/generate/start/offload/allocated/{device}" for device in ("0", "cuda:1")]
    path = jsonl(tmp_path / "metrics.jsonl", [dict.fromkeys(names, 1.0) | {"step": 1}])

    found = read(LogSource("jsonl", path)).logged

    assert len({one.key for one in found}) == 2
    assert len({one.metric.key for one in found if one.metric}) == 1
    assert all("{" not in one.key for one in found)
    assert filled("a/{x}/{y}/{z}", {"y": "{x}", "x": "1"}) == "a/1/{x}/{z}"


def test_times_are_of_the_file_written_last(tmp_path: Path) -> None:
    """How fresh the scalars are is known, for following them while they grow."""
    path = jsonl(tmp_path / "metrics.jsonl", [{"step": 1, "loss": 1.0}])
    os.utime(path, ns=(10, 10))

    assert read(LogSource("jsonl", path)).modified_ns == 10
    assert np.isclose(read().modified_ns, 0)
