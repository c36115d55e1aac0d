"""A recording and the trainer's own dump of the same training in one folder: which opens, what is said, and how the other is reached."""

import json
import shutil
from pathlib import Path

import pytest
from golden_runs import GOLDEN

from board import open_run
from board.errors import RunNotFound
from board.recorder import RolloutRecorder
from board.runs.library import Library, dump_name, list_runs, resolve
from board.runs.parsing import trainer_dumps
from board.sources.shards import find_shards

VERL = [{"input": "q", "output": "a", "gts": "4", "score": 1.0, "step": step} for step in (1, 2)]
CHECKS = {"trl": 8, "verl": 2}
"""Rollouts in the dump of each trainer, as `folder` writes it."""


def record(folder: Path) -> None:
    """A recording of three rollouts in two steps."""
    with RolloutRecorder(folder) as recorder:
        for step in (1, 1, 2):
            recorder.write(step=step, prompt="q", response="a b", response_tokens=["a", " b"], logprobs=[-1.0, -2.0], reward=0.5)


def dump(trainer: str, folder: Path) -> None:
    """What a trainer wrote by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    if trainer == "trl":
        shutil.copy(GOLDEN / "trl/completions/completions_00001.parquet", folder)
    else:
        (folder / "1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in VERL))


LAYOUTS: dict[str, tuple[str, str, str, str, list[str]]] = {
    "beside it, in a folder": ("", "trl", "completions", "completions", ["run", "run/completions"]),
    "each in a folder": ("rollouts", "trl", "trainer/completions", "trainer", ["run", "run/trainer", "run/rollouts"]),
    "among its files": ("", "verl", "", "", ["run", "run (verl)"]),
    "in a folder with it": ("both", "verl", "both", "", ["run", "run (verl)", "run/both"]),
}
"""Folder of the recording, the trainer, folder of its dump, where that opens as a run, and the list of runs."""


@pytest.mark.parametrize(("own", "trainer", "theirs", "alone", "listed"), LAYOUTS.values(), ids=LAYOUTS)
def test_the_recording_opens_and_the_dump_next_to_it(
    tmp_path: Path, own: str, trainer: str, theirs: str, alone: str, listed: list[str]
) -> None:
    """The folder is the recording; a note says what was left aside, and the dump is in the list and opens by its name."""
    record(tmp_path / "run" / own)
    dump(trainer, tmp_path / "run" / theirs)

    run, runs = open_run(tmp_path / "run"), {one.name: one for one in list_runs(tmp_path)}

    assert (run.report.formats, run.report.rows, run.report.problems) == ({"native": 1}, 3, [])
    (family,) = run.report.aside
    file = "completions_00001.parquet" if trainer == "trl" else "1.jsonl"
    assert list(run.report.notes) == [
        f"This recording's folder also holds {family}'s own dump (1 file, such as {Path(theirs, file).as_posix()}). "
        "The dump is not read with the recording: it opens as a run of its own."
    ]
    assert run.report.aside == {family: alone}
    assert list(runs) == listed
    offered = runs[dump_name("run", family, alone)]
    beside = Library().open(resolve(tmp_path, offered.folder), tmp_path, family=offered.family)
    assert (len(beside.frame), beside.report.problems, beside.report.aside) == (CHECKS[trainer], [], {})
    assert set(beside.frame["shard"]) != set(run.frame["shard"])


def test_both_stay_open_beside_each_other(tmp_path: Path) -> None:
    """Two runs of one folder are never taken for each other: neither while they are open nor in what is kept of them."""
    record(tmp_path / "run")
    dump("verl", tmp_path / "run")
    library = Library()

    for _ in range(2):
        recording = library.open(tmp_path / "run", tmp_path)
        dumped = library.open(tmp_path / "run", tmp_path, family="verl")
        assert (len(recording.frame), len(dumped.frame)) == (3, 2)
        assert recording.address != dumped.address
    library.refresh(dumped, tmp_path)
    assert len(library.open(tmp_path / "run", tmp_path, family="verl").frame) == 2
    assert [len(open_run(tmp_path / "run", family=family).frame) for family in ("", "verl", "")] == [3, 2, 3]


def test_a_dump_that_is_not_there(tmp_path: Path) -> None:
    """Asked for a trainer who left nothing, the run is empty rather than the recording under another's name."""
    record(tmp_path)

    assert open_run(tmp_path, family="verl").frame.empty


def test_logs_beside_a_recording_are_no_dump(tmp_path: Path) -> None:
    """Metrics are left out with their keys, as ever, and are no run."""
    record(tmp_path / "run")
    (tmp_path / "run/logs").mkdir()
    (tmp_path / "run/logs/metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')

    run = open_run(tmp_path / "run")

    assert (run.report.aside, run.report.notes, list(run.report.skipped)) == ({}, {}, ["logs/metrics.jsonl"])
    assert [one.name for one in list_runs(tmp_path)] == ["run"]


def test_without_an_account_it_is_a_mixture(tmp_path: Path) -> None:
    """Rows of ours that no recorder accounts for may be anybody's: they are not preferred to a trainer's."""
    record(tmp_path / "run")
    dump("verl", tmp_path / "run")
    for account in (tmp_path / "run").glob("*.account.json"):
        account.unlink()

    with pytest.raises(RunNotFound, match="mixes the rollouts of several trainers"):
        open_run(tmp_path / "run")


PLACES: dict[str, tuple[dict[str, list[str]], list[str], dict[str, str]]] = {
    "two dumps, a folder each": ({"a": ["x/1", "x/2"], "b": ["y/z/1"]}, ["r"], {"a": "x", "b": "y"}),
    "two dumps in one folder": ({"a": ["x/1"], "b": ["x/2"]}, ["r"], {"a": "", "b": ""}),
    "one over two folders": ({"a": ["x/1", "y/1"]}, ["r"], {"a": ""}),
    "one in a folder and outside": ({"a": ["x/1", "1"]}, ["r"], {"a": ""}),
    "none": ({}, ["r"], {}),
}


@pytest.mark.parametrize(("dumps", "others", "expected"), PLACES.values(), ids=PLACES)
def test_where_a_dump_is_alone(dumps: dict[str, list[str]], others: list[str], expected: dict[str, str]) -> None:
    """A folder that holds one trainer's files and nobody else's is that trainer's run."""
    assert trainer_dumps.places(dumps, others) == expected


def test_a_list_looks_into_few_files(tmp_path: Path) -> None:
    """Of a dump of a thousand steps a few are looked into; torch files, which must be read whole, are known by their names."""
    record(tmp_path)
    for step in range(1_000):
        (tmp_path / f"{step}.jsonl").write_text("garbage\n" if step > 2 else json.dumps(VERL[0]) + "\n")
    (tmp_path / "rollout_data").mkdir()
    (tmp_path / "rollout_data/1.pt").write_bytes(b"no torch file")

    assert trainer_dumps.dump_families(find_shards(tmp_path)[0]) == {"verl": "", "slime": "rollout_data"}
