"""Tests of guessing a mapping from what stands in a run."""

import contextlib
import math
from pathlib import Path
from typing import Any

import pytest
from golden_runs import SHARDS, records
from hypothesis import assume, given
from hypothesis import strategies as st
from layout import LAYOUTS, Layout, opened_as_guessed, suggestion

from board import formats
from board.errors import RowRefused
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
    "capital letters and spaces": (
        {"Global Step": 3, "Prompt": "a", "Completion": "b", "Total Reward": 1.0},
        {"step": "Global Step", "prompt": "Prompt", "response": "Completion", "reward": "Total Reward"},
    ),
    "slashes": ({"train/global_step": 3, "response": "b"}, {"step": "train/global_step"}),
    "iterations of an epoch": ({"epoch": 1, "iter": 3, "response": "b"}, {"step": "iter"}),
    "a step as text": ({"ckpt": "step_3", "response": "b"}, {"step": "ckpt"}),
    "humps": ({"trainStep": 3, "response": "b", "finalReward": 1.0}, {"step": "trainStep", "reward": "finalReward"}),
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
    "true as a reward": ({"step": 1, "response": "x", "score": True}, {"reward": "score"}),
    "a verdict as text": ({"response": "x", "judge_output": "False"}, {"reward": "judge_output"}),
    "the metric that is named": (
        {"response": "x", "metrics": ["em"], "em": 1.0, "f1": 0.5},
        {"reward": "em"},
    ),
    "a flag that is the same in every row, and one of the data set": (
        {"question": "Q?", "response": "x", "verdicts": 0.5, "used_in_contest": True},
        {"reward": "verdicts"},
    ),
    "samples under numbered keys": (
        {"prompt": "Q?", "response_1": "a", "response_2": "b", "response_1_reward": 0.5, "response_2_reward": 1.0},
        {"response": "response_*", "reward": "response_*_reward"},
    ),
    "two models beside each other": (
        {"prompt": "Q?", "base_output": "a text", "rl_output": "a", "base_score": 0.5, "rl_score": 1.0},
        {"response": "rl_output", "reward": "rl_score", "ref_response": "base_output", "ref_reward": "base_score"},
    ),
    "an outcome": ({"response": "x", "outcome": 0.5}, {"reward": "outcome"}),
    "the only one of its scores": ({"response": "x", "scores": [{"name": "a", "value": 0.5}]}, {"reward": "scores.0.value"}),
    "a score of no other text": ({"response": "x", "base_score": 0.5}, {"reward": "base_score"}),
    "another's score": (
        {"old_completion": "a text", "new_completion": "a", "old_score": 0.5, "new_score": 1.0},
        {"response": "old_completion", "reward": "old_score"},
    ),
    "the answer next to the question": (
        {"question": "Q?", "answer": "A", "notes": "I think of it, and say A."},
        {"response": "notes", "ground_truth": "answer", "prompt": "question"},
    ),
    "the answer beside another": (
        {"question": "Q?", "answer": "A, I think.", "ground_truth": "A", "contexts": ["A long text. ", "Another."]},
        {"response": "answer", "ground_truth": "ground_truth"},
    ),
    "the model's answer": (
        {"question": "Q?", "answer": "A long answer, as data sets have it.", "model_answer": "A"},
        {"response": "model_answer", "ground_truth": "answer"},
    ),
    "what stands in the metadata before the question": (
        {"meta": {"src": "gsm", "ts": "2026-01-01T10:00:00Z"}, "question_text": "Q?", "rollout": {"text": "A, I think."}},
        {"prompt": "question_text", "response": "rollout.text"},
    ),
    "samples in objects": (
        {"prompt": "Q?", "completions": [{"response": "a", "score": 1.0}, {"response": "b", "score": 0.0}]},
        {"response": "completions.*.response", "reward": "completions.*.score"},
    ),
    "a number as the answer": (
        {"question": "Q?", "gold_answer": 4, "model_answer": "It is 4."},
        {"response": "model_answer", "ground_truth": "gold_answer"},
    ),
    "Chinese": (
        {"步": 1, "题目": "Q?", "模型输出": "It is 4.", "参考答案": "4", "得分": 1.0},
        {"step": "步", "prompt": "题目", "response": "模型输出", "ground_truth": "参考答案", "reward": "得分"},
    ),
    "a model by its name": (
        {"question": "Q?", "human_answers": ["A"], "gpt_answers": ["It is A."]},
        {"response": "gpt_answers.0"},
    ),
    "an answer with a reward": (
        {"update": 1, "query": "Q?", "answer_text": "It is 4.", "return": 1.0},
        {"step": "update", "response": "answer_text", "reward": "return"},
    ),
    "passages that were found": (
        {"question": "Q?", "output": {"retrieved": [{"contents": "A long passage of text."}], "pred": "Mr A"}},
        {"response": "output.pred"},
    ),
    "alternatives": ({"step": 1, "tokens": ["a"], "top_logprobs": [[["a", -0.1]]]}, {"top_logprobs": "top_logprobs"}),
}


