"""Responses that ended by themselves, with and without an end token."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, opened, silent
from spreading_rows import check_kind, prose, rows

from board.analysis.texts.tagged_responses import MEASURES
from board.findings.answers import cut_off
from board.findings.context import Context
from board.findings.contract import CannotTell
from board.findings.kinds.showing import EOS_MISSING as KIND


def _row(dice: np.random.Generator, last: list[str], reason: str = "stop") -> dict[str, Any]:
    words = [" a"] * int(dice.integers(5, 30))
    return {"response_tokens": [*words, *last], "response": prose(dice), "finish_reason": reason}


def test_a_share_that_is_always_there_is_found(tmp_path: Path) -> None:
    """From the first step on, if it is large."""
    found = one(
        asked(KIND, tmp_path, rows(lambda dice, _: _row(dice, ["</s>"]), lambda dice, _: _row(dice, []), 0.5, before=0.5))
    )
    assert found.first_step == 0
    assert found.crossed == "share"


def test_a_cut_response_needs_no_end_token(tmp_path: Path) -> None:
    """More are cut off: another finding."""
    cut = rows(lambda dice, _: _row(dice, ["</s>"]), lambda dice, _: _row(dice, [], "length"), 0.5)
    assert silent(asked(KIND, tmp_path, cut))


def test_a_trainer_that_leaves_them_out(tmp_path: Path) -> None:
    """No response has one: that cannot be told from none being sampled."""
    assert isinstance(asked(KIND, tmp_path, rows(lambda dice, _: _row(dice, []), lambda dice, _: {}, 0.0)), CannotTell)


def _ends(dice: np.random.Generator, markers: tuple[str, ...], limit: int = 18) -> dict[str, Any]:
    """Words and one of the markers, cut at the limit; nothing says which were cut."""
    words = [f" {word}" for word in prose(dice, int(dice.integers(6, 20))).split()]
    tokens = [*words, markers[int(dice.integers(len(markers)))]][:limit]
    return {"response": "".join(words[:limit]).strip(), "response_tokens": tokens}


MARKERS = [
    ("<|user|>", "<|observation|>", "<|endoftext|>"),
    ("<end_of_utterance>",),
    ("<|END_OF_TURN_TOKEN|>",),
    ("[|endofturn|]", "[EOT]"),
    ("▁</turn>",),
]


@pytest.mark.parametrize("markers", MARKERS, ids=["roles", "utterance", "in capitals", "in brackets", "sentencepiece"])
def test_end_tokens_are_learned_from_the_run(tmp_path: Path, markers: tuple[str, ...]) -> None:
    """What texts lack at their ends ends them, whatever it is called; who has none of it was cut at the limit of length."""
    made = rows(lambda dice, _: _ends(dice, markers), lambda dice, _: {}, 0.0)
    context = Context(opened(tmp_path / "run", made), dict(MEASURES))

    assert silent(asked(KIND, tmp_path / "asked", made))
    assert cut_off(context).tolist() == [float(row["response_tokens"][-1] not in markers) for row in made]


@pytest.mark.parametrize("marker", ["</s>", "[|endofturn|]"], ids=["known", "learned"])
def test_an_end_token_that_is_missing(tmp_path: Path, marker: str) -> None:
    """From a step on."""
    with_end, without = (lambda dice, _, one=one: _ends(dice, (one,), 99) | {"finish_reason": "stop"} for one in (marker, ""))
    check_kind(KIND, tmp_path, with_end, without)


def test_a_common_last_word_is_no_end_token(tmp_path: Path) -> None:
    """Texts of another rollout lack it, too, but it stands elsewhere as well."""
    made = rows(
        lambda dice, _: {"response": "other", "response_tokens": [" take", ".", *prose(dice, 5).split(), "."]},
        lambda dice, _: {},
        0.0,
    )

    assert isinstance(asked(KIND, tmp_path, made), CannotTell)
