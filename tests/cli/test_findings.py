"""Tests of the command `findings`: what it prints, the shape of its JSON, and its exit status."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rows import row, write_run

from board.cli.main import main

SAMPLES = Path(__file__).parents[2] / "rollout_samples"


def findings(*arguments: str | Path) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, ["findings", *map(str, arguments)])


def test_json_of_the_hacked_run() -> None:
    """One object in rank order; evidence by shard and line, lines from 1; every kind was looked for or says why not."""
    said = json.loads(findings(SAMPLES / "tiny_ppo_hacked", "--json").stdout)

    assert (said["version"], Path(said["run"]).name) == (1, "tiny_ppo_hacked")
    first = said["findings"][0]
    needed = {
        "kind",
        "severity",
        "title",
        "first_step",
        "last_step",
        "effect",
        "threshold",
        "source",
        "signs",
        "rollouts",
        "tokens",
        "next",
    }
    assert needed <= set(first)
    assert first["severity"] == "warning"
    assert all(place["line"] >= 1 and place["shard"].startswith("rank_") for place in first["rollouts"])
    assert not {*said["looked_for"]} & {one["kind"] for one in said["unable"]}
    assert "proxy_gold_gap" in said["looked_for"]


@pytest.mark.parametrize(("fail_on", "status"), [(None, 0), ("warning", 1), ("error", 0), ("note", 1)])
def test_status(fail_on: str | None, status: int) -> None:
    """The command fails from the severity on that is asked for, and else never."""
    assert findings(SAMPLES / "tiny_ppo_hacked", *(["--fail-on", fail_on] if fail_on else [])).exit_code == status


def test_text_holds_no_commands_for_the_terminal(tmp_path: Path) -> None:
    """What is printed of a run is printable, and the last line counts what was found."""
    run = write_run(tmp_path, {"a\x1b[31m.jsonl": [row(0, reward=1.0), b"\x1b]0;owned\x07"]})
    said = findings(run).stdout

    assert "\x1b" not in said
    assert "1 error" in said.splitlines()[-1]