@pytest.mark.parametrize(("record", "expected"), GUESSES.values(), ids=GUESSES)
def test_keys_are_told_by_name_and_type(record: dict[str, Any], expected: dict[str, Any]) -> None:
    """The likeliest key whose values are of the type, at any depth."""
    assert expected.items() <= guessed(record).items()


NOT_GUESSED: dict[str, tuple[dict[str, Any], str]] = {
    "a reward that is text": ({"step": 1, "response": "x", "reward": "high"}, "reward"),
    "a weight": ({"step": 1, "response": "x", "env": {"test_weight_in_reward": 0.5}}, "reward"),
    "counts and flags": ({"step": 1, "response": "x", "n_tokens": 5, "truncated": False}, "reward"),
    "logprobs of another length": (
        {"step": 1, "response": "x", "tokens": ["a", "b"], "ref_logprobs": [0, 0], "entropy": [0, 0], "logprobs": [0]},
        "logprobs",
    ),
    "ids of the whole sequence beside arrays of the response": (
        {"step": 1, "response": "x", "tokens": [1, 2, 3], "log_probs": [0, 0], "ref_log_probs": [0, 0]},
        "response_token_ids",
    ),
    "the response without what is around it": ({"raw_solution": "Sure: x", "solution": "x"}, "ground_truth"),
    "no answer": ({"instruction": "Q?", "response": "x", "correct_answers": ["None"]}, "ground_truth"),
    "a mode that is no split": ({"step": 1, "response": "x", "mode": "greedy"}, "split"),
}


@pytest.mark.parametrize(("record", "ours"), NOT_GUESSED.values(), ids=NOT_GUESSED)
def test_what_does_not_fit_is_left_alone(record: dict[str, Any], ours: str) -> None:
    """A name alone decides nothing: the type and the length must be right too."""
    assert ours not in guessed(record)


