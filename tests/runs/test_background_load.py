"""Tests of loads that go on by themselves: what they show on the way is true, and what they end with is what opening the run gives."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import compressed, token_row, write_run

from board import open_run
from board.errors import RunNotFound
from board.runs.loading import background_load, sampling
from board.runs.loading.background_load import BackgroundLoad
from board.runs.loading.prefetcher import Prefetcher, ReadPriority
from board.runs.loading.snapshot import Snapshot
from board.runs.opening import Opening
from board.runs.parsing import parsed_shard, range_parsing
from board.runs.parsing.range_parsing import WorkQueue
from board.runs.run import Run

ROWS = 200


def shard(name: str, first: int, rows: int, *, blank: bool = False) -> bytes:
    """Rows of rising steps, four each, with a bad line behind every seventh and, if asked for, a blank one behind every third."""
    lines = []
    for at in range(first, first + rows):
        lines.append(json.dumps(token_row(at // 4, prompt=f"p{at % 9}", reward=at / 8, response="x" * (at % 50))))
        lines += ["not json"] * (at % 7 == 6) + [""] * (blank and at % 3 == 0)
    return compressed("\n".join([*lines, ""]).encode(), name)


BY_TWO = ("ranks", "compressed beside plain")
"""Runs that are parsed by two worker processes."""

RUNS: dict[str, dict[str, bytes]] = {
    "ranks": {f"rank_{rank}.jsonl": shard("x.jsonl", 0, ROWS, blank=bool(rank)) for rank in range(2)},
    "one shard": {"a.jsonl": shard("x.jsonl", 0, 2 * ROWS)},
    "a file for each step": {f"step_{at}.jsonl": shard("x.jsonl", 20 * at, 20) for at in range(12)},
    "compressed beside plain": {"a.jsonl.gz": shard("a.jsonl.gz", 0, ROWS), "b.jsonl": shard("b.jsonl", 0, ROWS)},
    "half a line at the end": {"a.jsonl": shard("x.jsonl", 0, ROWS)[:-40]},
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small ranges, many small snippets, and a snapshot whenever something is read; one process parses, as each takes its time to start."""
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", 100)
    monkeypatch.setattr(range_parsing, "processors", lambda: 1)
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 10_000)
    monkeypatch.setattr(sampling, "SNIPPET_BYTES", 300)
    monkeypatch.setattr(sampling, "SHARD_BYTES", 0)
    monkeypatch.setattr(sampling, "SAMPLE_BYTES", (2_000, 8_000))
    for name, seconds in (("FIRST_SECONDS", 0.0), ("LEAST_SECONDS", 0.1), ("GROWTH", 0.0)):
        monkeypatch.setattr(background_load, name, seconds)
    monkeypatch.setattr(background_load, "COST", 1e9)


def loaded(
    folder: Path, goal: ReadPriority | None = None, then: Callable[[BackgroundLoad, Run], None] | None = None
) -> list[Run]:
    """All runs that a load publishes; `then` is called with each, in the load's thread."""
    found: list[Run] = []
    load: BackgroundLoad

    def take(run: Run) -> None:
        found.append(run)
        if then:
            then(load, run)

    load = BackgroundLoad({"location": folder}, take, lambda: None, goal)
    load.begin()
    load.wait()
    assert load.error is None
    return found


