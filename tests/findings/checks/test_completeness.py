"""Steps that are in two files, ranks that stop and files of an abandoned attempt, each beside sound runs that look much like it."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from rows import write_run
from sound_run import found, names

from board import open_run
from board.findings.checks.all_checks import run_checks
from board.findings.checks.contract import CheckReport, ReportedFault

STEPS, GROUPS, MEMBERS = 20, 3, 4

Row = dict[str, Any]
Shards = dict[str, list[Row]]


def rows(steps: Iterable[int], write: str = "", groups: Iterable[int] = range(GROUPS), of_text: bool = False) -> list[Row]:
    """Rollouts of some steps; prompts come again every fifth step, and the texts of another `write` are others."""
    return [
        {
            "step": step,
            "prompt": f"What is {step % 5} + {group}?",
            "response": f"{write}{step} {group} {member}: it is {member}",
            "reward": float(member % 2),
        }
        | ({} if of_text else {"group_id": f"{step}-{group}"})
        for step in steps
        for group in groups
        for member in range(MEMBERS)
    ]


def ranks(stop: dict[int, int], steps: int = STEPS, name: str = "rank_{}.jsonl", **more: Any) -> Shards:
    """A file a rank, of one group a step each; a rank in `stop` writes so many steps alone."""
    return {
        name.format(rank): [row | more for row in rows(range(stop.get(rank, steps)), groups=[rank])] for rank in range(GROUPS)
    }


def checked(folder: Path, shards: Shards) -> CheckReport:
    """What the checks say of a run."""
    return run_checks(open_run(write_run(folder / "run", shards)))


def spoken(report: CheckReport, check: str) -> tuple[Any, ...]:
    """Severity, steps and words of the only finding of a check."""
    finding: ReportedFault = found(report, check)
    return finding.check.severity, (finding.at_steps[0], finding.at_steps[-1]), finding.what


WORKERS = {f"worker_{name}.jsonl": rows(range(STEPS), groups=[at]) for at, name in enumerate("abc")}

TWICE: dict[str, tuple[Shards, tuple[int, int]]] = {
    "two attempts": ({"attempt_1.jsonl": rows(range(13)), "attempt_2.jsonl": rows(range(9, STEPS), "b")}, (9, 12)),
    "names that say nothing": ({"x.jsonl": rows(range(13)), "q/data.jsonl": rows(range(9, STEPS), "b")}, (9, 12)),
    "most steps": ({"a.jsonl": rows(range(17), of_text=True), "b.jsonl": rows(range(2, STEPS), "b", of_text=True)}, (2, 16)),
    "a file a step, two folders": (
        {f"1/{at}.jsonl": rows([at]) for at in range(6)} | {f"2/{at}.jsonl": rows([at], "b") for at in range(4, 12)},
        (4, 5),
    ),
    "several files anyway": (WORKERS | {"again_a.jsonl": rows(range(6, 8), "b", range(2)), "again_b.jsonl": []}, (6, 7)),
}


@pytest.mark.parametrize("name", TWICE)
def test_steps_of_two_attempts_are_found(tmp_path: Path, name: str) -> None:
    """Steps that a job resumed into another file wrote again are named with how many rollouts they have, whatever the files are called."""
    shards, span = TWICE[name]

    severity, steps, what = spoken(checked(tmp_path, shards), "two-files")

    assert (severity, steps) == ("warning", span)
    assert (
        f"{20 if name == 'several files anyway' else 24} rather than 12 rollouts in a step; 8 rather than 4 rollouts in a group"
        in what
    )


CHANGING = [row for step in range(STEPS) for row in rows([step], groups=range(1 + step % 4))]

FINE: dict[str, Callable[[], Shards]] = {
    "a file goes on in the next": lambda: {
        "a.jsonl": rows(range(10))[:-6],
        "b.jsonl": rows(range(10))[-6:] + rows(range(10, STEPS)),
    },
    "a file a worker": lambda: WORKERS,
    "groups over several files": lambda: {f"{at}.jsonl": rows(range(STEPS))[at::2] for at in range(2)},
    "a worker more from some step on": lambda: WORKERS | {"worker_d.jsonl": rows(range(12, STEPS), groups=[3])},
    "files of equal size, steps of changing size": lambda: {f"{at}.jsonl": CHANGING[at * 30 : at * 30 + 30] for at in range(6)},
    "a job that goes on with fewer ranks": lambda: {
        "rank_0.jsonl": rows(range(10), groups=[0]) + rows(range(10, STEPS)),
        "rank_1.jsonl": rows(range(10), groups=[1]),
        "rank_2.jsonl": rows(range(10), groups=[2]),
    },
    "three groups left out": lambda: {
        "a.jsonl": [row for row in rows(range(STEPS)) if row["group_id"] not in {"3-0", "9-2", "14-1"}]
    },
    "a step that is kept as discarded": lambda: {
        "a.jsonl": [row | {"split": "discarded" if row["step"] == 7 else "train"} for row in rows(range(STEPS))]
    },
    "a group that is kept as discarded": lambda: {
        "a.jsonl": [row | {"split": "discarded" if row["group_id"] == "4-1" else "train"} for row in rows(range(STEPS))]
    },
    "steps of two rows among three ranks": lambda: {
        "a.jsonl": [row | {"rank": at % 3} for step in range(STEPS) for at, row in enumerate(rows([step])[: 2 + 5 * step % 11])]
    },
}


@pytest.mark.parametrize("name", FINE)
def test_sound_files_are_silent(tmp_path: Path, name: str) -> None:
    """Steps lie in several files for many reasons, and a rank may stop: where nothing is there twice and nothing is missing, nothing is said."""
    assert {"two-files", "clock", "missing-ranks", "missing-steps", "small-steps"}.isdisjoint(
        names(checked(tmp_path, FINE[name]()))
    )


STOPPED: dict[str, tuple[Shards, tuple[int, int], str]] = {
    "two of three": (ranks({0: 10, 2: 10}), (10, 18), "9 steps without rows of rank 0, 2: 10, 11, 12, 13, 14 and 4 more"),
    "early": (ranks({1: 4}), (4, 18), "15 steps without rows of rank 1: 4, 5, 6, 7, 8 and 10 more"),
    "from the second step on": (ranks({1: 1}), (1, 18), "18 steps without rows of rank 1: 1, 2, 3, 4, 5 and 13 more"),
    "no rank is named": (
        ranks({1: 4}, name="worker-{}-of-three.jsonl"),
        (4, 18),
        "15 steps without rows of file worker-1-of-three.jsonl: 4, 5, 6, 7, 8 and 10 more",
    ),
    "never there": (ranks({}, world_size=5), (0, 18), "No rank has the number 3, 4, of 0 to 4"),
    "never there, and stops": (
        ranks({1: 4}, world_size=4),
        (0, 18),
        "No rank has the number 3, of 0 to 3; 15 steps without rows of rank 1: 4, 5, 6, 7, 8 and 10 more",
    ),
}


@pytest.mark.parametrize("name", STOPPED)
def test_ranks_that_stop_or_never_were_there(tmp_path: Path, name: str) -> None:
    """Dates are those of all steps that lack rows, the newest left out, which may still be being written."""
    shards, span, what = STOPPED[name]

    report = checked(tmp_path, shards)
    assert spoken(report, "missing-ranks") == ("warning", span, what)
    assert found(report, "missing-ranks").at_steps == tuple(range(span[0], span[1] + 1))


def test_groups_that_lose_members_since_a_step(tmp_path: Path) -> None:
    """What is usual is what the run's first groups have, where later ones are of any size."""
    whole = rows(range(STEPS))
    kept = [row for at, row in enumerate(whole) if row["step"] < 8 or at % 5 < 2 + row["step"] % 3]
    sizes = {row["group_id"]: sum(one["group_id"] == row["group_id"] for one in kept) for row in kept}

    (small,) = [one for one in checked(tmp_path, {"a.jsonl": kept}).findings if one.check.name == "small-groups"]
    count = sum(size < max(sizes.values()) for name, size in sizes.items() if not name.startswith(f"{STEPS - 1}-"))
    assert small.what.startswith(f"{count} groups of fewer than the usual {max(sizes.values())} rollouts")


