"""Random runs under random treatment: whatever happens to shards and cache, the frame and the report are those of a slow reader.

RL_BOARD_EXAMPLES raises the number of random histories (each of up to STEPS events) of the slow test for a long run.
"""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import slow_reader
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test
from rows import compressed
from slow_reader import PAD, SlowRow, content, number

from board.errors import RunNotFound
from board.runs.cache.rollout import Rollout
from board.runs.opening import opened_whole
from board.runs.parsing import parsed_shard, part_builder, range_parsing
from board.runs.run import Run

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("RL_BOARD_EXAMPLES", "40"))
STEPS = 12

PLAIN = ["deep/rank_1.jsonl", "rank_2.jsonl", "rank_10.jsonl"]
NAMES = [*PLAIN, "step_1/more.jsonl.gz", "step_1/rank_3.jsonl.zst"]
"""In the order in which the board shows shards."""

HUGE = 10**9
STRETCHES = st.sampled_from([1, 150, 600, 16_000_000])
PARTS = st.sampled_from([1, 300, 32_000_000])
"""Bytes at which shards are cut; small ones send small shards down the ways of large ones."""


def _arrays(length: int) -> st.SearchStrategy[dict[str, list[float | None]]]:
    """Token arrays of about that length."""
    numbers = st.one_of(st.sampled_from([-0.5, -1.25, -2.0, -0.0625]), st.none())
    sizes = st.integers(max(0, length - 1), length + 1)
    metric = sizes.flatmap(lambda size: st.lists(numbers, min_size=size, max_size=size))
    mask = st.lists(st.sampled_from([0, 1]), min_size=length, max_size=length)
    arrays: dict[str, st.SearchStrategy[list[Any]]] = {"logprobs": metric, "ref_logprobs": metric, "loss_mask": mask}
    return st.fixed_dictionaries({}, optional=arrays)


@st.composite
def rows(draw: st.DrawFn, step: int) -> dict[str, Any]:
    """A row that is read, with anything missing that may be."""
    row: dict[str, Any] = {"step": step, "response": draw(st.sampled_from(["yes 1", "nein", "不\u2028知道"]))}
    if draw(st.booleans()):
        row["prompt"] = draw(st.sampled_from(["p1", "p2", "q\n3"]))
    reward = draw(st.sampled_from([..., None, 1, 0.25, -3.5, "0.75"]))
    row |= {} if reward is ... else {"reward": reward}
    length = draw(st.integers(0, 3))
    if draw(st.booleans()):
        row["response_tokens"] = ["a1", " b", "中"][:length] + [PAD] * draw(st.integers(0, 2))
    return row | draw(_arrays(length))


BAD_LINES = st.sampled_from(
    [b"{", b"[1, 2]", b"no json", b'{"response": "no step"}', b'{"step": 1, "prompt": "p"}', b"\xff\xfe", b'{"step": 1, "resp']
)
BLANK_LINES = st.sampled_from([b"", b"  ", b"\t"])


@st.composite
def texts(draw: st.DrawFn, most: int = 8) -> bytes:
    """Lines of a shard, each with its end: rows of rising steps, bad lines, blank ones, ends of both kinds."""
    step, data = draw(st.integers(0, 3)), b""
    for _ in range(draw(st.integers(0, most))):
        step += draw(st.sampled_from([0, 0, 1]))
        kind = draw(st.sampled_from(["row", "row", "row", "row", "bad", "blank"]))
        ascii_only = draw(st.booleans())
        line = {
            "row": lambda: json.dumps(draw(rows(step)), ensure_ascii=ascii_only).encode(),  # noqa: B023
            "bad": lambda: draw(BAD_LINES),
            "blank": lambda: draw(BLANK_LINES),
        }[kind]()
        data += line + draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    return data


