"""Tests of the kept parts: what is parsed once, and what a cache does that meets another file, another version, or a full disk."""

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from environments import UNCOMPILED
from read_rows import prompts
from rows import read_manifest, token_row, write_manifest

from board import open_run
from board.runs.cache import code_version
from board.runs.cache.store import Store
from board.settings import user_folders

REPOSITORY = Path(__file__).parents[2]
BOARD = REPOSITORY / "board"


def text(steps: range, note: str = "") -> bytes:
    """Shard bytes: two rows a step, a blank line after each step."""
    rows = [token_row(step, prompt=f"{note}{step}.{i}", reward=float(step)) for step in steps for i in range(2)]
    written = [json.dumps(row).encode() + b"\n" + (b"\n" if at % 2 else b"") for at, row in enumerate(rows)]
    return b"".join(written)


def shard(tmp_path: Path, data: bytes) -> Path:
    """The only shard of a run."""
    path = tmp_path / "run" / "rank_0.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def kept_files(path: Path) -> set[str]:
    """Names of the parts in the cache of the run that a shard is in."""
    return {one.name for one in Store(path.parent).folder.glob("*.arrow")}


def test_shard_is_parsed_once(tmp_path: Path) -> None:
    """The second open reads the parts: words changed in the middle of a shard, size, ends and time as before, are not seen."""
    path = shard(tmp_path, text(range(200), "old "))
    first = open_run(path.parent)
    times = path.stat()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"old 100.", b"new 100."))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    second = open_run(path.parent)

    assert path.read_bytes() != data
    assert prompts(second) == prompts(first)
    pd.testing.assert_frame_equal(second.to_pandas(), first.to_pandas())
    assert second.report.rows == 400


