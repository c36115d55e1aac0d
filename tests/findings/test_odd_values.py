"""Runs whose rows hold values of odd types: every kind, every check and every metric answers, and what has nothing to do with them stays."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from rows import write_run

from board import open_run
from board.analysis.steps.step_metrics import per_step_values
from board.cli.main import main
from board.errors import RunNotFound
from board.findings import messages as said_of_findings
from board.findings.all_kinds import KINDS
from board.findings.checks import all_checks
from board.findings.checks import messages as said_of_checks
from board.findings.checks.all_checks import run_checks
from board.findings.checks.contract import CheckReport
from board.findings.checks.evidence import Evidence
from board.findings.context import Context
from board.findings.contract import FindingsReport, Limits
from board.findings.scan import find_all
from board.schema import DISCARD_FLAGS, NATIVE, TOKEN_IDS

ODD: Final[dict[str, Any]] = {
    "int": 1, "float": 0.5, "large": 120, "huge": 10**400, "negative": -3, "nan": math.nan, "infinite": math.inf, "bool": True,
    "empty text": "", "text": "x", "texts": ["a", "b", "c"], "nested": [[1], [2], [3]], "object": {"a": 1}, "empty list": [],
    "null": None, "longer": [0.5] * 7,
}  # fmt: skip
FIELDS: Final = (
    *(column.name for column in NATIVE if column.name != "step"),
    *("truncated", "finish_reason", "weight_version", "time"),
    DISCARD_FLAGS[0],
    TOKEN_IDS[0],
)

SOME: Final = 6
"""Fields that one run is odd in."""


def rows_of(steps: int = 3, members: int = 4) -> list[dict[str, Any]]:
    """Groups of four with every field."""
    return [
        {
            **{column.name: [-0.5, -1.0, 1.0] for column in NATIVE if column.kind == "token_metric"},
            **{"step": step, "prompt": f"p{step}", "response": "a b c", "response_tokens": ["a", " b", " c"]},
            **{"reward": float(one % 3), "valid_reward": 1.0, "ref_reward": 0.5, "ground_truth": "42", "ref_response": "a"},
            **{"loss_mask": [1, 1, 1], "group_id": f"g{step}", "prompt_length": 5, "truncated": False, "finish_reason": "stop"},
        }
        for step in range(steps)
        for one in range(members)
    ]


def with_odd(field: str, value: Any, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, each with the value in the field."""
    return [one | {field: value} for one in rows]


@pytest.mark.parametrize("at", range(0, len(FIELDS), SOME), ids=lambda at: " ".join(FIELDS[at : at + SOME]))
def test_all_rows_of_one_run(at: int, tmp_path: Path) -> None:
    """Whatever odd values stand in a field, no kind and no check fails, in a run where each step holds another of them, field by field."""
    odd = [(field, value) for field in FIELDS[at : at + SOME] for value in ODD.values()]
    rows = [one | {"step": 3 * nth + one["step"]} for nth, held in enumerate(odd) for one in with_odd(*held, rows_of())]
    _looks(write_run(tmp_path / "run", {"a.jsonl": rows}))