HELPER = """
import json, os, signal, sys, time
from board import open_run
from board.runs.parsing import parsed_shard, part_builder, range_parsing

def load(order):
    child = os.fork()
    if child:
        return child
    os.environ["RL_BOARD_CACHE"] = order["cache"]
    parsed_shard.RANGE_BYTES, part_builder.BYTES_PER_PART = order["stretch"], order["part"]
    try:
        open_run(order["folder"])
    finally:
        os._exit(0)

for line in sys.stdin:
    order = json.loads(line)
    children = [load(order) for _ in range(order["boards"])]
    if order["seconds"] is not None:
        time.sleep(order["seconds"])
        for child in children:
            os.kill(child, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    print("done", flush=True)
"""
"""Loads a run in children of its own, as many boards at once as asked for, and kills them after a while if told to."""


@pytest.fixture
def helper() -> Iterator["subprocess.Popen[str]"]:
    """A process that forks boards: it has no threads that a fork could lose."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELPER], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


def shown(run: Run) -> list[SlowRow]:
    """What the board shows of every row, in the frame's order."""
    return [_shown(run, row, run.rollout(int(row["rollout"]))) for row in run.frame.reset_index().to_dict("records")]


def _shown(run: Run, row: dict[Any, Any], rollout: Rollout) -> SlowRow:
    assert (rollout.step, rollout.shard, rollout.line) == (row["step"], row["shard"], row["line"])
    assert run.key_of(rollout.source) == rollout.key
    rank = row.get("rank")
    return SlowRow(
        step=row["step"],
        shard=row["shard"],
        line=row["line"],
        raw=run.raw(rollout.key),
        rank=rank if isinstance(rank, str) else None,
        prompt=rollout["prompt"],
        response=rollout["response"],
        reward=number(row.get("reward", math.nan)),
        tokens=rollout.tokens,
        arrays={name: [number(one) for one in array.tolist()] for name, array in rollout.arrays.items()},
        length=number(row.get("response_length", math.nan)),
        kl=number(row.get("kl_k3_mean", math.nan)),
    )


def assert_read_rightly(folder: Path) -> None:
    """The board shows of a run what the slow reader does, row by row and problem by problem."""
    expected = slow_reader.read(folder, NAMES)
    if not any((folder / name).exists() for name in NAMES):
        with pytest.raises(RunNotFound):
            opened_whole(folder)
        return
    run = opened_whole(folder)
    assert shown(run) == expected.rows
    assert sorted([(one.shard, one.line, one.severity) for one in run.report.problems], key=str) == expected.problems
    assert run.report.counts.total() == len(expected.problems)
    assert sorted(run.report.unfinished) == sorted(expected.unfinished)
    assert run.report.rows == len(expected.rows)
    assert run.steps.tolist() == np.unique([row.step for row in expected.rows]).tolist()


