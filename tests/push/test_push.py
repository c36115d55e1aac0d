"""`rl-logging-board push`, end to end with the real trackers: what arrives is what the board computes, and every step once."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from board import open_run, trackers
from board.analysis.step_metrics import per_step_values
from board.checks.all_checks import run_checks
from board.cli.main import main
from board.recorder import RolloutRecorder

REPOSITORY = Path(__file__).parents[2]
SAMPLE = REPOSITORY / "rollout_samples" / "tiny_ppo_rhyme"


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder of the test's own, also for the processes it starts."""
    monkeypatch.setenv("RL_BOARD_STATE", str(tmp_path / "state"))


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


def test_the_sample_in_tensorboard_is_what_the_board_computes(tmp_path: Path) -> None:
    """Every curve of the board is there under its name, every step once, to the last bit of a float32; with texts beside them."""
    output, errors = pushed(SAMPLE, "--to", "tensorboard", "--log-dir", tmp_path / "tb", "--board-url", "http://host:8901/")
    folder = tmp_path / "tb" / "tiny_ppo_rhyme"

    assert in_tensorboard(folder) == expected(SAMPLE, np.float32)
    assert output == ""
    assert re.search(r"Pushed 120 steps of \d+ metrics to tensorboard", errors)
    assert str(folder) in errors
    texts = texts_in_tensorboard(folder)
    assert set(texts) == {"board/rollouts", "board/findings"}
    assert [*texts["board/rollouts"]] == [*range(120)]
    assert all("which: best" in text and "which: worst" in text for text in texts["board/rollouts"].values())
    assert "http://host:8901/responses?run=tiny_ppo_rhyme&step=7&rollout=rank_" in texts["board/rollouts"][7]
    assert all(f"at step {step}" in text for step, text in texts["board/findings"].items())


def test_json_lines_are_what_the_board_computes() -> None:
    """On standard output there are JSON lines alone, each step once, with all digits."""
    output, errors = pushed(SAMPLE, "--to", "stdout", "--format", "jsonl")
    values = expected(SAMPLE)

    found = lines(output)
    assert [line["step"] for line in found] == [*range(120)]
    for name, curve in values.items():
        assert [(line["step"], line[name]) for line in found if name in line] == curve
    assert "Pushed 120 steps" in errors


def test_a_table_is_what_the_board_computes(tmp_path: Path) -> None:
    """The readable table has each step's names and values, and no more where examples are not wanted."""
    grown(tmp_path / "run", range(2))
    output, _ = pushed(tmp_path / "run", "--to", "stdout", "--no-examples")

    assert re.findall(r"^step (\d+)$", output, re.MULTILINE) == ["0", "1"]
    for name, curve in expected(tmp_path / "run").items():
        printed = [float(found) for found in re.findall(rf"(?<!\S){re.escape(name)}\s+(\S+)", output)]
        assert printed == pytest.approx([value for _, value in curve], rel=1e-5)
    assert "board/rollouts" not in output


def test_names_of_a_trainer() -> None:
    """In a dialect a metric goes by the trainer's name where it has one, and by the board's where it has none."""
    output, _ = pushed(SAMPLE, "--to", "stdout", "--format", "jsonl", "--names", "roll", "--no-examples")
    values = per_step_values(open_run(SAMPLE))

    last = lines(output)[-1]
    assert last["critic/score/mean"] == values["reward/mean"].iloc[-1]
    assert last["tokens/response_length/max"] == values["length/max"].iloc[-1]
    assert last["board/length/std"] == values["length/std"].iloc[-1]


def test_a_second_push_has_nothing_to_do(tmp_path: Path) -> None:
    """What was pushed is not pushed again, until `--again`, which begins a new run beside the old one."""
    grown(tmp_path / "run", range(5))
    arguments = (tmp_path / "run", "--to", "tensorboard", "--log-dir", tmp_path / "tb")
    pushed(*arguments)
    before = sorted((tmp_path / "tb").rglob("*"))
    _, errors = pushed(*arguments)

    assert "Nothing new: all steps up to 4 were pushed before" in errors
    assert sorted((tmp_path / "tb").rglob("*")) == before
    grown(tmp_path / "run", range(5, 8))
    pushed(*arguments)
    pushed(*arguments, "--again")
    for name in ("run", "run-2"):
        assert in_tensorboard(tmp_path / "tb" / name) == expected(tmp_path / "run", np.float32)


