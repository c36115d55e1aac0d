"""Steps made of an evaluation, rows that are turns, rollouts that failed, a newest step that is written: each beside runs that are sound."""

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from looked_at import opened, silent
from populated import BY_NAME, GROUPS, MEMBERS, STEPS, Row, Rows, asked, batch, found, run

from board.findings import messages
from board.findings.context import Context
from board.findings.contract import CannotTell
from board.findings.populations import KINDS
from board.findings.scan import find_all
from board.text.format_number import fmt
from board.ui.frame import findings_watch
from board.ui.state import place


def held_out(step: int, count: int = 64, members: int = 1, words: int = 4, fixed: bool = True) -> Rows:
    """A step of evaluation: the same prompts each time unless `fixed` is false."""
    chance = random.Random(f"held out {step}")
    return [
        {
            "step": step,
            "prompt": f"Held out: what is {at if fixed else step * count + at} * 3?",
            "response": " ".join(chance.choice(["that", "is", "it"]) for _ in range(words)),
            "reward": float(chance.random() < 0.3),
        }
        for at in range(count)
        for _ in range(members)
    ]


def every(steps: int, mine: Callable[[int], Rows], others: Callable[[int], Rows]) -> Callable[[int], Rows]:
    """Rows of one make at each so many-th step, of the other at the others."""
    return lambda step: mine(step) if step % steps == 0 else others(step)


EVALUATED: dict[str, tuple[Rows, tuple[int, int], str]] = {
    "in the place of training": (
        run(every(5, held_out, batch)),
        (0, 20),
        "5 steps (0, 5, 10, 15, 20) are 64 rollouts of 64 prompts",
    ),
    "among training": (
        run(every(5, lambda at: [*batch(at), *held_out(at)], batch)),
        (0, 20),
        "5 steps (0, 5, 10, 15, 20) have among their rollouts 64 rollouts of 64 prompts",
    ),
    "of prompts that come again": (
        run(every(4, held_out, lambda at: batch(at, prompts=30))),
        (0, 20),
        "6 steps (0, 4, 8, 12, 16",
    ),
    "other prompts each time": (
        run(every(10, lambda at: held_out(at, fixed=False), batch)),
        (0, 20),
        "3 steps (0, 10, 20) are 64 rollouts of 64 prompts that no other step has, in groups of 1, not 4 (64 rollouts, not 24; responses of",
    ),
    "several responses each": (
        run(every(5, lambda at: held_out(at, 30, 8, 18), batch)),
        (0, 20),
        "in groups of 8, not 4 (the same each time; 240 rollouts, not 24)",
    ),
    "one response a prompt in training": (
        run(every(5, held_out, lambda at: batch(at, 24, 1, 60))),
        (0, 20),
        "in groups of 1 (the same each time; 64 rollouts, not 24;",
    ),
    "before training alone": (run(lambda at: batch(at) if at else held_out(at)), (0, 0), "1 step (0) are 64 rollouts"),
    "after training alone": (run(lambda at: held_out(at) if at == 20 else batch(at)), (20, 20), "1 step (20) are 64 rollouts"),
    "two steps in a row": (
        run(lambda at: held_out(at, 24) if at in {8, 9} else batch(at)),
        (8, 9),
        "24 prompts that no other step has, in groups of 1, not 4 (the same each time; responses of",
    ),
    "as large as training": (
        run(every(5, lambda at: held_out(at, GROUPS, MEMBERS, 20), batch)),
        (0, 20),
        "24 rollouts of 6 prompts that no other step has, in groups of 4 (the same each time)",
    ),
    "every second step": (
        run(every(2, held_out, batch)),
        (0, 20),
        "11 steps (0, 2, 4, 6, 8 and 6 more) are 64 rollouts of 64 prompts",
    ),
    "three of four": (run(every(4, batch, held_out)), (1, 19), "15 steps (1, 2, 3, 5, 6 and 10 more) are 64 rollouts"),
    "by its source alone": (
        run(every(5, lambda at: batch(at, name="E: ", data_source="aime"), lambda at: batch(at, data_source="dapo"))),
        (0, 20),
        "in groups of 4 (data_source aime, not dapo): probably",
    ),
    "by its file and status": (
        run(every(6, lambda at: batch(at, name="E: ", status="eval"), lambda at: batch(at, status="done"))),
        (0, 18),
        "(status eval, not done): probably",
    ),
    "without advantages": (
        run(every(5, lambda at: batch(at, name="E: "), lambda at: batch(at, advantage=0.5))),
        (0, 20),
        "(without advantage): probably",
    ),
    "two kinds, and nothing tells which is which": (
        run(every(2, lambda at: batch(at, 12, 8, name="E: "), batch)),
        (1, 19),
        "in groups of 4, not 8 (24 rollouts, not 96): nothing tells which of the two are trained on; their mean",
    ),
}


