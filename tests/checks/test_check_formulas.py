"""Tests of the statistics of the checks, against closed forms and slow references."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from rows import row, write_run

from board import open_run
from board.checks import alignment, arrays
from board.checks.alignment import clearly_above, correlation, reward_rule
from board.checks.arrays import in_stretches
from board.checks.evidence import Batch, batch_of
from board.checks.texts import reads_as


def batch(folder: Path, rows: list[dict[str, Any]]) -> Batch:
    """The only part of a run of these rows."""
    (part,) = open_run(write_run(folder, {"data.jsonl": rows})).parts
    return batch_of(part)


def arrays_row(policy: list[float | None], reference: list[float | None], mask: list[int]) -> dict[str, Any]:
    """A row of the two logprobs and a mask."""
    return row(response_tokens=["x"] * len(mask), logprobs=policy, ref_logprobs=reference, loss_mask=mask)


RAGGED = [
    arrays_row([-1.0, -2.0, -0.5, -3.0, -0.1], [-1.1, -1.5, -0.7, -2.0, -0.3], [1, 1, 1, 1, 1]),
    arrays_row([], [], []),
    arrays_row([-4.0], [-2.0], [1]),
    arrays_row([-1.0, -0.2, -0.9, None, -2.0, -1.3, -0.4], [-0.8, -0.4, -1.9, -1.0, -2.5, -1.0, -0.3], [1, 1, 0, 1, 1, 1, 1]),
    row(response_tokens=["no", "arrays"]),
    arrays_row([-0.3, -2.2], [-0.6, -2.0], [1, 1]),
    arrays_row([], [], []),
]


def slow_pairs(lag: int) -> list[tuple[int, float, float]]:
    """The pairs of RAGGED at a lag by walking over each row: (row, logprob at t, ref_logprob at t + lag)."""
    pairs = []
    for at, one in enumerate(RAGGED):
        policy, reference, mask = (one.get(name, []) for name in ("logprobs", "ref_logprobs", "loss_mask"))
        good = [p is not None and r is not None and m == 1 for p, r, m in zip(policy, reference, mask, strict=True)]
        for t in range(len(policy)):
            if 0 <= t + lag < len(policy) and good[t] and good[t + lag]:
                pairs.append((at, policy[t], reference[t + lag]))
    return pairs


@pytest.mark.parametrize("lag", [-1, 0, 1])
def test_sums_of_pairs_are_those_of_a_slow_walk(tmp_path: Path, lag: int) -> None:
    """Pairs never reach over into another rollout, nor over a masked or missing token, empty rollouts or not."""
    measured = pd.DataFrame(alignment.measure(batch(tmp_path / "run", RAGGED)))

    pairs = slow_pairs(lag)
    for at in range(len(RAGGED)):
        own = np.array([(x, y) for owner, x, y in pairs if owner == at]).reshape(-1, 2)
        wanted = [len(own), *own.sum(axis=0), *(own**2).sum(axis=0), (own[:, 0] * own[:, 1]).sum()]
        sums = [measured[f"ref{lag:+d}_{name}"][at] for name in ("n", "x", "y", "xx", "yy", "xy")]
        assert_allclose(sums, wanted, rtol=1e-6)


@pytest.mark.parametrize("lag", [-1, 0, 1])
def test_correlation_is_numpys(tmp_path: Path, lag: int) -> None:
    """Pearson's r from pooled sums is that of the pairs themselves."""
    pooled = pd.DataFrame(alignment.measure(batch(tmp_path / "run", RAGGED))).sum().to_frame().T

    pairs = np.array([(x, y) for _, x, y in slow_pairs(lag)])
    assert_allclose(correlation(pooled, f"ref{lag:+d}"), np.corrcoef(pairs.T)[0, 1], rtol=1e-6)


def test_correlation_of_what_does_not_vary_is_missing() -> None:
    """A constant has no correlation, however its sums are rounded."""
    x, y = np.full(1000, -0.1), np.linspace(-1, 0, 1000)
    sums = [1000.0, x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()]

    assert np.isnan(correlation(pd.DataFrame([sums], columns=[f"p_{name}" for name in ("n", "x", "y", "xx", "yy", "xy")]), "p"))


CLEARLY = {
    "a shift": (0.95, 0.1, 500, True),
    "few tokens": (0.95, 0.1, 8, False),
    "equal": (0.95, 0.95, 500, False),
    "both poor": (0.4, -0.4, 500, False),
    "hardly better, of very many": (0.95, 0.9, 1_000_000, False),
    "perfect both": (1.0, 1.0, 500, False),
    "unknown": (math.nan, 0.1, 500, False),
}


@pytest.mark.parametrize("name", CLEARLY)
def test_clearly_above(name: str) -> None:
    """A neighbour must agree well, by a margin, and by more than chance allows."""
    other, own, pairs, wanted = CLEARLY[name]

    assert clearly_above(*(np.array([value], np.float64) for value in (other, own, pairs))).tolist() == [wanted]


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
