"""Tests that each check finds its fault in a run that is sound otherwise, and nothing in one that is sound."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sound_run import GROUPS, MEMBERS, STEPS, TOKENS, Rows, examined, found, names, sound

from board.findings.checks.all_checks import CHECKS


def edited(edit: Callable[[dict[str, Any]], dict[str, Any]], *at: int) -> Callable[[Rows], Rows]:
    """A fault that changes the rows at those places, or all of them."""
    return lambda rows: [one | edit(one) if not at or i in at else one for i, one in enumerate(rows)]


def without(wanted: Callable[[dict[str, Any]], bool]) -> Callable[[Rows], Rows]:
    """A fault that leaves rows out."""
    return lambda rows: [one for one in rows if not wanted(one)]


def renamed(field: str, value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A field that is something else."""
    return lambda _: {field: value}


def at_token(field: str, position: int, value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """An array with one number changed."""
    return lambda one: {field: [*one[field][:position], value, *one[field][position + 1 :]]}


@dataclass(frozen=True)
class PlantedFault:
    """What is done to a sound run, and what must be found then."""

    check: str
    do: Callable[[Rows], Rows]
    first: str
    rollouts: int | None
    says: str
    tokens: int | None = None
    beside: tuple[str, ...] = ()
    """Other checks that the same fault sets off, rightly."""


HALF_MASKED = {"loss_mask": [1] * 6 + [0] * 6, "token_rewards": [0.0] * TOKENS}
CERTAIN = {"response_tokens": [" a"] * 20, "response": " a" * 20, "loss_mask": None, "token_rewards": None} | {
    name: [0.0] * 20 for name in ("logprobs", "ref_logprobs", "rollout_logprobs")
}

ARRAYS = ("logprobs", "ref_logprobs", "rollout_logprobs", "token_rewards", "loss_mask")

FAULTS: dict[str, PlantedFault] = {
    "array too short": PlantedFault(
        "array-lengths",
        edited(lambda one: {"rollout_logprobs": one["rollout_logprobs"][:5]}, 9),
        "data.jsonl:10",
        None,
        "rollout_logprobs has 5 numbers for 12 tokens",
    ),
    "special tokens left out": PlantedFault(
        "special-tokens",
        edited(
            lambda one: {
                "response_tokens": ["<think>", *one["response_tokens"][1:]],
                "response": "".join(one["response_tokens"][1:]),
            }
        ),
        "data.jsonl:1",
        STEPS * GROUPS * MEMBERS,
        "56 rollouts of 56 whose text lacks special tokens that their tokens have: <think>;",
    ),
    "NaN": PlantedFault(
        "missing-numbers", edited(at_token("logprobs", 3, math.nan), 9), "data.jsonl:10", 1, "1 token in 1 rollout", 1
    ),
    "infinity": PlantedFault(
        "missing-numbers", edited(at_token("ref_logprobs", 0, float("-inf")), 9, 11), "data.jsonl:10", 2, "2 tokens in 2", 2
    ),
    "positive logprob": PlantedFault(
        "positive-logprobs", edited(at_token("rollout_logprobs", 2, 0.5), 20), "data.jsonl:21", 1, "rollout_logprob: 1", 1
    ),
    "reference a token late": PlantedFault(
        "off-by-one",
        edited(lambda one: {"ref_logprobs": [-0.7, *one["ref_logprobs"][:-1]], "token_rewards": None}),
        "data.jsonl:1",
        STEPS * GROUPS * MEMBERS,
        "ref_logprob agrees with logprob best when read a token late",
        beside=("first-step",),
    ),
    "engine a token early in one step": PlantedFault(
        "off-by-one",
        edited(lambda one: {"rollout_logprobs": [*one["rollout_logprobs"][1:], -0.7]}, *range(8, 16)),
        "data.jsonl:9",
        8,
        "rollout_logprob agrees with logprob best when read a token early",
    ),
    "reward changed after the fact": PlantedFault(
        "reward-sum", edited(renamed("reward", 5.0), 30), "data.jsonl:31", 1, "sum to the reward less a share of KL k1 in 98.2 %"
    ),
    "policy apart from its reference at the start": PlantedFault(
        "first-step",
        edited(lambda one: {"ref_logprobs": [p - 0.2 for p in one["ref_logprobs"]], "token_rewards": None}, *range(8)),
        "data.jsonl:1",
        8,
        "logprob and ref_logprob differ by 0.200 nats per token on average in step 0",
        tokens=96,
    ),
    "placeholders under the mask": PlantedFault(
        "masked-tokens",
        edited(lambda one: HALF_MASKED | {"logprobs": one["logprobs"][:6] + [0.0] * 6}, 12),
        "data.jsonl:13",
        1,
        "6 tokens masked in 1 rollout",
        tokens=6,
        beside=("reward-sum",),
    ),
    "placeholders without a mask": PlantedFault(
        "unmasked-tokens", edited(lambda _: CERTAIN, 12), "data.jsonl:13", 1, "20 tokens in 1 rollout without a loss_mask", 20
    ),
    "weights for a mask": PlantedFault("mask-values", edited(at_token("loss_mask", 1, 0.5), 4), "data.jsonl:5", 1, "1 token", 1),
    "another rollout's tokens": PlantedFault(
        "text",
        edited(renamed("response_tokens", [" x"] * TOKENS), 17),
        "data.jsonl:18",
        1,
        "1 rollout with tokens that read as another text than the response, of 56 compared",
    ),
    "row written twice": PlantedFault(
        "same-row", lambda rows: [*rows, rows[-1]], "data.jsonl:57", 1, "1 rollout equal to an earlier one of the step"
    ),
    "every rank writes the batch": PlantedFault(
        "same-row",
        lambda rows: [*rows, *({**one, "rank": 1 - one["rank"]} for one in rows if one["step"] == 6)],
        "data.jsonl:57",
        8,
        "8 rollouts equal",
        beside=("resumed",),
    ),
    "same response in a group": PlantedFault(
        "same-response",
        lambda rows: [*rows[:-1], rows[-1] | {name: rows[-2][name] for name in ("response", "response_tokens")}],
        "data.jsonl:56",
        1,
        "1 rollout (1.8 %)",
    ),
    "step written again": PlantedFault(
        "resumed",
        lambda rows: [*rows, *({**one, "reward": 1.5, "token_rewards": None} for one in rows if one["step"] == 2)],
        "data.jsonl:57",
        None,
        "step 2 is written 2 times",
        beside=("same-response", "small-steps"),
    ),
    "clock that runs back": PlantedFault(
        "clock",
        lambda rows: [one | {"timestamp": one["timestamp"] + 1000 * (one["step"] < 3)} for one in rows],
        "data.jsonl:25",
        4,
        "4 steps with a timestamp before that of an earlier step: 3, 4, 5, 6",
    ),
    "step lost": PlantedFault(
        "missing-steps", without(lambda one: one["step"] == 3), "data.jsonl:25", 1, "1 of 7 steps without a rollout: 3"
    ),
    "rank lost in a step": PlantedFault(
        "missing-ranks",
        without(lambda one: one["step"] == 3 and one["rank"] == 1),
        "data.jsonl:25",
        1,
        "1 step without rows of rank 1: 3",
        beside=("small-steps",),
    ),
    "rank lost altogether": PlantedFault(
        "missing-ranks", edited(lambda one: {"rank": 2 * one["rank"]}), "data.jsonl:1", 6, "No rank has the number 1, of 0 to 2"
    ),
    "member of a group lost": PlantedFault(
        "small-groups",
        without(lambda one: one["sample_id"] == "3-1-2"),
        "data.jsonl:29",
        1,
        "1 group of fewer than the usual 4 rollouts, of 12 groups",
        beside=("small-steps",),
    ),
    "batch cut short": PlantedFault(
        "small-steps",
        without(lambda one: one["step"] == 3 and one["sample_id"].split("-")[1] == "0"),
        "data.jsonl:25",
        1,
        "1 step with fewer rollouts than the usual 8, 4 in all: 3",
        beside=("missing-ranks",),
    ),
    "no reward": PlantedFault(
        "no-rewards",
        edited(renamed("reward", None)),
        "data.jsonl:1",
        STEPS * GROUPS * MEMBERS,
        "No rollout has a reward",
        beside=("reward-sum", "missing-rewards"),
    ),
    "empty responses": PlantedFault(
        "no-responses",
        edited(renamed("response", "")),
        "data.jsonl:1",
        STEPS * GROUPS * MEMBERS,
        "responses are empty, though tokens were sampled",
        beside=("text", "same-response"),
    ),
    "reward missing": PlantedFault("missing-rewards", edited(renamed("reward", None), 5), "data.jsonl:6", 1, "1 rollout ("),
    "reward NaN": PlantedFault("missing-rewards", edited(renamed("reward", math.nan), 5), "data.jsonl:6", 1, "1 rollout ("),
    "arrays left out": PlantedFault(
        "left-out",
        edited(lambda one: dict.fromkeys(ARRAYS) | {"token_arrays_left_out": 1, "token_reward_sum": one["reward"]}, 2, 3),
        "data.jsonl:3",
        2,
        "2 rollouts without token arrays",
        beside=("reward-sum",),
    ),
    "reward as text": PlantedFault(
        "odd-values", edited(lambda one: {"reward": str(one["reward"])}, 5), "data.jsonl:6", None, "1 oddity: reward is the text"
    ),
}


def test_sound_run_gives_no_alarm(tmp_path: Path) -> None:
    """A sound run has no finding, and only the checks that need masked tokens or a recorder's budget cannot tell."""
    checked = examined(tmp_path / "run", sound())

    assert names(checked) == []
    assert [(check.name, reason) for check, reason in checked.unable] == [
        ("masked-tokens", "no token is masked"),
        ("left-out", "no rollout has token_arrays_left_out"),
    ]
    assert len(checked.passed) == len(CHECKS) - 2


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(tmp_path: Path, name: str) -> None:
    """Each fault put into the sound run is found by its check, at its place, and sets off no other that it does not concern."""
    fault = FAULTS[name]

    checked = examined(tmp_path / "run", fault.do(sound()))

    finding = found(checked, fault.check)
    assert finding.where[0].source == fault.first
    assert finding.where[0].step is not None
    assert (finding.rollouts, finding.tokens) == (fault.rollouts, fault.tokens)
    assert fault.says in finding.what
    assert not finding.at_least
    assert set(names(checked)) <= {fault.check, *fault.beside}


def test_every_check_has_a_fault() -> None:
    """No check is without a run that sets it off."""
    alone = {"refused", "unfinished", "two-files", "lost", "noted"}
    assert {check.name for check in CHECKS} == {fault.check for fault in FAULTS.values()} | alone


def test_names_of_checks_are_unique() -> None:
    """Scripts tell checks by their name, readers by their title."""
    assert len({check.name for check in CHECKS}) == len({check.title for check in CHECKS}) == len(CHECKS)
