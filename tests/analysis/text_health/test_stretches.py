"""Where in a text it stands what the measures tell of it, found as a reader would find it."""

from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import write_run

from board import open_run
from board.analysis.texts.phrase_forms import expression
from board.analysis.texts.text_health import answers, loops, stretches
from board.analysis.texts.text_health.overlap import SHINGLE
from board.analysis.texts.text_health.stretches import TextStretch, standing
from board.analysis.texts.text_health.texts import WINDOW, code_units, shingles

STEM = "Mia has 9 boxes with 39 stamps in each, and buys 18 more."
HAN = "我们先看题目，然后把这两个数加起来，再检查一次。"

CASES: dict[str, tuple[Any, tuple[str, ...], str | None]] = {
    "a loop at the end": (stretches.loop, ("First. Then:" + "again and again, " * 9,), "again and again, " * 9),
    "a loop behind emoji": (stretches.loop, ("😀😀 so:" + "ha ha " * 20,), "ha ha " * 20),
    "a loop before an end token": (stretches.loop, ("Well: " + "等等，" * 20 + "<|im_end|>",), "等等，" * 20),
    "a loop that something follows": (stretches.loop, ("So:" + "Nothing else. " * 20 + "Done!",), "Nothing else. " * 20),
    "no loop": (stretches.loop, (STEM,), None),
    "a copied prompt": (stretches.echo, (f"Okay. {STEM} Now.", f"User: {STEM}"), f" {STEM}"),
    "nothing copied": (stretches.echo, ("Nine times thirty-nine.", STEM), None),
    "letters without sense": (stretches.odd, (f"{STEM} qzxvrt xjqwzk vrktz {STEM}",), "qzxvrt xjqwzk vrktz"),
    "broken characters": (stretches.odd, ("The sum is \ufffd\ufffd\ufffd here.",), "\ufffd\ufffd\ufffd"),
    "nothing odd": (stretches.odd, (STEM,), None),
    "English in Chinese": (stretches.mixed, (f"{HAN}therefore we need 它。{HAN}", HAN), "therefore we need"),
    "Chinese in English": (stretches.mixed, (f"{STEM} 因为它们 {STEM}", STEM), "因为它们"),
    "the lesser script where both were asked in": (stretches.mixed, (f"{STEM} 因为它们 {STEM}", STEM + HAN), "因为它们"),
    "kanji to a question in kana": (stretches.mixed, ("漢字和文字列。", "これはなんですか。"), None),
    "one script": (stretches.mixed, (STEM, STEM), None),
    "an open thought": (stretches.thought, ("Hm. <think>One. Two.",), "<think>One. Two."),
    "a second thought that stays open": (stretches.thought, ("<think>a</think> b <think>c",), "<think>c"),
    "a thought that the prompt began": (stretches.thought, ("One. Two.",), "One. Two."),
    "an answer that is told": (answers.stretch, ("What is 351 + 18? 369 of them? The answer is 369.", "369"), "369"),
    "one with another layout": (answers.stretch, (r"Hint: $\frac{ 1 }{2}$", r"\frac{1}{2}"), r"\frac{ 1 }{2}"),
    "one with a larger fraction": (answers.stretch, (r"It is $\dfrac{1}{2}$.", r"\frac{1}{2}"), r"\dfrac{1}{2}"),
    "one with thousands": (answers.stretch, ("In all 1,250 stamps.", "1250"), "1,250"),
    "one over two lines": (answers.stretch, ("It was New\n York City.", "new york city"), "New\n York City"),
    "one of a list": (answers.stretch, ("Is it Rome?", '["Paris", "Rome"]'), "Rome"),
    "part of a longer number": (answers.stretch, ("There are 1369 or 369.5 or 3690.", "369"), None),
    "part of a word": (answers.stretch, ("Categories", "cat"), None),
    "a phrase said three times": (stretches.matching("so", "", 3), ("Oh so it is, so and so on",), "so it is, so and so"),
    "a phrase said too few times": (stretches.matching("so", "", 3), ("so so",), None),
    "a phrase behind a full stop": (stretches.matching(r"\. I am sure", ". "), ("So. I am sure.",), "I am sure"),
}


@pytest.mark.parametrize(("look", "texts", "wanted"), CASES.values(), ids=CASES)
def test_the_stretch_is_what_a_reader_would_mark(look: Any, texts: tuple[str, ...], wanted: str | None) -> None:
    """Each by its own text alone."""
    found = look(*texts)
    assert (None if found is None else texts[0][slice(*found)]) == wanted


def test_what_is_told_stands_before_what_is_only_there() -> None:
    """Of several places of an answer the one behind a word that tells it."""
    text = "Take 369. The answer is 369."
    assert answers.stretch(text, "369") == (text.rindex("369"), text.rindex("369") + 3)