def assert_part_of(part: Run, whole: Run) -> None:
    """Every row is one of the whole run, under its name, with the values it has there; a line is right or not known."""
    keys = part.frame.index.to_numpy()
    there = [key for source in part.sources(keys) if (key := whole.key_of(source)) is not None]
    assert len({*there}) == len(keys)
    ours, theirs = part.frame.reset_index(drop=True), whole.frame.loc[there].reset_index(drop=True)
    assert {*ours.columns} <= {*theirs.columns}
    assert ((ours["line"] == 0) | (ours["line"] == theirs["line"])).all()
    for name in set(ours.columns) - {"line", "group"}:  # prompts are numbered anew in each
        pd.testing.assert_series_equal(ours[name].astype(object), theirs[name].astype(object), check_dtype=False)
    assert (np.diff(ours["step"]) >= 0).all()
    assert part.texts("response", keys).to_pylist() == whole.texts("response", there).to_pylist()
    for key, other in [*zip(keys, there, strict=True)][:: max(1, len(keys) // 10)]:
        one, same = part.rollout(int(key)), whole.rollout(other)
        assert (one.tokens, one.texts, one.step) == (same.tokens, same.texts, same.step)
        assert one["logprobs"].tolist() == same["logprobs"].tolist()
    assert {*map(str, part.report.problems)} <= {*map(str, whole.report.problems)}
    assert part.report.rows == len(part.frame)
    assert part.without_rows() == {}


def assert_same(one: Run, other: Run) -> None:
    """Two runs of the same shards, however they were read."""
    pd.testing.assert_frame_equal(one.to_pandas(), other.to_pandas())
    told = [replace(run.report, seconds=0.0) for run in (one, other)]
    assert told[0] == told[1]
    assert one.reading is None


def test_what_is_read_to_its_end_is_never_shown_as_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However late: the whole run comes next, and a reader would see the same page drawn twice."""
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", 10**12)
    assert [run.reading for run in loaded(write_run(tmp_path / "run", {"a.jsonl": shard("x.jsonl", 0, 10)}))] == [None]


@pytest.mark.parametrize("name", RUNS)
def test_what_is_shown_on_the_way_is_part_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Every snapshot holds rows of the run that blocking opening gives, and the last is that run."""
    folder = write_run(tmp_path / "run", RUNS[name])
    if name in BY_TWO:
        monkeypatch.setattr(range_parsing, "processors", lambda: 2)
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "one"))
    whole = open_run(folder)
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "another"))

    found = loaded(folder)

    assert len(found) > 2
    for part in found[:-1]:
        assert part.reading is not None
        assert_part_of(part, whole)
    assert_same(found[-1], whole)
    assert len({run.load_id for run in found}) == len(found)


