"""Tests of the findings of a run that is followed: a kind is told again only where it begins after all that was there when it was told."""

from pathlib import Path

import pytest
from looked_at import opened

from board.push.examples import Links
from board.push.followed_findings import FollowedFindings
from board.push.told_findings import ToldFinding


def told_finding(kind: str, step: int) -> ToldFinding:
    """A finding of a kind that begins at a step."""
    return ToldFinding(f"{kind}@{step}", step, "warning", kind, kind, {})


CASES = {
    "a step that moved a little is no other finding": ([("a", 3)], [("a", 6)], []),
    "what begins after all that was there is another": ([("a", 3)], [("a", 11)], ["a@11"]),
    "other kinds are told": ([("a", 3)], [("b", 3), ("a", 3)], ["b@3"]),
    "a negative step is one too": ([], [("a", -2)], ["a@-2"]),
}


@pytest.mark.parametrize(("before", "now", "expected"), CASES.values(), ids=CASES)
def test_a_kind_is_told_once(
    tmp_path: Path, before: list[tuple[str, int]], now: list[tuple[str, int]], expected: list[str]
) -> None:
    """The run has steps 0 to 9 when it is told of first."""
    run = opened(tmp_path / "run", [{"step": step, "response": "a", "reward": 1.0} for step in range(10)])
    looks = FollowedFindings(tmp_path / "run", {"tokenizer": None}, Links("", "run"))
    looks.fresh([told_finding(*one) for one in before], run)

    assert [one.name for one in looks.fresh([told_finding(*one) for one in now], run)] == expected
