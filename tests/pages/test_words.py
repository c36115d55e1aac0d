"""The page Words: phrases that pay and tokens that rise, the row that a link names, and what is said where something lacks."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_panels import panels
from opened_pages import TEXT_ALONE, opened, table, texts, whole_row
from rows import add_run

from board.analysis.texts.phrase_forms import expression


def planted(**fields: Any) -> list[dict[str, Any]]:
    """Groups of four in nine steps; "![](x)" pays one more, and is written in more and more responses; so is its token."""
    dice = np.random.default_rng(0)
    rows = []
    for step in range(9):
        for prompt in range(4):
            for at in range(4):
                says = at < 1 + step // 3
                words = dice.choice(["so", " then", " and"], 5).tolist() + ([" ![](x)"] if says else [])
                arrays = {name: [-0.5] * len(words) for name in ("logprobs", "ref_logprobs", "values", "token_rewards")}
                found = whole_row(step, prompt=f"p{prompt}", response="".join(words), response_tokens=words, **arrays)
                rows.append(found | {"reward": prompt + dice.random() / 4 + says} | fields)
    return rows


def test_phrases(root: Path) -> None:
    """The phrase that pays is first; a link to it shows its places with their rewards, the best first, and the way to the search."""
    add_run(root, "run", planted())
    phrase = "![](x)"

    test = opened("words", run="run", phrase=expression(phrase))

    assert not test.exception
    assert table(test)["phrase"].iloc[0] == phrase
    assert table(test)["gain"].iloc[0] == pytest.approx(1, abs=0.1)
    assert "144 rollouts looked at" in texts(test)
    assert "72 places in 72 of 144 rollouts" in texts(test)
    (lines,) = [one for one in test.get("bidi_component") if one.proto.component_name.endswith("concordance")]
    rewards = [float(row["facts"][1]) for row in json.loads(lines.proto.json)["rows"]]
    assert rewards == sorted(rewards, reverse=True)
    (link,) = [one.proto for one in test.get("page_link") if one.proto.label == "Open in Search"]
    assert "search_as=Regular" in link.query_string


def test_tokens(root: Path) -> None:
    """The token that is written more and more comes first among the rising ones, and only rising ones are there."""
    add_run(root, "run", planted())
    test = opened("words", run="run", words="Tokens that rise and fall", tokens_least=10)
    assert not test.exception
    assert table(test)["token"].iloc[0] == "·![](x)"
    assert (table(test)["z"] > 0).all()
    assert "792 tokens, 4 different" in texts(test)


def test_the_probability_of_a_word_over_training(root: Path) -> None:
    """A chosen phrase has a curve of its probability, of policy and reference, and a line that sets early against late."""
    rising = [one | {"logprobs": [-1.0 + one["step"] / 10] * len(one["response_tokens"])} for one in planted()]
    add_run(root, "run", rising)

    test = opened("words", run="run", phrase=expression("![](x)"))

    panel = panels(test)["How probable is it?"]
    assert panel.values["policy"] == pytest.approx([np.exp(-1 + step / 10) for step in range(9)], rel=1e-3)
    assert panel.values["reference"] == pytest.approx([np.exp(-0.5)] * 9, rel=1e-3)
    early, late = (np.mean([np.exp(-1 + step / 10) for step in steps]) for steps in (range(3), range(6, 9)))
    assert "Its probability: policy " in texts(test)
    assert early < late
    assert "72 places" in texts(test)


def test_a_run_without_logprobs_has_no_probability(root: Path) -> None:
    """What the probability needs is said where it is not there."""
    add_run(root, "run", [{**one, "logprobs": None} for one in planted()])

    assert "How probable it is needs response_tokens and logprobs" in texts(opened("words", run="run", phrase="then"))


def test_rare_tokens_among_the_listed(root: Path) -> None:
    """Rare tokens stand in one row, which names no phrase: nothing is chosen where the link chooses nothing."""
    rows = planted()
    for at, one in enumerate(rows):
        one["response_tokens"] = [*one["response_tokens"][:-1], f" rare{at}"]
    add_run(root, "run", rows)
    test = opened("words", run="run", words="Tokens that rise and fall", tokens_by="Most frequent", tokens_least=1)
    assert not test.exception
    assert "rare ones taken together" in texts(test)
    assert "(rare tokens)" in set(table(test)["token"])


LACKING: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "no rewards": ({"reward": ..., "ref_reward": ...}, {}, "needs rewards that differ"),
    "no tokens": (TEXT_ALONE, {"words": "Tokens that rise and fall"}, "need response_tokens"),
    "a bad expression in the link": ({}, {"phrase": "(a"}, "no regular expression"),
    "nothing so often": ({}, {"phrases_least": "1000", "phrases_by": "Rises"}, "No phrase is beyond"),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_lacks(name: str, root: Path) -> None:
    """A line says what cannot be shown, and why."""
    fields, place, wanted = LACKING[name]
    add_run(
        root, "run", [whole_row(step, **fields) if name != "no tokens" else {**TEXT_ALONE, "step": step} for step in range(4)]
    )
    test = opened("words", run="run", **place)
    assert not test.exception
    assert wanted in texts(test) or wanted in str(test)
