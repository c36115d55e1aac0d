"""Findings as conditions of the filter: DuckDB takes them, and they hold for the rollouts and steps that are meant."""

from pathlib import Path

from hacked import hacked_rows
from rows import write_run

from board.findings import messages
from board.findings.checks.contract import EvidencePlace
from board.findings.contract import Finding, TokenPlace
from board.runs.opening import open_run
from board.sql.chips import chip
from board.sql.condition import matching


def finding(rollouts: tuple[EvidencePlace, ...], tokens: tuple[TokenPlace, ...] = ()) -> Finding:
    """A finding with that evidence, of steps 3 to 5."""
    return Finding("k", "note", "", "", 3, 5, 1.0, "", "", 1.0, rollouts, tokens, "", "", ())


def test_its_rollouts_are_those_of_its_lines(tmp_path: Path) -> None:
    """Of two shards, with a quote in a name, named twice and as a token's; a shard alone is no rollout."""
    run = open_run(write_run(tmp_path / "run", {"it's.jsonl": hacked_rows(2), "b.jsonl": hacked_rows(2)}))
    a, b = EvidencePlace("it's.jsonl:2", 0), EvidencePlace("b.jsonl:3", 0)
    found = finding((a, a, EvidencePlace("b.jsonl")), (TokenPlace(b, 0),))

    held = matching(run, chip(messages.condition_of_rollouts(found)).sql)

    assert run.sources(run.frame.index.to_numpy()[held]) == ["b.jsonl:3", "it's.jsonl:2"]
    assert messages.condition_of_rollouts(finding((EvidencePlace("b.jsonl"),))) == ""


def test_its_steps_are_those_it_spans(tmp_path: Path) -> None:
    """The first and the last are among them."""
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": hacked_rows(8)}))

    held = matching(run, chip(messages.condition_of_steps(finding(()))).sql)

    assert set(run.frame["step"][held]) == {3, 4, 5}