def test_runs_of_one_name_do_not_meet(tmp_path: Path) -> None:
    """Two runs whose folders have the same name are two runs in the tracker, and dialects are apart."""
    for parent, steps in (("a", range(3)), ("b", range(4))):
        grown(tmp_path / parent / "run", steps)
        pushed(tmp_path / parent / "run", "--to", "tensorboard", "--log-dir", tmp_path / "tb")
    pushed(tmp_path / "a" / "run", "--to", "tensorboard", "--log-dir", tmp_path / "tb", "--names", "trl")

    assert sorted(path.name for path in (tmp_path / "tb").iterdir()) == ["run", "run-2", "run-trl"]
    assert in_tensorboard(tmp_path / "tb" / "run") == expected(tmp_path / "a" / "run", np.float32)
    assert in_tensorboard(tmp_path / "tb" / "run-2") == expected(tmp_path / "b" / "run", np.float32)


def killed(process: subprocess.Popen[str], tmp_path: Path, steps: int) -> bool:
    """Kill the process as soon as it has begun so many steps; False when it had ended before."""
    until = time.monotonic() + 60
    while process.poll() is None:
        assert time.monotonic() < until
        notes = [json.loads(path.read_bytes()) for path in (tmp_path / "state").glob("push/*.json")]
        if any((note["going"] or -1) >= steps for note in notes):
            process.kill()
            process.communicate(timeout=60)
            return True
        time.sleep(0.001)
    process.communicate(timeout=60)
    return False


def test_a_kill_costs_no_step_and_doubles_none(tmp_path: Path) -> None:
    """Killed again and again in the middle, TensorBoard holds every step once when it is through, with the board's numbers."""
    grown(tmp_path / "run", range(300))
    arguments = (tmp_path / "run", "--to", "tensorboard", "--log-dir", tmp_path / "tb")
    kills = [killed(started(*arguments), tmp_path, steps) for steps in (1, 60, 200)]
    pushed(*arguments)

    assert sum(kills) >= 2
    assert in_tensorboard(tmp_path / "tb" / "run") == expected(tmp_path / "run", np.float32)


def test_a_kill_doubles_no_line(tmp_path: Path) -> None:
    """Of what went to a terminal nobody can tell what arrived: no step is printed twice, and the one in doubt is named."""
    grown(tmp_path / "run", range(300))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume")
    assert killed(started(*arguments, output=tmp_path / "first"), tmp_path, 60)
    first = (tmp_path / "first").read_text()
    second, errors = pushed(*arguments)
    counted = Counter(line["step"] for line in lines(first + second))

    assert max(counted.values()) == 1
    missing = set(range(300)) - set(counted)
    doubted = re.search(r"stopped in step (\d+)", errors)
    assert doubted
    assert missing <= {int(doubted[1])}


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


@pytest.mark.parametrize("tracker", OFFLINE)
def test_the_sample_in_other_trackers(tmp_path: Path, tracker: str) -> None:
    """Each tracker holds every curve of the board, each step once, in double precision, without a network."""
    pytest.importorskip(tracker)
    process = started(SAMPLE, "--to", tracker, "--log-dir", tmp_path / "logs", *OFFLINE[tracker])
    output, errors = process.communicate(timeout=120)

    assert (process.returncode, output) == (0, ""), errors
    found, board = held(tracker, tmp_path / "logs"), expected(SAMPLE)
    assert set(found) == set(board)
    for name, curve in board.items():
        assert [step for step, _ in found[name]] == [step for step, _ in curve]
        assert [value for _, value in found[name]] == pytest.approx([value for _, value in curve], rel=1e-12)


