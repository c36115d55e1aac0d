"""The parts of a push: which steps are complete, what was pushed before, what is shown, and under which names."""

import io
import json
import math
import os
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import click
import numpy as np
import pytest
from click.testing import CliRunner
from recorded import shard_of

from board import open_run
from board.cli.commands import push
from board.errors import BoardError
from board.findings.contract import Finding
from board.metrics.declared import DIALECTS, named, named_once
from board.push.delivery import Delivery, Pushed
from board.push.places import Target, state_of, target
from board.push.pushing import Request, progress, settled, summary
from board.push.shown import TEXT_CHARS, Links, RunExamples, at_steps, unreported
from board.recorder import RolloutRecorder
from board.recorder.writer import account_path
from board.settings import user_folders
from board.trackers import OPTIONS

REPOSITORY = Path(__file__).parents[2]
WHAT = {"run": "/runs/a", "tracker": "tensorboard", "target": "log_dir=/tb", "names": "board"}


def recorded(folder: Path, ranks: dict[int, list[int]], *, ended: bool = False) -> None:
    """A run whose ranks have come to these steps; with `ended` their recorders have closed."""
    for rank, steps in ranks.items():
        with RolloutRecorder(folder, rank=rank) as recorder:
            for step in steps:
                recorder.write(step=step, response="a", reward=step / 8)
        if not ended:
            account_path(recorder.path()).unlink()


SETTLED: dict[str, tuple[dict[int, list[int]], dict[int, float], bool, list[int]]] = {
    "one shard that may grow": ({0: [1, 2, 3]}, {}, False, [1, 2]),
    "one that its recorder closed": ({0: [1, 2, 3]}, {}, True, [1, 2, 3]),
    "one that is quiet": ({0: [1, 2, 3]}, {0: 60}, False, [1, 2, 3]),
    "a rank that is behind": ({0: [1, 2, 3], 1: [1, 2]}, {}, False, [1]),
    "a rank that is behind, and the other is quiet": ({0: [1, 2, 3], 1: [1, 2]}, {0: 60}, False, [1]),
    "a rank that went away": ({0: [1, 2, 3], 1: [1]}, {1: 60}, False, [1, 2]),
    "a clock that runs ahead": ({0: [1, 2]}, {0: -60}, False, [1, 2]),
    "its first step": ({0: [1]}, {}, False, []),
}


@pytest.mark.parametrize(("ranks", "ages", "ended", "expected"), SETTLED.values(), ids=SETTLED)
def test_a_step_is_complete_when_no_growing_shard_can_add_to_it(
    tmp_path: Path, ranks: dict[int, list[int]], ages: dict[int, float], ended: bool, expected: list[int]
) -> None:
    """A shard is past a step when it has a later one, was closed by its recorder, or was not written to for a while."""
    recorded(tmp_path / "run", ranks, ended=ended)
    now = time.time()
    for rank in ranks:
        os.utime(shard_of(tmp_path / "run", rank), (now, now - ages.get(rank, 0)))

    assert settled(open_run(tmp_path / "run"), quiet=30, now=now).tolist() == expected


def test_the_note_is_kept_between_processes(state_folder: Path) -> None:
    """What one push notes the next one reads; another tracker, place or dialect knows nothing of it; `again` forgets it."""
    with state_of(WHAT, again=False) as state:
        state.name, state.last, state.told = "a", 7, {"kind": 9}
        state.save()
    with state_of(WHAT, again=False) as kept:
        assert kept == state
    for other in ("tracker", "target", "names"):
        with state_of({**WHAT, other: "x"}, again=False) as another:
            assert another.last is None
    with state_of(WHAT, again=True) as forgotten:
        assert (forgotten.last, forgotten.run_id == state.run_id) == (None, False)

    assert user_folders.state() == state_folder


HANDED: dict[str, tuple[bool, int | None]] = {"a push that ends in order": (False, 3), "one that fails": (True, 1)}


@pytest.mark.parametrize(("fails", "noted"), HANDED.values(), ids=HANDED)
def test_what_was_handed_on_is_noted_with_the_next_steps_and_at_the_end(fails: bool, noted: int | None) -> None:
    """The steps that came last are noted once the tracker's run has ended in order, and are handed on again where it has not."""
    stream = io.StringIO()
    with state_of(WHAT, again=False) as state:
        delivery = Delivery(Target("stdout", {"stream": stream}, ""), state, "run", Pushed(), Links("", ""))
        for steps in ((0, 1), (2, 3)):
            delivery.open()
            for step in steps:
                delivery.step(step, {"x": 1.0}, [], [found("a", 1)] if step == 3 else [], reached=9)
        assert state.path
        assert json.loads(state.path.read_bytes())["last"] == 1
        if fails:
            stream.close()
            with pytest.raises(BoardError, match="stdout failed"):
                delivery.step(4, {"x": 1.0}, [], [], reached=9)
        delivery.close()
    with state_of(WHAT, again=False) as state:
        assert (state.last, state.told) == (noted, {} if fails else {"a": 9})


