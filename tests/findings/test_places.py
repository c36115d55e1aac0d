"""What a finding about texts names of them: the stretch that shows it, in the reply as on the page."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import opened
from spreading_rows import prose, rows

from board.findings import messages
from board.findings.contract import Kind
from board.findings.kinds.showing import (
    ANSWER_LEAK,
    GIBBERISH,
    LANGUAGE_MIXING,
    PROMPT_ECHO,
    REPETITION_LOOP,
    THINK_WITHOUT_ANSWER,
)
from board.findings.scan import find_all

PROMPT = "Mia has nine boxes with thirty stamps in each of them, and buys eighteen more: how many are there?"
LETTERS = "qzxvrt xjqwzk vrktzp xxvbnm"


def plain(dice: np.random.Generator, _: int) -> dict[str, Any]:
    """A row that shows none of them."""
    return {
        "prompt": f"{PROMPT} {dice.integers(900)}",
        "response": f"<think>{prose(dice)}</think> {prose(dice)} 5",
        "ground_truth": "4711",
    }


CASES: dict[str, tuple[Kind, Callable[[str], dict[str, Any]], str, str]] = {
    "a loop": (REPETITION_LOOP, lambda text: {"response": f"{text}.{'Wait! ' * 30}"}, "response", "Wait! " * 30),
    "letters": (GIBBERISH, lambda text: {"response": f"{text} {LETTERS} {text}"}, "response", LETTERS),
    "another script": (
        LANGUAGE_MIXING,
        lambda text: {"response": f"{text} so 因为我们 is 所以 {text}"},
        "response",
        "因为我们 is 所以",
    ),
    "a copied prompt": (PROMPT_ECHO, lambda text: {"response": f"{text}\n{PROMPT}\n{text}"}, "response", PROMPT),
    "an open thought": (
        THINK_WITHOUT_ANSWER,
        lambda text: {"response": f"{text} <think>Hm. So be it"},
        "response",
        "<think>Hm. So be it",
    ),
    "an answer that is told": (ANSWER_LEAK, lambda text: {"prompt": f"{PROMPT} {text} (Answer: 4711)"}, "prompt", "4711"),
}


@pytest.mark.parametrize(("kind", "showing", "column", "wanted"), CASES.values(), ids=CASES)
def test_each_names_the_stretch(
    tmp_path: Path, kind: Kind, showing: Callable[[str], dict[str, Any]], column: str, wanted: str
) -> None:
    """Every rollout that shows it does, letter for letter; what is written as JSON is read as it was, and the terminal names it."""
    made = rows(plain, lambda dice, at: plain(dice, at) | showing(f"{prose(dice)} {dice.integers(900)}"), 0.5)
    run = opened(tmp_path, made)
    report = find_all(run, kinds=(kind,))
    (found,) = report.findings

    assert len(found.rollouts) >= 10
    for place in found.rollouts:
        assert place.stretch is not None
        text = made[run.key_of(place.source) or 0][column]
        assert (place.stretch.text, text[place.stretch.start : place.stretch.stop]) == (column, wanted)
    assert messages.report_from(json.loads(messages.as_json(report, "run"))) == report
    assert f"{found.rollouts[0].source} {found.rollouts[0].stretch}" in messages.as_text(report)


def test_tokens_are_named_with_the_stretch(tmp_path: Path) -> None:
    """Where rollouts have them: that at which it begins."""

    def worded(row: dict[str, Any]) -> dict[str, Any]:
        words = [f"{word} " for word in row["response"].split()]
        return row | {"response": "".join(words), "response_tokens": words}

    made = rows(
        lambda dice, at: worded(plain(dice, at)), lambda dice, at: worded({"response": f"{prose(dice)} {'Wait! ' * 30}"}), 0.5
    )
    report = find_all(opened(tmp_path, made), kinds=(REPETITION_LOOP,))
    (found,) = report.findings
    assert len(found.tokens) == len(found.rollouts)
    for token, place in zip(found.tokens, found.rollouts, strict=True):
        tokens = made[int(place.source.partition(":")[2]) - 1]["response_tokens"]
        before = len("".join(tokens[: token.position]))
        assert token.rollout.source == place.source
        assert place.stretch is not None
        assert before <= place.stretch.start < before + len(tokens[token.position])
