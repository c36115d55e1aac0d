"""manifest_saver: what took long is on the disk before a manifest names it; what took no time is not waited for, and is right."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rows import lines, token_row

from board import open_run
from board.runs.parsing import manifest_saver, parsed_shard

ROWS = 60


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the parts that the disk was waited for."""
    found: list[str] = []
    fsync = os.fsync

    def noted(number: int) -> None:
        path = str(Path(f"/proc/self/fd/{number}").readlink())
        found.extend([path] * path.endswith(".arrow"))
        fsync(number)

    monkeypatch.setattr(os, "fsync", noted)
    return found


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that is parsed in several byte ranges."""
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 2_000)
    (tmp_path / "run").mkdir()
    (tmp_path / "run/a.jsonl").write_bytes(lines(token_row(at, prompt=f"p{at}") for at in range(ROWS)))
    return tmp_path / "run"


def parts() -> list[Path]:
    """Of all runs in the cache."""
    return sorted(Path(os.environ["RL_BOARD_CACHE"]).rglob("*.arrow"))


def test_the_disk_is_not_waited_for_in_a_quick_load(run: Path, flushed: list[str]) -> None:
    """All is named all the same: the next load parses nothing."""
    open_run(run)
    written = parts()

    assert len(written) > 2
    assert not flushed
    assert len(open_run(run).frame) == ROWS
    assert parts() == written


def test_what_a_longer_load_parsed_is_flushed(run: Path, flushed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part once, and all are named."""
    monkeypatch.setattr(manifest_saver, "_SAVE_SECONDS", -1.0)

    open_run(run)

    written = parts()
    assert sorted(flushed) == [str(path) for path in written]
    assert len(open_run(run).frame) == ROWS
    assert parts() == written


def test_what_cannot_be_flushed_is_not_named(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as on a disk that is worn out: the run opens, and the next load parses it anew."""

    def refused(number: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(manifest_saver, "_SAVE_SECONDS", -1.0)
    with monkeypatch.context() as worn:
        worn.setattr(os, "fsync", refused)
        assert len(open_run(run).frame) == ROWS
    before = parts()

    assert len(open_run(run).frame) == ROWS
    assert len(parts()) == 2 * len(before)


FALLS: dict[str, Callable[[bytes], bytes]] = {
    "nothing was written": lambda data: b"",
    "only the beginning was written": lambda data: data[: len(data) // 2],
    "nothing but zeros was written": lambda data: bytes(len(data)),
    "the end is zeros": lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2),
}


@pytest.mark.parametrize("fall", FALLS.values(), ids=FALLS)
def test_a_part_that_the_machines_fall_took_is_parsed_again(
    run: Path, fall: Callable[[bytes], bytes], flushed: list[str]
) -> None:
    """Whatever a file system leaves of a part that a manifest names, no number is another; it is told, and the next load is whole."""
    first = open_run(run)
    wanted, texts = first.to_pandas(), [first.rollout(key).tokens for key in range(ROWS)]
    assert not flushed
    for part in parts():
        data = part.read_bytes()
        part.unlink()  # the run that is open holds the one that was there
        part.write_bytes(fall(data))

    found = open_run(run)

    assert found.to_pandas().equals(wanted)
    assert [found.rollout(key).tokens for key in range(ROWS)] == texts
    assert found.report.mended == ["a.jsonl"]
    again = open_run(run)
    assert again.to_pandas().equals(wanted)
    assert not again.report.mended
