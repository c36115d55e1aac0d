"""Tests of opening a run: what is reported, what is refused, what a mapping file adds, and that nothing is written."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from rows import compressed, lines, row, token_row, write_run

from board import open_run
from board.errors import BoardError, NothingRead, RunNotFound
from board.runs.opening import opened_whole
from board.runs.progress import Progress
from board.settings import run_choices

ROOT = Path(__file__).parents[2]


def test_reading_changes_nothing(tmp_path: Path) -> None:
    """The frame is the same after everything a reader may ask of the run, and arrays cannot be written to."""
    run = open_run(write_run(tmp_path, {"b.jsonl": [token_row(2), row(1)], "a.jsonl": [token_row(1, x=[1, 2])]}))
    before, problems = run.frame.copy(deep=True), list(run.report.problems)

    for key in run.frame.index:
        rollout = run.rollout(int(key))
        assert not any(array.flags.writeable for array in rollout.arrays.values())
        run.raw(int(key))
    run.texts("prompt", run.frame.index.to_numpy())
    everything = run.to_pandas()
    everything["reward"] = 0.0
    assert (run.key_of("a.jsonl:1"), run.steps.tolist(), run.name) == (0, [1, 2], tmp_path.name)

    pd.testing.assert_frame_equal(run.frame, before)
    assert run.report.problems == problems


def test_report_counts_shards_rows_bytes_and_problems(tmp_path: Path) -> None:
    """Refused lines are not rows, flagged ones are, and an unfinished last line is neither."""
    data = lines([row(), b"garbage", row(reward="0.5")]) + b'{"step": 1, "resp'
    run = open_run(write_run(tmp_path, {"a.jsonl": data, "b.jsonl.gz": [row()]}))

    report = run.report
    assert (report.shards, report.rows, report.refused, report.flagged) == (2, 3, 1, 1)
    assert report.bytes == sum((tmp_path / name).stat().st_size for name in ("a.jsonl", "b.jsonl.gz"))
    assert report.unfinished == ["a.jsonl"]
    assert [str(problem).split(":")[1] for problem in report.problems] == ["2", "3"]
    assert report.seconds > 0


CUTS = {
    "in a key": b'{"step": 1, "resp',
    "in a character": '{"step": 1, "response": "威'.encode()[:-1],
    "in an escape": rb'{"step": 1, "response": "\ud83',
    "in a number": b'{"step": 1',
    "one bracket": b"{",
    "a number alone": b"4",
}


@pytest.mark.parametrize("data", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_half_written_last_line_is_read_next_time(tmp_path: Path, name: str, data: bytes) -> None:
    """It is no problem, only not yet there; the same bytes before a line end are one."""
    cut = open_run(write_run(tmp_path / "cut", {name: lines([row()]) + data}))
    ended = open_run(write_run(tmp_path / "ended", {name: lines([row()]) + data + b"\n"}))

    assert (cut.report.rows, cut.report.problems, cut.report.unfinished) == (1, [], [name])
    assert (ended.report.rows, ended.report.refused, ended.report.unfinished) == (1, 1, [])


def test_last_line_without_line_end_counts_when_it_is_whole(tmp_path: Path) -> None:
    """Only the line end was missing."""
    run = open_run(write_run(tmp_path, {"a.jsonl": lines([row(), row(1)])[:-1]}))

    assert (run.report.rows, run.report.unfinished) == (2, [])


def test_stream_cut_off_keeps_the_rows_before(tmp_path: Path) -> None:
    """A compressed shard of a killed job: its rows, and one flagged problem."""
    data = compressed(lines(row(step) for step in range(50)), "a.jsonl.gz")
    run = open_run(write_run(tmp_path, {"b.jsonl": [row(99)]}))
    (tmp_path / "a.jsonl.gz").write_bytes(data[:-4])

    run = open_run(tmp_path)

    assert run.steps.tolist() == [*range(50), 99]
    assert [(problem.shard, problem.severity) for problem in run.report.problems] == [("a.jsonl.gz", "flagged")]


def test_one_bad_shard_does_not_hide_the_others(tmp_path: Path) -> None:
    """What cannot be read is a problem with the shard's name; a run of such alone is an error that says so."""
    run = open_run(write_run(tmp_path, {"good.jsonl": [row()], "bad.jsonl.gz": [row()]}))
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no gzip")

    run = open_run(tmp_path)
    (tmp_path / "good.jsonl").unlink()

    assert (run.report.rows, [problem.shard for problem in run.report.problems]) == (1, ["bad.jsonl.gz"])
    with pytest.raises(NothingRead, match=r"1 line refused; the first reason: bad\.jsonl\.gz"):
        open_run(tmp_path)
    assert len(opened_whole(tmp_path).frame) == 0


