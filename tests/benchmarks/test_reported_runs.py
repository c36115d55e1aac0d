"""Tests of the runs with reported faults: each is written small, opens whole, and its truth is measured from its rows."""

import json
from pathlib import Path

import pytest

from benchmarks.findings.reported.runs import CLEAN, FAULTS, Case, write
from benchmarks.findings.reported.scoring import score
from board import open_run


@pytest.mark.parametrize("kind", [*CLEAN, *FAULTS])
def test_every_kind_is_written_and_opens(tmp_path: Path, kind: str) -> None:
    """All rows of a run load, it is small, and its truth stands beside it, not in it."""
    truth = write(Case(kind, 1), tmp_path)

    opened = open_run(tmp_path / "run")
    assert len(opened.frame) == truth["rollouts"]
    assert sum(path.stat().st_size for path in (tmp_path / "run").iterdir()) < 1_600_000
    assert all(path.suffix == ".jsonl" for path in (tmp_path / "run").iterdir())
    assert json.loads((tmp_path / "truth.json").read_text())["kind"] == kind
    if kind in FAULTS:
        assert truth["rollouts_within"] > 0
        assert set(opened.frame["step"]) >= {truth["first"], truth["last"]}


def test_one_seed_writes_one_run(tmp_path: Path) -> None:
    """The same case is the same bytes again."""
    for name in "ab":
        write(Case("stale_rows", 0), tmp_path / name)

    assert (tmp_path / "a/run/rollouts.jsonl").read_bytes() == (tmp_path / "b/run/rollouts.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("first_step", "last_step", "title", "found"),
    [
        pytest.param(22, 40, "The reward falls", True, id="two steps late"),
        pytest.param(24, 40, "The reward falls", False, id="begins too late"),
        pytest.param(20, 30, "The reward falls", False, id="ends too early"),
        pytest.param(20, 40, "The length falls", False, id="another thing"),
    ],
)
def test_a_finding_counts_by_words_and_dates(first_step: int, last_step: int, title: str, found: bool) -> None:
    """It names the fault, and its first and last step are within two of the fault's."""
    about = {"case": "c", "kind": "k", "fault": "k", "words": ["reward + fall|drop"], "consequences": [], "severity": "warning"}
    truth = about | {"steps": list(range(41)), "first": 20, "grown": 21, "last_least": 40, "last": 40}
    said = {"kind": "x", "severity": "warning", "title": title, "effect": "", "signs": []}

    scored = score({"findings": [said | {"first_step": first_step, "last_step": last_step}]}, truth)

    assert scored.found == found
    assert scored.named == ("reward" in title)