@pytest.mark.parametrize("tracker", OFFLINE)
def test_a_kill_costs_other_trackers_no_step(tmp_path: Path, tracker: str) -> None:
    """What a killed push had not yet handed over to the tracker's files is pushed by the next one, and nothing twice."""
    pytest.importorskip(tracker)
    grown(tmp_path / "run", range(60), rollouts=1)
    arguments = (tmp_path / "run", "--to", tracker, "--log-dir", tmp_path / "logs", *OFFLINE[tracker])
    assert killed(started(*arguments), tmp_path, 20)
    process = started(*arguments)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    steps = {name: [step for step, _ in curve] for name, curve in held(tracker, tmp_path / "logs").items()}
    assert steps["board/reward/mean"] == [*range(60)]


KILLED_AT_THE_END = """
import os, signal, sys
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
ends = {
    "tensorboard": ("tensorboard.summary.writer.record_writer", "RecordWriter", "close"),
    "wandb": ("wandb.sdk.wandb_run", "Run", "finish"),
    "swanlab": ("swanlab.sdk.internal.run", "Run", "finish"),
    "trackio": ("trackio.run", "Run", "finish"),
    "mlflow": ("mlflow", "MlflowClient", "set_terminated"),
}
from importlib import import_module
if sys.argv[1] == "trackio":
    os.environ["TRACKIO_DIR"] = sys.argv[2]
module, kind, name = ends[sys.argv[1]]
setattr(getattr(import_module(module), kind), name, kill)
from board.cli.main import main
main(["push", *sys.argv[3:]])
"""
"""A push whose process is killed as the tracker's library begins to end the run: what that still held back is lost."""


@pytest.mark.parametrize("tracker", ["tensorboard", *OFFLINE])
def test_a_kill_at_the_end_costs_no_step(tmp_path: Path, tracker: str) -> None:
    """A step counts as pushed once the tracker has it, not once its library took it: the last steps of a killed push are pushed again."""
    pytest.importorskip(tracker)
    grown(tmp_path / "run", range(9), rollouts=1)
    where = ["--to", tracker, "--log-dir", str(tmp_path / "logs"), *OFFLINE.get(tracker, [])]
    command = [sys.executable, "-c", KILLED_AT_THE_END, tracker, str(tmp_path / "logs"), str(tmp_path / "run"), *where]
    env = {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"} | {"PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    process = started(tmp_path / "run", *where)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    steps = {name: [step for step, _ in curve] for name, curve in held(tracker, tmp_path / "logs").items()}
    assert steps["board/reward/mean"] == [*range(9)]


@pytest.mark.slow
@pytest.mark.parametrize("tracker", ["tensorboard", *OFFLINE])
def test_kills_at_any_instant_cost_no_step(tmp_path: Path, tracker: str) -> None:
    """Killed at random instants, opening and closing among them, until one push comes through: every step is there, and once."""
    pytest.importorskip(tracker)
    grown(tmp_path / "run", range(40), rollouts=1)
    arguments = (tmp_path / "run", "--to", tracker, "--log-dir", tmp_path / "logs", *OFFLINE.get(tracker, []))
    draw = np.random.default_rng(11)
    for _ in range(14):
        process = started(*arguments)
        begun = tmp_path / "state" / "push"
        until = time.monotonic() + 60
        while process.poll() is None and not any(begun.glob("*.json")) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 6))
        process.kill()
        process.communicate(timeout=60)
    process = started(*arguments)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    steps = {name: [step for step, _ in curve] for name, curve in held(tracker, tmp_path / "logs").items()}
    assert steps["board/reward/mean"] == [*range(40)]


