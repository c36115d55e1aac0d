"""How probable a word is over training: against a loop over tokens, place by place."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.texts.concordance import lines
from board.analysis.texts.text_search import SearchText
from board.analysis.texts.word_probability import BY, WordProbability, by_step, early_and_late, of_places
from board.runs.run import Run


def written(tokens: list[str], step: int, **fields: Any) -> dict[str, Any]:
    """A rollout of these tokens, each with numbers of its own."""
    dice = np.random.default_rng([step, len(tokens)])
    arrays = {name: (-dice.random(len(tokens))).tolist() for name in BY.values()}
    return row(step, response="".join(tokens), response_tokens=tokens, **{**arrays, **fields})


def opened(folder: Path, *rows: Mapping[str, Any]) -> Run:
    """A run of these rows."""
    return open_run(write_run(folder / "run", {"a.jsonl": rows}))


def probability(run: Run, expression: str) -> WordProbability:
    """Of every place of the expression."""
    return of_places(
        run, lines(run, run.frame.index.to_numpy(), "response", SearchText(expression, "expression", exact_case=True))
    )


WORD = ["wa", "it"]
ROWS = [
    written([" so", " ", *WORD, ".", *WORD], 0),
    written([*WORD, " then"], 0),
    written(["no"], 1),
    written(["a ", *WORD], 2, ref_logprobs=None),
]


def by_hand(step: int, name: str) -> list[float]:
    """The probability of the word at each of its places in a step, by a loop over tokens."""
    found = []
    for one in (one for one in ROWS if one["step"] == step and one[name]):
        tokens = one["response_tokens"]
        for at in range(len(tokens) - 1):
            if tokens[at : at + 2] == WORD:
                found.append(math.exp(one[name][at]) * math.exp(one[name][at + 1]))
    return found


@pytest.mark.parametrize("who", BY)
def test_the_curve_is_the_mean_over_places(tmp_path: Path, who: str) -> None:
    """By step the mean and the spread over all places of the product of the tokens' probabilities; a step without one is not there."""
    found = probability(opened(tmp_path, *ROWS), "wait")
    curve = by_step(found.places, who)

    assert found.looked_at == 4
    assert curve.index.tolist() == ([0, 2] if who == "policy" else [0])
    for step in curve.index.tolist():
        expected = by_hand(step, BY[who])
        assert curve.loc[step, "count"] == len(expected)
        assert curve.loc[step, "mean"] == pytest.approx(np.mean(expected), rel=1e-6)
        assert curve.loc[step, "q10"] == pytest.approx(np.quantile(expected, 0.1), rel=1e-6)
        assert curve.loc[step, "q90"] == pytest.approx(np.quantile(expected, 0.9), rel=1e-6)


def test_early_against_late(tmp_path: Path) -> None:
    """The mean over the places of the first and of the last third of the run's steps; NaN where no place is there."""
    places = probability(opened(tmp_path, *ROWS), "wait").places

    assert early_and_late(places, "policy", [0, 1, 2]) == pytest.approx(
        (np.mean(by_hand(0, "logprobs")), np.mean(by_hand(2, "logprobs"))), rel=1e-6
    )
    assert math.isnan(early_and_late(places, "reference", [0, 1, 2])[1])


LEFT_OUT: dict[str, tuple[list[str], dict[str, Any], int]] = {
    "inside a longer token": (["th", "em", " them"], {}, 0),
    "a token with white space around it": ([" the ", "m"], {}, 1),
    "a masked token": (["the"], {"loss_mask": [0]}, 0),
    "several bytes of one character": (["the", "文"], {}, 1),
    "an evaluation": (["the"], {"split": "evaluation"}, 0),
}


@pytest.mark.parametrize(("tokens", "fields", "count"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_no_place_of_the_word(tmp_path: Path, tokens: list[str], fields: dict[str, Any], count: int) -> None:
    """Tokens that hold more than the word, masked tokens and evaluations say nothing of its probability."""
    found = probability(opened(tmp_path, written(tokens, 0, **fields), written(["x"], 0)), "the")

    assert len(found.places) == count


def test_a_character_of_several_tokens(tmp_path: Path) -> None:
    """A character that byte-level tokens share has the probability of all of them together."""
    tokens = ["Ġso", "ä½", "ł", "å¥½", "Ċ", "Ġend"]
    one = written(tokens, 0) | {"response": " so你好\n end"}
    places = probability(opened(tmp_path, one), "你").places

    assert places["policy"].tolist() == pytest.approx([math.exp(sum(one["logprobs"][1:3]))], rel=1e-6)
