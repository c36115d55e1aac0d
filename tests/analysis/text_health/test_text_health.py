"""Text health of rollouts read from real shards: every measure against a plain definition in Python, on texts of many scripts."""

import math
import re
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import write_run

from board import open_run
from board.analysis.texts import text_health
from board.analysis.texts.text_health import loops

CHINESE = "首先，我们设 $x$ 为未知数，然后用 PyTorch 计算。"
JAPANESE = "これは日本語の文章です。カタカナも漢字もあります。"
RUSSIAN = "Это обычный русский текст, в нём нет ничего странного."
CODE = "```python\ndef f(x):\n    return x + 1\n```"
LATEX = r"Thus \[ \frac{a}{b} = \boxed{\frac{1}{2}} \]"
EMOJI = "Fine 😀😀 \U00020000 done."

TEXTS = (
    "",
    "a",
    "ab",
    "ok " * 40,
    "la la la",
    CHINESE,
    JAPANESE,
    RUSSIAN,
    CODE,
    LATEX,
    EMOJI,
    "\ufffd\ufffd x",
    "strngth xkqzvf",
)


def measured(folder: Path, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Text health of rows written to a shard, in their order."""
    run = open_run(write_run(folder, {"rank_0.jsonl": [{"step": 0, **row} for row in rows]}))
    return pd.concat([pd.DataFrame(text_health.measure(part)) for part in run.parts], ignore_index=True)


def of(folder: Path, **row: Any) -> "pd.Series[float]":
    """Text health of one row."""
    return measured(folder, [row]).iloc[0]


def units(text: str) -> list[int]:
    """A text's UTF-16 units."""
    return np.frombuffer(text.encode("utf-16-le"), np.uint16).tolist()


def slow_repeated(items: list[Any]) -> float:
    """1 − different 4-grams ÷ all."""
    found = [tuple(items[at : at + 4]) for at in range(len(items) - 3)]
    return 1 - len(set(found)) / len(found) if found else math.nan


def slow_loop(text: list[int]) -> tuple[int, int]:
    """Length and period of the longest loop at the end, by trying every period."""
    best = (0, 0)
    for period in range(1, len(text) // loops.TIMES + 1):
        length = period
        while length < len(text) and text[-1 - length] == text[-1 - length + period]:
            length += 1
        if length >= max(loops.TIMES * period, loops.SHORTEST) and length > best[0]:
            best = (length, period)
    return best


def slow_echo(response: list[int], prompt: list[int]) -> float:
    """Share of the response's longest run of characters whose every 8-gram the prompt has."""
    if len(response) < 8 or len(prompt) < 8:
        return math.nan
    asked = {tuple(prompt[at : at + 8]) for at in range(len(prompt) - 7)}
    best = run = 0
    for at in range(len(response) - 7):
        run = run + 1 if tuple(response[at : at + 8]) in asked else 0
        best = max(best, run)
    return (best + 7) / len(response) if best else 0.0


def slow_switches(text: str) -> float:
    """Changes between words of small Latin, Cyrillic and Han per 100 units, sentence by sentence; for texts without code."""
    script = {"a": "[a-z]{2,}", "я": "[а-я]{2,}", "威": "[\u4e00-\u9fff]"}
    count = 0
    for sentence in re.split(r"[.!?;\n。！？；…]", text):
        words = re.findall("(" + ")|(".join(script.values()) + ")", sentence)
        scripts = [next(at for at, group in enumerate(word) if group) for word in words]
        count += sum(one != other for one, other in pairwise(scripts))
    return 100 * count / len(units(text)) if text else math.nan


def check(found: "pd.Series[float]", text: str, prompt: str) -> None:
    """Every measure that has a plain definition here."""
    size = len(units(text))
    length, period = slow_loop(units(text))
    expected = {
        "compression_ratio": len(text.encode()) / len(zlib.compress(text.encode())) if text else math.nan,
        "repeated_characters": slow_repeated(units(text)),
        "closing_loop": length / size if size else math.nan,
        "loop_period": period or math.nan,
        "prompt_echo": slow_echo(units(text), units(prompt)),
        "prompt_copied": slow_echo(units(text), units(prompt)) * size / max(len(units(prompt)), 1),
    }
    np.testing.assert_allclose(
        found[list(expected)].to_numpy(), list(expected.values()), atol=1e-12, err_msg=repr((text, prompt))
    )


def test_texts_of_many_scripts(tmp_path: Path) -> None:
    """Prose, code, formulas, emoji, loops and nothing, each after each prompt, measure as by definition."""
    rows = [{"response": text, "prompt": prompt} for text in TEXTS for prompt in TEXTS]
    found = measured(tmp_path / "run", rows)
    assert list(found.columns) == [column.name for column in text_health.COLUMNS]
    for (_, one), row in zip(found.iterrows(), rows, strict=True):
        check(one, row["response"], row["prompt"])


PIECES = st.sampled_from(["the", " ", "a", "威", "的", "x", "\n", ".", "но", "и ", "😀", "abc " * 12, "。", "\u00e9"])


@given(
    st.lists(st.tuples(st.lists(PIECES, max_size=14), st.integers(1, 9), st.lists(PIECES, max_size=20)), min_size=1, max_size=12)
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text(tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[list[str], int, list[str]]]) -> None:
    """Texts of any pieces, repeated at the end or not, measure as by definition, whatever stands beside them."""
    rows = [{"response": "".join(text) + "".join(text[-3:]) * times, "prompt": "".join(prompt)} for text, times, prompt in drawn]
    found = measured(tmp_path_factory.mktemp("run"), rows)
    for (_, one), row in zip(found.iterrows(), rows, strict=True):
        check(one, row["response"], row["prompt"])


@given(st.lists(st.sampled_from(["сложно ", "hard ", "威", "。", ". ", "的 ", "so", " "]), max_size=30))
@settings(max_examples=15, deadline=None)
def test_switches(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    """Switches are counted between words of different scripts within a sentence."""
    text = "".join(pieces)
    found = of(tmp_path_factory.mktemp("run"), response=text, prompt="p")
    np.testing.assert_allclose(found["script_switches"], slow_switches(text))


@pytest.mark.parametrize(
    "text",
    [
        CHINESE,
        JAPANESE,
        RUSSIAN,
        "用 `for x in items` 循环，再看\n```\nreturn the value\n```\n结束",
        "因此 $\\alpha + \\text{mod} x$ 是答案，变量 x 和 y 都是整数，见 API。",
        "Let α be the angle and β its double.",
        "The answer is 5.",
    ],
)
def test_what_is_no_mixing(tmp_path: Path, text: str) -> None:
    """Names, variables, formulas and code among other letters are no switch, nor is kanji among kana."""
    assert of(tmp_path / "run", response=text, prompt="p")["script_switches"] == 0


def test_mixing(tmp_path: Path) -> None:
    """A text that falls into another script is foreign to its prompt by the share of its words' letters."""
    found = of(tmp_path / "run", response="so we 计算 the sum", prompt="Add the numbers.", ground_truth="12")
    assert found["script_switches"] == 100 * 2 / 16
    np.testing.assert_allclose(found[["foreign_script", "minor_scripts"]], 2 / 12)
    chinese = of(tmp_path / "other", response="我们计算", prompt="请计算", ground_truth="12")
    assert chinese["foreign_script"] == chinese["minor_scripts"] == 0


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"response": "Wait, let me check: 重新 hmm."}, "reflections", 1000 * 4 / 27),
        ({"response": "xkqzv catch strength"}, "unspeakable", 5 / 18),
        ({"response": "so" + "<PAD> " * 20}, "closing_loop", 0),
        ({"response": "ab\ufffd\ue000"}, "odd_characters", 0.5),
        ({"response": "<think>so and so"}, "open_thought", 1),
        ({"response": "<think>so</think> 4"}, "open_thought", 0),
        ({"response": "<think>so</think> 4"}, "thought_only", 0),
        ({"response": "<think>so</think>\n<|im_end|>"}, "thought_only", 1),
        ({"response": "so and so", "prompt": "Q<think>\n"}, "thought_only", 1),
        ({"response": "so</think>4", "prompt": "Q<think>\n"}, "thought_only", 0),
        ({"response": "<think>a</think>b<think>c"}, "open_thought", 1),
        ({"response": "no thought"}, "thought_only", math.nan),
        ({"response": "```py\nx"}, "open_fence", 1),
        ({"response": CODE}, "open_fence", 0),
        ({"response": r"so \[ x"}, "open_formula", 1),
        ({"response": r"so \boxed{\frac{1}{2}"}, "open_formula", 1),
        ({"response": LATEX}, "open_formula", 0),
        ({"response": '{"a": [1'}, "open_json", 1),
        ({"response": '{"a": [1]}'}, "open_json", 0),
        ({"response": "[1] says so"}, "open_json", 1),
        ({"response": "and so the"}, "inside_sentence", 1),
        ({"response": "因此"}, "inside_sentence", 1),
        ({"response": "It is 4."}, "inside_sentence", 0),
        ({"response": r"so \boxed{4}"}, "answer_marked", 1),
        ({"response": r"so \boxed{4"}, "answer_marked", 0),
        ({"response": "x", "finish_reason": "length"}, "cut_off", 1),
        ({"response": "x", "finish_reason": "stop"}, "cut_off", 0),
        ({"response": "x", "truncated": 1.0, "finish_reason": "stop"}, "cut_off", 1),
        ({"response": "x"}, "cut_off", math.nan),
    ],
)
def test_single_measures(tmp_path: Path, fields: dict[str, Any], name: str, value: float) -> None:
    """Each measure says what its meaning says of a text that shows it, and of one that does not."""
    np.testing.assert_allclose(of(tmp_path / "run", **fields)[name], value)