def replace(path: Path) -> None:
    """Another file takes the place of the shard."""
    path.unlink()
    path.write_bytes(text(range(4, 6)))


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "appended": (lambda path: path.write_bytes(path.read_bytes() + text(range(3, 4))), ["0", "1", "2", "3"]),
    "rewritten": (lambda path: path.write_bytes(text(range(7, 10))), ["7", "8", "9"]),
    "rewritten and longer": (lambda path: path.write_bytes(text(range(5, 10))), ["5", "6", "7", "8", "9"]),
    "truncated": (lambda path: path.write_bytes(text(range(1))), ["0"]),
    "emptied": (lambda path: path.write_bytes(b""), []),
    "replaced": (replace, ["4", "5"]),
    "written again by a resumed job": (
        lambda path: path.write_bytes(path.read_bytes() + text(range(2, 4))),
        ["0", "1", "2", "2", "3"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_shard_is_seen_as_it_is(tmp_path: Path, name: str) -> None:
    """Whatever happened to a shard, the next open shows the file as it is, line numbers included, as an open without a cache does."""
    change, steps = CHANGES[name]
    path = shard(tmp_path, text(range(3)))
    open_run(path.parent)
    change(path)

    run = open_run(path.parent)

    assert prompts(run) == [f"{step}.{i}" for step in steps for i in range(2)] or name.startswith("written again")
    assert sorted(prompts(run)) == sorted(f"{step}.{i}" for step in steps for i in range(2))
    shutil.rmtree(user_folders.cache())
    pd.testing.assert_frame_equal(open_run(path.parent).to_pandas(), run.to_pandas())


def test_deleted_shard_takes_its_rows_along(tmp_path: Path) -> None:
    """The rows of a shard that is gone vanish, the others stay."""
    path = shard(tmp_path, text(range(2)))
    path.with_name("rank_1.jsonl").write_bytes(text(range(2), "other "))
    assert len(open_run(path.parent).frame) == 8

    path.unlink()

    assert prompts(open_run(path.parent)) == [f"other {step}.{i}" for step in range(2) for i in range(2)]


def test_half_written_line_is_waited_for(tmp_path: Path) -> None:
    """A line without its end is read when it is whole, once, whether it was whole JSON before or not."""
    whole = text(range(3))
    path = shard(tmp_path, whole)
    for cut in (len(whole) - 30, len(whole) - 2, len(whole)):
        path.write_bytes(whole[:cut])
        run = open_run(path.parent)
        assert len(run.frame) == (5 if cut == len(whole) - 30 else 6), cut
        assert run.report.unfinished == (["rank_0.jsonl"] if cut == len(whole) - 30 else [])
        assert run.report.problems == []
    assert run.frame["line"].tolist() == [1, 2, 4, 5, 7, 8]


def test_grown_shard_keeps_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was appended is parsed alone: the parts of before are still the same files."""
    monkeypatch.setattr("board.runs.parsing.parsed_shard.RANGE_BYTES", 1_000)
    path = shard(tmp_path, text(range(20)))
    open_run(path.parent)
    before = kept_files(path)
    path.write_bytes(path.read_bytes() + text(range(20, 21)))

    run = open_run(path.parent)

    assert len(before) > 5
    assert len(before - kept_files(path)) == 0
    assert len(kept_files(path) - before) <= 2
    assert run.steps.tolist() == list(range(21))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a part is cut": lambda folder: _replace_part(folder, lambda data: data[:-100]),
    "a part is empty": lambda folder: _replace_part(folder, lambda _: b""),
    "a part is something else": lambda folder: _replace_part(folder, lambda _: b"x" * 10_000),
    "a part is gone": lambda folder: next(folder.glob("*.arrow")).unlink(),
    "the manifest is cut": lambda folder: next(folder.glob("*.json")).write_bytes(b'{"shard": "rank'),
    "the manifest is another program's": lambda folder: next(folder.glob("*.json")).write_bytes(b'{"size": 1, "pieces": 7}'),
    "the manifest has strange pieces": lambda folder: _edit(folder, lambda one: one | {"pieces": [{"start": 0}]}),
    "unfinished files lie about": lambda folder: (folder / "0123.tmp").write_bytes(b"half"),
    "the cache is gone": shutil.rmtree,
}


def _replace_part(folder: Path, change: Callable[[bytes], bytes]) -> None:
    """Another file of that name, as no open run may lose the bytes it has mapped."""
    part = next(folder.glob("*.arrow"))
    data = part.read_bytes()
    part.unlink()
    part.write_bytes(change(data))


def _edit(folder: Path, change: Callable[[dict[str, object]], dict[str, object]]) -> None:
    manifest = next(folder.glob("*.json"))
    write_manifest(manifest, change(read_manifest(manifest)))


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_cache_costs_time_alone(tmp_path: Path, name: str) -> None:
    """Whatever is wrong with the cache, the run opens and is right."""
    path = shard(tmp_path, text(range(3)))
    whole = open_run(path.parent).to_pandas()

    DAMAGE[name](Store(path.parent).folder)

    pd.testing.assert_frame_equal(open_run(path.parent).to_pandas(), whole)


def test_cache_deleted_while_open(tmp_path: Path) -> None:
    """An open run goes on showing what it showed when its cache is deleted."""
    path = shard(tmp_path, text(range(3)))
    run = open_run(path.parent)
    shutil.rmtree(user_folders.cache())

    assert run.rollout(5)["prompt"] == "2.1"
    assert run.rollout(5)["logprobs"] is not None
    assert len(run.to_pandas()) == 6


def test_cache_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no cache can be made the run is held in memory, and the report says why the next open is slow too."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "file" / "cache"))
    path = shard(tmp_path, text(range(3)))

    run = open_run(path.parent)

    assert prompts(run) == [f"{step}.{i}" for step in range(3) for i in range(2)]
    assert "Not a directory" in run.report.cache_note


def test_full_disk_is_survived(tmp_path: Path) -> None:
    """When the disk fills while parts are written, the run opens all the same, whole, and says so."""
    path = shard(tmp_path, text(range(400)))
    script = (
        "import resource, signal, sys\n"
        "from board import open_run\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "run = open_run(sys.argv[1])\n"
        "print(len(run.frame), run.rollout(799)['prompt'], run.report.cache_note)\n"
    )
    environment = os.environ | UNCOMPILED | {"PYTHONPATH": str(REPOSITORY), "RL_BOARD_CACHE": str(tmp_path / "cache")}

    done = subprocess.run(
        [sys.executable, "-c", script, str(path.parent)], env=environment, capture_output=True, text=True, timeout=120
    )

    assert done.stdout.startswith("800 399.1 "), done.stderr
    assert "File too large" in done.stdout


def test_another_version_makes_its_own_cache(tmp_path: Path) -> None:
    """Parts made by other code are not looked at, nor removed by who opens a run: what becomes of them is `board.runs.cache.cache_care`'s."""
    path = shard(tmp_path, text(range(3)))
    old = user_folders.cache() / "v-0123456789abcdef"
    old.mkdir(parents=True)
    (old / "part").write_text("old")

    open_run(path.parent)

    assert (old / "part").read_text() == "old"
    assert Store(path.parent).folder.parent.name == code_version.version()


def imported(source: Path) -> set[Path]:
    """The modules of the board that one of them imports, as files."""
    modules = {
        module
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
        for module in (node.module, *(f"{node.module}.{name.name}" for name in node.names))
    }
    places = [BOARD.parent.joinpath(*module.split(".")) for module in modules if module.startswith("board.")]
    return {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.exists()}


def test_every_source_that_parses_names_the_version() -> None:
    """No number outlives the code that made it: whatever parsing imports makes another cache when it changes."""
    seen: set[Path] = set()
    waiting = {BOARD / "runs/parsing/byte_range.py", BOARD / "runs/loading/loader.py"}
    while waiting:
        seen |= waiting
        waiting = {file for source in waiting for file in imported(source)} - seen

    assert len(seen) > 60
    say_and_place = {
        "__init__.py",
        "errors.py",
        "plugins.py",
        "recorder/drop_log.py",
        "atomic_write.py",
        "settings/__init__.py",
        "settings/user_folders.py",
    }  # no number passes through them
    assert {file.relative_to(BOARD).as_posix() for file in seen - set(code_version.makers())} <= say_and_place


def test_orphans_go_after_a_day(tmp_path: Path) -> None:
    """A part that no manifest names is removed when it is a day old, one that may be another board's just now is not."""
    path = shard(tmp_path, text(range(3)))
    folder = Store(path.parent).folder
    folder.mkdir(parents=True)
    for name in ("old.arrow", "old.tmp", "new.arrow"):
        (folder / name).write_text("")
    for name in ("old.arrow", "old.tmp"):
        os.utime(folder / name, (1e9, 1e9))

    run = open_run(path.parent)

    assert not list(folder.glob("old.*"))
    assert (folder / "new.arrow").exists()
    assert len(run.frame) == 6


def test_pads_have_parts_of_their_own(tmp_path: Path) -> None:
    """What counts as padding is decided while parsing, so another choice of pads never meets the parts of this one."""
    path = shard(tmp_path, text(range(2)))
    plain = open_run(path.parent)
    token = plain.rollout(0).tokens[0]  # type: ignore[index]

    padded = open_run(path.parent, extra_pads=[token])

    assert padded.rollout(0).tokens == plain.rollout(0).tokens[1:]  # type: ignore[index]
    assert open_run(path.parent).rollout(0).tokens == plain.rollout(0).tokens


def test_cache_is_this_users_alone(tmp_path: Path) -> None:
    """Rollouts may be private: nobody else may look into the cache."""
    path = shard(tmp_path, text(range(2)))
    older = user_folders.cache() / "v-0123456789abcdef"
    older.mkdir(parents=True, mode=0o755)
    user_folders.cache().chmod(0o755)
    Store(path.parent).folder.parent.mkdir(mode=0o755)
    open_run(path.parent)

    folder = Store(path.parent).folder
    assert [place.stat().st_mode & 0o077 for place in (folder, folder.parent, older)] == [0, 0, 0]
    assert user_folders.cache().stat().st_mode & 0o777 == 0o755  # it was there before, and may be anybody's


KILLED = """
import os, random, signal, sys, time
from board import open_run
from board.runs.parsing import parsed_shard, range_parsing
parsed_shard.RANGE_BYTES = 3_000
folder, seed = sys.argv[1], int(sys.argv[2])
dice = random.Random(seed)
for _ in range(int(sys.argv[3])):
    child = os.fork()
    if child == 0:
        open_run(folder)
        os._exit(0)
    time.sleep(dice.uniform(0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    checker = os.fork()
    if checker == 0:
        run = open_run(folder)
        prompts = run.texts("prompt", run.frame.index.to_numpy()).to_pylist()
        wanted = [f"{step}.{i}" for step in range(20) for i in range(2)]
        right = prompts == wanted and run.frame["line"].tolist() == [3 * at // 2 + 1 for at in range(40)] and not run.report.counts
        os._exit(0 if right else 1)
    if os.waitpid(checker, 0)[1] != 0:
        sys.exit("a wrong run")
    if dice.random() < 0.7:
        for name in os.listdir(sys.argv[4]):
            for part in os.listdir(os.path.join(sys.argv[4], name)):
                path = os.path.join(sys.argv[4], name, part)
                if dice.random() < 0.8 and os.path.isdir(path):
                    for file in os.listdir(path):
                        if file.endswith(".json") or dice.random() < 0.5:
                            os.unlink(os.path.join(path, file))
print("right")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("times", ["40", pytest.param("200", marks=pytest.mark.slow)])
def test_killed_at_any_instant(tmp_path: Path, times: str) -> None:
    """Killed with SIGKILL at random instants of a load, the cache opens every time and is right."""
    path = shard(tmp_path, text(range(20)))
    cache = tmp_path / "cache"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "RL_BOARD_CACHE": str(cache)}

    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path.parent), "1", times, str(cache)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.stdout == "right\n", done.stderr
