"""Tests of `push`: what reaches each tracker is what the board computes, once."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hacked import STEPS, hacked_rows
from metric_rows import rows_of_a_run, write
from pushed import OFFLINE, SAMPLE, expected, grown, held, in_tensorboard, lines, pushed, started, texts_in_tensorboard
from rows import write_run
from wandb_runs import alerts_in

from board import open_run
from board.analysis.steps.step_metrics import per_step_values
from board.findings.checks.all_checks import run_checks
from board.findings.scan import find_all
from board.metrics.declared import DIALECTS, METRICS
from board.recorder import RolloutRecorder


@pytest.fixture(autouse=True)
def read_once(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample is parsed by whichever test is first."""
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path_factory.getbasetemp() / "pushed"))


def test_the_sample_in_tensorboard_is_what_the_board_computes(tmp_path: Path) -> None:
    """Every curve of the board is there under its name, every step once, to the last bit of a float32; with texts beside them."""
    output, errors = pushed(SAMPLE, "--to", "tensorboard", "--log-dir", tmp_path / "tb", "--board-url", "http://host:8901/")
    folder = tmp_path / "tb" / "tiny_ppo_rhyme"

    assert in_tensorboard(folder) == expected(SAMPLE, np.float32)
    assert output == ""
    assert re.search(r"Pushed 120 steps of \d+ metrics to tensorboard", errors)
    assert str(folder) in errors
    texts = texts_in_tensorboard(folder)
    assert "board/rollouts" in texts
    assert [*texts["board/rollouts"]] == [*range(120)]
    assert all("which: best" in text and "which: worst" in text for text in texts["board/rollouts"].values())
    assert "http://host:8901/responses?run=tiny_ppo_rhyme&step=7&rollout=rank_" in texts["board/rollouts"][7]


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


WHOLE: dict[str, str] = {
    "trl": """objective/kl objective/entropy objective/non_score_reward objective/rlhf_reward objective/scores policy/approxkl_avg
        policy/clipfrac_avg policy/entropy_avg val/ratio val/num_eos_tokens episode""",
    "re-grpo": """rollouts/returns_sum rollouts/returns_mean rollouts/returns_std rollouts/returns_max rollouts/returns_min
        rollouts/returns_best_mean rollouts/kl_mean rollouts/kl_std rollouts/kl_max rollouts/advantages_mean rollouts/advantages_std
        rollouts/total_rollouts final/total_rollouts final/best_mean_return dr_grpo/advantages_variance dr_grpo/advantages_skewness""",
}
"""Of the names that trainers' guides list those that rollouts give; the rest is of the update, of the machine, or of the optimiser."""


@pytest.mark.parametrize(("dialect", "names"), WHOLE.items())
def test_every_name_of_a_guide_that_rollouts_give_is_pushed(dialect: str, names: str, tmp_path: Path) -> None:
    """From rows with every field each is there; what is not pushed is what no rows give."""
    write(tmp_path / "run", rows_of_a_run())
    os.utime(tmp_path / "run" / "rank_0.jsonl", (0, 0))
    output, _ = pushed(tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--names", dialect, "--no-examples")
    found = {name for line in lines(output) for name in line}

    assert set(names.split()) <= found
    assert {name for name, key in DIALECTS[dialect].names.items() if METRICS[key].origin == "rollouts"} <= found


def test_what_a_trainer_logs_once_comes_with_the_last_step() -> None:
    """Of re-grpo's names those of the end of the run are in the last line alone."""
    output, _ = pushed(SAMPLE, "--to", "stdout", "--format", "jsonl", "--names", "re-grpo", "--no-examples")
    lines = [json.loads(line) for line in output.splitlines()]

    assert [line["step"] for line in lines if any(name.startswith("final/") for name in line)] == [lines[-1]["step"]]
    assert lines[-1]["final/total_rollouts"] == lines[-1]["rollouts/total_rollouts"]


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


def test_findings_go_to_the_tracker_once(tmp_path: Path) -> None:
    """As text at their first steps and, in W&B, as alerts; what was told before is not told again, however the run has grown."""
    pytest.importorskip("wandb")
    run = write_run(tmp_path / "run", {"rank_0.jsonl": hacked_rows(20)})
    told_of = {one.id: one for one in find_all(open_run(run)).findings if one.severity != "note"}
    arguments = (run, "--to", "wandb", "--log-dir", tmp_path / "logs", *OFFLINE["wandb"], "--quiet", 0)
    for rows in (20, STEPS):
        write_run(run, {"rank_0.jsonl": hacked_rows(rows)})
        process = started(*arguments)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors

    alerts = [one for path in sorted((tmp_path / "logs").rglob("*.wandb")) for one in alerts_in(path)]
    assert told_of
    assert len({one.title for one in alerts}) == len(alerts)
    assert {one.title[:63] for one in alerts} >= {one.title[:63] for one in told_of.values()}
    assert {one.level for one in alerts} <= {"WARN", "ERROR"}


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


def test_a_step_whose_rollouts_were_all_discarded_has_no_numbers(tmp_path: Path) -> None:
    """It counts as pushed, and nothing is said of it."""
    with RolloutRecorder(tmp_path / "run") as recorder:
        for step in range(3):
            recorder.write(step=step, response="a", reward=1.0, split="discarded" if step == 1 else None)
    output, errors = pushed(tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples")

    assert [line["step"] for line in lines(output)] == [0, 2]
    assert "Pushed 3 steps" in errors