@pytest.mark.parametrize("damage", [b"", b"[1]", b'{"what": 1}', b'{"odd": 1}', b'{"last": "x"}', b"\xff\xfe"])
def test_a_damaged_note_is_said_and_not_guessed_at(damage: bytes) -> None:
    """Steps are not pushed twice because a file was damaged: the reader is asked to say `--again`."""
    with state_of(WHAT, again=False) as state:
        state.save()
    assert state.path
    state.path.write_bytes(damage)

    with pytest.raises(BoardError, match="--again"), state_of(WHAT, again=False):
        pass
    with state_of(WHAT, again=True) as state:
        state.save()
    with state_of(WHAT, again=False) as state:
        assert state.last is None


def test_two_pushes_at_once_are_refused() -> None:
    """While one process pushes a run to a place, another is told so; to another place it may push."""
    with state_of(WHAT, again=False):
        with pytest.raises(BoardError, match="Another process is pushing /runs/a"), state_of(WHAT, again=False):
            pass
        with state_of({**WHAT, "names": "roll"}, again=False):
            pass


HOLD = """
import sys
from board.push.places import state_of
with state_of({what!r}, again=False):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_push_holds_up_no_other() -> None:
    """What another process pushes is refused for as long as that process lives, and not an instant longer."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    hold = [sys.executable, "-c", HOLD.format(what=WHAT)]
    with subprocess.Popen(hold, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BoardError, match="Another process is pushing"), state_of(WHAT, again=False):
            pass
        process.kill()

    with state_of(WHAT, again=False) as state:
        state.save()


def test_a_state_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place to note what was pushed nothing is pushed."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RL_BOARD_STATE", str(tmp_path / "file"))
    with pytest.raises(BoardError, match="cannot be noted"), state_of(WHAT, again=False):
        pass


def rollouts(folder: Path, *rewards: float | None, **fields: Any) -> RunExamples:
    """What is shown of a run of one step with these rewards."""
    with RolloutRecorder(folder) as recorder:
        for number, reward in enumerate(rewards):
            row = {"prompt": "p", "response": f"r{number}", "response_tokens": [f"r{number}"], **fields}
            recorder.write(step=3, reward=reward, **row)
    return RunExamples(open_run(folder), 0, Links("http://host:8901", "my run"))


CHOSEN: dict[str, tuple[list[float | None], list[tuple[str, str]]]] = {
    "three": ([0.5, 2.0, -1.0], [("best", "r1"), ("worst", "r2"), ("random", "r0")]),
    "two": ([0.5, 2.0], [("best", "r1"), ("worst", "r0")]),
    "one": ([0.5], [("best", "r0")]),
    "equal rewards": ([1.0, 1.0], [("best", "r0"), ("random", "r1")]),
    "no reward": ([None], [("random", "r0")]),
    "some without": ([None, 1.0], [("best", "r1"), ("random", "r0")]),
}


