"""board.recorder among processes: ranks, kills, forks, the end of the interpreter, and what importing it costs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from environments import UNCOMPILED
from recorded import account, rows_of, shard_of

from board import open_run
from board.recorder import RolloutRecorder
from board.recorder.writer import account_path

ROOT = Path(__file__).parents[2]

PATHS = f"import sys; sys.path += {sys.path!r};"
"""Where packages are, for an interpreter started without `site`, which may load some of its own."""

WRITER = """
import json, sys
from board.recorder import RolloutRecorder
with RolloutRecorder(sys.argv[1], rank=int(sys.argv[2]), **json.loads(sys.argv[4])) as recorder:
    for number in range(int(sys.argv[3])):
        recorder.write(step=number // 4, number=number, response="r", response_tokens=["t"] * 500, values=[number / 8] * 500)
"""


def start(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A process of its own that runs a script."""
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], cwd=ROOT)


def test_two_ranks_write_two_files_of_whole_lines(tmp_path: Path) -> None:
    """Ranks in processes of their own share a folder and nothing else."""
    writers = [start(WRITER, tmp_path, rank, 50, "{}") for rank in (0, 1)]
    assert [writer.wait(60) for writer in writers] == [0, 0]

    for rank in (0, 1):
        rows = rows_of(shard_of(tmp_path, rank))
        assert [(number, rank) for number in range(50)] == [(row["number"], row["rank"]) for row in rows]


def killed_in_the_middle(folder: Path, options: dict[str, object], enough: int) -> None:
    """Start a writer, wait until it wrote so many bytes, and kill it as the kernel would for want of memory."""
    writer = start(WRITER, folder, 0, 10**9, json.dumps(options))
    try:
        until = time.monotonic() + 60
        while sum(path.stat().st_size for path in folder.rglob("*.jsonl")) < enough:
            assert writer.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait(60)


