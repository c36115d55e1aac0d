"""Tests of guessing a mapping from what stands in a run."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
from golden_runs import SHARDS, records
from hypothesis import assume, given
from hypothesis import strategies as st

from board import formats
from board.errors import MappingRefused, RowRefused
from board.formats.aliases import PER_TOKEN, PROMPT_TOKENS, SCALARS
from board.formats.contract import Head, Place
from board.formats.mapping import NAMES, Constant, FromPath, HandMapping, Key
from board.formats.mapping_file import parse
from board.formats.suggest_mapping import guess

CHAT = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]


def guessed(*rows: dict[str, Any], name: str = "") -> dict[str, Any]:
    """What was guessed for each of our names: the key, or what stands for it."""
    return {ours: source.path if isinstance(source, Key) else source for ours, source in parse(guess(rows, name)).fields.items()}


GUESSES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({"global_step": 3, "input": "a", "output": "b", "score": 1.0}, {"step": "global_step", "reward": "score"}),
    "nested": ({"run": {"work": {"step": 3}}, "output": {"text": "b"}}, {"step": "run.work.step", "response": "output.text"}),
    "our name before another": (
        {"step": 1, "global_step": 2, "completion": "x", "response": "y"},
        {"step": "step", "response": "response"},
    ),
    "a type that does not fit": ({"step": "late", "iteration": 4, "response": "x"}, {"step": "iteration"}),
    "messages": ({"step": 1, "messages": CHAT}, {"response": "messages"}),
    "a word for the split": ({"step": 1, "response": "x", "mode": "val"}, {"split": "mode"}),
    "ids by their type": (
        {"step": 1, "response_tokens": [19, 2], "logprobs": [-0.1, None]},
        {"response_token_ids": "response_tokens", "logprobs": "logprobs"},
    ),
    "texts by their type": ({"step": 1, "tokens": ["4", "."]}, {"response_tokens": "tokens"}),
    "rewards per token": (
        {"step": 1, "response": "x", "tokens": ["4", "."], "rewards": [0.0, 1.0], "reward": 1.0},
        {"token_rewards": "rewards", "reward": "reward"},
    ),
    "prompt ids": ({"step": 1, "response_ids": [1], "prompt_ids": [2, 3]}, {"prompt_token_ids": "prompt_ids"}),
    "alternatives": ({"step": 1, "tokens": ["a"], "top_logprobs": [[["a", -0.1]]]}, {"top_logprobs": "top_logprobs"}),
}


@pytest.mark.parametrize(("record", "expected"), GUESSES.values(), ids=GUESSES)
def test_keys_are_told_by_name_and_type(record: dict[str, Any], expected: dict[str, Any]) -> None:
    """The likeliest key whose values are of the type, at any depth."""
    assert expected.items() <= guessed(record).items()


NOT_GUESSED: dict[str, tuple[dict[str, Any], str]] = {
    "a reward that is text": ({"step": 1, "response": "x", "reward": "high"}, "reward"),
    "true as a reward": ({"step": 1, "response": "x", "score": True}, "reward"),
    "logprobs of another length": (
        {"step": 1, "response": "x", "tokens": ["a", "b"], "ref_logprobs": [0, 0], "entropy": [0, 0], "logprobs": [0]},
        "logprobs",
    ),
    "ids of the whole sequence beside arrays of the response": (
        {"step": 1, "response": "x", "tokens": [1, 2, 3], "log_probs": [0, 0], "ref_log_probs": [0, 0]},
        "response_token_ids",
    ),
    "a mode that is no split": ({"step": 1, "response": "x", "mode": "greedy"}, "split"),
}


@pytest.mark.parametrize(("record", "ours"), NOT_GUESSED.values(), ids=NOT_GUESSED)
def test_what_does_not_fit_is_left_alone(record: dict[str, Any], ours: str) -> None:
    """A name alone decides nothing: the type and the length must be right too."""
    assert ours not in guessed(record)


def test_every_record_counts() -> None:
    """A key that is null in one record is judged by the others; one of two types is of none."""
    assert guessed({"step": 1, "response": None, "score": 1.0}, {"step": 1, "response": "x", "score": "?"}).keys() == {
        "step",
        "response",
    }


def test_a_key_is_used_once() -> None:
    """What is the response is not the ground truth as well."""
    fields = guessed({"step": 1, "answer": "4", "output": "4", "text": "4"})

    assert (fields["response"], fields["ground_truth"]) == ("output", "answer")


STEPS: dict[str, tuple[str, Any]] = {"in the path": ("step_3/rows.jsonl", FromPath()), "nowhere": ("rows.jsonl", Constant(0))}


@pytest.mark.parametrize(("name", "source"), STEPS.values(), ids=STEPS)
def test_step_without_a_key(name: str, source: Any) -> None:
    """Steps are from the path when no key has them; when that has none either, the text says so."""
    text = guess([{"response": "x"}], name)

    assert parse(text).fields["step"] == source
    assert ("Nothing looks like a step" in text) == isinstance(source, Constant)


def test_parts_of_a_reward() -> None:
    """Without a whole reward its parts are summed, and the reader is told to look at the weights."""
    text = guess([{"step": 1, "response": "x", "format_reward": 0.5, "scores": {"acc": 1.0, "why": "x"}, "length": 3}])

    assert parse(text).reward_parts == (("format_reward", 1.0), ("scores.acc", 1.0))
    assert "weights" in text
    assert guessed({"step": 1, "response": "x", "rm_score": 0.5})["reward"] == "rm_score"


def test_arrays_of_the_whole_sequence() -> None:
    """A mask that begins with 0 shows that the prompt is in the arrays."""
    whole = {"step": 1, "token_ids": [1, 2, 3], "loss_mask": [0, 1, 1], "logprobs": [0.0, -0.1, -0.2]}
    alone = {**whole, "loss_mask": [1, 0, 1]}

    assert parse(guess([whole])).whole_sequence
    assert not parse(guess([alone])).whole_sequence


def test_the_longest_text_when_no_name_is_known() -> None:
    """Where nothing is called as a response is, the longest text that is nothing else is offered, and the reader is told."""
    text = guess(
        [{"step": 1, "gen": "", "prompt": "p" * 99, "kind": "a"}, {"step": 1, "gen": "long", "prompt": "p", "kind": "b"}]
    )

    assert parse(text).fields["response"] == Key("gen")
    assert "longest text" in text
    assert "longest text" not in guess([{"step": 1, "gen": "long", "output": "x"}])


def test_nothing_sampled_is_said() -> None:
    """A guess without a response is one to finish, and its text says what is missing."""
    text = guess([{"step": 1, "loss": 0.5}])

    assert 'write response = "<key>"' in text
    with pytest.raises(MappingRefused, match="nothing that was sampled"):
        parse(text)


def test_unused_keys_are_listed() -> None:
    """The reader sees what would keep its own name, line ends in keys included, and the text stays TOML."""
    text = guess([{"step": 1, "response": "x", "seed": 3, 'odd\n"key"': {"n": 1}}])

    assert text.endswith('# Kept under their own names: "seed", "odd\\n\\"key\\".n"\n')
    assert parse(text).fields.keys() == {"step", "response"}


def test_aliases_are_of_names_that_may_be_mapped() -> None:
    """Every alias stands for a name that a mapping may hold, and each begins with the board's own."""
    assert {*SCALARS, *PER_TOKEN} <= set(NAMES)
    assert [ours for ours, aliases in {**SCALARS, **PER_TOKEN}.items() if aliases[0] != ours] == []
    assert PROMPT_TOKENS[0] in NAMES


