"""Findings of one cause are one event: who explains whom, and when."""

from collections.abc import Mapping, Sequence

import pytest

from board.findings.checks.contract import Severity
from board.findings.contract import Finding
from board.findings.ranking import merged

STEPS = range(100)


def finding(kind: str, first: int, last: int = 99, severity: Severity = "warning") -> Finding:
    """A finding of that kind and time."""
    return Finding(kind, severity, kind, "", first, last, 1.0, "", "", 5.0, (), (), "", "", ())


def signs(found: Sequence[Finding], explains: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The kinds of each event's signs by the kind of its cause."""
    return {one.kind: [sign.kind for sign in one.signs] for one in merged(found, explains, STEPS, {"falls"})}


LOOPS, CUT, GAP = finding("loops", 40), finding("cut", 42), finding("gap", 38)
EXPLAINS = {"loops": ["cut"], "cut": ["gap"]}

CASES: dict[str, tuple[list[Finding], Mapping[str, Sequence[str]], dict[str, list[str]]]] = {
    "strangers": ([LOOPS, CUT], {}, {"loops": [], "cut": []}),
    "a cause and its sign": ([CUT, LOOPS], EXPLAINS, {"loops": ["cut"]}),
    "a chain": ([LOOPS, CUT, GAP], EXPLAINS, {"loops": ["cut", "gap"]}),
    "too early a sign": ([finding("cut", 10, 20), LOOPS], EXPLAINS, {"cut": [], "loops": []}),
    "a sign much later in the event": ([LOOPS, finding("cut", 80)], EXPLAINS, {"loops": ["cut"]}),
    "a sign after the event": ([finding("loops", 10, 20), finding("cut", 80)], EXPLAINS, {"loops": [], "cut": []}),
    "a circle": ([finding("a", 5), finding("b", 5)], {"a": ["b"], "b": ["a"]}, {"a": ["b"]}),
    "a circle, by what explains most": ([finding(one, 5) for one in "abc"], {"a": ["b"], "b": ["a", "c"]}, {"b": ["a", "c"]}),
    "a circle that another explains": (
        [finding("a", 5), finding("b", 5), finding("z", 5)],
        {"a": ["b"], "b": ["a"], "z": ["b"]},
        {"z": ["a", "b"]},
    ),
    "what is so from the start, and a level left much later": (
        [finding("flat", 0), finding("falls", 40)],
        {"flat": ["falls"]},
        {"flat": [], "falls": []},
    ),
    "what is so from the start, and a level left soon": (
        [finding("flat", 0), finding("falls", 4)],
        {"flat": ["falls"]},
        {"flat": ["falls"]},
    ),
    "what began later, and a level left later still": (
        [finding("flat", 5), finding("falls", 40)],
        {"flat": ["falls"]},
        {"flat": ["falls"]},
    ),
    "two causes": ([finding("x", 39), finding("loops", 42), CUT], {"x": ["cut"], "loops": ["cut"]}, {"x": [], "loops": ["cut"]}),
}


@pytest.mark.parametrize(("found", "explains", "expected"), CASES.values(), ids=CASES)
def test_events(found: list[Finding], explains: Mapping[str, Sequence[str]], expected: dict[str, list[str]]) -> None:
    """A kind that is explained by another that turned with it is its sign; nothing is lost."""
    assert signs(found, explains) == expected


def test_the_worst_of_an_event_is_its_severity() -> None:
    """A note that explains an error is an error."""
    (event,) = merged([finding("note", 5, severity="note"), finding("bad", 5, severity="error")], {"note": ["bad"]}, STEPS)

    assert (event.kind, event.severity) == ("note", "error")
