"""YAML of strangers: plain values come out, nothing is executed, and no text takes more than its share."""

import math
from typing import Any

import pytest

from board.errors import RowRefused
from board.sources.yaml_text import MOST_LEVELS, MOST_NODES, parse

LOUD = "!!python/object/apply:os.system ['exit 1']"

READ: dict[str, tuple[str, Any]] = {
    "nothing": ("", None),
    "numbers as Python writes them": ("[1e-6, 1.0E-06, -3, .5, 1_000, 0x10]", [1e-6, 1e-6, -3, 0.5, 1000, 16]),
    "no number": ("['1e-6', 1:30, 007, 1.2.3, e5]", ["1e-6", "1:30", "007", "1.2.3", "e5"]),
    "a number of too many digits": ("[" + "9" * 5000 + "]", ["9" * 5000]),
    "a date is a text": ("[2024-01-01]", ["2024-01-01"]),
    "truth and nothing": ("[true, no, null, ~]", [True, False, None, None]),
    "what Python objects are written with": (
        "!!python/object:argparse.Namespace {lr: 1e-3, t: !!python/tuple [1, 2]}",
        {"lr": 1e-3, "t": [1, 2]},
    ),
    "a call is the list it is written with": (f"x: {LOUD}", {"x": ["exit 1"]}),
    "an alias": ("{a: &a {x: 1}, b: *a, c: {<<: *a, y: 2}}", {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}),
}


@pytest.mark.parametrize("name", READ)
def test_read(name: str) -> None:
    """Settings as trainers write them."""
    text, expected = READ[name]

    assert parse(text.encode()) == expected


def test_not_a_number_and_infinity() -> None:
    """Both are numbers in YAML."""
    nan, infinity = parse(b"[.nan, -.inf]")

    assert math.isnan(nan)
    assert infinity == -math.inf


def laughs(levels: int, of: str) -> str:
    """Each of so many lines is ten times the one before."""
    lines = [f"a{at}: &a{at} {of.format(', '.join([f'*a{at - 1}'] * 10))}" for at in range(1, levels)]
    return "\n".join(["a0: &a0 {x: 1}", *lines])


REFUSED: dict[str, tuple[str, str]] = {
    "a billion laughs": (laughs(10, "[{}]"), f"more than {MOST_NODES:,} values"),
    "a billion merged": (laughs(10, "{{<<: [{}]}}"), f"more than {MOST_NODES:,} values"),
    "many values": ("[" + "1," * (MOST_NODES + 1) + "]", "values"),
    "deep": ("[" * 100_000, f"more than {MOST_LEVELS} levels"),
    "deep in blocks": ("\n".join(f"{' ' * at}a:" for at in range(MOST_LEVELS + 5)), "levels"),
    "holds itself": ("a: &a [*a]", "holds itself"),
    "an alias of nothing": ("a: *b", "alias"),
    "two documents": ("a: 1\n---\nb: 2", "line 2"),
    "no YAML": ("a: [", "line"),
    "a list for a name": ("? [a]\n: 1", "unhashable"),
    "a tag that lies": ("!!int x", "invalid literal"),
    "a zero byte": ("a: \0", "unacceptable character"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """Each with a reason in one line."""
    text, reason = REFUSED[name]

    with pytest.raises(RowRefused, match=reason) as refused:
        parse(text.encode())

    assert "\n" not in str(refused.value)
