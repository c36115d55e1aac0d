"""board.formats.row_reader: what a record under our names becomes, field by field, and why some become nothing."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, token_row

from board import formats
from board.errors import RowRefused
from board.formats import native, row_reader
from board.formats.contract import Place
from board.formats.row import Row, flag_not_finite
from board.formats.row_reader import as_alternatives
from board.sources import json_record
from board.sources.json_record import as_text

NAN = math.nan


def read(**fields: Any) -> Row:
    """A row of step 0 with these fields."""
    return row_reader.read(row(**fields))


STEPS: dict[str, tuple[Any, int]] = {
    "integer": (3, 3),
    "zero": (0, 0),
    "negative": (-1, -1),
    "text": ("3", 3),
    "text with space and sign": (" +12 ", 12),
    "negative text": ("-4", -4),
    "whole float": (3.0, 3),
    "large": (2**62, 2**62),
}


@pytest.mark.parametrize(("value", "step"), STEPS.values(), ids=STEPS)
def test_steps_that_are_whole_numbers(value: Any, step: int) -> None:
    """Integers, integral floats and digits as text."""
    assert row_reader.read({"step": value, "response": "x"}).step == step


NO_STEPS: dict[str, tuple[Any, str]] = {
    "fraction": (3.9, "3.9"),
    "true": (True, "true"),
    "fraction as text": ("3.0", '"3.0"'),
    "word": ("abc", '"abc"'),
    "empty text": ("", '""'),
    "null": (None, "null"),
    "not a number": (NAN, "NaN"),
    "infinite": (math.inf, "Infinity"),
    "list": ([1], "[1]"),
    "beyond 64 bits": (2**63, str(2**63)),
    "float beyond 64 bits": (1e300, "1e+300"),
    "digits of another script": ("٣", r'"\u0663"'),
    "long text": ("x" * 500, '"' + "x" * 56 + "..."),
}


@pytest.mark.parametrize(("value", "shown"), NO_STEPS.values(), ids=NO_STEPS)
def test_other_steps_are_refused_and_quoted(value: Any, shown: str) -> None:
    """Never rounded, never guessed; the value is quoted and short."""
    with pytest.raises(RowRefused) as refusal:
        row_reader.read({"step": value, "response": "x"})

    assert str(refusal.value) == f"`step` is {shown}, which is not a whole number"


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "has no `step` and no `response` or `response_tokens`; its keys are: none"),
    "no response": ({"step": 0}, "has no `response` or `response_tokens`; its keys are: step"),
    "null response": ({"step": 0, "response": None}, "has no `response` or `response_tokens`; its keys are: step, response"),
    "tokens that are no list": ({"step": 0, "response_tokens": "a"}, "has no `response` or `response_tokens`; its keys are"),
    "no step": ({"response": "x"}, "has no `step`; its keys are: response"),
    "other names": (
        {"global_step": 1, "output": "a", "score": 0.5},
        "has no `step` and no `response` or `response_tokens`; its keys are: global_step, output, score; "
        "perhaps global_step → step, output → response, score → reward",
    ),
    "names beside ours suggest nothing": (
        {"step": 1, "response": None, "reward": 1.0, "score": 0.5},
        "has no `response` or `response_tokens`; its keys are: step, response, reward, score",
    ),
    "very long keys": (
        {"k" * 1_000_000: 1, "step": 0},
        "has no `response` or `response_tokens`; its keys are: " + "k" * 40 + ", step",
    ),
}


@pytest.mark.parametrize(("record", "reason"), MISSING.values(), ids=MISSING)
def test_rows_without_step_or_response_are_refused(record: dict[str, Any], reason: str) -> None:
    """The reason names what is missing, what there is, and what that may be called here."""
    with pytest.raises(RowRefused) as refusal:
        formats.read(record, native, Place("a.jsonl", 1))

    assert str(refusal.value).startswith(reason)
    assert len(str(refusal.value)) < 1_000


def test_at_most_twelve_keys_are_named() -> None:
    """A record of thousands of keys still has a reason that fits the screen."""
    with pytest.raises(RowRefused) as refusal:
        row_reader.read({f"k{number}": 1 for number in range(5_000)})

    assert "k11" in str(refusal.value)
    assert "k12" not in str(refusal.value)


def test_tokens_alone_will_do() -> None:
    """A row of tokens and a step loads; its response is missing, not empty."""
    read_row = row_reader.read({"step": 0, "response": None, "response_tokens": ["a"]})

    assert read_row.tokens == ["a"]
    assert read_row.texts == {}


def test_nested_too_deeply_is_refused() -> None:
    """What the strict parser could read but the standard library cannot write out as text is a refused row, in any field."""
    for field in (b'"extra": ', b'"prompt": ', b'"response": '):
        record = json_record.parse(b'{"step": 0, "response_tokens": [], ' + field + b"[" * 1_000 + b"]" * 1_000 + b"}")
        with pytest.raises(RowRefused, match="nested too deeply"):
            formats.read(record, native, Place("a.jsonl", 1))


TOKENS: dict[str, tuple[list[Any], list[str]]] = {
    "texts": (["a", " b"], ["a", " b"]),
    "ids": ([151, 7, 7], ["151", "7", "7"]),
    "mixed": (["a", 1, None, 0.5, ["x"], {"id": 1}], ["a", "1", "null", "0.5", '["x"]', '{"id": 1}']),
    "empty": ([], []),
    "special": (["", "\n", "<b>", "\0"], ["", "\n", "<b>", "\0"]),
}


@pytest.mark.parametrize(("given", "expected"), TOKENS.values(), ids=TOKENS)
def test_tokens_are_texts(given: list[Any], expected: list[str]) -> None:
    """As many as there are, letter for letter; ids and others as JSON."""
    read_row = read(response_tokens=given)

    assert (read_row.tokens, read_row.flags) == (expected, [])


def test_tokens_that_are_no_list_are_said() -> None:
    """They are missing, and the report quotes them."""
    read_row = read(response_tokens={"a": 1})

    assert read_row.tokens is None
    assert read_row.flags == ['response_tokens is {"a": 1}, not a list: taken as missing']


ALTERNATIVES: dict[str, tuple[Any, Any, str]] = {
    "pairs": ([[["a", -0.5], ["b", -1]], [["c", 0.0]]], [[("a", -0.5), ("b", -1)], [("c", 0)]], ""),
    "nothing at a token": ([None, [["c", 0.0]]], [None, [("c", 0)]], ""),
    "no alternative at a token": ([[], [["c", 0.0]]], [[], [("c", 0)]], ""),
    "ids": ([[[17, -0.5]]], [[("17", -0.5)]], ""),
    "dicts": ([{"a": -0.5, "b": -2.0}], [[("a", -0.5), ("b", -2)]], ""),
    "objects": ([[{"token": "a", "logprob": -0.5, "bytes": [97]}]], [[("a", -0.5)]], ""),
    "vLLM's dicts": (
        [
            {
                "791": {"logprob": -0.5, "rank": 1, "decoded_token": "The"},
                "32": {"logprob": -2.0, "rank": 2, "decoded_token": None},
            }
        ],
        [[("The", -0.5), ("32", -2)]],
        "",
    ),
    "dicts of objects by text": ([{" a": {"logprob": None}}], [[(" a", pytest.approx(NAN, nan_ok=True))]], ""),
    "OpenAI's content": (
        [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [{"token": "a", "logprob": -0.5, "bytes": None}]}],
        [[("a", -0.5)]],
        "",
    ),
    "tokens called like keys": ([{"token": -0.5, "top_logprobs": -1.5}], [[("token", -0.5), ("top_logprobs", -1.5)]], ""),
    "a dict without logprob": ([[["a", -1.0]], {"b": {"rank": 1}}], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "no logprob": ([[["a", None]]], [[("a", pytest.approx(NAN, nan_ok=True))]], ""),
    "impossible": ([[["a", -math.inf]]], [[("a", -math.inf)]], ""),
    "some malformed": ([[["a", -1.0]], "x", [["a"]]], [[("a", -1)], None, None], "at 2 tokens, the first at position 1"),
    "logprob is a text": ([[["a", -1.0]], [["a", "b"]]], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "token is a list": ([[["a", -1.0]], [[["a"], 1.0]]], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "three of a pair": ([[["a", -1.0]], [["a", -1.0, 0]]], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "nulls": ([None, None], None, ""),
    "empty": ([], None, ""),
}


@pytest.mark.parametrize(("given", "expected", "flag"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_alternatives_are_pairs(given: Any, expected: Any, flag: str) -> None:
    """Tokens and log-probabilities in the order given, whichever way they are written; a malformed one is missing and flagged."""
    read_row = read(top_logprobs=given)

    assert read_row.alternatives == expected
    assert [flag in one for one in read_row.flags] == ([True] if flag else [])
    assert "top_logprobs" not in read_row.texts


_ANY_TOKEN = st.text(st.characters(codec="utf-8"), max_size=4)
_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _ANY_TOKEN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["token", "logprob", "top_logprobs", "a"]), inner)
    ),
    max_leaves=8,
)


@given(pairs=st.lists(st.tuples(_ANY_TOKEN, st.floats(-1e6, 0)), max_size=5, unique_by=lambda pair: pair[0]))
def test_every_engine_says_the_same(pairs: list[tuple[str, float]]) -> None:
    """Pairs, a dict, vLLM's dict and OpenAI's objects of the same alternatives are read alike."""
    objects = [{"token": token, "logprob": number, "bytes": None} for token, number in pairs]
    shapes: list[Any] = [
        [list(pair) for pair in pairs],
        dict(pairs),
        objects,
        {"token": "x", "logprob": 0, "top_logprobs": objects},
    ]
    shapes.append({token: {"logprob": number, "rank": 1} for token, number in pairs})
    shapes.append({str(i): {"logprob": number, "decoded_token": token} for i, (token, number) in enumerate(pairs)})

    assert [as_alternatives(shape) for shape in shapes] == [pairs] * len(shapes)


@given(st.lists(_ANY_JSON, max_size=4))
def test_no_alternatives_break_a_row(value: list[Any]) -> None:
    """Whatever stands there, the row loads with a list per token or keeps it as text and says so."""
    read_row = read(top_logprobs=value)

    assert read_row.alternatives is None or len(read_row.alternatives) == len(value)
    kept = read_row.alternatives or [None] * len(value)
    malformed = [one for one, found in zip(value, kept, strict=True) if one is not None and found is None]
    assert bool(read_row.flags) == bool(malformed)


@pytest.mark.parametrize("given", ["x", {"a": -1.0}, [1.0, 2.0], [["a", -1.0]], 7, ["a"]], ids=str)
def test_alternatives_that_are_none_are_kept_as_text(given: Any) -> None:
    """The row loads, says so, and loses nothing."""
    read_row = read(top_logprobs=given)

    assert read_row.alternatives is None
    assert read_row.flags == ["top_logprobs is not a list of [token, logprob] lists: kept as text"]
    assert read_row.texts["top_logprobs"] == as_text(given)


ARRAYS: dict[str, tuple[list[Any], list[float], str]] = {
    "numbers": ([-0.5, 1, 2.5], [-0.5, 1, 2.5], ""),
    "null": ([-0.5, None], [-0.5, NAN], "no finite number at 1 token, the first at position 1"),
    "nulls first": ([None, None, 1.0], [NAN, NAN, 1], "no finite number at 2 tokens, the first at position 0"),
    "not a number": ([NAN, 1.0], [NAN, 1], "no finite number at 1 token, the first at position 0"),
    "infinite": ([1.0, -math.inf], [1, -math.inf], "no finite number at 1 token, the first at position 1"),
    "true and false": ([True, False], [1, 0], ""),
    "beyond float32": ([1e300], [math.inf], "no finite number at 1 token"),
    "below float32": ([1e-300, -0.0], [0.0, -0.0], ""),
    "empty": ([], [], ""),
}


@pytest.mark.parametrize(("given", "expected", "flag"), ARRAYS.values(), ids=ARRAYS)
def test_token_metrics_are_float32(given: list[Any], expected: list[float], flag: str) -> None:
    """Null is NaN, and what is not finite is flagged with its place."""
    read_row = read(logprobs=given)

    np.testing.assert_array_equal(read_row.arrays["logprobs"], np.array(expected, np.float32))
    assert read_row.arrays["logprobs"].dtype == np.float32
    flag_not_finite([read_row])
    assert [flag in one for one in read_row.flags] == ([True] if flag else [])


NO_ARRAYS: dict[str, tuple[Any, str]] = {
    "text": ("abc", "abc"),
    "number": (0.5, "0.5"),
    "dict": ({"a": 1}, '{"a": 1}'),
    "texts": (["a"], '["a"]'),
    "numbers as texts": (["1", "2"], '["1", "2"]'),
    "nested": ([[0.1], [0.2]], "[[0.1], [0.2]]"),
    "ragged": ([0.1, [0.2]], "[0.1, [0.2]]"),
    "dicts": ([0.1, {"a": 1}], '[0.1, {"a": 1}]'),
}


@pytest.mark.parametrize(("given", "text"), NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_token_metrics_that_are_none_are_kept_as_text(given: Any, text: str) -> None:
    """Nothing is thrown away: the value is there as text, and the report says so."""
    read_row = read(logprobs=given)

    assert read_row.arrays == {}
    assert read_row.texts["logprobs"] == text
    assert read_row.flags == ["logprobs is not a list of numbers: kept as text"]


NUMBERS: dict[str, tuple[Any, float, str]] = {
    "float": (0.5, 0.5, ""),
    "integer": (2, 2.0, ""),
    "true": (True, 1.0, ""),
    "not a number": (NAN, NAN, "reward is nan: it enters no mean"),
    "infinite": (-math.inf, -math.inf, "reward is -inf: it enters no mean"),
    "text": ("0.5", 0.5, 'reward is the text "0.5", read as 0.5'),
    "text with exponent": (" 1e3 ", 1000.0, 'reward is the text " 1e3 ", read as 1000'),
    "beyond floats": (10**400, math.inf, "reward is inf: it enters no mean"),
    "below floats": (-(10**400), -math.inf, "reward is -inf: it enters no mean"),
}


@pytest.mark.parametrize(("given", "expected", "flag"), NUMBERS.values(), ids=NUMBERS)
def test_numbers(given: Any, expected: float, flag: str) -> None:
    """A number, true and false, or a number as text; what is odd about it is said."""
    read_row = read(reward=given)

    assert repr(read_row.numbers["reward"]) == repr(expected)
    assert read_row.flags == ([flag] if flag else [])
    assert "reward" not in read_row.texts


NO_NUMBERS: dict[str, tuple[Any, str]] = {
    "word": ("good", '"good"'),
    "list": ([1.0], "[1.0]"),
    "dict": ({"a": 1}, '{"a": 1}'),
    "empty": ("", '""'),
}


@pytest.mark.parametrize(("given", "shown"), NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_numbers_that_are_none_are_missing_and_kept_as_text(given: Any, shown: str) -> None:
    """No number is invented; the value is quoted and kept."""
    read_row = read(reward=given)

    assert "reward" not in read_row.numbers
    assert read_row.texts["reward"] == json_record.as_text(given)
    assert read_row.flags == [f"reward is {shown}, not a number: taken as missing"]


@pytest.mark.parametrize("field", ["prompt", "reward", "logprobs", "response_tokens", "group_id", "extra"])
def test_null_is_missing(field: str) -> None:
    """A null field is as one that is not there, without a word."""
    assert read(**{field: None}) == read()


IDS: dict[str, tuple[Any, str]] = {
    "text": ("q-7", "q-7"),
    "number": (7, "7"),
    "huge": (2**64 - 1, "18446744073709551615"),
    "list": ([1, 2], "[1, 2]"),
    "float": (0.5, "0.5"),
}


@pytest.mark.parametrize(("given", "expected"), IDS.values(), ids=IDS)
def test_ids_are_texts(given: Any, expected: str) -> None:
    """An id is a name, also where it is written as a number: no digit is lost."""
    read_row = read(group_id=given, sample_id=given, rank=given)

    assert read_row.ids == {"group_id": expected, "sample_id": expected, "rank": expected}


PROMPTS: dict[str, tuple[Any, str]] = {
    "text": ("hi", "hi"),
    "chat": ([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}], "system:\nbe brief\n\nuser:\nhi"),
    "content of parts": ([{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "user:\nhi"),
    "no content": ([{"role": "assistant"}], "assistant:\n"),
    "null content": ([{"role": "assistant", "content": None}], "assistant:\n"),
    "not a chat": ([{"content": "x"}], '[{"content": "x"}]'),
    "some messages": ([{"role": "user"}, "x"], '[{"role": "user"}, "x"]'),
    "empty list": ([], "[]"),
    "dict": ({"a": 1}, '{"a": 1}'),
}


@pytest.mark.parametrize(("given", "expected"), PROMPTS.values(), ids=PROMPTS)
def test_prompts(given: Any, expected: str) -> None:
    """Chat messages as roles and text, text as it is, anything else as JSON."""
    assert read(prompt=given).texts["prompt"] == expected


RESPONSES: dict[str, tuple[Any, str]] = {
    "one turn": ([{"role": "assistant", "content": "hi"}], "hi"),
    "several turns": (
        [{"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}],
        "assistant:\na\n\ntool:\nb",
    ),
    "not a chat": ([{"content": "x"}], '[{"content": "x"}]'),
}


@pytest.mark.parametrize(("given", "expected"), RESPONSES.values(), ids=RESPONSES)
def test_responses_that_are_messages(given: Any, expected: str) -> None:
    """The policy's and the reference's as text: a single turn alone, several with their roles."""
    texts = read(response=given, ref_response=given).texts

    assert (texts["response"], texts["ref_response"]) == (expected, expected)


UNKNOWN: dict[str, tuple[Any, str, Any]] = {
    "number": (0.5, "numbers", {"x": 0.5}),
    "integer": (7, "numbers", {"x": 7.0}),
    "true": (True, "numbers", {"x": 1.0}),
    "large float": (1e20, "numbers", {"x": 1e20}),
    "infinite": (math.inf, "numbers", {"x": math.inf}),
    "largest exact integer": (2**53, "numbers", {"x": 2.0**53}),
    "integer that is not exact as a float": (2**53 + 1, "texts", {"x": "9007199254740993"}),
    "text": ("gsm8k", "texts", {"x": "gsm8k"}),
    "numbers, one per token": ([0.5, 1.0], "arrays", {"x": [0.5, 1.0]}),
    "integers, one per token": ([1, 0], "arrays", {"x": [1.0, 0.0]}),
    "another length": ([0.5], "texts", {"x": "[0.5]"}),
    "texts, one per token": (["a", "b"], "texts", {"x": '["a", "b"]'}),
    "dict of numbers": ({"format": 1, "acc": 0.5, "note": "n"}, "numbers", {"x.format": 1.0, "x.acc": 0.5}),
    "empty dict": ({}, "texts", {"x": "{}"}),
}


@pytest.mark.parametrize(("given", "kind", "expected"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_fields_are_kept(given: Any, kind: str, expected: Any) -> None:
    """Numbers as numbers, lists of the response's length as token metrics, everything else as text."""
    read_row = read(response_tokens=["a", "b"], x=given)
    kept = getattr(read_row, kind)

    assert {name: one.tolist() if kind == "arrays" else one for name, one in kept.items() if name.startswith("x")} == expected
    assert read_row.flags == []
    if isinstance(given, dict):
        assert read_row.texts["x"] == json_record.as_text(given)