def test_folder_without_shards_and_missing_folder_are_errors(tmp_path: Path) -> None:
    """Each is one sentence that says what was looked for."""
    with pytest.raises(RunNotFound, match=r"looked for \*\.jsonl"):
        open_run(tmp_path)
    with pytest.raises(RunNotFound, match="No folder 'missing'"):
        open_run(str(tmp_path / "missing"))


def test_every_load_has_its_own_id_and_the_same_content_the_same_fingerprint(tmp_path: Path) -> None:
    """So that what was computed of one load is never shown for another."""
    folder = write_run(tmp_path, {"a.jsonl": [row()]})
    first, second = open_run(folder), open_run(folder)
    with (folder / "a.jsonl").open("ab") as file:
        file.write(lines([row(1)]))
    third = open_run(folder)

    assert len({first.load_id, second.load_id, third.load_id}) == 3
    assert first.fingerprint == second.fingerprint != third.fingerprint
    assert [len(run.frame) for run in (first, second, third)] == [1, 1, 2]


def test_links_are_read_within_the_root_only(tmp_path: Path) -> None:
    """`within` says how far links may lead."""
    write_run(tmp_path / "other", {"x.jsonl": [row(7)]})
    run = write_run(tmp_path / "run", {"a.jsonl": [row()]})
    (run / "b.jsonl").symlink_to("../other/x.jsonl")

    assert open_run(run, within=tmp_path).steps.tolist() == [0, 7]
    alone = open_run(run)
    assert alone.steps.tolist() == [0]
    assert alone.report.problems[0].shard == "b.jsonl"


def test_progress_is_told(tmp_path: Path) -> None:
    """Bytes grow to at most the whole, rows grow, and the whole is known from the start."""
    rows = [row(step) for step in range(300)]
    folder = write_run(tmp_path, dict.fromkeys(("a.jsonl", "b.jsonl.gz", "c.jsonl.zst"), rows))
    seen: list[Progress] = []

    run = open_run(folder, progress=seen.append)

    assert len(seen) == 3
    assert {one.bytes_total for one in seen} == {run.report.bytes}
    assert [one.rows for one in seen] == sorted(one.rows for one in seen)
    assert [one.bytes_done for one in seen] == sorted(one.bytes_done for one in seen)
    assert seen[-1].bytes_done <= run.report.bytes


PROGRESS: dict[str, tuple[Progress, tuple[float, float, float]]] = {
    "half way": (Progress(50, 100, 5, 2.0), (0.5, 25.0, 2.0)),
    "not begun": (Progress(0, 100, 0, 0.0), (0.0, 0.0, math.inf)),
    "nothing to read": (Progress(0, 0, 0, 1.0), (1.0, 0.0, math.inf)),
    "done": (Progress(100, 100, 9, 4.0), (1.0, 25.0, 0.0)),
    "shard grew meanwhile": (Progress(150, 100, 9, 3.0), (1.0, 50.0, 0.0)),
}


@pytest.mark.parametrize(("progress", "expected"), PROGRESS.values(), ids=PROGRESS)
def test_share_rate_and_time_left(progress: Progress, expected: tuple[float, float, float]) -> None:
    """At the rate so far; never more than the whole, never less than no time."""
    assert (progress.share, progress.rate, progress.seconds_left) == expected


