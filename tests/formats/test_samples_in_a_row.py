"""Tests of rows that hold samples: what is guessed of such a row is read as it was guessed, and each sample is a rollout."""

from typing import Any

import pytest
from golden_runs import flat

from board import formats
from board.errors import RowRefused
from board.formats.contract import Place
from board.formats.mapping import FromPath, HandMapping, Key
from board.formats.mapping_file import parse
from board.formats.suggest_mapping import guess

PLACE = Place("step_3.jsonl", 1)
TEXTS: dict[str, list[dict[str, Any]]] = {
    "an object in each sample": [{"gen": {"text": text, "n": 2}, "reward": at} for at, text in enumerate("ab")],
    "an object in an object": [{"gen": {"out": {"text": text}}, "reward": at} for at, text in enumerate("ab")],
    "parts of a reward in an object": [
        {"text": text, "reward": {"right": at / 2, "tidy": at / 2}} for at, text in enumerate("ab")
    ],
}


def opened(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The rollouts in a row as the guess at it maps it, flat."""
    return [flat(one) for one in formats.read(row, parse(guess([row, row], PLACE.name)), PLACE)]


@pytest.mark.parametrize("samples", TEXTS.values(), ids=TEXTS)
def test_what_each_sample_holds(samples: list[dict[str, Any]]) -> None:
    """A path leads through the list once, however deep the objects in it."""
    rows = opened({"prompt": "p", "responses": samples})

    assert [(row["prompt"], row["response"], row["reward"]) for row in rows] == [("p", "a", 0.0), ("p", "b", 1.0)]


@pytest.mark.parametrize("samples", [[None, None], [{}, {}], None], ids=["nulls", "objects without it", "nothing"])
def test_samples_that_are_all_absent(samples: Any) -> None:
    """A row without one is refused, naming the key: it is no row of no rollouts."""
    by = HandMapping({"step": FromPath(), "response": Key("out.*.text")}, each="response")

    with pytest.raises(RowRefused, match=r"^has no `out\.\*\.text`$"):
        formats.read({"out": samples}, by, PLACE)