OURS: dict[str, Any] = {
    "step": 3,
    "prompt": "2+2?",
    "response": "4.",
    "reward": 1.0,
    "ground_truth": "4",
    "group_id": "g",
    "response_tokens": ["4", "."],
    "logprobs": [-0.1, -0.2],
    "ref_logprobs": [-0.3, -0.4],
    "rollout_logprobs": [-0.5, -0.6],
    "entropies": [0.1, 0.2],
    "loss_mask": [1, 0],
}


@given(st.fixed_dictionaries({ours: st.sampled_from({**SCALARS, **PER_TOKEN}[ours]) for ours in OURS}), st.booleans())
def test_renamed_rows_are_read_as_ours(names: dict[str, str], inside: bool) -> None:
    """Rows of ours, every key called as some trainer calls it, come back under our names, alone or within an object."""
    renamed = {names[ours]: value for ours, value in OURS.items()}
    assume(len(renamed) == len(OURS))  # two of our names cannot share a key
    record = {"data": renamed} if inside else renamed

    fields = guessed(record, name="rows.jsonl")

    assert fields == {ours: f"data.{name}" if inside else name for ours, name in names.items()}


@pytest.mark.parametrize(("folder", "path"), SHARDS)
def test_any_run_gets_a_text(folder: str, path: Path) -> None:
    """Whatever the records are, there is a text for them; when it is complete, it reads the records or refuses them."""
    rows = records(path)

    with contextlib.suppress(MappingRefused):
        by = parse(guess(rows, path.name))
        assert isinstance(by, HandMapping)
        assert by.recognise(Head(path.name, tuple(rows)))
        for at, row in enumerate(rows, 1):
            with contextlib.suppress(RowRefused):
                formats.read(row, by, Place(path.name, at))
