"""A run in which no check finds anything, and what the checks say of rows."""

from pathlib import Path
from typing import Any

import numpy as np
from rows import write_run

from board import open_run
from board.findings.checks.all_checks import run_checks
from board.findings.checks.contract import CheckReport, ReportedFault

STEPS, GROUPS, MEMBERS, TOKENS = 7, 2, 4, 12
BETA = 0.1

Rows = list[dict[str, Any]]


def sound_row(step: int, group: int, member: int, dice: np.random.Generator) -> dict[str, Any]:
    """A rollout as a sound trainer writes it: at step 0 the policy is the reference, token rewards are the reward less β times KL k1."""
    tokens = [f" w{dice.integers(100)}" for _ in range(TOKENS)]
    reference = -dice.gamma(1.0, 1.0, TOKENS)
    policy = np.minimum(reference + step * dice.normal(0, 0.05, TOKENS), 0)
    reward = float(dice.normal())
    penalties = -BETA * (policy - reference)
    penalties[-1] += reward
    return {
        "step": step,
        "prompt": f"prompt {step} {group}",
        "response": "".join(tokens),
        "response_tokens": tokens,
        "logprobs": policy.tolist(),
        "ref_logprobs": reference.tolist(),
        "rollout_logprobs": policy.tolist(),
        "token_rewards": penalties.tolist(),
        "loss_mask": [1] * TOKENS,
        "reward": reward,
        "sample_id": f"{step}-{group}-{member}",
        "rank": group,
        "timestamp": 1000.0 + 10 * step,
    }


def sound() -> Rows:
    """A run in which no check finds anything, and every check but those of masks can tell."""
    dice = np.random.default_rng(0)
    return [sound_row(step, group, member, dice) for step in range(STEPS) for group in range(GROUPS) for member in range(MEMBERS)]


def examined(folder: Path, rows: Rows) -> CheckReport:
    """The check report of a run of these rows in one shard."""
    return run_checks(open_run(write_run(folder, {"data.jsonl": rows})))


def found(checked: CheckReport, check: str) -> ReportedFault:
    """The finding of one check."""
    return next(finding for finding in checked.findings if finding.check.name == check)


def names(checked: CheckReport) -> list[str]:
    """Which checks found something."""
    return [finding.check.name for finding in checked.findings]
