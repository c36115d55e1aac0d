"""board.runs.child_process: a process of ours finds the board, is asked and answers, and is gone when it is lost, late or not heard."""

import os
import threading
import time
from pathlib import Path

import pytest

import board
from board.runs import child_process
from board.runs.child_process import ChildEnded, ChildProcess

HELPERS = Path(__file__).parents[1] / "helpers"
MODULE = "order_worker"


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes find the tests' helpers."""
    monkeypatch.setenv("PYTHONPATH", str(HELPERS))


def is_there(pid: int) -> bool:
    """Whether a process of that number runs, one that ended but was not waited for left out."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_it_finds_this_board_and_nothing_by_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What PYTHONPATH names is found, this board before it, and what lies in the current folder is not."""
    for name in ("json", "board", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from here')")
    monkeypatch.chdir(tmp_path)
    with ChildProcess(MODULE) as child:
        said = child.ask({"do": "tell"})

    assert said["board"] == child_process.__file__
    assert said["path"][:2] == [str(Path(board.__file__).parents[1]), str(HELPERS)]
    assert str(tmp_path) not in said["path"]


def test_it_has_the_environment_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else of ours is handed on, secrets least of all."""
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    with ChildProcess(MODULE, {"GIVEN": "1"}) as child:
        given = child.ask({"do": "tell"})["environment"]

    threads = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    assert {"GIVEN", "PYTHONPATH"} <= set(given) <= {"GIVEN", "PYTHONPATH", "LC_CTYPE", *threads}


def test_orders_are_answered_in_their_turn() -> None:
    """By one process; what it or a library prints is no answer, and bytes come behind one as they are."""
    with ChildProcess(MODULE) as child:
        said = [child.ask({"do": "print", "at": at}) for at in range(3)]
        payload = child.ask({"do": "pay", "bytes": [0, 10, 255]})["payload"]

    assert [one["at"] for one in said] == [0, 1, 2]
    assert len({one["pid"] for one in said}) == 1
    assert payload == bytes([0, 10, 255])


@pytest.mark.parametrize(
    ("order", "code", "why"),
    [("die", 9, "exit status 9"), ("fail", 1, "exit status 1"), ("hoard", 1, "exit status 1")],
)
def test_how_it_ended_is_told(order: str, code: int, why: str, capfd: pytest.CaptureFixture[str]) -> None:
    """By itself, by an error of ours, which is printed for who runs the board, or for lack of the memory it may take."""
    with ChildProcess(MODULE) as child:
        with pytest.raises(ChildEnded, match=why) as ended:
            child.ask({"do": order})
        assert not child.is_running

    assert ended.value.code == code
    printed = {"die": "", "fail": "on purpose", "hoard": "MemoryError"}[order]
    assert printed in capfd.readouterr().err


@pytest.mark.parametrize("said", ["no JSON", "[1]", '{"payload": "many"}'])
def test_what_is_no_answer_ends_it(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that speaks otherwise."""
    (tmp_path / "mumbler.py").write_text(f"print({said!r}, flush=True)\ninput()\ninput()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with ChildProcess("mumbler") as child:
        with pytest.raises(ChildEnded, match="what is no answer") as ended:
            child.ask({})
        assert not child.is_running

    assert ended.value.code is None


def test_one_that_takes_too_long_is_ended() -> None:
    """However deep it is in what it does."""
    with ChildProcess(MODULE) as child:
        pid = child.ask({"do": "tell"})["pid"]
        with pytest.raises(TimeoutError, match=r"longer than 0\.3 seconds"):
            child.ask({"do": "sleep"}, seconds=0.3)

        assert not is_there(pid)


def test_progress_comes_at_least_every_second() -> None:
    """As it is told, and again when nothing is; what hears it may go away, and the process ends with the context."""
    heard = list[float]()

    def tell(progress: float) -> None:
        heard.append(progress)
        if len(heard) == 3:
            raise KeyboardInterrupt

    with ChildProcess(MODULE) as child:
        pid = child.ask({"do": "tell"})["pid"]
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            child.ask({"do": "sleep"}, tell=tell)

    assert heard == [0.5] * 3
    assert time.monotonic() - began < 60
    assert not is_there(pid)


def test_another_thread_ends_it() -> None:
    """A load that is given up waits for nothing."""
    with ChildProcess(MODULE) as child:
        child.ask({"do": "tell"})
        threading.Timer(0.2, child.kill).start()
        with pytest.raises(ChildEnded, match="signal 9"):
            child.ask({"do": "sleep"})


def test_it_ends_when_nobody_hears_it() -> None:
    """The server may be killed at any time: its end of the pipe is closed then, and the child ends in the midst of an order."""
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        child = ChildProcess(MODULE)
        os.write(writing, str(child.ask({"do": "tell"})["pid"]).encode())
        try:
            child.ask({"do": "sleep"}, tell=lambda _: os._exit(0))
        finally:
            os._exit(1)
    assert os.waitpid(parent, 0)[1] == 0
    pid = int(os.read(reading, 20))
    until = time.monotonic() + 30
    while is_there(pid) and time.monotonic() < until:
        time.sleep(0.05)

    assert not is_there(pid)
    os.close(reading)
    os.close(writing)


def test_it_is_given_open_files(tmp_path: Path) -> None:
    """Under the numbers they have here, and no others."""
    with (tmp_path / "a").open("wb") as given, (tmp_path / "b").open("wb") as other:
        os.set_inheritable(other.fileno(), True)
        with ChildProcess(MODULE, files=[given.fileno()]) as child:
            pid = child.ask({"do": "tell"})["pid"]
            held = {str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir()}

    assert str(tmp_path / "a") in held
    assert str(tmp_path / "b") not in held