def _written(folder: Path, order: Iterable[int], name: str, seconds: float) -> CheckReport:
    shards = {name.format(step): rows([step]) for step in range(STEPS)}
    written = write_run(folder / "run", shards)
    for at, step in enumerate(order):
        time = int((1_700_000_000 + at * seconds) * 1e9)
        os.utime(written / name.format(step), ns=(time, time))
    return run_checks(open_run(written))


ATTEMPTS = [*range(8), *range(13, STEPS), *range(8, 13)]
"""Steps in the order in which their files were written: those from 8 on anew, and the job has come to 12."""


def test_files_of_an_abandoned_attempt(tmp_path: Path) -> None:
    """Where a job went back and has not yet come as far again, the files of later steps are those of the first attempt."""
    report = _written(tmp_path, ATTEMPTS, "{}.jsonl", 60)

    assert spoken(report, "clock") == (
        "warning",
        (13, 19),
        "7 steps in files that are older than those of earlier steps, as of an abandoned attempt: 13, 14, 15, 16, 17 and 2 more",
    )


COPIED: dict[str, tuple[list[int], str, float]] = {
    "in order": ([*range(STEPS)], "{}.jsonl", 60),
    "copied by name": (sorted(range(STEPS), key=str), "{}.jsonl", 60),
    "copied in any order": ([*range(1, STEPS, 2), *range(0, STEPS, 2)], "{}.jsonl", 60),
    "unpacked at once": (ATTEMPTS, "{}.jsonl", 0.001),
}


@pytest.mark.parametrize("name", COPIED)
def test_times_of_copying_tell_nothing(tmp_path: Path, name: str) -> None:
    """Files that were copied have the times of copying, by name or in any order."""
    assert "clock" not in names(_written(tmp_path, *COPIED[name]))