@given(st.text("ab\u6211😀", min_size=1, max_size=6), st.integers(3, 30), st.text("cd \u4eec", max_size=20))
def test_a_loop_is_as_long_as_it_is_measured(piece: str, times: int, head: str) -> None:
    """The stretch ends the text and has the share of its units that the measure tells."""
    text = head + piece * times
    units = code_units(pa.array([text], pa.large_string()))
    share = float(loops.measure(units, shingles(units))["closing_loop"][0])
    if share:
        start, stop = stretches.loop(text) or (0, 0)
        assert stop == len(text)
        looped = len(text[start:].encode("utf-16-le")) / len(text.encode("utf-16-le"))
        assert looped == pytest.approx(share, abs=2 / len(units.values)), "a half of a character is none"


@given(st.text("abc ", min_size=30, max_size=80), st.text("abc ", min_size=30, max_size=80), st.integers(0, 30))
def test_an_echo_is_the_longest_common_stretch(response: str, prompt: str, at: int) -> None:
    """As long as difflib's, or longer where the prompt has its pieces in several places; and all its pieces are the prompt's."""
    response = response[:at] + prompt[at : at + 20] + response[at:]
    longest = SequenceMatcher(None, response, prompt, autojunk=False).find_longest_match().size
    found = stretches.echo(response, prompt)
    assert (found is not None) == (longest >= SHINGLE)
    if found is not None:
        text = response[slice(*found)]
        assert len(text) >= longest
        assert all(text[one : one + SHINGLE] in prompt for one in range(len(text) - SHINGLE + 1))


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_text_has_a_stretch_or_none(text: str, other: str) -> None:
    """Whatever stands in it, the characters are the text's own, at least one."""
    one = (stretches.loop, stretches.odd, stretches.thought)
    two = (partial(stretches.echo, prompt=other), partial(stretches.mixed, prompt=other), partial(answers.stretch, truth=other))
    for look in (*one, *two):
        found = look(text)
        assert found is None or 0 <= found[0] < found[1] <= len(text)


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (partial(answers.stretch, truth=r"\frac{1}{2}"), r"\frac{1" + " " * 200_000 + "}{3}"),
        (partial(answers.stretch, truth="a b"), "a" + " " * 200_000),
        (partial(answers.stretch, truth="1" * 90), "1" * 200_000),
        (stretches.matching(expression("so"), "", 12), "so " * 11 + "x" * 200_000),
        (stretches.loop, " " * 200_000 + "<|im_end|>" * 9),
    ],
    ids=["layout", "spaces", "digits", "a phrase too few times", "padding"],
)
def test_hostile_texts_end_soon(look: Any, text: str) -> None:
    """None goes back and forth over a text for ever: this would take hours."""
    look(text)


def test_of_a_long_text_the_end_is_looked_at() -> None:
    """As far back as the measures look; the characters are of the whole text."""
    text = "😀" * 5 + STEM * 400 + "Once more, please. " * 30
    start, stop = stretches.loop(text) or (0, 0)
    assert len(text) > WINDOW
    assert text[start:stop].endswith("Once more, please. ")
    assert stop == len(text)
    assert text[start - 1 :].count("Once more, please.") == 30


def test_rollouts_of_a_run_name_stretches_and_tokens(tmp_path: Path) -> None:
    """By key, with the token at which a response's begins; of a rollout without a text neither."""
    tokens = ["So ", "it ", "goes:\n", *["ha ha "] * 12]
    rows = [
        {"step": 0, "response": "".join(tokens), "response_tokens": tokens},
        {"step": 0, "response": ""},
        {"step": 0, "response": STEM},
    ]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))
    found, at = standing(stretches.loop, "response")(run, run.frame.index.tolist())

    assert found == {0: TextStretch("response", 12, 84)}
    assert str(found[0]) == "response 12-84"
    assert at == [(0, 3)]


def test_rare_tokens_are_a_stretch(tmp_path: Path) -> None:
    """Those that stand together, and of tokens the rarest; tokens may begin with what the text lacks."""
    tokens = ["<|begin|>", "So ", "it ", "foo", "bar", "baz", " goes", "."]
    logprobs = [-1.0, -1.0, -1.0, -20.0, -21.0, -20.0, -1.0, -1.0]
    rows = [{"step": 0, "response": "So it foobarbaz goes.", "response_tokens": tokens, "logprobs": logprobs}]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))
    assert stretches.odd_or_rare(run, [0]) == ({0: TextStretch("response", 6, 15)}, [(0, 4)])


def test_the_densest_marks() -> None:
    """Those within the gap of each other that are most, against one look at each."""
    dice = np.random.default_rng(3)
    for _ in range(200):
        marks, gap = dice.random(int(dice.integers(0, 30))) < 0.3, int(dice.integers(1, 6))
        together: list[list[int]] = []
        for at in np.flatnonzero(marks).tolist():
            if together and at - together[-1][-1] <= gap:
                together[-1].append(at)
            else:
                together.append([at])
        most = max(together, key=len, default=None)
        assert stretches.densest(marks, gap) == (None if most is None else (most[0], most[-1] + 1))
