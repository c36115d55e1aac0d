"""A run that questions are asked of: two steps of two groups, token arrays, rewards that are known, one of them missing."""

from pathlib import Path

from click.testing import CliRunner, Result
from rows import add_run, row, token_row

from board.cli.main import main

REWARDS = {0: (0.0, 1.0, 0.5, 0.5), 1: (2.0, None, 1.0, 3.0)}


def ran(*arguments: str | Path) -> Result:
    """A command in this process."""
    return CliRunner().invoke(main, [*map(str, arguments)])


def asked_run(root: Path, name: str = "run") -> Path:
    """The run's folder: at each step four rollouts, two of prompt "p" and two of "q"; shard lines 1 to 8."""
    rows = []
    for step, rewards in REWARDS.items():
        for at, reward in enumerate(rewards):
            one = token_row(step, prompt="pq"[at // 2], response=f"r{step}{at} 中文", **{"logprobs": [-1.0, -2.0 - at]})
            rows.append({**one, "reward": reward} if reward is not None else {key: one[key] for key in one if key != "reward"})
    return add_run(root, name, rows)


def empty_run(root: Path, name: str = "empty") -> Path:
    """A run without a rollout."""
    return add_run(root, name, [])


def plain_run(root: Path, name: str = "plain") -> Path:
    """A run of one response and nothing else."""
    return add_run(root, name, [row(7)])