def test_opening_a_run_needs_no_streamlit(tmp_path: Path) -> None:
    """`from board import open_run` works where Streamlit and Plotly cannot be imported."""
    write_run(tmp_path, {"a.jsonl": [token_row()]})
    code = (
        "import sys\n"
        "sys.modules.update(streamlit=None, plotly=None)\n"
        "from board import open_run\n"
        f"run = open_run({str(tmp_path)!r})\n"
        "assert run.to_pandas()['response'].tolist() == ['a b'], run.to_pandas()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr


STRANGE = {"iter": 3, "q": "2+2?", "a": {"text": "4"}, "score": 1.0}
MAPPING = '[fields]\nstep = "iter"\nprompt = "q"\nresponse = "a.text"\nreward = "score"\n'


def test_unknown_run_opens_by_a_mapping(tmp_path: Path) -> None:
    """Rows nobody knows are refused and a mapping is suggested; saved beside the run, or given, it opens them, also from the cache."""
    folder = write_run(tmp_path / "run", {"dump.jsonl": [STRANGE, {**STRANGE, "iter": 4}]})
    with pytest.raises(NothingRead, match=r"2 lines refused.*its keys are: iter, q, a, score") as refused:
        open_run(folder)
    assert 'response = "a.text"\nreward = "score"' in str(refused.value.suggested_mapping)

    (tmp_path / "given.toml").write_text(MAPPING)
    given = open_run(folder, mapping=tmp_path / "given.toml")
    (folder / "rollouts.toml").write_text(MAPPING)
    for run in (given, open_run(folder), open_run(folder)):
        assert run.steps.tolist() == [3, 4]
        assert run.frame["reward"].tolist() == [1.0, 1.0]
        assert (run.rollout(0)["prompt"], run.rollout(0)["response"]) == ("2+2?", "4")
        assert run.report.formats == {"mapping by hand": 1}
    (folder / "rollouts.toml").write_text(MAPPING.replace('"iter"', "{ constant = 7 }"))
    assert open_run(folder).steps.tolist() == [7]


def test_mapping_that_is_wrong_is_said(tmp_path: Path) -> None:
    """By the file's name, and what may stand there."""
    folder = write_run(tmp_path, {"dump.jsonl": [STRANGE]})
    (folder / "rollouts.toml").write_text("[fields]\nanswer = 3\n")

    with pytest.raises(BoardError, match=r"rollouts\.toml"):
        open_run(folder)


def test_mapping_behind_a_link_is_not_read(tmp_path: Path) -> None:
    """A link in the run folder could lead anywhere: it is no mapping, nor is the empty file that `summary > rollouts.toml` begins with."""
    folder = write_run(tmp_path / "run", {"dump.jsonl": [STRANGE]})
    (tmp_path / "outside.toml").write_text(MAPPING)
    (folder / "rollouts.toml").symlink_to(tmp_path / "outside.toml")
    with pytest.raises(NothingRead):
        open_run(folder)

    (folder / "rollouts.toml").unlink()
    (folder / "rollouts.toml").touch()
    with pytest.raises(NothingRead) as refused:
        open_run(folder)
    assert refused.value.suggested_mapping


def test_known_run_suggests_no_mapping(tmp_path: Path) -> None:
    """Neither where rows are read, nor where there is nothing to guess from."""
    assert open_run(write_run(tmp_path / "a", {"a.jsonl": [token_row(0)]})).report.suggested_mapping == ""
    with pytest.raises(NothingRead) as refused:
        open_run(write_run(tmp_path / "b", {"a.jsonl": b"no json\n"}))
    assert refused.value.suggested_mapping is None


def test_a_mapping_that_the_reader_took_opens_the_run(tmp_path: Path) -> None:
    """One kept among the settings counts for the run's folder, until one lies beside the run; forgotten, it counts no more."""
    folder = write_run(tmp_path / "run", {"dump.jsonl": [STRANGE]})
    run_choices.save_mapping(folder, MAPPING)
    assert open_run(folder).steps.tolist() == [3]

    (folder / "rollouts.toml").write_text(MAPPING.replace('"iter"', "{ constant = 7 }"))
    assert open_run(folder).steps.tolist() == [7]
    (folder / "rollouts.toml").unlink()
    run_choices.mapping_path(folder).unlink()
    with pytest.raises(NothingRead):
        open_run(folder)
