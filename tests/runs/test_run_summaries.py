"""Tests of summaries made in the background: by real processes, each run's troubles its own."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rows import row, write_run

from board.runs.cache.code_version import version
from board.runs.library import RunFolder, list_runs
from board.runs.opening import open_run
from board.runs.summaries import run_summaries
from board.runs.summaries.run_summaries import RunSummaries, SummaryOrder, SummaryProcess, SummaryState
from board.runs.summaries.run_summary import RunSummary
from board.settings import run_choices, user_folders


def waited(of: RunSummaries, root: Path, enough: Callable[[dict[str, SummaryState]], bool]) -> dict[str, SummaryState]:
    """What is known once that is enough, or after five minutes, as a process of low priority looks."""
    until = time.monotonic() + 300
    while not enough(found := of.see(root, list_runs(root))) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def all_known(found: dict[str, SummaryState]) -> bool:
    """Whether each run was looked at."""
    return all(state.current for state in found.values())


def test_runs_are_told_of_in_the_background_and_one_bad_run_harms_no_other(tmp_path: Path) -> None:
    """At first nothing is known; then of each run what a glance tells, or in a line why not."""
    for at in range(3):
        write_run(tmp_path / f"run_{at}", {"a.jsonl": [row(step, reward=1.0) for step in range(at + 1)]})
    write_run(tmp_path / "two_trainers", {"a.jsonl": [row(0)], "b/rollouts.toml": b""})
    (tmp_path / "two_trainers" / "rollouts.toml").write_text("this is no mapping")
    of = RunSummaries()
    assert not any(state.summary for state in of.see(tmp_path, list_runs(tmp_path)).values())
    found = waited(of, tmp_path, all_known)
    told = {name: state.summary for name, state in found.items()}
    assert [told[f"run_{at}"].last_step for at in range(3)] == [0, 1, 2]  # type: ignore[union-attr]
    assert told["two_trainers"].trouble  # type: ignore[union-attr]
    assert "\n" not in told["two_trainers"].trouble  # type: ignore[union-attr]


def test_a_run_that_takes_too_long_is_given_up_and_the_next_is_told_of(tmp_path: Path) -> None:
    """The process ends, and another takes its place."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row(0, reward=1.0)]})
    process = SummaryProcess(seconds=0.01)
    try:
        assert "took longer" in process.ask(SummaryOrder(run, tmp_path)).trouble
        process = SummaryProcess()
        assert process.ask(SummaryOrder(run, tmp_path)).rollouts == 1
        assert process.ask(SummaryOrder(tmp_path / "gone", tmp_path)).trouble
        process.end()
        assert process.ask(SummaryOrder(run, tmp_path)).rollouts == 1
    finally:
        process.end()


def test_a_run_that_grows_is_seen_growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For some minutes after it was; one that is there when the board begins, as a copy is, was not seen growing."""
    of = RunSummaries()
    sizes = [(1_000, False), (1_000, False), (2_000, True), (2_000, True), (500, True)]
    seen = [of.see(tmp_path, [RunFolder("run", 0, size, at)])["run"].grows for at, (size, _) in enumerate(sizes)]
    assert seen == [grows for _, grows in sizes]
    monkeypatch.setattr(run_summaries, "LIVE_SECONDS", 0.0)
    assert not of.see(tmp_path, [RunFolder("run", 0, 500, 9)])["run"].grows


def test_a_summary_is_used_by_the_next_board_as_long_as_it_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the run as it is; one that is damaged, or of other shards, is made again, and so is any where no file can be written."""
    run, asked = write_run(tmp_path / "root" / "run", {"a.jsonl": [row(0, reward=1.0)]}), list[SummaryOrder]()
    ask = SummaryProcess.ask

    def counted(process: SummaryProcess, order: SummaryOrder) -> RunSummary:
        asked.append(order)
        return ask(process, order)

    monkeypatch.setattr(SummaryProcess, "ask", counted)

    def rollouts() -> tuple[int, int]:
        (found,) = waited(RunSummaries(), tmp_path / "root", all_known).values()
        assert found.summary is not None
        return found.summary.rollouts, len(asked)

    assert [rollouts(), rollouts()] == [(1, 1)] * 2
    (file,) = (user_folders.cache() / version() / run_summaries.FOLDER).iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"rollouts": 1', b'"rollouts": 2'))
    assert file.read_bytes() != whole
    assert rollouts() == (1, 2)
    write_run(run, {"b.jsonl": [row(1)]})
    assert rollouts() == (2, 3)
    file.unlink()
    file.mkdir()
    assert [rollouts(), rollouts()] == [(2, 4), (2, 5)]


MAPPINGS = {"without a mapping": "", "by a mapping": '[fields]\nstep = "step"\nresponse = "response"\nreward = "reward"\n'}


def test_the_list_has_the_runs_own_numbers_once_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was of a part is of all of the run soon after somebody opened it."""
    monkeypatch.setattr(run_summaries, "AGAIN_SECONDS", 0.0)
    long = "x" * 3_000
    shards = {f"{at}.jsonl": [row(0, reward=float(at < 4), response=long)] * 60 for at in range(12)}
    of, root = RunSummaries(), tmp_path / "root"
    for name, mapping in MAPPINGS.items():
        write_run(root / name, shards | ({"rollouts.toml": mapping.encode()} if mapping else {}))
    assert all(one.summary and one.summary.sampled for one in waited(of, root, all_known).values())
    for name in MAPPINGS:
        open_run(root / name, within=root)

    def are_whole(found: dict[str, SummaryState]) -> bool:
        return all(one.summary is not None and not one.summary.sampled for one in found.values())

    told = {name: one.summary for name, one in waited(of, root, are_whole).items() if one.summary}
    assert {name: (one.sampled, one.rollouts) for name, one in told.items()} == dict.fromkeys(MAPPINGS, (False, 720))
    assert [one.last["reward"] for one in told.values()] == pytest.approx([1 / 3] * 2, abs=1e-5)


def test_a_mapping_that_is_taken_counts_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that could not be read is read when a mapping is laid beside it, mended there, or taken for it on its page."""
    monkeypatch.setattr(run_summaries, "AGAIN_SECONDS", 0.0)
    rows = [{"said": "x", "points": 0.5}]
    for name in ("beside", "taken", "mended"):
        write_run(tmp_path / "root" / name, {"a.jsonl": rows})
    (tmp_path / "root" / "mended" / "rollouts.toml").write_text("no mapping")
    of, root = RunSummaries(), tmp_path / "root"
    assert all(one.summary and one.summary.trouble for one in waited(of, root, all_known).values())
    mapping = '[fields]\nstep = { constant = 0 }\nresponse = "said"\nreward = "points"\n'
    for name in ("beside", "mended"):
        (root / name / "rollouts.toml").write_text(mapping)
    run_choices.save_mapping(root / "taken", mapping)

    def are_read(found: dict[str, SummaryState]) -> bool:
        return all(one.summary is not None and not one.summary.trouble for one in found.values())

    told = waited(of, root, are_read)
    assert [one.summary.last["reward"] for one in told.values() if one.summary] == [0.5] * 3


def test_looking_at_a_run_is_no_change_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a run is not looked at again and again because it was looked at."""
    monkeypatch.setattr(run_summaries, "AGAIN_SECONDS", 0.0)
    write_run(tmp_path / "run", {"a.jsonl": [row(0, reward=1.0)]})
    of = RunSummaries()
    first = waited(of, tmp_path, all_known)["run"].summary
    time.sleep(1.0)
    assert of.see(tmp_path, list_runs(tmp_path))["run"].summary is first