class History(RuleBasedStateMachine):
    """What may happen to a run and its cache; after every event the run is opened and compared."""

    base: Path
    patch: pytest.MonkeyPatch
    helper: "subprocess.Popen[str]"
    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.folder = self.base / f"run_{self.made}"
        self.cache = self.base / f"cache_{self.made}"
        self.folder.mkdir()
        self.patch.setenv("RL_BOARD_CACHE", str(self.cache))
        self.rest: dict[str, bytes] = {}
        self.writes = 0
        self.clock = 1_700_000_000 * 10**9

    def path(self, name: str) -> Path:
        """Where a shard is or will be, its folder made."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        return path

    def stamp(self, name: str) -> None:
        """The time of the last write by the run's own clock; no two writes have the same."""
        self.writes += 1
        os.utime(self.folder / name, ns=(self.clock + self.writes, self.clock + self.writes))

    def write(self, name: str, data: bytes) -> None:
        """The whole shard."""
        self.path(name).write_bytes(data)
        self.stamp(name)

    def there(self, names: list[str], at: int) -> str | None:
        """One of the shards there are, if any."""
        found = [name for name in names if (self.folder / name).exists()]
        return found[at % len(found)] if found else None

    @initialize(data=texts(), name=st.sampled_from(NAMES), bom=st.booleans(), stretch=STRETCHES, part=PARTS)
    def begin(self, data: bytes, name: str, bom: bool, stretch: int, part: int) -> None:
        """The first shard."""
        self.small, self.stretch, self.part = HUGE, stretch, part
        self.write(name, compressed(mark(bom) + data, name))

    @rule(name=st.sampled_from(NAMES), data=texts(), bom=st.booleans(), renamed=st.booleans())
    def write_shard(self, name: str, data: bytes, bom: bool, renamed: bool) -> None:
        """A new shard, or an old one written afresh, in place or by a file renamed over it."""
        self.rest.pop(name, None)
        whole = compressed(mark(bom) + data, name)
        if renamed:
            aside = self.base / "aside"
            aside.write_bytes(whole)
            aside.replace(self.path(name))
            self.stamp(name)
        else:
            self.write(name, whole)

    @rule(at=st.integers(0, 5), data=texts(4))
    def append(self, at: int, data: bytes) -> None:
        """What training writes; of a compressed shard another member of the stream, unless the stream was cut: nobody writes on there."""
        name = self.there(NAMES, at)
        if name and not (name.endswith(".gz") and content(self.path(name))[1]):
            self.rest.pop(name, None)
            self.write(name, self.path(name).read_bytes() + compressed(data, name))

    @rule(at=st.integers(0, 5), step=st.integers(0, 5), data=st.data(), share=st.floats(0, 1))
    def append_half_a_line(self, at: int, step: int, data: st.DataObject, share: float) -> None:
        """A line that is still being written."""
        name = self.there(PLAIN, at)
        if name:
            line = json.dumps(data.draw(rows(step)), ensure_ascii=False).encode() + b"\n"
            at = int(share * (len(line) - 1))
            self.rest[name] = line[at:]
            self.write(name, self.path(name).read_bytes() + line[:at])

    @precondition(lambda self: self.rest)
    @rule()
    def append_the_other_half(self) -> None:
        """The line is whole now."""
        name, rest = self.rest.popitem()
        if (self.folder / name).exists():
            self.write(name, self.path(name).read_bytes() + rest)

    @rule(at=st.integers(0, 5), count=st.integers(1, 4))
    def resume(self, at: int, count: int) -> None:
        """A job resumed from a checkpoint writes the last lines again."""
        name = self.there(PLAIN, at)
        if name:
            data = self.path(name).read_bytes()
            self.write(name, data + b"".join(data.splitlines(keepends=True)[-count:]))

    @rule(at=st.integers(0, 5), line=st.none() | st.integers(0, 8), more=st.just(b"") | texts(4))
    def rewrite_with_other_digits(self, at: int, line: int | None, more: bytes) -> None:
        """Other digits in one line or in all, size and line ends as before; or the same and longer, which is no append."""
        name = self.there(PLAIN, at)
        if name:
            lines = self.path(name).read_bytes().splitlines(keepends=True)
            other = bytes.maketrans(b"123456789", b"234567891")
            changed = [one.translate(other) if line is None or at == line else one for at, one in enumerate(lines)]
            self.write(name, b"".join(changed) + more)

    @rule(at=st.integers(0, 5), share=st.floats(0, 1))
    def truncate(self, at: int, share: float) -> None:
        """Cut anywhere, a compressed stream too."""
        name = self.there(NAMES[:-1], at)
        if name:
            self.rest.pop(name, None)
            data = self.path(name).read_bytes()
            kept = data[: int(share * len(data))]
            self.write(name, b"" if name.endswith(".gz") and len(kept) < 10 else kept)

    @rule(at=st.integers(0, 5), last=st.integers(0, 5))
    def delete(self, at: int, last: int) -> None:
        """A shard goes; seldom the last, as little can happen to an empty run."""
        name = self.there(NAMES, at)
        if name and (last == 5 or self.there([one for one in NAMES if one != name], 0)):
            (self.folder / name).unlink()

    @rule(at=st.integers(0, 5), hours=st.sampled_from([-1e6, -24, -1, 0, 1, 24, 1e5]))
    def jump_clock(self, at: int, hours: float) -> None:
        """The writer's clock goes back or forth, and a shard is touched, its bytes unchanged."""
        name = self.there(NAMES, at)
        self.clock += int(hours * 3600) * 10**9
        if name:
            self.stamp(name)

    @rule(boards=st.sampled_from([1, 2, 3]), seconds=st.none() | st.floats(0, 0.03))
    def open_elsewhere(self, boards: int, seconds: float | None) -> None:
        """Other boards load the run at once, and may be killed while they do."""
        order = {"cache": str(self.cache), "folder": str(self.folder), "stretch": self.stretch, "part": self.part}
        assert self.helper.stdin is not None
        assert self.helper.stdout is not None
        self.helper.stdin.write(json.dumps(order | {"boards": boards, "seconds": seconds}) + "\n")
        self.helper.stdin.flush()
        assert self.helper.stdout.readline() == "done\n"

    @rule(
        at=st.integers(0, 50),
        how=st.sampled_from(["delete", "cut", "empty", "other", "digit", "flip", "zero"]),
        share=st.floats(0, 1),
    )
    def damage_cache(self, at: int, how: str, share: float) -> None:
        """One file of the cache is lost or spoilt; as another file, since no open run may lose the bytes it has mapped."""
        files = sorted((path for path in self.cache.rglob("*") if path.is_file()), key=known_again)
        if files:
            path = files[at % len(files)]
            data = path.read_bytes()
            path.unlink()
            if how != "delete":
                changed = {
                    "cut": data[: int(len(data) * share)],
                    "empty": b"",
                    "other": b"{}" * 50,
                    "digit": data.replace(b"1", b"2", 1),
                    "flip": overwritten(data, share, lambda old: bytes(one ^ 4 for one in old[:1])),
                    "zero": overwritten(data, share, lambda old: bytes(len(old))),
                }
                path.write_bytes(changed[how])

    @rule(stretch=STRETCHES)
    def size(self, stretch: int) -> None:
        """Loads cut the shards in other pieces from now on; not into other parts, as code with another size of these has another cache."""
        self.stretch = stretch

    @precondition(lambda self: self.small == HUGE)
    @rule(often=st.integers(0, 5))
    def use_processes(self, often: int) -> None:
        """The next load parses in worker processes; seldom, as they take their time to start."""
        self.small = 0 if often == 5 else HUGE

    @invariant()
    def is_read_rightly(self) -> None:
        """The board's frame and report are the slow reader's."""
        if not hasattr(self, "small"):
            return
        self.patch.setattr(range_parsing, "SMALL_BYTES", self.small)
        self.patch.setattr(parsed_shard, "RANGE_BYTES", self.stretch)
        self.patch.setattr(part_builder, "BYTES_PER_PART", self.part)
        self.small = HUGE
        assert_read_rightly(self.folder)


def known_again(path: Path) -> tuple[str, bytes]:
    """What puts files of a cache in the same order whenever the same history is told again: parts have a new name each time."""
    return path.suffix, path.name.encode() if path.suffix == ".json" else path.read_bytes()


def overwritten(data: bytes, share: float, change: Callable[[bytes], bytes]) -> bytes:
    """The bytes with up to 64 of them changed, somewhere."""
    at = int(len(data) * share)
    new = change(data[at : at + 64])
    return data[:at] + new + data[at + len(new) :]


def mark(there: bool) -> bytes:
    """A byte order mark, or nothing."""
    return b"\xef\xbb\xbf" if there else b""


@pytest.mark.parametrize("examples", [15, pytest.param(EXAMPLES, marks=pytest.mark.slow)])
def test_any_history_reads_as_the_slow_reader_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helper: "subprocess.Popen[str]", examples: int
) -> None:
    """After any sequence of writes, rewrites, cuts, kills and damage the board shows what stands in the shards, and no more."""
    machine = type("AnyHistory", (History,), {"base": tmp_path, "patch": monkeypatch, "helper": helper})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