@pytest.mark.parametrize("name", EVALUATED)
def test_steps_of_an_evaluation_are_found(tmp_path: Path, name: str) -> None:
    """Steps whose prompts no other step has, in groups or numbers of their own, are named with what they are made of."""
    rows, span, says = EVALUATED[name]

    answer = found("other_make_up", tmp_path, rows)

    assert (answer.first_step, answer.last_step, answer.severity) == (*span, None)
    assert BY_NAME["other_make_up"].severity == "warning"
    assert says in answer.effect
    assert (answer.at_steps[0], answer.at_steps[-1]) == span
    is_told = "probably" in answer.effect and "among their rollouts" not in answer.effect
    assert ("; the filter step NOT IN (" in answer.effect) == is_told
    firsts = [sorted(rows, key=lambda one: one["step"])[key]["step"] for key in answer.rollouts]
    assert len({*firsts[: len({*firsts})]}) == len({*firsts}), "one of each step first"


def test_many_steps_of_an_evaluation_are_all_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the filter, in JSON and as hollow marks: rollouts of fifty of them are shown."""
    report = find_all(opened(tmp_path, run(every(2, lambda at: held_out(at, 8), lambda at: batch(at, 2)), 120)), kinds=KINDS)
    steps = (*range(0, 120, 2),)

    (finding,) = report.findings

    assert (finding.at_steps, len(finding.rollouts)) == (steps, 50)
    assert f"the filter step NOT IN ({', '.join(map(str, steps))}) leaves them out" in finding.effect
    assert messages.report_from(messages.as_document(report, "run")) == report
    assert messages.condition_of_steps(finding) == f"step IN ({', '.join(map(str, steps))})"
    monkeypatch.setattr(findings_watch, "findings", lambda: report.findings)
    monkeypatch.setattr(findings_watch, "newest", lambda _: [])
    monkeypatch.setattr(place, "view", lambda: SimpleNamespace(run=None))
    assert [one.step for one in findings_watch.curve_marks() if one.severity == "unlike"] == [*steps]


def test_what_moves_at_steps_of_an_evaluation_is_their_sign(tmp_path: Path) -> None:
    """Lengths that fall at one of them are no finding of their own, though the first of them is the run's first step."""
    rows = run(every(8, lambda at: held_out(at, words=2), lambda at: batch(at, 12)), 24)

    (finding,) = find_all(opened(tmp_path, rows)).findings

    assert (finding.kind, finding.at_steps) == ("other_make_up", (0, 8, 16))
    assert {"length_falls"} <= {sign.kind for sign in finding.signs}


def unequal(step: int) -> Rows:
    """A step as agents leave it: groups of any size, each rollout with a prompt of its own now and then."""
    chance = random.Random(step)
    return [row for at in range(GROUPS) for row in batch(step, GROUPS)[at * 4 : at * 4 + chance.randint(1, 4)]]


def late(step: int) -> Rows:
    """A step of asynchronous sampling: a group's members come in two steps."""
    chance = random.Random(step)
    cut = chance.randint(2, 22)
    return [row | {"step": step} for row in [*batch(step - 1)[cut:], *batch(step)[: random.Random(step + 1).randint(2, 22)]]]


SOUND: dict[str, Rows] = {
    "new prompts": run(batch),
    "prompts that come again": run(lambda at: batch(at, prompts=30)),
    "one response a prompt": run(lambda at: batch(at, 24, 1)),
    "groups that were filtered": run(lambda at: batch(at, 2 + (at * 7) % 11)),
    "groups of any size": run(unequal),
    "groups in two steps": run(late),
    "a larger batch from a step on": run(lambda at: batch(at) if at < 12 else batch(at, 8, 8)),
    "a larger batch at first": run(lambda at: batch(at) if at > 3 else batch(at, 8, 8)),
    "a step written twice": run(lambda at: batch(at) * (1 + (at == 7))),
    "a rank lost in a step": run(lambda at: batch(at)[:: 1 + (at == 7)]),
    "an order that stays, with a short last batch": run(
        lambda at: [row | {"step": at} for row in batch(at % 5)[: 8 if at % 5 == 4 else None]], 25
    ),
    "a batch of another size at the end": run(lambda at: batch(at) if at < 20 else batch(at, 8, 8)),
    "smaller groups for a while": run(lambda at: batch(at) if at not in {9, 10} else batch(at, 6, 2)),
    "an order that stays": run(lambda at: [row | {"step": at} for row in batch(at % 9)], 20),
    "an order drawn anew": run(lambda at: [row | {"step": at} for row in batch(at)] if at < 9 else batch(at, 6, prompts=54)),
    "a batch replayed after a stop": run(lambda at: [row | {"step": at} for row in batch(at if at < 18 else at - 13)]),
    "short batches at even distances": run(lambda at: batch(at, 2 if at % 5 == 4 else 6)),
    "a stage of another task": run(lambda at: batch(at, 8 if at > 13 else 6, data_source="code" if at > 13 else "math")),
    "a task a batch, drawn": run(lambda at: batch(at, data_source="ab"[at in {2, 3, 9, 14}])),
    "an outage": run(lambda at: batch(at) if at != 9 else batch(at, 24, 1, response="", status="aborted")),
    "two tasks in turn": run(lambda at: batch(at, name="A: " if at % 2 else "", prompts=20)),
    "an evaluation that says so": run(lambda at: [*batch(at), *(row | {"split": "evaluation"} for row in held_out(at))]),
    "two groups of one prompt in a step": run(
        lambda at: [row | {"prompt": f"P{at}"} for row in batch(at)] if at in {5, 9} else batch(at)
    ),
    "too few": run(batch, 3),
}


