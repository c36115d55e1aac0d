"""What does not mean the same in runs laid over each other, in sentences."""

from typing import Any

import pytest

from board.analysis.compare.overlay_notes import estimators, lacking, scale


@pytest.mark.parametrize(
    ("ranges", "said"),
    [
        ({"a": 1.0, "b": 10.0}, "It spans 1 in a and 10 in b: these may be on other scales."),
        ({"a": 1.0, "b": 9.0, "c": 2.0}, ""),
        ({"a": 0.0, "b": 10.0}, ""),
        ({"a": 0.0}, ""),
        ({}, ""),
    ],
)
def test_another_scale(ranges: dict[str, float], said: str) -> None:
    """From ten times the width on; a run in which nothing varies has no scale."""
    assert scale(ranges) == said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"a": {"algo.kl_penalty": "k1"}, "b": {"kl_penalty": "k3"}}, "k1 in a, k3 in b"),
        ({"a": {"kl_penalty": "k1"}, "b": {"kl_penalty": "k1"}, "c": {}}, ""),
        ({"a": {"lr": 1}, "b": {}}, ""),
    ],
)
def test_another_estimator(settings: dict[str, dict[str, Any]], said: str) -> None:
    """Where settings name two; a run that says nothing says nothing against it."""
    told = estimators(settings)
    assert (said in told) if said else told == ""


def test_runs_that_lack_a_number() -> None:
    """A few are named."""
    assert lacking([]) == ""
    assert lacking(["a", "b"]) == "Not in a, b."
    assert lacking(["a", "b", "c", "d", "e"]) == "Not in a, b, c and 2 more."