@pytest.mark.parametrize(("rewards", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_the_best_the_worst_and_one_more_are_shown(
    tmp_path: Path, rewards: list[float | None], expected: list[tuple[str, str]]
) -> None:
    """Each rollout is shown once, with its numbers, its texts and a link to it on the board."""
    rows = rollouts(tmp_path, *rewards).of(3)

    assert [(row["which"], row["response"]) for row in rows] == expected
    for row in rows:
        line = int(str(row["response"])[1:]) + 1
        assert row["board"] == f"http://host:8901/responses?run=my+run&step=3&rollout=rank_0.{os.getpid()}.jsonl%3A{line}"
        assert (row["prompt"], row["tokens"]) == ("p", 1.0)
        assert ("reward" in row) == (rewards[line - 1] is not None)


def test_the_random_one_is_the_seeds(tmp_path: Path) -> None:
    """The same seed draws the same rollout, and seeds differ."""
    run = open_run(rollouts(tmp_path, *np.arange(50.0))._run.location)
    drawn = [[row["response"] for row in RunExamples(run, seed, Links("", "")).of(3)] for seed in (0, 0, *range(1, 9))]

    assert drawn[0] == drawn[1]
    assert len({row[2] for row in drawn}) > 3


def test_a_long_text_is_cut_in_its_middle_and_a_step_without_rollouts_shows_none(tmp_path: Path) -> None:
    """How much was left out is said; tokens stand in for a response that a row lacks."""
    shown = rollouts(tmp_path, 1.0, response="a" * TEXT_CHARS + "bcd", prompt=None)
    (row,) = shown.of(3)

    assert str(row["response"]).split("\n") == ["a" * 1000, "[3 characters left out]", "a" * 997 + "bcd"]
    assert (row["prompt"], shown.of(4)) == ("", [])


def found(kind: str, step: int, severity: str = "warning") -> Finding:
    """One of that kind that begins at a step."""
    rest: dict[str, Any] = dict.fromkeys(one.name for one in fields(Finding))
    return Finding(**(rest | {"kind": kind, "first_step": step, "severity": severity, "title": kind, "effect": "", "signs": ()}))


def test_findings_stand_at_their_steps() -> None:
    """A finding of a step that is not handed on now stands at the last one that is."""
    two, nine = found("a", 2), found("b", 9)

    assert at_steps([two, nine], np.array([1, 2, 3])) == {2: [two], 3: [nine]}


UNTOLD: dict[str, tuple[dict[str, int], list[tuple[str, int]], list[tuple[str, int]]]] = {
    "nothing was told": ({}, [("a", -2), ("a", 30)], [("a", -2), ("a", 30)]),
    "a step that moved a little is no other finding": ({"a": 9}, [("a", 6)], []),
    "what begins after all that was there is another": ({"a": 9}, [("a", 11), ("a", 9)], [("a", 11)]),
    "other kinds are told": ({"a": 9}, [("b", 3), ("a", 3)], [("b", 3)]),
}
"""Kinds that were told and the last step then, what is found → what is told."""


@pytest.mark.parametrize(("told", "seen", "expected"), UNTOLD.values(), ids=UNTOLD)
def test_a_kind_is_told_once(told: dict[str, int], seen: list[tuple[str, int]], expected: list[tuple[str, int]]) -> None:
    """And again only where it begins after all that was there when it was told; what is worth knowing alone stays on the board."""
    new = unreported([*(found(*one) for one in seen), found("c", 40, "note")], told)

    assert [(one.kind, one.first_step) for one in new] == expected


@pytest.mark.parametrize("names", DIALECTS)
def test_names_of_a_dialect(names: str) -> None:
    """A metric goes by every name the dialect has for it, else by the board's; no two metrics share a name."""
    keys = [*DIALECTS["board"].names, "reward/part/format"]
    found = named({key: float(at) for at, key in enumerate(keys)}, names)

    assert found["board/reward/part/format"] == len(keys) - 1
    for at, key in enumerate(keys):
        mine = [name for name, meant in DIALECTS[names].names.items() if meant == key and not name.startswith("final/")]
        expected = mine if mine and names != "board" else [f"board/{key}"]
        assert [name for name, value in found.items() if value == at] == expected


def test_what_comes_once_is_named_at_the_end_alone() -> None:
    """A name that a trainer logs once, at the end, is no name of the steps before."""
    keys = ["counts/rollouts_total", "reward/best_mean"]

    assert named(dict.fromkeys(keys, 3.0), "re-grpo") == {"rollouts/total_rollouts": 3.0, "rollouts/returns_best_mean": 3.0}
    assert named_once({keys[0]: 3, keys[1]: math.nan}, "re-grpo") == {"final/total_rollouts": 3.0}
    assert named_once({keys[0]: 3}, "roll") == {}


def test_tags_and_notes_make_no_other_place() -> None:
    """Tags and notes reach the writer as the recorder's do, and a push with others goes on with the same run."""
    plain, tagged = (target("wandb", {"project": "p", **more}) for more in ({}, {"tags": ["a", "b"], "notes": "n"}))

    assert (tagged.where, plain.options, tagged.options) == (
        plain.where,
        {"project": "p"},
        {"project": "p", "tags": ["a", "b"], "notes": "n"},
    )


def test_the_command_names_what_there_is() -> None:
    """The choices of the command line are the trackers and the dialects; any other word is refused with their names."""
    offered = {one.name: one.type for one in push.push.params}
    result = CliRunner().invoke(push.push, ["run", "--to", "nowhere"])

    assert [cast(click.Choice[str], offered[name]).choices for name in ("tracker", "names")] == [tuple(OPTIONS), tuple(DIALECTS)]
    assert result.exit_code == 2
    assert all(name in result.stderr for name in OPTIONS)


def test_what_a_tracker_does_not_take_is_refused() -> None:
    """An option that means nothing to the tracker is an error that names those that do."""
    with pytest.raises(BoardError, match="tensorboard takes no --project, only --log-dir"):
        target("tensorboard", {"project": "p", "log_dir": None})


SUMMARIES: dict[str, tuple[Pushed, bool, list[str]]] = {
    "all is well": (
        Pushed(steps=2, metrics=1, last=7, name="run", place="/tb/run"),
        True,
        ["Pushed 2 steps of 1 metric to tensorboard.", "Look at run in /tb/run."],
    ),
    "nothing new": (Pushed(last=7), False, ["Nothing new: all steps up to 7 were pushed before. Use --again to push them anew."]),
    "nothing yet": (
        Pushed(waiting=1),
        False,
        ["Nothing to push yet.", "1 step held back, as training may still be writing: push again, or use --follow."],
    ),
}


@pytest.mark.parametrize(("done", "follow", "expected"), SUMMARIES.values(), ids=SUMMARIES)
def test_a_push_says_what_it_did(tmp_path: Path, done: Pushed, follow: bool, expected: list[str]) -> None:
    """The summary says what was pushed, where to look, what was held back."""
    request = Request(tmp_path, target("tensorboard", {"log_dir": str(tmp_path)}), follow=follow)

    assert summary(done, request).split("\n") == expected


def test_progress_says_how_far_it_is() -> None:
    """The steps that were pushed, of all there are to push."""
    assert progress(Pushed(steps=20, to_go=20, last=9)) == "step 9: 20 of 40 steps"