@pytest.mark.parametrize(
    ("truth", "text", "there"),
    [
        ("42", "It is 42.", 1),
        ("42", "It is 142, or 42.5, or 1,42.", 0),
        ("1,234", "so 1234", 1),
        ("1234", "so 1,234 in all", 1),
        ("12,345", "12 and 345", 0),
        ("Paris", "in paris", 1),
        ("Paris", "parishes", 0),
        ("北京", "答案是北京市", 1),
        (r"\frac{1}{2}", r"\boxed{\dfrac{1}{2}}", 1),
        ("long story #### 7", "it is 7", 1),
        ('["4", "four"]', "four", 1),
        ('{"target": 9}', "9", 1),
        ('{"cases": 9}', "9", math.nan),
        ("[0, 1)", "in [0, 1)", 1),
        pytest.param("[" * 20_000, "[", math.nan, id="deep"),
        ("new  york", "New York", 1),
        ("", "x", math.nan),
        ("x " * 80, "x", math.nan),
    ],
)
def test_answers(tmp_path: Path, truth: str, text: str, there: float) -> None:
    """An answer stands in a text as a word or number of its own, however it is written."""
    found = of(tmp_path / "run", response=text, prompt=text, ground_truth=truth)
    np.testing.assert_allclose(found[["answer_present", "answer_in_prompt"]].to_numpy(), [there, there])


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("What is 3 + 4? (Answer: 7)", 1),
        ("The correct answer is **7**. What is 3 + 4?", 1),
        ("答案是7。三加四？", 1),
        ("Is 7 odd? Answer yes.", 0),
        ("5", 0),
    ],
)
def test_answers_that_are_told(tmp_path: Path, prompt: str, told: float) -> None:
    """An answer is told where it stands behind a word that says so."""
    assert of(tmp_path / "run", response="x", prompt=prompt, ground_truth="7")["answer_told"] == told