def test_unknown_number_that_is_not_a_number_stays_a_missing_number() -> None:
    """A NaN does not turn a column of numbers into one of texts."""
    read_row = read(perplexity=NAN)

    assert math.isnan(read_row.numbers["perplexity"])
    assert "perplexity" not in read_row.texts


LOGGED: dict[str, tuple[dict[str, Any], str]] = {
    "a derived metric": ({"kl": [0.1, 0.2]}, "kl (logged)"),
    "another derived metric": ({"log_ratio": [0.1, 0.2]}, "log_ratio (logged)"),
    "the title of a field the row has": ({"entropy": [0.1, 0.2], "entropies": [0.3, 0.4]}, "entropy (logged)"),
    "the title of a field the row lacks": ({"entropy": [0.1, 0.2]}, "entropy"),
    "the board's token marks": ({"counts": [1, 2]}, "counts (logged)"),
    "the other token mark": ({"pads": [1, 2]}, "pads (logged)"),
    "a column of the token table": ({"position": [7, 8]}, "position (logged)"),
    "another column of the token table": ({"token": [7, 8]}, "token (logged)"),
}


@pytest.mark.parametrize(("fields", "name"), LOGGED.values(), ids=LOGGED)
def test_token_metrics_that_clash_are_renamed(fields: dict[str, Any], name: str) -> None:
    """A trainer's field the board means something else by is kept as `(logged)`."""
    read_row = row_reader.read(token_row(**fields))

    assert read_row.arrays[name].tolist() == pytest.approx(next(iter(fields.values())))
    assert (next(iter(fields)) in read_row.arrays) == (name == next(iter(fields)))


@pytest.mark.parametrize("name", ["shard", "line", "kl"])
def test_scalars_that_clash_are_renamed(name: str) -> None:
    """The same for numbers and texts."""
    assert read(**{name: 5}).numbers == {f"{name} (logged)": 5.0}
    assert read(**{name: "five"}).texts == {"response": "ok", f"{name} (logged)": "five"}


def test_arrays_keep_their_own_length_until_aligned() -> None:
    """Reading reports no mismatch and cuts nothing: that is aligning's work."""
    read_row = read(response_tokens=["a"], logprobs=[1, 2, 3])

    assert read_row.arrays["logprobs"].size == 3
    assert read_row.flags == []


def test_ids_of_the_prompt_are_no_metric() -> None:
    """A prompt that happens to have as many tokens as the response stays the prompt."""
    found = read(response_tokens=["a", "b"], prompt_token_ids=[1, 17])

    assert found.texts["prompt_token_ids"] == "[1, 17]"
    assert found.arrays == {}
