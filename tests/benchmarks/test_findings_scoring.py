"""Tests of how a findings document is scored, on documents made by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.findings import report
from benchmarks.findings.cases import Plan
from benchmarks.findings.scoring import Score, as_json, score, summarised
from benchmarks.findings.writing import Truth

TRUTH = Truth("gibberish", 20, 5, frozenset({("rank_0.jsonl", 1), ("rank_0.jsonl", 2)}), frozenset({("rank_0.jsonl", 1, 7)}))


def said(kind: str, first: int = 20, *, signs: tuple[str, ...] = (), lines: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    """One finding of a document."""
    rollouts = [{"step": first, "shard": "rank_0.jsonl", "line": line} for line in lines]
    return {
        "kind": kind,
        "severity": "warning",
        "first_step": first,
        "signs": list(signs),
        "rollouts": rollouts,
        "tokens": [],
    } | more


def scored(*findings: dict[str, Any]) -> Score:
    """The score of a document of these findings."""
    return score({"findings": list(findings)}, TRUTH)


@pytest.mark.parametrize(
    ("findings", "found", "found_or_sign"),
    [
        ([], False, False),
        ([said("gibberish")], True, True),
        ([said("a"), said("b"), said("gibberish")], True, True),
        ([said("a"), said("b"), said("c"), said("gibberish")], False, False),
        ([said("a", signs=("gibberish",))], False, True),
        ([said("a"), said("b"), said("c"), said("d", signs=("gibberish",))], False, False),
        ([said("a", signs=("gibberish",)), said("b"), said("c"), said("gibberish")], False, True),
    ],
)
def test_found_among_the_first_three(findings: list[dict[str, Any]], found: bool, found_or_sign: bool) -> None:
    """A kind counts as itself or as another's sign, and only among the three that a reader looks at."""
    one = scored(*findings)

    assert (one.found, one.found_or_sign) == (found, found_or_sign)


@pytest.mark.parametrize(("lines", "precision"), [((), None), ((1, 2), 1.0), ((1, 3), 0.5), ((9,), 0.0)])
def test_precision_is_of_the_rows_that_are_named(lines: tuple[int, ...], precision: float | None) -> None:
    """Rows that do not show it count against the finding; one that names none has no precision."""
    assert scored(said("gibberish", lines=lines)).precision == precision


def test_precision_is_of_the_finding_that_has_the_kind() -> None:
    """What other findings name does not count."""
    assert scored(said("a", lines=(9,)), said("b", signs=("gibberish",), lines=(1,))).precision == 1


def test_tokens_are_compared_by_position() -> None:
    """A token at another place of the right rollout is wrong."""
    tokens = [{"shard": "rank_0.jsonl", "line": 1, "position": at} for at in (7, 8)]

    assert scored(said("gibberish", tokens=tokens)).token_precision == 0.5


@pytest.mark.parametrize(("first", "error"), [(20, 0), (10, 2), (35, 3)])
def test_onset_is_off_by_logged_steps(first: int, error: float) -> None:
    """Early and late count alike, in steps of the log."""
    assert scored(said("gibberish", first)).onset_error == error


def test_summary_is_over_the_runs_of_a_kind() -> None:
    """Shares are of runs, precision the mean of those that have one, the onset's error the median."""
    (one,) = summarised(
        [scored(said("gibberish", lines=(1,))), scored(said("gibberish", 30)), scored(said("a"), said("b", severity="note"))]
    )

    assert one.found == pytest.approx(2 / 3)
    assert (one.runs, one.precision, one.onset_error) == (3, 1.0, 1.0)
    assert one.accusations == 1


def test_report_says_what_missed_its_goal() -> None:
    """Missed kinds are named with what was said instead, and accused clean runs with the accusation."""
    clean = score({"findings": [said("kl_runaway", effect="it grows")]}, Truth("clean", 0, 1, frozenset(), frozenset()))

    text = report.whole([scored(said("a")), clean], Plan(seeds=1), "Measured")

    assert "| `gibberish` | 1 | **0.00** | **0.00** |  |  |  |" in text
    assert "- `gibberish` seed 0  : a@20" in text
    assert "| clean | 1 | **1.00** | 0.00 |" in text
    assert "`kl_runaway` (warning)@20: it grows" in text


def test_report_of_several_strengths() -> None:
    """The goals are of one strength; how often the others are found is a table of its own."""
    one, two = scored(said("gibberish")), scored(said("a"))
    both = [replace(one, strength="medium"), replace(two, strength="mild")]
    text = report.whole(both, Plan(seeds=1, strengths=("mild", "medium")), "Measured")

    assert "| `gibberish` | 1 | 1.00 | 1.00 |" in text
    assert "| found by strength | medium | mild |" in text
    assert "| all | 1.00 | 0.00 |" in text


def test_scores_are_written_with_their_verdict() -> None:
    """Who reads results.json need not know the rule."""
    (written,) = as_json([scored(said("gibberish"))])

    assert written["found"] is True
    assert written["said"][0]["kind"] == "gibberish"


def test_readme_has_a_place_for_the_results() -> None:
    """The file that is committed has the markers that the command looks for."""
    text = Path(report.__file__).with_name("README.md").read_text(encoding="utf-8")

    assert "new" in report.between_markers(text, "new")


@pytest.mark.parametrize("text", ["", report.START, report.END + report.START])
def test_report_needs_both_markers(text: str) -> None:
    """A README without its place for the results is an error, not an overwrite."""
    with pytest.raises(ValueError, match="each once"):
        report.between_markers(text, "new")