def test_tokens(tmp_path: Path) -> None:
    """Repetition, end tokens and rare tokens, beside rollouts without tokens and with padding."""
    loop = [" a", " b"] * 6
    rows: list[dict[str, Any]] = [
        {"response": "x", "logprobs": [-1.0, -20.0]},
        {"response_tokens": [*loop, "<|im_end|>"], "logprobs": [*[-1.0] * 12, -15.0], "response": "x"},
        {"response_tokens": [*loop, "</s>", "<pad>", "<pad>"], "logprobs": [-0.5] * 15},
        {"response_tokens": [" a", "<eos>", " b", " c"], "logprobs": [-0.5] * 4, "response": "x"},
        {"response_tokens": [" a", "</think>"], "response": "x"},
        {"response": "x"},
    ]
    found = measured(tmp_path / "run", rows)
    repeated = [math.nan, slow_repeated([*loop, "e"]), slow_repeated([*loop, "e"]), 0, math.nan, math.nan]
    np.testing.assert_allclose(found["repeated_tokens"], repeated)
    np.testing.assert_allclose(found["ended"], [math.nan, 1, 1, 0, 0, math.nan])
    np.testing.assert_allclose(found["tokens_after_end"], [math.nan, 0, 0, 2, 0, math.nan])
    np.testing.assert_allclose(found["rare_tokens"], [0.5, 1 / 13, 0, 0, math.nan, math.nan])
    joined = "".join(loop)
    check(found.iloc[2], joined, "")


def test_windows(tmp_path: Path) -> None:
    """Of a long response its end is looked at: what stands before it changes nothing."""
    end = "".join(f"{at} bottles 威 of " for at in range(700))[-10_000:]
    rows = [
        {"response": start + end, "response_tokens": [*start[:20_000], *end], "prompt": end}
        for start in ("", "z" * 50_000, "威" * 9_000)
    ]
    found = measured(tmp_path / "run", rows).drop(columns=["inside_sentence"])
    for row in (1, 2):
        np.testing.assert_allclose(found.iloc[row].to_numpy(), found.iloc[0].to_numpy())


def test_nothing_known(tmp_path: Path) -> None:
    """Rollouts of one token and no text have no measure of text, and nothing warns."""
    found = measured(tmp_path / "run", [{"response_tokens": ["5"]}, {"response": ""}])
    assert math.isnan(found["compression_ratio"].iloc[1])
    assert found["prompt_echo"].isna().all()
