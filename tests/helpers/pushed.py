"""What the tests of `push` share: the command in a process of its own, and what a tracker holds afterwards."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from board import open_run, trackers
from board.analysis.steps.step_metrics import per_step_values
from board.cli.main import main
from board.recorder import RolloutRecorder

REPOSITORY = Path(__file__).parents[2]
SAMPLE = REPOSITORY / "rollout_samples" / "tiny_ppo_rhyme"


def started(*arguments: object, output: Path | None = None) -> subprocess.Popen[str]:
    """The command in a process of its own, its standard output in a pipe, or in a file."""
    command = [sys.executable, "-m", "board", "push", *map(str, arguments)]
    with (output or Path(os.devnull)).open("w") as file:
        stdout = file if output else subprocess.PIPE
        # a process that has W&B open hands its service on to its children, and that holds a killed one's run for a while
        env = {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"}
        return subprocess.Popen(
            command, cwd=REPOSITORY, env=env, stdout=stdout, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
        )


def _heed_interrupts() -> None:
    """A shell starts what it runs in the background deaf to Ctrl+C, and so are its children's children: the tests may be."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pushed(*arguments: object, code: int = 0) -> tuple[str, str]:
    """What the command wrote to its standard output and error; fails unless it ends with the exit code."""
    result = CliRunner().invoke(main, ["push", *map(str, arguments)], prog_name="rl-logging-board")
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


def in_tensorboard(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Every scalar event of a run, by name, read by TensorBoard itself."""
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = event_accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    read.Reload()
    return {tag: [(one.step, one.value) for one in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


def texts_in_tensorboard(folder: Path) -> dict[str, dict[int, str]]:
    """Every text of a run, by name and step, read by TensorBoard itself."""
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = event_accumulator.EventAccumulator(str(folder), size_guidance={"tensors": 0})
    read.Reload()
    return {
        tag: {one.step: one.tensor_proto.string_val[0].decode() for one in read.Tensors(tag)} for tag in read.Tags()["tensors"]
    }


def expected(run: Path, dtype: type = np.float64) -> dict[str, list[tuple[int, float]]]:
    """The curves that the board computes of a run, as a tracker of that precision holds them."""
    values = per_step_values(open_run(run))
    curves: dict[str, pd.Series[float]] = {f"board/{key}": values[key].dropna() for key in values.columns}
    return {
        name: [(int(step), float(dtype(value))) for step, value in zip(curve.index, curve, strict=True)]
        for name, curve in curves.items()
    }


def lines(output: str) -> list[dict[str, Any]]:
    """JSON lines that hold numbers, not examples."""
    return [found for line in output.splitlines() if "examples" not in (found := json.loads(line))]


def grown(folder: Path, steps: range, rollouts: int = 4, **options: Any) -> None:
    """More steps of a run."""
    with RolloutRecorder(folder, **options) as recorder:
        for step in steps:
            rng = np.random.default_rng(step)
            arrays = {name: rng.normal(size=(rollouts, 3)).astype(np.float32) for name in ("logprobs", "ref_logprobs", "values")}
            recorder.write_batch(
                step=step,
                prompt=["p"] * rollouts,
                response=["abc"] * rollouts,
                response_tokens=[["a", "b", "c"]] * rollouts,
                reward=rng.normal(size=rollouts),
                **arrays,
            )


OFFLINE: dict[str, list[str]] = {
    "wandb": ["--mode", "offline", "--project", "p"],
    "swanlab": ["--mode", "offline", "--project", "p"],
    "trackio": ["--project", "p"],
    "mlflow": ["--project", "p"],
}
"""How each tracker is told to stay on this machine."""


def held(tracker: str, folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Every curve that a tracker's files below a folder hold together; fails where two of them hold the same step of a curve."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for path in trackers.tracker(tracker).find(folder):
        for name, curve in trackers.tracker(tracker).read(path).items():
            curves.setdefault(name, []).extend(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
    for name, points in curves.items():
        assert len({step for step, _ in points}) == len(points), name
    return {name: sorted(points) for name, points in curves.items()}
