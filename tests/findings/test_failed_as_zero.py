"""Rollouts that failed and count, beside runs whose rollouts were only wrong."""

import random
from pathlib import Path

import numpy as np
import pytest
from looked_at import opened, silent
from populated import Row, Rows, asked, batch, found, run

from board.analysis.steps import step_metrics
from board.findings.scan import find_all


def failing(share: float, since: int, lost: Row, sound: Row) -> Rows:
    """Rollouts of which a share is lost from a step on."""
    chance = random.Random(9)
    return [
        row | lost | {"reward": 0.0} if row["step"] >= since and chance.random() < share else row | sound
        for row in run(batch, 30)
    ]


DONE = {"status": "completed"}
FAILED: dict[str, tuple[Rows, int, str]] = {
    "by status": (failing(0.3, 15, {"response": "", "status": "aborted", "error": "sandbox lost"}, DONE), 15, "status aborted"),
    "by an error alone": (
        failing(0.2, 10, {"error": "ConnectionError: engine gone"}, {"error": None}),
        10,
        "error ConnectionError",
    ),
    "by the reason of its end": (
        failing(0.3, 20, {"finish_reason": "abort"}, {"finish_reason": "stop"}),
        20,
        "finish_reason abort",
    ),
    "by a flag": (failing(0.25, 12, {"is_aborted": True}, {"is_aborted": False}), 12, "failed (0 empty)"),
    "beside a state that is none": (
        failing(0.3, 15, {"finish_reason": "stop", "status": "cancelled"}, DONE | {"finish_reason": "stop"}),
        15,
        "failed (status cancelled, 0 empty)",
    ),
    "by an error inside an object": (
        failing(
            0.2,
            10,
            {"info": {"error": {"type": "ToolError", "message": "sandbox lost"}}},
            {"info": {"seconds": 2, "error": None}},
        ),
        10,
        'info.error {"type": "ToolError", "message": "sandbox lost"}',
    ),
    "without any part of the reward": (
        failing(0.3, 15, {"accuracy_reward": None}, {"accuracy_reward": 1.0}),
        15,
        "failed (without any part of the reward, 0 empty)",
    ),
    "empty alone": (failing(0.3, 15, {"response": ""}, {}), 15, "empty"),
    "from the start": (failing(0.15, 0, {"response": "", "status": "env_error"}, DONE), 0, "status env_error"),
}


@pytest.mark.parametrize("name", FAILED)
def test_rollouts_that_failed_are_found(tmp_path: Path, name: str) -> None:
    """Since when, how many, what they say, and the mean with and without them, which is also a metric."""
    rows, since, says = FAILED[name]
    later = [row for row in rows if row["step"] >= since]
    sound = [
        row
        for row in later
        if row.get("response")
        and not row.get("is_aborted")
        and row.get("status", "completed") == "completed"
        and row.get("accuracy_reward", 1.0) is not None
    ]
    sound = [
        row
        for row in sound
        if not (row.get("error") or row.get("info", {}).get("error")) and row.get("finish_reason", "stop") == "stop"
    ]

    answer = found("failed_as_zero", tmp_path, rows)

    assert (answer.first_step, answer.last_step, answer.severity) == (since, 29, None)
    assert answer.at_steps == tuple(sorted({row["step"] for row in later if row not in sound}))
    assert answer.measured == pytest.approx(1 - len(sound) / len(later))
    assert says in answer.effect
    assert f"without them {np.mean([row['reward'] for row in sound]):.3f}" in answer.effect


JUDGED = ["accepted", "wrong_answer", "runtime_error", "timeout"]
FINE: dict[str, Rows] = {
    "nothing is said": run(batch),
    "all completed": [row | DONE for row in run(batch)],
    "the verdict in words": [row | {"status": "success" if row["reward"] else "error"} for row in run(batch)],
    "a judge of programs": [
        row | {"status": JUDGED[0] if row["reward"] else JUDGED[1 + at % 3]} for at, row in enumerate(run(batch))
    ],
    "errors of programs": [row | {"error": "" if row["reward"] else "AssertionError: 3 != 4"} for row in run(batch)],
    "errors of programs inside an object": [
        row | {"info": {"error": None if row["reward"] else "AssertionError: 3 != 4"}} for row in run(batch)
    ],
    "tasks that failed": [
        row | {"status": "solved" if row["reward"] else ["failed", "max_turns"][at % 2]} for at, row in enumerate(run(batch))
    ],
    "cut at the limit": [row | {"finish_reason": ["stop", "length"][at % 2]} for at, row in enumerate(run(batch))],
    "failed, without a reward": [
        row | ({"status": "aborted", "reward": None} if at % 4 == 0 else DONE) for at, row in enumerate(run(batch))
    ],
    "rewarded nonetheless": [row | {"status": "error" if at % 4 == 0 else "completed"} for at, row in enumerate(run(batch))],
    "a few": [row | ({"status": "aborted", "reward": 0.0} if at % 200 == 0 else DONE) for at, row in enumerate(run(batch))],
}


@pytest.mark.parametrize("name", FINE)
def test_rollouts_that_were_only_wrong_are_silent(tmp_path: Path, name: str) -> None:
    """A verdict in words is no failure, and what has no reward, or a reward like others, is in no mean as a zero."""
    assert silent(asked("failed_as_zero", tmp_path, FINE[name]))


def test_empty_responses_of_rollouts_that_failed_are_their_sign(tmp_path: Path) -> None:
    """One cause is one finding: what failed and is empty is warned of once."""
    (finding,) = find_all(opened(tmp_path, FAILED["by status"][0])).findings

    assert (finding.kind, finding.severity) == ("failed_as_zero", "warning")
    assert "empty_responses" in [sign.kind for sign in finding.signs]


def test_the_mean_without_failed_rollouts_is_a_metric(tmp_path: Path) -> None:
    """It is there where some failed, and nowhere else."""
    rows = FAILED["by status"][0]
    broken, sound = opened(tmp_path / "broken", rows), opened(tmp_path / "sound", run(batch))

    values = step_metrics.per_step_values(broken, ["reward/mean", "reward/mean_without_failed"])

    kept = [row["reward"] for row in rows if row["step"] == 20 and row["response"]]
    assert values["reward/mean_without_failed"][20] == pytest.approx(np.mean(kept))
    assert values["reward/mean_without_failed"][3] == values["reward/mean"][3]
    assert "reward/mean_without_failed" not in step_metrics.computable(sound)
