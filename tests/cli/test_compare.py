"""Tests of the command `compare`: what it prints, the shape of its JSON, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from metrics_page import scalars
from rows import add_run, row

from board.cli.endings import ExitCode
from board.cli.main import main

SAMPLES = Path(__file__).parents[2] / "rollout_samples"


def compare(*arguments: str | Path) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def two_runs(root: Path) -> tuple[Path, Path]:
    """B is rewarded half a point more on twenty prompts at two steps; A has one more; their settings differ in one number and a secret."""
    for name, more, lr in (("a", 0.0, "1e-6"), ("b", 0.5, "2e-6")):
        rows = [row(step, prompt=f"prompt\n{at}", reward=at / 10 + more) for step in (3, 4) for at in range(20)]
        run = add_run(root, name, [*rows, *([row(3, prompt="alone", reward=1.0)] if name == "a" else [])])
        (run / "config.yaml").write_text(f"optim: {{lr: {lr}, eps: .inf}}\nseed: 1\nwandb_api_key: {name}\n{name}: .nan\n")
    return root / "a", root / "b"


def test_json(tmp_path: Path) -> None:
    """One object of the shape that is promised, with numbers that any reader of JSON takes."""
    a, b = two_runs(tmp_path)

    said = json.loads(compare(a, b, "--json").stdout, parse_constant=pytest.fail)

    assert [*said] == ["version", "runs", "metric", "paired", "by_step", "settings", "notes"]
    assert said["version"] == 1
    assert said["runs"][0] == {
        "run": str(a),
        "split": "train",
        "rollouts": 41,
        "steps": 2,
        "last": pytest.approx(0.95),
        "highest": pytest.approx(20 / 21),
    }
    assert said["metric"] == "reward"
    assert said["paired"].pop("unpaired") == {"a": 1, "b": 0}
    assert said["paired"] == pytest.approx(
        {"prompts": 20, "difference": 0.5, "low": 0.5, "high": 0.5, "level": 0.95, "win": 20, "tie": 0, "loss": 0}
    )
    assert [one["step"] for one in said["by_step"]] == [3, 4]
    assert [*said["by_step"][0]] == ["step", "difference", "low", "high", "prompts"]
    assert said["settings"] == {"a": {"a": "nan"}, "b": {"b": "nan"}, "optim.lr": {"a": 1e-6, "b": 2e-6}}
    assert said["notes"] == []


def test_text(tmp_path: Path) -> None:
    """The difference, its steps, the prompts, the settings; what a run is asked begins no line of its own."""
    a, b = two_runs(tmp_path)

    said = compare(a, b).stdout

    for part in (
        "reward, B minus A, on 20 prompts that both saw at the same step:",
        "+0.500  95% interval +0.500 to +0.500",
        "B above A on 20, equal on 0, below on 0",
        "1 prompt of A, 0 of B",
        "By step:\n         3 ",
        "step 3: prompt\\n",
        "  optim.lr: 1e-06 | 2e-06",
        '  a: "nan" | (not set)',
    ):
        assert part in said
    assert "Notes:" not in said


def test_last_visits(tmp_path: Path) -> None:
    """Runs that were asked the same at other steps are compared on request, with no table of steps."""
    a = add_run(tmp_path, "a", [row(1, prompt="p", reward=1.0), row(1, prompt="q", reward=1.0)])
    b = add_run(tmp_path, "b", [row(2, prompt="p", reward=2.0), row(2, prompt="q", reward=4.0)])

    same, last = (json.loads(compare(a, b, "--json", *options).stdout) for options in ([], ["--last-visit"]))

    assert (same["paired"]["prompts"], same["paired"]["difference"], same["paired"]["unpaired"]) == (0, None, {"a": 2, "b": 2})
    assert any("compare “last visits”" in note for note in same["notes"])
    assert (last["paired"]["prompts"], last["paired"]["difference"], last["by_step"]) == (2, 2.0, [])
    assert "at its last step in either run" in compare(a, b, "--last-visit").stdout


def test_logged_settings(tmp_path: Path) -> None:
    """Settings that runs logged to trackers differ as those of files do; a tracker's file that cannot be read is told."""
    runs = [add_run(tmp_path, name, [row(3, prompt="p", reward=1.0)]) for name in "ab"]
    for run, critic in zip(runs, ("mlp", "linear"), strict=True):
        scalars(run, [{"step": 1, "dr_grpo/critic_type": critic, "accelerate/device": "cuda:0", "loss": 1.0}])
    said = json.loads(compare(*runs, "--json").stdout)
    assert said["settings"] == {"dr_grpo/critic_type": {"a": "mlp", "b": "linear"}}
    few = said["notes"]

    (runs[1] / "more").mkdir()
    (runs[1] / "more" / "metrics.jsonl").write_bytes(b'\xff\xfe no\n{"step": 1}\n')
    *others, note = json.loads(compare(*runs, "--json").stdout)["notes"]
    assert others == few
    assert "more/metrics.jsonl" in note


def test_logged_keys_and_passwords_are_not_shown(tmp_path: Path) -> None:
    """Whatever stands between the words of their names: in no command, page or difference."""
    runs = [add_run(tmp_path, name, [row(3, prompt="p", reward=1.0)]) for name in "ab"]
    names = ("wandb_api_key", "accelerate/api_key", "hub.hf_token", "tracker-password")
    for run in runs:
        scalars(run, [{"step": 1, "device": run.name, **dict.fromkeys(names, f"hush-{run.name}")}])

    said = compare(*runs, "--json").stdout
    assert json.loads(said)["settings"] == {"device": {"a": "a", "b": "b"}}
    assert "hush" not in said
    listed = CliRunner().invoke(main, ["metrics", str(runs[0])])
    assert "hush" not in listed.output
    assert "device" in listed.output


def test_logged_settings_may_lie_elsewhere(tmp_path: Path) -> None:
    """--scalars names a folder of what trackers logged, by the runs' names."""
    runs = [add_run(tmp_path / "runs", name, [row(3, prompt="p", reward=1.0)]) for name in "ab"]
    for run in runs:
        (tmp_path / "logs" / run.name).mkdir(parents=True)
        scalars(tmp_path / "logs" / run.name, [{"step": 1, "accelerate/device": f"cuda:{run.name}"}])

    said = json.loads(compare(*runs, "--json", "--scalars", tmp_path / "logs").stdout)

    assert said["settings"] == {"accelerate/device": {"a": "cuda:a", "b": "cuda:b"}}


def test_the_runs_that_ship() -> None:
    """The hacked run is paid more than the honest one on the same prompts, beyond doubt."""
    said: dict[str, Any] = json.loads(compare(SAMPLES / "tiny_ppo_rhyme", SAMPLES / "tiny_ppo_hacked", "--json").stdout)

    assert said["paired"]["low"] > 1
    assert said["notes"] == ["No settings were found beside A and B: none are compared."]


FAILURES: dict[str, tuple[list[str], str]] = {
    "no run": (["a", "deep/none"], "deep/none"),
    "no such number": (["a", "a", "--metric", "entropy"], "--metric: a: This needs entropy"),
    "one run": (["a"], "RUN_B"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_nothing_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Arguments that cannot be used end with 2 and a sentence that names them."""
    monkeypatch.chdir(tmp_path)
    add_run(tmp_path, "a", [row(0, prompt="p", reward=1.0)])
    arguments, reason = FAILURES[name]

    ended = compare(*arguments)

    assert ended.exit_code == ExitCode.CANNOT
    assert reason in ended.stderr
    assert not ended.stdout