@pytest.mark.parametrize("options", [{"queue_bytes": 10**12}, {"wait": True}, {"step_bytes": 5000, "wait": True}], ids=str)
def test_a_killed_process_leaves_whole_rows_but_the_last(tmp_path: Path, options: dict[str, object]) -> None:
    """SIGKILL in the middle costs what was not written yet; the board opens the rest as given, and the next process goes on beside it."""
    killed_in_the_middle(tmp_path, options, 500_000)
    run = open_run(tmp_path)
    numbers = [int(number) for number in run.frame["number"]]
    *whole, _ = shard_of(tmp_path).read_bytes().split(b"\n")

    assert len(whole) in (len(numbers), len(numbers) - 1)  # a row that lacks but its newline may be read as it is
    assert numbers == [*range(len(numbers))]
    assert run.report.problems == []
    arrays = {int(run.frame["number"][key]): run.rollout(key)["values"] for key in run.frame.index[:: len(numbers) // 20]}
    assert "step_bytes" in options or all(values is not None for values in arrays.values())
    assert all([*values] == [number / 8] * 500 for number, values in arrays.items() if values is not None)

    left = shard_of(tmp_path).read_bytes()
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(step=10**9, number=-1, response="r")
    assert [row["number"] for row in rows_of(recorder.path())] == [-1]
    assert [path.read_bytes() for path in tmp_path.glob("*.jsonl") if path != recorder.path()] == [left]


def test_a_killed_process_marks_only_whole_steps_as_ended(tmp_path: Path) -> None:
    """After a kill, every step with an end marker holds all its rows, and no more than one step lacks the marker."""
    killed_in_the_middle(tmp_path, {"file_per": "step"}, 1_000_000)
    shards = sorted(tmp_path.glob("step_*/rank_0.*.jsonl"))
    ended = [shard for shard in shards if account_path(shard).exists() and account(shard)["ended"]]

    assert len(ended) >= len(shards) - 1 > 10
    assert {len(rows_of(shard)) for shard in ended} == {4}


UNCLOSED = """
import multiprocessing, sys
from board.recorder import RolloutRecorder

def record(recorder):
    for number in range(300):
        recorder.write(step=number // 100, number=number, response="r")

if sys.argv[2] == "forked":
    recorder = RolloutRecorder(sys.argv[1])
    child = multiprocessing.get_context("fork").Process(target=record, args=(recorder,))
    child.start()
    child.join()
    raise SystemExit(child.exitcode)
recorder = RolloutRecorder(sys.argv[1], step_bytes=10**6)
record(recorder)
if sys.argv[2] == "collected":
    del recorder
if sys.argv[2] == "raised":
    raise SystemExit(3)
"""


@pytest.mark.parametrize("how", ["forgotten", "collected", "raised", "forked"])
def test_the_end_of_the_interpreter_writes_what_waits(tmp_path: Path, how: str) -> None:
    """A recorder nobody closed loses nothing, neither what is queued nor a step held back for its budget.

    In a process forked by multiprocessing, which skips exit handlers, what is queued is written, too.
    """
    assert start(UNCLOSED, tmp_path, how).wait(60) == (3 if how == "raised" else 0)

    assert [row["number"] for row in rows_of(shard_of(tmp_path))] == [*range(300)]
    assert account(shard_of(tmp_path))["ended"] == (how != "forked")


SIGNALLED = """
import os, signal, sys
from board.recorder import RolloutRecorder

def end(*_):
    recorder.close()
    os._exit(recorder.dropped)

recorder = RolloutRecorder(sys.argv[1])
signal.signal(signal.SIGALRM, end)
recorder.write(step=0, number=0)
signal.setitimer(signal.ITIMER_REAL, 0.05)
number = 1
while True:
    recorder.write(step=number // 50, number=number)
    number += 1
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs alarms")
@pytest.mark.parametrize("attempt", range(4))
def test_a_signal_handler_may_close_the_recorder(tmp_path: Path, attempt: int) -> None:
    """Whatever it interrupts, as a scheduler's warning does that ends the job: the rows given so far are written, and it ends."""
    assert start(SIGNALLED, tmp_path).wait(20) == 0

    numbers = [row["number"] for row in rows_of(shard_of(tmp_path))]
    assert numbers == [*range(len(numbers))]
    assert account(shard_of(tmp_path))["ended"]


FORKING = """
import os, sys, time
from board.recorder import RolloutRecorder

def slow(row):
    time.sleep(0.005)
    return row

recorder = RolloutRecorder(sys.argv[1], redact=slow)
print(os.getpid(), flush=True)
for number in range(50):
    recorder.write(step=0, number=number)
child = os.fork()
if child == 0:
    recorder.write(step=0, number=-1)
    recorder.close()
    os._exit(recorder.dropped)
recorder.write(step=0, number=50)
recorder.close()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) + recorder.dropped)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_writes_a_shard_of_its_own(tmp_path: Path) -> None:
    """A fork with rows still waiting neither repeats nor loses them, and the child's rows go to a file with one writer."""
    done = subprocess.run([sys.executable, "-c", FORKING, tmp_path], cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60)
    parent = tmp_path / f"rank_0.{done.stdout.strip()}.jsonl"
    (child,) = {*tmp_path.glob("*.jsonl")} - {parent}

    assert done.returncode == 0
    assert [[row["number"] for row in rows_of(shard)] for shard in (parent, child)] == [[*range(51)], [-1]]


FILLING = """
import resource, sys
from board.recorder import RolloutRecorder
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
with RolloutRecorder(sys.argv[1]) as recorder:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    for number in range(100):
        recorder.write(step=0, number=number, response="r" * 500)
    recorder.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    recorder.write(step=0, number=100, response="r")
sys.exit(recorder.dropped)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_disk_that_fills_up_and_is_cleared(tmp_path: Path) -> None:
    """Rows that find no space are counted and said once, the one cut short is all that is damaged, and recording resumes by itself."""
    environment = os.environ | UNCOMPILED
    child = subprocess.run(
        [sys.executable, "-c", FILLING, tmp_path], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, timeout=60
    )
    *before, cut, after = shard_of(tmp_path).read_bytes().splitlines()

    assert [json.loads(line)["number"] for line in before] == [*range(len(before))]
    assert (json.loads(after)["number"], cut[-1:] != b"}") == (100, True)
    assert child.returncode == 100 - len(before)
    assert account(shard_of(tmp_path))["lost"] == {"disk": 100 - len(before)}
    assert child.stderr.count("the disk refuses") == child.stderr.count("\n") == 1


def test_needs_numpy_and_orjson_alone() -> None:
    """Of all that can be installed, importing the recorder loads numpy, orjson and the board itself: a trainer pays for nothing else."""
    before = "import sys, numpy, orjson; own = {*sys.modules}; "  # numpy 1 brings names of Cython's own
    code = "import board.recorder; print(*{name.split('.')[0] for name in {*sys.modules} - own} - sys.stdlib_module_names)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", PATHS + before + code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert set(done.stdout.split()) <= {
        "numpy",
        "orjson",
        "board",
        "__mp_main__",
    }  # which Python's multiprocessing calls the script


def test_without_a_tracker_no_metric_is_loaded(tmp_path: Path) -> None:
    """A trainer that writes rows alone loads no catalogue of metrics, not even when it writes them; with a tracker it does."""
    code = f"""import sys
from board import RolloutRecorder
def loaded(**how):
    with RolloutRecorder({str(tmp_path)!r}, **how) as recorder:
        recorder.write(step=1, response="a", reward=1.0)
    return [name in sys.modules for name in ("board.metrics.declared", "board.trackers")]
print(loaded(), loaded(track_with="stdout"), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[False, False] [True, True]"
