"""Tests of the command `check`: what it prints, the shape of its JSON, and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rows import row, write_run

from board.cli.main import main
from board.findings.checks.all_checks import CHECKS
from board.text.terminal import printable

SOUND = [row(step, prompt=f"p{step}{i}", response=f"r{step}{i}", reward=1.0) for step in range(6) for i in range(4)]
WARNED = [*SOUND, row(6, prompt="p", reward=None)]
BROKEN: list[Any] = [*WARNED, b"not json"]
NOTED = [*SOUND, row(6, prompt="p", reward=1.0), row(6, prompt="p", reward=1.0)]


def check(*arguments: str | Path) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


STATUS: dict[str, tuple[list[Any], str | None, int]] = {
    "sound": (SOUND, None, 0),
    "sound, strict": (SOUND, "warning", 0),
    "a note, strict": (NOTED, "warning", 0),
    "a warning": (WARNED, None, 0),
    "a warning, lenient": (WARNED, "error", 0),
    "a warning, strict": (WARNED, "warning", 1),
    "an error": (BROKEN, None, 1),
    "an error, strict": (BROKEN, "warning", 1),
}


@pytest.mark.parametrize("name", STATUS)
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_exit_status(tmp_path: Path, name: str, as_json: list[str]) -> None:
    """1 from the severity asked for on, error unless said; 0 otherwise, printed either way."""
    rows, fail_on, wanted = STATUS[name]
    folder = write_run(tmp_path / "run", {"data.jsonl": rows})

    assert check(folder, *as_json, *(["--fail-on", fail_on] if fail_on else [])).exit_code == wanted


CANNOT = {
    "no folder": (["none"], "No folder 'none' here"),
    "nothing in it": (["."], "No rollouts in"),
    "no such severity": ([".", "--fail-on", "note"], "Invalid value for '--fail-on'"),
    "no run": ([], "Missing argument 'RUN'"),
}


@pytest.mark.parametrize("name", CANNOT)
def test_what_cannot_be_examined_ends_with_two(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that cannot be opened and a wrong argument are told from a run with faults, on the error stream alone."""
    monkeypatch.chdir(tmp_path)
    arguments, message = CANNOT[name]

    result = check(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_text_says_what_where_why_and_what_to_do(tmp_path: Path) -> None:
    """Each finding is a paragraph; what passed, what could not tell and the count follow."""
    text = check(write_run(tmp_path / "run", {"data.jsonl": BROKEN})).stdout

    assert text.startswith("error: Lines or files not loaded (refused)\n  what   1 line or file not loaded: is not JSON")
    assert (
        "warning: Rollouts without a reward (missing-rewards)\n  what   1 rollout (4 % of all) without a finite reward\n" in text
    )
    assert "  where  data.jsonl:25\n  why    They enter no mean" in text
    assert "Passed: " in text
    assert "  off-by-one: no rollout has logprobs\n" in text
    assert text.endswith("1 error, 1 warning, 0 notes in 25 rollouts\n")


def test_json_shape(tmp_path: Path) -> None:
    """The JSON has the fields that docs/cli.md lists, and every check is in exactly one of its three lists."""
    folder = write_run(tmp_path / "run", {"data.jsonl": BROKEN})

    shape = json.loads(check(folder, "--json").stdout)

    assert list(shape) == ["version", "run", "rollouts", "counts", "findings", "passed", "unable"]
    assert (shape["version"], shape["run"], shape["rollouts"]) == (1, str(folder), 25)
    assert shape["counts"] == {"error": 1, "warning": 1, "note": 0}
    missing = next(one for one in shape["findings"] if one["check"] == "missing-rewards")
    assert missing == {
        "check": "missing-rewards",
        "severity": "warning",
        "title": "Rollouts without a reward",
        "what": "1 rollout (4 % of all) without a finite reward",
        "rollouts": 1,
        "tokens": None,
        "at_least": False,
        "places": 1,
        "where": ["data.jsonl:25"],
        "why": "They enter no mean, so the curve is that of the others.",
        "remedy": "Write the reward that the update used, also where the scorer failed.",
    }
    told = [*(one["check"] for one in shape["findings"]), *shape["passed"], *(one["check"] for one in shape["unable"])]
    assert sorted(told) == sorted(check.name for check in CHECKS)


def test_hostile_names_reach_no_terminal(tmp_path: Path) -> None:
    """Control characters in a file's name or a key are printed as escapes, in text and in JSON."""
    folder = write_run(tmp_path / "run", {"a\x1b[31m.jsonl": [b'{"\x07key\x9b": 1}', row(0)]})

    for result in (check(folder), check(folder, "--json")):
        assert not {"\x1b", "\x07", "\x9b"} & set(result.stdout)
    assert "a\\x1b[31m.jsonl:1" in check(folder).stdout


def test_printable_keeps_text() -> None:
    """Letters of any script and line ends stay, what moves a cursor or turns a line round does not."""
    assert printable("é 今\nñ") == "é 今\nñ"
    assert printable("a\r\x1b[2Jb\u202ec") == "a\\r\\x1b[2Jb\\u202ec"


def test_check_needs_no_streamlit(tmp_path: Path) -> None:
    """A job in CI examines a run without the board's screen."""
    folder = write_run(tmp_path / "run", {"data.jsonl": SOUND})
    code = f"import sys; sys.modules['streamlit'] = None; from board.cli.main import main; main(['check', {str(folder)!r}])"

    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], env=os.environ, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("command", ["check", "summary"])
def test_a_half_written_file_is_named(tmp_path: Path, command: str) -> None:
    """A file beside shards that has the name of one that is still being written is read by nobody, and named as left out."""
    folder = write_run(tmp_path, {"a.jsonl": SOUND, "b.jsonl.tmp": [row(99)]})

    printed = CliRunner().invoke(main, [command, str(folder)]).output

    assert "b.jsonl.tmp has the name of a file that is still being written" in printed
    assert "99" not in printed
