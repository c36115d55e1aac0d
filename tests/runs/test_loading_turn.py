"""Tests of several processes that open one run nobody has read: one parses it, the others take what it has written; nobody waits for ever."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from rows import token_row, write_run

from board import open_run
from board.runs.cache.store import Store
from board.runs.loading import loader
from board.runs.loading.loader import FILE, loading_turn

REPOSITORY = Path(__file__).parents[2]
SECONDS = 60.0
ROWS = 2000

OPENED = """
import sys, time
from board.runs.loading import loader; from board.runs.parsing import parsed_shard, range_parsing
from board.runs.parsing.byte_range import parse
parsed_shard.RANGE_BYTES = 20_000
pause, loader.STALLED_SECONDS = map(float, sys.argv[1:3])

def slowly(*arguments):
    time.sleep(pause)
    print("parsed", flush=True)
    return parse(*arguments)

range_parsing.parse = slowly
from board import open_run
print("begins", flush=True)
seen = []
for folder in sys.argv[3:]:
    run = open_run(folder)
    prompts = [run.rollout(int(key))["prompt"] for key in run.frame.index[::400]]
    right = prompts == [f"p{at}" for at in range(0, len(run.frame), 400)]
    seen.append(f"{len(run.frame)} {right} {run.report.counts.total()} {run.report.cache_note}")
print("; ".join(seen))
"""
"""Opens runs a range of 20 kB at a time, with a pause before each; who goes on for so many seconds is waited for."""


class Reader:
    """A process that opens runs, one after another."""

    def __init__(self, *folders: Path, pause: float = 0.0, stalled: float = 30.0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OPENED, str(pause), str(stalled), *map(str, folders)],
            env=os.environ | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def say(self, word: str) -> None:
        """Wait until it says a word."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            if line.strip() == word:
                return
        raise AssertionError(self.process.communicate())

    def ended(self) -> tuple[int, str]:
        """How many ranges it has parsed since it was last listened to, and what it saw of its runs."""
        said, wrong = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, wrong
        lines = said.splitlines()
        return lines.count("parsed"), lines[-1]


