"""Tests of summaries made in the background: by real processes, kept in the cache, each run's troubles its own."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rows import row, write_run

from board.runs import run_summaries
from board.runs.library import RunFolder, list_runs
from board.runs.opening import open_run
from board.runs.run_summaries import KeptSummary, RunSummaries, SummaryState
from board.runs.run_summary import RunSummary, summarise
from board.runs.summary_process import SummaryOrder, SummaryProcess
from board.user_files import run_choices


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


def test_a_run_that_grows_is_seen_growing(tmp_path: Path) -> None:
    """How many bytes a second, as far as that was seen; the same as long as nothing more is, or its page would never rest."""
    of, folder = RunSummaries(), RunFolder("run", 0, 1_000, 1)
    assert of.see(tmp_path, [folder])["run"].bytes_per_second is None
    time.sleep(0.02)
    grown = of.see(tmp_path, [RunFolder("run", 0, 2_000, 2)])["run"].bytes_per_second
    assert grown is not None
    assert grown > 0
    time.sleep(0.02)
    assert of.see(tmp_path, [RunFolder("run", 0, 2_000, 2)])["run"].bytes_per_second == grown


def kept(run: Path) -> KeptSummary:
    """Where the summary of a run is kept, as the run is now."""
    return KeptSummary(SummaryOrder(run, run.parent))


def test_a_kept_summary_is_used_as_long_as_it_is_right(tmp_path: Path) -> None:
    """As it was written, and of the shards there are; nothing damaged, cut or foreign is."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row(0, reward=1.0)]})
    place, told = kept(run), summarise(run, tmp_path)
    assert place.read() is None
    place.write(told, 0)
    assert kept(run).read() == told
    whole = place.path.read_bytes()
    for at in range(0, len(whole), 7):
        place.path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert kept(run).read() is None
        place.path.write_bytes(whole[:at])
        assert kept(run).read() is None
    other = write_run(tmp_path / "other", {"a.jsonl": [row(0, reward=1.0)]})
    place.path.write_bytes(whole)
    kept(other).path.write_bytes(whole)
    assert kept(other).read() is None
    write_run(run, {"b.jsonl": [row(1)]})
    assert kept(run).read() is None


def test_a_summary_of_a_sample_gives_way_once_the_cache_holds_the_run(tmp_path: Path) -> None:
    """An estimate is shown no longer than it must be."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row(0, reward=1.0)]})
    place = kept(run)
    place.write(RunSummary(sampled=True, rollouts=5), place.parsed_ns())
    assert kept(run).read() is not None
    open_run(run, within=tmp_path)
    assert kept(run).read() is None


MAPPINGS = {"without a mapping": "", "by a mapping": '[fields]\nstep = "step"\nresponse = "response"\nreward = "reward"\n'}


def test_the_list_has_the_runs_own_numbers_once_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was of a part is of all of the run soon after somebody opened it, and stays so when the board begins again."""
    monkeypatch.setattr(run_summaries, "AGAIN_SECONDS", 0.0)
    long = "x" * 3_000
    shards = {f"{at}.jsonl": [row(0, reward=float(at % 60 < 20), response=long)] * 10 for at in range(120)}
    of, root = RunSummaries(), tmp_path / "root"
    for name, mapping in MAPPINGS.items():
        write_run(root / name, shards | ({"rollouts.toml": mapping.encode()} if mapping else {}))
    assert all(one.summary and one.summary.sampled for one in waited(of, root, all_known).values())
    for name in MAPPINGS:
        open_run(root / name, within=root)

    def are_whole(found: dict[str, SummaryState]) -> bool:
        return all(one.summary is not None and not one.summary.sampled for one in found.values())

    again = RunSummaries()
    for summaries in (of, again):
        told = {name: one.summary for name, one in waited(summaries, root, are_whole).items() if one.summary}
        assert {name: (one.sampled, one.rollouts) for name, one in told.items()} == dict.fromkeys(MAPPINGS, (False, 1_200))
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


def test_looking_at_a_run_is_no_change_of_it(tmp_path: Path) -> None:
    """A part of a run is not looked at again and again because it was looked at."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row(0, reward=1.0)]})
    place = kept(run)
    before = place.outside_ns()
    summarise(run, tmp_path)
    assert place.outside_ns() == before


def test_where_the_cache_cannot_be_written_summaries_are_made_all_the_same(tmp_path: Path) -> None:
    """A file stands where its folder should be."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row(0, reward=1.0)]})
    Path(os.environ["RL_BOARD_CACHE"]).parent.mkdir(parents=True, exist_ok=True)
    Path(os.environ["RL_BOARD_CACHE"]).write_text("")
    kept(run).write(RunSummary(), 0)
    assert summarise(run, tmp_path).rollouts == 1