def test_a_sample_of_the_whole_comes_first(tmp_path: Path) -> None:
    """Before a hundredth is parsed there are rows of the first and of the last step, and some of every quarter between."""
    rows = 20_000
    folder = write_run(tmp_path / "run", {"a.jsonl": shard("x.jsonl", 0, rows)})
    seen = threading.Event()

    def stop(load: BackgroundLoad, run: Run) -> None:
        if run.reading and not run.frame.empty and not seen.is_set():
            seen.set()
            load.stop()

    found = loaded(folder, then=stop)

    steps = next(run for run in found if len(run.frame)).steps
    assert {steps[0], steps[-1]} == {0, rows // 4 - 1}
    assert all(((steps >= part * rows // 16) & (steps < (part + 1) * rows // 16)).any() for part in range(4))
    assert found[-1].reading is not None
    assert found[-1].reading.stopped


LINKS = ("rank_0.jsonl:3", "rank_1.jsonl:100", "rank_1.jsonl:222")


@pytest.mark.parametrize("link", LINKS)
def test_the_rollout_of_a_link_comes_first(tmp_path: Path, link: str) -> None:
    """The first snapshot that has rows holds it, under its line."""
    folder = write_run(tmp_path / "run", RUNS["ranks"])

    found = loaded(folder, ReadPriority(rollout=link))

    first = next(run for run in found if len(run.frame))
    key = first.key_of(link)
    assert key is not None
    whole = found[-1]
    there = whole.key_of(link)
    assert there is not None
    assert first.rollout(key).texts == whole.rollout(there).texts


def until(happened: Callable[[], bool]) -> None:
    """Wait for another thread."""
    deadline = time.monotonic() + 60
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert happened()


@pytest.mark.parametrize("is_first", [True, False])
def test_the_rollout_of_a_link_stays_while_the_run_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    """Under its line, from when it is looked up on: where all was sampled before without its lines, and when its range was parsed."""
    monkeypatch.setattr(sampling, "SAMPLE_BYTES", (10**9,))
    monkeypatch.setattr(sampling, "SNIPPET_BYTES", 20_000)
    link = "a.jsonl:150"
    opening = Opening(write_run(tmp_path / "run", {"a.jsonl": shard("x.jsonl", 0, ROWS)}))
    snapshot, work = Snapshot(opening.loader), opening.loader.missing()

    def shown() -> Run:
        return opening.part_of_it(snapshot, opening.progress(0, 0))

    prefetcher = Prefetcher(ReadPriority(rollout=link if is_first else ""))
    prefetcher.begin(work, snapshot, opening.loader.reading)
    try:
        until(lambda: len(shown().frame) == ROWS)
        if not is_first:
            assert shown().key_of(link) is None
            prefetcher.prioritise(ReadPriority(rollout=link))
            until(lambda: shown().key_of(link) is not None)
        assert len(shown().frame) == ROWS
        preferred = work.take()
        assert preferred is not None
        assert preferred.start > 0
        with opening.loader.loading(WorkQueue([preferred])):
            assert shown().key_of(link) is not None
    finally:
        prefetcher.end()


ABSENT = ("rank_0.jsonl:999", "rank_0.jsonl:0", "rank_7.jsonl:1", "rank_0.jsonl:@7", "rank_0.jsonl:@99999", "x", "rank_0.jsonl:7")


@pytest.mark.parametrize("link", ABSENT)
def test_a_link_to_nothing_changes_nothing(tmp_path: Path, link: str) -> None:
    """A line that is not there, or that no row is in."""
    folder = write_run(tmp_path / "run", {f"rank_{rank}.jsonl": shard("x.jsonl", 0, 60, blank=bool(rank)) for rank in range(2)})

    found = loaded(folder, ReadPriority(rollout=link))

    if link != "rank_0.jsonl:7":
        assert all(run.key_of(link) is None for run in found)
    assert_same(found[-1], open_run(folder))


def test_a_stopped_load_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is parsed stays readable, says that it is a part, and is not parsed again."""
    folder = write_run(tmp_path / "run", {"a.jsonl": shard("x.jsonl", 0, 1_500)})

    def stop(load: BackgroundLoad, run: Run) -> None:
        if run.reading and run.reading.progress.rows > 200:
            load.stop()

    part = loaded(folder, then=stop)[-1]
    assert part.reading is not None
    assert part.reading.stopped
    assert "A part of this run: " in part.reading.words()
    assert 200 < part.reading.progress.rows < 1_500

    again = loaded(folder)
    assert again[0].reading is None or again[0].reading.progress.bytes_cached >= part.reading.progress.bytes_done
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "another"))
    assert_same(again[-1], open_run(folder))


def test_a_shard_that_vanishes_is_said(tmp_path: Path) -> None:
    """As in a load that is waited for: the rest is read."""
    folder = write_run(tmp_path / "run", {name: shard(name, 0, 800) for name in ("a.jsonl", "b.jsonl")})

    def remove(_: BackgroundLoad, run: Run) -> None:
        if len(run.frame):
            (folder / "b.jsonl").unlink(missing_ok=True)

    found = loaded(folder, then=remove)

    assert found[-1].reading is None
    assert (found[-1].frame["shard"] == "a.jsonl").sum() == 800
    assert any(problem.shard == "b.jsonl" for problem in found[-1].report.problems)


def test_what_cannot_be_opened_is_told_to_who_waits(tmp_path: Path) -> None:
    """The load ends with the error that opening gives."""
    load = BackgroundLoad({"location": tmp_path / "none"}, lambda _: None, lambda: None)
    load.begin()

    with pytest.raises(RunNotFound, match="No folder 'none'"):
        load.first()


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_wishes_change_nothing_but_the_order(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever readers go to while a load goes on, its snapshots are parts of the whole, and it ends with the whole."""
    folder = write_run(tmp_path / "run", RUNS["ranks"])
    whole = open_run(folder)
    steps = st.one_of(st.none(), st.integers(-3, 110))
    links = st.one_of(st.just(""), st.sampled_from([*LINKS, *ABSENT]))
    wishes = data.draw(st.lists(st.builds(ReadPriority, step=steps, rollout=links), min_size=2, max_size=6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RL_BOARD_CACHE", str(tmp_path / f"cache-{time.monotonic_ns()}"))
        left = iter(wishes)

        found = loaded(folder, next(left, None), lambda load, _: load.prefer(next(left, ReadPriority())))

    for part in found[:-1]:
        assert_part_of(part, whole)
    assert_same(found[-1], whole)
