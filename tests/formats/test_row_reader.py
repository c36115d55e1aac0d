"""board.formats.row_reader: what a record under our names becomes, field by field, and why some become nothing."""

import math
from typing import Any

import pytest
from read_rows import read

from board import formats
from board.errors import RowRefused
from board.formats import native, row_reader
from board.formats.contract import Place
from board.sources import json_record

NAN = math.nan

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
    "digits of another script": ("٣", r'"\u0663"'),
    "long text": ("x" * 500, '"' + "x" * 56 + "..."),
}


@pytest.mark.parametrize(("value", "shown"), NO_STEPS.values(), ids=NO_STEPS)
def test_other_steps_are_refused_and_quoted(value: Any, shown: str) -> None:
    """Never rounded, never guessed; the value is quoted and short."""
    with pytest.raises(RowRefused) as refusal:
        row_reader.read({"step": value, "response": "x"})

    assert str(refusal.value) == f"`step` is {shown}, which is not a whole number"


LARGE_STEPS: dict[str, tuple[Any, str]] = {
    "first above": (2**63, str(2**63)),
    "first below": (-(2**63) - 1, str(-(2**63) - 1)),
    "float": (1e300, "1e+300"),
    "text": ("9" * 19, '"' + "9" * 19 + '"'),
}


@pytest.mark.parametrize(("value", "shown"), LARGE_STEPS.values(), ids=LARGE_STEPS)
def test_steps_beyond_64_bits_are_refused_as_such(value: Any, shown: str) -> None:
    """They are whole numbers, so that they are not called anything else."""
    with pytest.raises(RowRefused) as refusal:
        row_reader.read({"step": value, "response": "x"})

    assert str(refusal.value) == f"`step` is {shown}, which is more than 64 bits hold"


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "has no `step` and no `response` or `response_tokens`; its keys are: none"),
    "no response": ({"step": 0}, "has no `response` or `response_tokens`; its keys are: step"),
    "null response": ({"step": 0, "response": None}, "has no `response` or `response_tokens`; its keys are: step, response"),
    "tokens that are no list": ({"step": 0, "response_tokens": "a"}, "has no `response` or `response_tokens`; its keys are"),
    "no step": ({"response": "x"}, "has no `step`; its keys are: response"),
    "other names": (
        {"global_step": 1, "output": "a", "score": 0.5},
        "has no `step` and no `response` or `response_tokens`; its keys are: global_step, output, score",
    ),
    "very long keys": (
        {"k" * 1_000_000: 1, "step": 0},
        "has no `response` or `response_tokens`; its keys are: " + "k" * 40 + ", step",
    ),
}


@pytest.mark.parametrize(("record", "reason"), MISSING.values(), ids=MISSING)
def test_rows_without_step_or_response_are_refused(record: dict[str, Any], reason: str) -> None:
    """The reason names what is missing and what there is; what may be meant is for the mapping that the board suggests."""
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


def test_nested_too_deeply_is_refused() -> None:
    """What the strict parser could read but the standard library cannot write out as text is a refused row, in any field."""
    for field in (b'"extra": ', b'"prompt": ', b'"response": '):
        record = json_record.parse(b'{"step": 0, "response_tokens": [], ' + field + b"[" * 1_000 + b"]" * 1_000 + b"}")
        with pytest.raises(RowRefused, match="nested too deeply"):
            formats.read(record, native, Place("a.jsonl", 1))


NUMBERS: dict[str, tuple[Any, float, str]] = {
    "float": (0.5, 0.5, ""),
    "integer": (2, 2.0, ""),
    "true": (True, 1.0, ""),
    "not a number": (NAN, NAN, "reward is nan: it enters no mean"),
    "infinite": (-math.inf, -math.inf, "reward is -inf: it enters no mean"),
    "text": ("0.5", 0.5, 'reward is the text "0.5", read as 0.5'),
    "a verdict": ("True", 1.0, 'reward is the text "True", read as 1'),
    "another verdict": ("no", 0.0, 'reward is the text "no", read as 0'),
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
    assert read_row.flags == ["x is inf: it enters no mean"] * (given == math.inf)
    if isinstance(given, dict):
        assert read_row.texts["x"] == json_record.as_text(given)


def test_unknown_number_that_is_not_a_number_stays_a_missing_number() -> None:
    """A NaN does not turn a column of numbers into one of texts."""
    read_row = read(perplexity=NAN)

    assert math.isnan(read_row.numbers["perplexity"])
    assert "perplexity" not in read_row.texts


@pytest.mark.parametrize("name", ["shard", "line", "kl"])
def test_scalars_that_clash_are_renamed(name: str) -> None:
    """The same for numbers and texts."""
    assert read(**{name: 5}).numbers == {f"{name} (logged)": 5.0}
    assert read(**{name: "five"}).texts == {"response": "ok", f"{name} (logged)": "five"}
