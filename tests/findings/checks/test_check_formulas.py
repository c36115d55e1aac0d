"""Tests of the statistics of the checks, against closed forms and slow references."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, write_run

from board import open_run
from board.findings.checks import arrays
from board.findings.checks.alignment import reward_rule
from board.findings.checks.arrays import in_stretches
from board.findings.checks.evidence import Batch, batch_of
from board.findings.checks.texts import reads_as


def batch(folder: Path, rows: list[dict[str, Any]]) -> Batch:
    """The only part of a run of these rows."""
    (part,) = open_run(write_run(folder, {"data.jsonl": rows})).parts
    return batch_of(part)


@given(st.lists(st.lists(st.booleans(), max_size=9), max_size=6), st.integers(1, 4))
def test_stretches_are_those_of_a_slow_walk(rollouts: list[list[bool]], least: int) -> None:
    """A mark is kept where it stands in a row of at least so many within its rollout."""
    wanted = []
    for rollout in rollouts:
        text = "".join("x" if mark else "." for mark in rollout)
        runs = [len(run) for run in text.replace(".", " . ").split() if run != "."]
        kept = iter([length >= least for length in runs])
        wanted += [
            current
            for run in text.replace(".", " . ").split()
            for current in ([False] if run == "." else [next(kept)] * len(run))
        ]
    marks = np.array([mark for rollout in rollouts for mark in rollout], np.bool_)
    offsets = np.cumsum([0, *map(len, rollouts)])

    assert in_stretches(marks, offsets, least).tolist() == wanted


def test_masked_tokens_and_padding_are_told_apart(tmp_path: Path) -> None:
    """Padding is no masked token, and what is masked enters no count of numbers that cannot be."""
    rows = [
        row(response_tokens=["a", "b", "<pad>"], logprobs=[-1.0, 2.0, 0.0], loss_mask=[1, 0, 0]),
        row(response_tokens=["a", "b"], logprobs=[-1.0, 2.0]),
    ]

    measured = arrays.measure(batch(tmp_path / "run", rows))

    assert measured["masked"].tolist() == [1, 0]
    assert measured["masked_certain"].tolist() == [1, 0]
    assert measured["positive_logprobs"].tolist() == [0, 1]


def sums_of(beta: float, rows: int = 40) -> tuple[Any, Any, dict[str, Any], Any]:
    """Rewards, sums of token rewards less β times a penalty of that name, and steps of ten rows."""
    dice = np.random.default_rng(1)
    rewards, k1, k3 = dice.normal(size=rows), dice.normal(size=rows), dice.gamma(1.0, 1.0, rows)
    return rewards, rewards - beta * k1, {"KL k1": k1, "KL k3": k3}, np.repeat(np.arange(rows // 10), 10)


@pytest.mark.parametrize(("beta", "wanted"), [(0.0, ""), (0.05, "KL k1"), (2.0, "KL k1")])
def test_rule_of_token_rewards_is_recovered(beta: float, wanted: str) -> None:
    """The penalty that was taken off is named, and a row that breaks the rule is the only one that does."""
    rewards, sums, penalties, steps = sums_of(beta)
    sums[7] += 0.5

    rule = reward_rule(rewards, sums, penalties, steps)

    assert rule.penalty == wanted
    assert np.flatnonzero(~rule.holds).tolist() == [7]


def test_coefficient_may_change_with_the_step() -> None:
    """An adaptive β is followed from step to step."""
    rewards, _, penalties, steps = sums_of(0.0)

    rule = reward_rule(rewards, rewards - (0.1 + 0.1 * steps) * penalties["KL k3"], penalties, steps)

    assert (rule.penalty, bool(rule.holds.all())) == ("KL k3", True)


def test_no_rule_is_invented_for_small_steps() -> None:
    """With one row a step, any β would fit: it is the run's that counts, and noise keeps no rule."""
    rewards, _, penalties, _ = sums_of(0.0)
    noise = np.random.default_rng(2).normal(size=40)

    assert reward_rule(rewards, noise, penalties, np.arange(40)).holds.mean() < 0.1


READS: dict[str, tuple[list[str], str, bool]] = {
    "plain": (["The", " answer"], "The answer", True),
    "another": (["The", " answer"], "The question", False),
    "byte-level": (["The", "Ġanswer", "Ġis", "Ċ"], "The answer is\n", True),
    "byte-level characters": (["ä»", "Ĭ", "å¤©", "Ġhi", "Ġho"], "今天 hi ho", True),
    "sentencepiece": (["▁The", "▁answer", "<0x0A>"], "The answer\n", True),
    "special tokens left out": (["<|im_start|>", "Hi", "<|im_end|>"], "Hi", True),
    "special tokens kept": (["<|im_start|>", "Hi", "<|im_end|>"], "<|im_start|>Hi<|im_end|>", True),
    "tags are text": (["<think>", "Hi", "</think>"], "Hi", False),
    "cut within a character": (["Ġh", "Ġi", "ä»"], "h i\ufffd", True),
    "white space at joints": (["▁Hi", "▁there", "."], " Hi there .", True),
    "cut short": (["The", " answer"], "The", False),
    "empty": ([], "", True),
}


@pytest.mark.parametrize("name", READS)
def test_reads_as(name: str) -> None:
    """Tokens are compared by what they spell, not by what they are called."""
    tokens, response, wanted = READS[name]

    assert reads_as(tokens, response) is wanted