def waited(process: subprocess.Popen[str], tmp_path: Path, last: int) -> None:
    """Until the process has pushed a step."""
    until = time.monotonic() + 60
    while True:
        notes = [json.loads(path.read_bytes()) for path in (tmp_path / "state").glob("push/*.json")]
        if any(max(note["last"] or 0, note["going"] or 0) >= last for note in notes):
            return
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_growing_run_is_followed(tmp_path: Path) -> None:
    """Steps are pushed as they become complete, the last once nothing was written for a while; Ctrl+C ends it in order."""
    (tmp_path / "run").mkdir()
    arguments = ("--to", "tensorboard", "--log-dir", tmp_path / "tb", "--follow", "--quiet", 2)
    process = started(tmp_path / "run", *arguments)
    try:
        for rank in (0, 1):
            grown(tmp_path / "run", range(3), rank=rank)
        waited(process, tmp_path, 2)
        with RolloutRecorder(tmp_path / "run") as recorder:
            for step in range(3, 6):
                recorder.write(step=step, response="a", reward=1.0)
                recorder.flush()
            waited(process, tmp_path, 5)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
    finally:
        process.kill()

    assert process.returncode == 0, errors
    assert "Pushed 6 steps" in errors
    assert in_tensorboard(tmp_path / "tb" / "run") == expected(tmp_path / "run", np.float32)
    assert [*texts_in_tensorboard(tmp_path / "tb" / "run")["board/findings"]] == [5]


def test_a_step_that_may_still_be_written_is_held_back(tmp_path: Path) -> None:
    """The last step of a run that is being written waits; it is pushed once the recorder has closed its shard."""
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume", "--quiet", 1000)
    with RolloutRecorder(tmp_path / "run") as recorder:
        for step in range(3):
            recorder.write(step=step, response="a", reward=1.0)
        recorder.flush()
        first, errors = pushed(*arguments)
        recorder.write(step=2, response="a", reward=3.0)
    second, _ = pushed(*arguments)

    assert [line["step"] for line in lines(first)] == [0, 1]
    assert "1 step held back" in errors
    assert [(line["step"], line["board/reward/mean"]) for line in lines(second)] == [(2, 2.0)]