REPEATED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "with its prompt": ([{"id": at // 2, "prompt": f"p{at // 2}", "response": f"r{at}"} for at in range(4)], "prompt_id"),
    "with the prompt of a chat": (
        [{"id": at // 2, "chat": [{**CHAT[0], "content": f"{at // 2}"}, CHAT[1]]} for at in range(4)],
        "prompt_id",
    ),
    "in a row of several samples": ([{"id": at, "prompt": f"p{at}", "responses": ["a", "b"]} for at in range(2)], "prompt_id"),
    "as a number within the group": (
        [{"id": at % 2, "prompt": f"p{at // 2}", "response": f"r{at}"} for at in range(4)],
        "sample_id",
    ),
    "never": ([{"id": at, "prompt": "p", "response": f"r{at}"} for at in range(4)], "sample_id"),
    "where nobody knows the prompt": ([{"id": 1, "response": f"r{at}"} for at in range(4)], "sample_id"),
    "as a list": ([{"id": [1], "prompt": "p", "response": f"r{at}", "other": 2} for at in range(2)], ""),
}


@pytest.mark.parametrize(("rows", "ours"), REPEATED.values(), ids=REPEATED)
def test_an_id_that_comes_again_with_its_prompt_names_it(rows: list[dict[str, Any]], ours: str) -> None:
    """An `id` is the sample's, unless it is repeated and always stands beside one prompt."""
    assert [name for name, key in guessed(*rows).items() if str(key).startswith("id")] == [ours][: bool(ours)]


def test_what_is_the_same_in_every_row() -> None:
    """It is neither the prompt nor the response where another text differs."""
    rows = [{"instruction": "Judge.", "input": f"Film {at}", "output": "Done.", "completion": f"It is {at}."} for at in range(3)]

    assert {"prompt": "input", "response": "completion"}.items() <= guessed(*rows).items()


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


STEPS: dict[str, tuple[str, Any]] = {
    "in the path": ("step_3/rows.jsonl", FromPath()),
    "nowhere": ("rows.jsonl", Constant(0)),
    "a date": ("20260131/rows.jsonl", Constant(0)),
}


@pytest.mark.parametrize(("name", "source"), STEPS.values(), ids=STEPS)
def test_step_without_a_key(name: str, source: Any) -> None:
    """Steps are from the path when no key has them; when that has none either, the text says so."""
    text = guess([{"response": "x"}], name)

    assert parse(text).fields["step"] == source
    assert ("Nothing looks like a step" in text) == isinstance(source, Constant)


NO_REWARD: dict[str, dict[str, Any]] = {
    "flag": {"response": "x", "task_id": 1, "holds": True, "truncated": False},
    "number": {"response": "x", "kl": 0.5, "n_tokens": 7},
}


@pytest.mark.parametrize(("row", "key"), [(NO_REWARD["flag"], "holds"), (NO_REWARD["number"], "kl")], ids=NO_REWARD)
def test_what_nothing_calls_a_reward(row: dict[str, Any], key: str) -> None:
    """A flag or the only number is left out, and named."""
    assert "reward" not in guessed(row)
    assert f'write reward = "{key}" if' in guess([row])


def test_a_score_beside_a_log_probability() -> None:
    """In an object with an average log-probability it is one, too."""
    row = {"response": {"candidates": [{"text": "x", "score": -3.5, "avgLogprobs": -0.5}]}}

    assert "reward" not in guessed(row)


PARTS = {
    "words behind": ("reward_acc", "reward_format"),
    "functions": ("right_reward_func", "int_reward_func"),
    "slashes": ("rewards/right", "rewards/tags"),
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_how_parts_are_called(parts: tuple[str, ...]) -> None:
    """As on the pages."""
    text = guess([{"step": 1, "response": "x", **dict.fromkeys(parts, 0.5)}])

    assert parse(text).reward_parts == tuple((path, 1.0) for path in parts)


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


WITHOUT_A_NAME: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "messages with a turn of the model": ([{"log": "l" * 99, "story": CHAT}], "story", "a list of messages"),
    "a list of texts": ([{"note": "n" * 99, "tries": ["I try", "again"], "marks": [0, 1]}], "tries", "a list of texts"),
    "what differs among rows of one prompt": (
        [{"prompt": "p", "work": "w" * 99, "words": word} for word in ("one word", "another word")],
        "words",
        "differs among rows of one prompt",
    ),
    "the longest text": (
        [{"words": "", "prompt": "p" * 99, "mood": "a"}, {"words": "long words", "prompt": "p", "mood": "b"}],
        "words",
        "the longest text",
    ),
}


@pytest.mark.parametrize(("rows", "key", "why"), WITHOUT_A_NAME.values(), ids=WITHOUT_A_NAME)
def test_shape_decides_where_no_name_is_known(rows: list[dict[str, Any]], key: str, why: str) -> None:
    """Where nothing is called as a response is, messages come before lists of texts, these before what differs, and the reader is told."""
    text = guess(rows)

    assert parse(text).fields["response"] == Key(key)
    assert why in text
    assert "No key is called" not in guess([{"words": "long words", "output": "x"}])


NEVER: dict[str, dict[str, Any]] = {
    "below the document": {"doc": {"response": "x" * 99}},
    "a reference": {"reference_answer": "x" * 99, "gold": {"completion": "y"}},
    "what was expected": {"expected_output": "x" * 99},
    "a checksum": {"gt_data": "0" * 64, "state": "9f86d081884c7d659a2feaa0c55ad015"},
    "a path and a time": {"saved": "runs/a/b.json", "ended": "2026-11-25T09:00:00"},
    "an empty list": {"outputs": [], "responses": []},
    "a question and its answer": {"question": "Q?", "answer": "A long answer, as data sets have it."},
    "numbers": {"loss": 0.5, "step": 1},
}


@pytest.mark.parametrize("row", NEVER.values(), ids=NEVER)
def test_nothing_sampled_is_no_guess(row: dict[str, Any]) -> None:
    """What a data set has written, an id, a time, a path, a number or an empty list is never what was sampled, and then there is no guess."""
    assert guess([row]) == ""


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_public_layouts(tmp_path: Path, layout: Layout) -> None:
    """In layouts that others document the guess names what was sampled, what belongs to it, where the rows lie and whether a row is a group."""
    mapping = parse(suggestion(layout.copied(tmp_path)))

    found = {ours: source.path for ours, source in mapping.fields.items() if isinstance(source, Key)}
    assert found | layout.fields == found
    assert (mapping.rows, mapping.each) == (layout.rows, "response" if layout.each else "")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_guess_opens_the_run(tmp_path: Path, layout: Layout) -> None:
    """Saved unchanged as rollouts.toml the guess opens the run: nothing is refused, no rollout is without text, and what is read is right."""
    opened = opened_as_guessed(layout.copied(tmp_path))

    rollouts = [opened.rollout(at) for at in range(len(opened.frame))]
    assert (opened.report.refused, len(rollouts) > 0) == (layout.refused, True)
    assert all(one["response"] or one["prompt"] for one in rollouts)
    groups = opened.frame["group"].nunique() if "group" in opened.frame else 0
    assert groups == layout.groups or (layout.groups is None and groups >= layout.each)
    assert {name: str(rollouts[0][name]) for name in layout.first} == layout.first
    if layout.rewards is not None:
        assert [one.reward for one in rollouts] == pytest.approx(layout.rewards or [math.nan] * len(rollouts), nan_ok=True)


def test_unused_keys_are_listed() -> None:
    """The reader sees what would keep its own name, line ends in keys included, and the text stays TOML."""
    text = guess([{"step": 1, "response": "x", "seed": 3, 'odd\n"key"': {"n": 1}, "*": "?"}])

    assert text.endswith('# Read under their own names: "seed", "odd\\n\\"key\\".n", "*"\n')
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

    if text := guess(rows, path.name):
        by = parse(text)
        assert isinstance(by, HandMapping)
        assert by.recognise(Head(path.name, tuple(rows)))
        for at, row in enumerate(rows, 1):
            with contextlib.suppress(RowRefused):
                formats.read(row, by, Place(path.name, at))