@pytest.mark.parametrize("name", SOUND)
def test_steps_that_merely_differ_are_silent(tmp_path: Path, name: str) -> None:
    """What is drawn by chance, filtered, late, lost, twice or changed for good is no evaluation."""
    answer = asked("other_make_up", tmp_path, SOUND[name])

    assert silent(answer) or (name == "too few" and isinstance(answer, CannotTell))


def episodes(write: Callable[[Row, int, int], Row], turns: tuple[int, int] = (2, 12)) -> Rows:
    """A row a turn: episodes that are solved take the fewest turns, those that fail the most."""
    chance = random.Random(4)
    rows: Rows = []
    for step in range(12):
        for at in range(24):
            solved = chance.random() < 0.6 - 0.02 * step
            count = chance.randint(turns[0], turns[0] + 2) if solved else turns[1]
            row = {"step": step, "prompt": f"table {at // 4} {step}", "group_id": f"{step}-{at // 4}", "reward": float(solved)}
            row |= {"rollout_id": f"{step}-{at}", "member": at % 4}
            rows += [write(row | {"response": f"look at {chance.random()}"}, turn, count) for turn in range(count)]
    return rows


def without(row: Row, *names: str) -> Row:
    """The row but for some of its fields."""
    return {name: value for name, value in row.items() if name not in names}


TURNS: dict[str, Rows] = {
    "the reward in each": episodes(lambda row, turn, count: row | {"turn": turn, "num_turns": count}),
    "the reward at the end": episodes(
        lambda row, turn, count: row | {"turn_id": turn, "reward": row["reward"] * (turn == count - 1)}
    ),
    "names anew in each group": episodes(lambda row, turn, _: row | {"turn_idx": turn, "rollout_id": row["member"]}),
    "the prompt as it stands": episodes(
        lambda row, turn, _: (
            without(row, "group_id", "rollout_id")
            | {"turn_index": turn, "traj_uid": row["rollout_id"], "prompt": f"{row['prompt']} {row['response']}"}
        )
    ),
    "no number": episodes(lambda row, *_: without(row, "rollout_id") | {"episode_id": row["rollout_id"]}),
}


@pytest.mark.parametrize("name", TURNS)
def test_rows_that_are_turns_are_found(tmp_path: Path, name: str) -> None:
    """It says the mean over rows and over episodes, however episodes and turns are called and wherever the reward is."""
    rows = TURNS[name]
    last = {(row["step"], row["prompt"].partition(" look")[0], row["member"]): row["reward"] for row in rows}
    right = np.mean(list(last.values()))

    answer = found("rows_are_turns", tmp_path, rows)

    assert (answer.first_step, answer.last_step, answer.severity) == (0, 11, "error")
    assert f"{len(rows):,} rows are turns of 288 episodes" in answer.effect
    assert f"{fmt(np.mean([row['reward'] for row in rows]))} over rows and {right:.3f} over episodes" in answer.effect
    if name != "the prompt as it stands":
        assert "4 episodes" in answer.effect


WHOLE: dict[str, Rows] = {
    "a row an episode": [row | {"rollout_id": str(at), "turn": 3.0} for at, row in enumerate(run(batch))],
    "names of members": [row | {"rollout_id": at % 4, "num_turns": 2 + at % 3} for at, row in enumerate(run(batch))],
    "names of prompts": [row | {"sample_id": row["prompt"], "turns": 1} for row in run(batch)],
    "names of batches": [row | {"rollout_id": row["step"]} for row in run(batch)],
    "no name": run(batch),
}


@pytest.mark.parametrize("name", WHOLE)
def test_rows_that_are_episodes_are_silent(tmp_path: Path, name: str) -> None:
    """A name that several rows share is as a rule a prompt's, a batch's or a member's."""
    answer = asked("rows_are_turns", tmp_path, WHOLE[name])

    assert silent(answer) or (name == "no name" and isinstance(answer, CannotTell))


def test_the_newest_step_waits_until_it_is_complete(tmp_path: Path) -> None:
    """A step with 2 of 24 rollouts is in no finding, and that is said; one that is complete is looked at."""
    rows = run(batch)
    begun = [*rows, *(row | {"reward": 50.0} for row in batch(STEPS)[:2])]

    short, whole = (Context(opened(tmp_path / name, of), {}) for name, of in (("short", begun), ("whole", rows)))

    assert (short.unfinished, whole.unfinished) == ((STEPS, 2, 24), None)
    assert int(short.steps.numbers[-1]) == STEPS - 1
    report = find_all(short.whole, kinds=KINDS)
    assert report.unable[0] == (
        "newest-step",
        f"step {STEPS} has 2 of the usual 24 rollouts so far: it is looked at once it is complete",
    )
    assert "newest-step" not in dict(find_all(whole.whole, kinds=KINDS).unable)