def test_ctrl_c_in_the_middle_ends_between_two_steps(tmp_path: Path) -> None:
    """An interrupted push says how far it came and goes on there the next time."""
    grown(tmp_path / "run", range(400))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume")
    process = started(*arguments, output=tmp_path / "first")
    waited(process, tmp_path, 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    first = (tmp_path / "first").read_text()
    second, later = pushed(*arguments)

    assert process.returncode == 130, errors
    assert f"Pushed {len(lines(first))} steps" in errors
    assert [line["step"] for line in lines(first + second)] == [*range(400)]
    assert "stopped in step" not in later


MISSING = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "tensorboard":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from board.cli.main import main
main(["push", sys.argv[1], "--to", "tensorboard"])
"""


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    """The command says what to install, and nothing counts as pushed."""
    grown(tmp_path / "run", range(2))
    command = [sys.executable, "-c", MISSING, str(tmp_path / "run")]
    ended = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True
    )

    assert (ended.returncode, ended.stdout) == (3, "")
    assert "pip install tensorboard" in ended.stderr
    assert "Traceback" not in ended.stderr
    pushed(tmp_path / "run", "--to", "tensorboard", "--log-dir", tmp_path / "tb")
    assert in_tensorboard(tmp_path / "tb" / "run") == expected(tmp_path / "run", np.float32)


def test_a_tracker_that_fails_in_the_middle(tmp_path: Path) -> None:
    """Nobody reads the other end of standard output any more: the command says so, and what was pushed stays noted."""
    grown(tmp_path / "run", range(300))
    with started(tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--resume") as process:
        assert process.stdout
        assert process.stderr
        for _ in range(20):
            process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()

    assert process.returncode == 3
    assert "stdout failed (BrokenPipeError" in errors
    assert "stay noted" in errors
    output, _ = pushed(tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume")
    steps = [line["step"] for line in lines(output)]
    assert steps == [*range(steps[0], 300)]
    assert steps[0] > 0


def test_what_was_printed_is_printed_again(tmp_path: Path) -> None:
    """Nobody knows who read the first: each call prints every step, until it is asked to go on where the last such call ended."""
    grown(tmp_path / "run", range(3))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples")
    outputs = [pushed(*arguments, *more)[0] for more in ([], [], ["--resume"], ["--resume"], [])]
    grown(tmp_path / "run", range(3, 5))
    outputs.append(pushed(*arguments, "--resume")[0])

    printed = [[line["step"] for line in lines(output)] for output in outputs]
    assert printed == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [], [0, 1, 2], [3, 4]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("more", [[], ["--resume"]], ids=["", "resume"])
def test_a_full_disk_is_a_failure(tmp_path: Path, more: list[str]) -> None:
    """What standard output did not take is not pushed: an exit status of its own, and the next call prints it."""
    grown(tmp_path / "run", range(3))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", *more)
    full = started(*arguments, output=Path("/dev/full"))
    _, errors = full.communicate(timeout=60)
    output, _ = pushed(*arguments)

    assert full.returncode == 3
    assert "No space left on device" in errors
    assert "Traceback" not in errors
    assert [line["step"] for line in lines(output)] == [0, 1, 2]


def test_standard_output_that_is_closed(tmp_path: Path) -> None:
    """Without a standard output the command says so."""
    grown(tmp_path / "run", range(2))
    command = f"exec {sys.executable} -m board push {tmp_path}/run --to stdout >&-"
    ended = subprocess.run(["sh", "-c", command], cwd=REPOSITORY, stderr=subprocess.PIPE, text=True, timeout=60)

    assert ended.returncode == 3
    assert ended.stderr == "Error: There is no standard output to write to: it was closed.\n"


def test_what_is_wrong_with_the_numbers_is_among_the_findings(tmp_path: Path) -> None:
    """What the doctor finds goes with the step of the first rollout that shows it."""
    with RolloutRecorder(tmp_path / "run") as recorder:
        for step in range(3):
            logprobs = [-1.0, 0.5 if step else -0.5]
            recorder.write(step=step, response="ab", response_tokens=["a", "b"], logprobs=logprobs, reward=1.0)
    (wrong,) = [one for one in run_checks(open_run(tmp_path / "run")).findings if one.check.severity == "error"]
    output, _ = pushed(tmp_path / "run", "--to", "stdout", "--format", "jsonl")
    found = [line for line in map(json.loads, output.splitlines()) if line.get("examples") == "board/findings"]

    said = {line["step"]: [row["finding"] for row in line["rows"]] for line in found}
    assert f"error: {wrong.check.title}: {wrong.what}" in said[1]


WRONG: dict[str, tuple[list[str], int, str]] = {
    "no such run": (["{tmp}/nowhere", "--to", "stdout"], 2, "Error: "),
    "no shard": (["{tmp}", "--to", "stdout"], 2, "Error: "),
    "a file in the way": (["{sample}", "--to", "tensorboard", "--log-dir", "{tmp}/file"], 3, "tensorboard failed"),
    "an option of another tracker": (["{sample}", "--to", "stdout", "--project", "p"], 2, "stdout takes no --project"),
    "a tracker nobody knows": (["{sample}", "--to", "comet"], 2, "comet"),
    "no tracker": (["{sample}"], 2, "--to"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG)
def test_what_goes_wrong_is_one_clear_sentence(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    """No traceback, nothing on standard output, and an exit status that tells."""
    (tmp_path / "file").write_text("in the way")
    output, errors = pushed(*(one.format(tmp=tmp_path, sample=SAMPLE) for one in arguments), code=code)

    assert output == ""
    assert message in errors
    assert "Traceback" not in errors


def test_an_evaluation_goes_with_the_step(tmp_path: Path) -> None:
    """A run with rollouts of both splits pushes the evaluation's reward beside the training's, at the steps that have one."""
    with RolloutRecorder(tmp_path / "run") as recorder:
        for step in range(4):
            recorder.write(step=step, response="a", reward=1.0)
            if step % 2:
                recorder.write(step=step, response="b", reward=5.0, split="evaluation")
    output, _ = pushed(tmp_path / "run", "--to", "stdout", "--format", "jsonl")

    found = lines(output)
    assert [line.get("board/evaluation/mean") for line in found] == [None, 5.0, None, 5.0]
    assert [line["board/reward/mean"] for line in found] == [1.0] * 4
    assert "5.0" not in json.dumps([line for line in map(json.loads, output.splitlines()) if "examples" in line])