@pytest.mark.parametrize("value", ODD)
def test_one_row_of_each_field(value: str, tmp_path: Path) -> None:
    """A value in one row of each field, a row a field, leaves the other rows' findings and checks answered."""
    rows = rows_of(len(FIELDS) // 2)
    for at, field in enumerate(FIELDS):
        rows[at][field] = ODD[value]
    _looks(write_run(tmp_path / "run", {"a.jsonl": rows}))


def test_commands_answer_where_one_row_is_odd(tmp_path: Path) -> None:
    """One run that has, of each field, a row with every odd value among sound rows: no command fails there."""
    odd = [rows_of(1, 1)[0] | {field: value} for field in FIELDS for value in ODD.values()]
    _answers(write_run(tmp_path / "run", {"a.jsonl": [*rows_of(), *(one | {"step": at // 8} for at, one in enumerate(odd))]}))


@pytest.mark.parametrize("value", ODD)
def test_all_rows_of_every_field(value: str, tmp_path: Path) -> None:
    """A value in every row of every field but the tokens and the response, which make a row."""
    rows = rows_of()
    for field in FIELDS:
        if field not in ("response", "response_tokens", "prompt"):
            rows = with_odd(field, ODD[value], rows)
    _answers(write_run(tmp_path / "run", {"a.jsonl": rows}))


def _answers(folder: Path) -> None:
    """As `_looks`, and no command ended in anything but an answer: `findings` and `check` print what was looked for there."""
    report, checks = _looks(folder)
    assert said_of_findings.as_text(report)
    assert said_of_checks.as_text(checks)
    for name in (["summary"], ["steps"], ["metrics"], ["push", "--to", "stdout", "--format", "jsonl"]):
        ended = CliRunner().invoke(main, [name[0], str(folder), *name[1:]])
        assert isinstance(ended.exception, SystemExit | None), (name, ended.exception)
        assert ended.exit_code in (0, 1), (name, ended.output)


def _looks(folder: Path) -> tuple[FindingsReport, CheckReport]:
    """No kind and no check of the run failed, and no metric."""
    run = open_run(folder)
    report, checks = find_all(run), run_checks(run)
    assert len(report.looked_for) + len(report.unable) == len(KINDS)
    said = [reason for _, reason in (*report.unable, *checks.unable)]
    assert [one for one in said if one.startswith("it failed")] == []
    assert not per_step_values(run).columns.has_duplicates
    return report, checks


@pytest.mark.parametrize("others", ["as they are", "without it"])
@pytest.mark.parametrize(("field", "value"), [("loss_mask", 1), ("truncated", 120), ("values", "x"), ("logprobs", {"a": 1})])
def test_one_odd_row_leaves_the_other_findings(field: str, value: Any, others: str, tmp_path: Path) -> None:
    """What is found in a run is found as well where one row has a value of another type, whether or not others have the field."""
    rows = [one | {"reward": 1.0} for one in rows_of(12, 8)]
    if others == "without it":
        rows = [{name: held for name, held in one.items() if name != field} for one in rows]
    sound = find_all(open_run(write_run(tmp_path / "sound", {"a.jsonl": rows})))
    rows[50] = rows[50] | {field: value}
    odd = open_run(write_run(tmp_path / "odd", {"a.jsonl": rows}))
    report = find_all(odd)
    assert {one.id for one in sound.findings} <= {one.id for one in report.findings}
    assert [reason for _, reason in report.unable if reason.startswith("it failed")] == []
    if field != "truncated":
        assert f"a.jsonl:51: {field} is not a list of numbers: read as text" in [str(one) for one in odd.report.problems]


def test_a_kind_that_fails_cannot_tell(tmp_path: Path) -> None:
    """One kind's fault is its own reason; the others are looked for. A file that is gone ends all."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows_of()}))

    def fails(_context: Context, _limits: Limits) -> None:
        json.loads("{")

    def loses_a_file(_context: Context, _limits: Limits) -> None:
        raise RunNotFound("gone")

    broken = replace(KINDS[0], run=fails, needs=())
    report = find_all(run, kinds=(broken, *KINDS[1:]))
    assert dict(report.unable)[broken.name].startswith("it failed at what the rows hold: JSONDecodeError: Expecting")
    assert set(report.looked_for) == set(find_all(run).looked_for) - {broken.name}
    with pytest.raises(RunNotFound):
        find_all(run, kinds=(replace(broken, run=loses_a_file),))


def test_a_check_that_fails_cannot_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One check's fault is its own reason; the others are run."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows_of()}))

    def fails(evidence: Evidence) -> None:
        evidence.frame["no such"]

    first, *others = all_checks.CHECKS
    monkeypatch.setattr(all_checks, "CHECKS", (replace(first, run=fails, needs=()), *others))
    assert {check.name: reason for check, reason in run_checks(run).unable}[first.name].startswith(
        "it failed at what the rows hold"
    )