def run_of(tmp_path: Path, rows: int = ROWS) -> Path:
    """A run of one shard, prompts counted."""
    return write_run(tmp_path / "run", {"rank_0.jsonl": [token_row(at // 4, prompt=f"p{at}") for at in range(rows)]})


def parts(folder: Path) -> tuple[int, int]:
    """How many parts lie in a run's cache, and how many of them its manifests name."""
    kept = Store(folder).folder
    named = 0
    for path in kept.glob("*.json"):
        manifest = json.loads(path.read_bytes().partition(b"\n")[2])
        named += sum(len(piece["files"]) for piece in manifest["pieces"])
    return len([*kept.glob("*.arrow")]), named


WHOLE = f"{ROWS} True 0 "


def test_a_run_is_parsed_once(tmp_path: Path) -> None:
    """Of three who open it at once, one does the work, and all see the whole of it."""
    folder = run_of(tmp_path)
    readers = [Reader(folder, pause=0.02) for _ in range(3)]
    counts, seen = zip(*(one.ended() for one in readers), strict=True)
    in_folder, named = parts(folder)
    assert set(seen) == {WHOLE}
    assert in_folder == named == sum(counts) > 10


def test_who_is_killed_is_followed_by_another(tmp_path: Path) -> None:
    """At once, and with what was parsed before: it is not parsed again."""
    folder = run_of(tmp_path)
    first = Reader(folder, pause=0.2)
    for _ in range(12):  # of 0.2 s each: a manifest names the first of them by now
        first.say("parsed")
    os.kill(first.process.pid, signal.SIGSTOP)  # it would be at the end before another process has begun on a busy machine
    second = Reader(folder)
    second.say("begins")
    before = time.monotonic()
    first.process.kill()
    first.process.communicate()
    parsed, seen = second.ended()
    ranges = parts(folder)[1]
    assert seen == WHOLE
    assert 0 < parsed < ranges
    assert time.monotonic() - before < SECONDS


def test_who_does_not_go_on_is_not_waited_for(tmp_path: Path) -> None:
    """A process that was stopped holds its turn, and nobody up."""
    folder = run_of(tmp_path)
    first = Reader(folder, pause=0.1)
    first.say("parsed")
    os.kill(first.process.pid, signal.SIGSTOP)
    try:
        parsed, seen = Reader(folder, stalled=1.0).ended()
        assert (seen, parsed > 0) == (WHOLE, True)
    finally:
        os.kill(first.process.pid, signal.SIGCONT)
    assert first.ended()[1] == WHOLE


ODD: dict[str, Callable[[Path], object]] = {
    "a FIFO": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("/nowhere/at/all"),
    "a link to a file": lambda path: path.symlink_to(__file__),
    "a file that nobody may open": lambda path: path.touch(mode=0),
    "a file that may be read": lambda path: path.touch(mode=0o400),
    "a file": Path.touch,
}


def test_whatever_lies_in_the_place_of_the_lock(tmp_path: Path) -> None:
    """The run opens, as it does where there are no locks."""
    folders = {name: run_of(tmp_path / name, rows=40) for name in ODD}
    for name, folder in folders.items():
        store = Store(folder)
        store.open()
        ODD[name](store.folder / FILE)
    seen = dict(zip(ODD, Reader(*folders.values()).ended()[1].split("; "), strict=True))
    assert {name: said for name, said in seen.items() if not said.startswith("40 True 0")} == {}
    assert Path(__file__).stat().st_size


def test_without_locks_everybody_parses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that has none."""

    def none(lock: FileLock, blocking: bool) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(FileLock, "acquire", none)
    assert len(open_run(run_of(tmp_path, rows=40)).frame) == 40


def test_what_happens_meanwhile_may_interrupt(tmp_path: Path) -> None:
    """A reader who does not want to wait any longer leaves; the turn stays whose it is, and comes when that one is done."""

    def leave() -> None:
        raise KeyboardInterrupt

    with loading_turn(tmp_path, leave):
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt), loading_turn(tmp_path, leave):
                raise AssertionError
    with loading_turn(tmp_path, leave):
        pass


def test_who_goes_on_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nothing of a range that takes long is written for a while: a load shows that it goes on, and who waits sees it."""
    monkeypatch.setattr(loader, "STALLED_SECONDS", 0.25)
    held, looks = loading_turn(tmp_path, lambda: None), list[int]()
    held.__enter__()

    def meanwhile() -> None:
        looks.append(1)
        os.utime(tmp_path / FILE)
        if len(looks) == 10:
            held.__exit__(None, None, None)

    with loading_turn(tmp_path, meanwhile):
        assert len(looks) == 10
    folder = run_of(tmp_path, rows=40)
    store = Store(folder)
    store.open()
    (store.folder / FILE).touch()
    os.utime(store.folder / FILE, (0, 0))
    open_run(folder)
    assert (store.folder / FILE).stat().st_mtime > 0


def test_a_lock_that_was_removed_is_made_anew(tmp_path: Path) -> None:
    """The cache may be deleted at any time: who waited for a file that is gone locks the one that others would."""
    held = loading_turn(tmp_path, lambda: None)
    held.__enter__()
    asked: list[int] = []

    def remove() -> None:
        asked.append(1)
        (tmp_path / FILE).unlink(missing_ok=True)
        held.__exit__(None, None, None)

    with loading_turn(tmp_path, remove):
        assert asked == [1]

        def leave() -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt), loading_turn(tmp_path, leave):
            raise AssertionError


def test_a_folder_that_is_gone_holds_nobody_up(tmp_path: Path) -> None:
    """Nothing can be locked there, and nobody need be waited for."""
    with loading_turn(tmp_path / "gone", lambda: None):
        pass


RUNS = {
    "shards": {f"rank_{rank}.jsonl": 300 for rank in range(4)},
    "very many files": {f"r_{at}.jsonl": 1 for at in range(1_100)},
}


@pytest.mark.parametrize("shards", RUNS.values(), ids=RUNS)
def test_two_boards_that_open_a_run_at_once_say_the_same(tmp_path: Path, shards: dict[str, int]) -> None:
    """Every number of both is that of a board with a cache of its own, and what they leave in their cache is sound."""
    rows = {
        name: [token_row(at, reward=float(at + nth)) for at in range(count)] for nth, (name, count) in enumerate(shards.items())
    }
    folder = write_run(tmp_path / "run", rows)

    def begun(cache: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {"RL_BOARD_CACHE": str(tmp_path / cache), "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-m", "board", "steps", str(folder), "--json"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)

    alone = begun("own").communicate()
    both = [one.communicate() for one in [begun("shared"), begun("shared")]]
    after = begun("shared").communicate()

    assert alone[0]
    assert [*both, after] == [alone] * 3
