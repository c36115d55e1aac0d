"""Tests of the cache looked after: what is listed of it, what a start removes, what stays, and what is nobody's business."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from rows import row, write_run

from board import open_run
from board.cli.commands.cache import time_of
from board.cli.commands.serve import tidy_cache
from board.cli.main import main
from board.errors import ArgumentRefused
from board.runs.cache import cache_care
from board.runs.cache.code_version import version
from board.runs.cache.store import LOCATION

DAY = 86_400
LARGE = 10**12


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds three runs, of which `a` was opened first, three days ago, and `c` last."""
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "cache"))
    for at, name in enumerate("abc"):
        open_run(write_run(tmp_path / "runs" / name, {"x.jsonl": [row(step) for step in range(3)]}))
        opened(tmp_path / "cache", name, days=3 - at / 10)
    return tmp_path / "cache"


def opened(root: Path, name: str, days: float) -> None:
    """As if a run had been opened last so many days ago."""
    when = time.time() - days * DAY
    os.utime(folder_of(root, name).with_name(folder_of(root, name).name + LOCATION), (when, when))


def folder_of(root: Path, name: str) -> Path:
    """Where a run lies in the cache."""
    return next(one for one in root.glob("v-*/*") if one.name.endswith(f"-{name}"))


def names(root: Path) -> list[str]:
    """The runs there, those opened last first."""
    return [one.location.name if one.location else one.folder.name for one in cache_care.runs(root)]


def test_runs_are_listed_with_size_and_time(root: Path, tmp_path: Path) -> None:
    """Each with where it is; opening one again makes it the last."""
    assert names(root) == ["c", "b", "a"]
    found = cache_care.runs(root)[0]
    assert found.location == tmp_path / "runs" / "c"
    assert found.bytes == sum(path.stat().st_size for path in found.folder.iterdir()) > 0
    open_run(tmp_path / "runs" / "a")
    assert names(root) == ["a", "c", "b"]


def gone(root: Path) -> None:
    """The run `b` is removed."""
    for path in (root.parent / "runs" / "b").iterdir():
        path.unlink()
    (root.parent / "runs" / "b").rmdir()


def disk_gone(root: Path) -> None:
    """All runs are gone with the folder that holds them, as with a disk that is not there."""
    (root.parent / "runs").rename(root.parent / "elsewhere")


def of_another_version(root: Path) -> None:
    """The runs `a` and `b` are of another version of the board."""
    other = root / "v-0123456789abcdef"
    other.mkdir()
    for path in [*root.glob(f"{version()}/*-a*"), *root.glob(f"{version()}/*-b*")]:
        path.rename(other / path.name)


def all_today(root: Path) -> None:
    """All of them were opened today."""
    for name in "abc":
        opened(root, name, days=0.5)


def nothing(_: Path) -> None:
    """All is as it should be."""


TIDIED: dict[str, tuple[Callable[[Path], None], int, set[str]]] = {
    "there is room": (nothing, LARGE, {"a", "b", "c"}),
    "a run is gone": (gone, LARGE, {"a", "c"}),
    "a disk is gone, which may come back": (disk_gone, LARGE, {"a", "b", "c"}),
    "another version": (of_another_version, LARGE, {"c"}),
    "no room at all, and the last one stays": (nothing, 0, {"c"}),
    "no room, and all were opened today": (all_today, 0, {"a", "b", "c"}),
}


@pytest.mark.parametrize("case", TIDIED)
def test_a_start_removes_what_is_of_no_use(root: Path, case: str) -> None:
    """And beyond the bound what was opened longest ago; what it removed it tells."""
    change, most, left = TIDIED[case]
    change(root)
    removed = cache_care.tidy(root, most)
    assert {*names(root)} == left
    assert {one.location.name for one in removed if one.location} == {"a", "b", "c"} - left
    assert not [path for path in root.glob("v-*") if path.name != version()]


def test_the_oldest_goes_first(root: Path) -> None:
    """No more of them than the bound asks for."""
    sizes = {one.folder.name[-1]: one.bytes for one in cache_care.runs(root)}
    cache_care.tidy(root, sizes["b"] + sizes["c"])
    assert names(root) == ["c", "b"]


