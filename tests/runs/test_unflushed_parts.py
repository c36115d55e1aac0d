"""Parts that no disk was waited for: all are named, and what a fall of the machine took of one is parsed again."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rows import lines, token_row

from board import open_run
from board.runs.parsing import parsed_shard

ROWS = 60


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


def test_all_that_was_parsed_is_named(run: Path) -> None:
    """The next load parses nothing."""
    open_run(run)
    written = parts()

    assert len(written) > 2
    assert len(open_run(run).frame) == ROWS
    assert parts() == written


FALLS: dict[str, Callable[[bytes], bytes]] = {
    "nothing was written": lambda data: b"",
    "only the beginning was written": lambda data: data[: len(data) // 2],
    "nothing but zeros was written": lambda data: bytes(len(data)),
    "the end is zeros": lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2),
}


@pytest.mark.parametrize("fall", FALLS.values(), ids=FALLS)
def test_a_part_that_the_machines_fall_took_is_parsed_again(run: Path, fall: Callable[[bytes], bytes]) -> None:
    """Whatever a file system leaves of a part that a manifest names, no number is another; it is told, and the next load is whole."""
    first = open_run(run)
    wanted, texts = first.to_pandas(), [first.rollout(key).tokens for key in range(ROWS)]
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