def test_what_is_not_the_boards_is_left_alone(root: Path, tmp_path: Path) -> None:
    """Files and folders of others in the same folder, links, and what a link leads to; the cache may be a folder that others use."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("x")
    (root / "notes").mkdir()
    (root / "v-mine").mkdir()
    (root / "v-0123456789abcdef").symlink_to(outside)
    (folder_of(root, "a") / "link").symlink_to(outside)
    before = {path.name for path in root.iterdir()} - {version()}
    cache_care.tidy(root, 0)
    cache_care.empty(root)
    assert {path.name for path in root.iterdir()} == before
    assert (outside / "kept.txt").read_text() == "x"


def test_a_run_that_was_removed_opens_again(root: Path, tmp_path: Path) -> None:
    """It is parsed anew, even by who had it open while it was removed."""
    held = open_run(tmp_path / "runs" / "a")
    cache_care.empty(root)
    assert open_run(tmp_path / "runs" / "a").frame.equals(held.frame)
    assert held.rollout(int(held.frame.index[0])).texts["response"]


def test_the_command_says_what_is_there_and_empties_it(root: Path) -> None:
    """As lines, and as JSON."""
    said = CliRunner().invoke(main, ["cache"])
    assert said.exit_code == 0
    assert [line.split()[-1][-1] for line in said.stdout.splitlines()[:3]] == ["c", "b", "a"]
    told = json.loads(CliRunner().invoke(main, ["cache", "--json"]).stdout)
    assert [Path(one["run"]).name for one in told["runs"]] == ["c", "b", "a"]
    assert told["bytes"] >= sum(one["bytes"] for one in told["runs"]) > 0
    emptied = json.loads(CliRunner().invoke(main, ["cache", "--clean", "--json"]).stdout)
    assert (emptied["runs"], emptied["removed"]) == ([], told["bytes"] - emptied["bytes"])
    assert not [*root.glob("v-*")]


DAMAGED: dict[str, bytes] = {
    "nothing": b"",
    "no folder": b"x/y",
    "zeros, as a fall of the machine leaves them": bytes(40),
    "half of it": b"/gon",
    "bytes that are no UTF-8": b"/\xff\xfe",
    "too long a name": b"/" + b"a" * 5_000,
}


@pytest.mark.parametrize("said", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_of_a_run_ends_nothing(root: Path, said: bytes) -> None:
    """The run is listed, by its folder where nothing says where it is, and all others are looked after."""
    folder = folder_of(root, "a")
    folder.with_name(folder.name + LOCATION).write_bytes(said)
    listed = CliRunner().invoke(main, ["cache"])
    assert listed.exit_code == 0
    assert "in 3 runs" in listed.stdout
    opened(root, "b", days=9)
    assert [one.folder.name[-1] for one in cache_care.tidy(root, 0)] == ["b", "c"]


@pytest.mark.parametrize("seconds", [1e12, -1e12, 1e300, float("nan")])
def test_a_time_that_no_calendar_has(seconds: float) -> None:
    """It is none, as some disks keep times of any size; others end here in 2446."""
    assert time_of(seconds) is None


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs another user")
def test_what_another_user_made_is_left() -> None:
    """A cache that several share: a folder that only its owner may read ends neither a list nor a start, and is not told as removed."""
    with TemporaryDirectory() as shared:
        root = Path(shared)
        other = root / "v-0123456789abcdef" / f"{'0' * 24}-run"
        other.mkdir(parents=True)
        other.parent.chmod(0o700)
        root.chmod(0o1777)
        os.seteuid(12_345)
        try:
            assert cache_care.runs(root) == []
            assert cache_care.tidy(root, 0) == []
        finally:
            os.seteuid(0)
        assert other.is_dir()


@pytest.mark.parametrize("given", ["many", "-1", "1e9", "9" * 5_000])
def test_a_bound_that_is_no_number_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was given."""
    monkeypatch.setenv(cache_care.SETTING, given)
    with pytest.raises(ArgumentRefused, match="a whole number of bytes"):
        cache_care.most_bytes()


def test_serve_says_what_it_removed(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With its size; and why nothing was where the bound is no number."""
    monkeypatch.setenv(cache_care.SETTING, "many")
    tidy_cache()
    assert "Nothing was removed from the cache: RL_BOARD_CACHE_BYTES is a whole number" in capsys.readouterr().err
    monkeypatch.setenv(cache_care.SETTING, "0")
    tidy_cache()
    assert "from the cache: `rl-logging-board cache` says what is there." in capsys.readouterr().out
    assert names(root) == ["c"]
