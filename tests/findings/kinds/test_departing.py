"""Numbers that leave their level: of the whole, of each part of the reward, data source and evaluation set."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell, Found
from board.findings.kinds.departing import KINDS

STEPS, ONSET = 40, 24
BY_NAME = {kind.name: kind for kind in KINDS}

Make = Callable[[random.Random, int, bool], dict[str, Any]]
"""What a rollout of a step has; the last says whether it is off."""


def rows(make: Make, *, off: bool, end: int = STEPS, each: int = 24, onset: int = ONSET) -> list[dict[str, Any]]:
    """`each` rollouts of six prompts a step; those from the onset to the end are off, or none is."""
    dice = random.Random(0)
    return [
        {"step": step, "prompt": f"p{at % 6}", "response": f"{step} {at}", **make(dice, step, off and onset <= step < end)}
        for step in range(STEPS)
        for at in range(each)
    ]


def pays(dice: random.Random, chance: float) -> float:
    """1 by a chance, else 0."""
    return float(dice.random() < chance)


def _graded(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    return {"reward": dice.gauss(-1.0 if off else min(1.7, 0.3 + step / 10), 0.5)}


def _binary(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    return {"reward": pays(dice, 0.1 if off else min(0.7, 0.3 + step / 40))}


def _parts(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    right, form = pays(dice, 0.0 if off else 0.45), pays(dice, 1.0 if off else 0.4)
    return {"accuracy_reward": right, "format_reward": form, "reward": right + form}


def _sources(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    hard = dice.random() < 0.25
    return {"data_source": "hard" if hard else "easy", "reward": pays(dice, (0.1 if off else 0.6) if hard else 0.4 + step / 80)}


def _ranks(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    rank = dice.randrange(4)
    return {"rank": rank, "reward": pays(dice, 0.0 if off and rank == 2 else 0.5 + step / 200)}


def _evaluated(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    evaluation = step % 2 == 0
    return {
        "split": "evaluation" if evaluation else "train",
        "reward": pays(dice, (0.05 if off else 0.7) if evaluation else 0.4 + step / 80),
    }


def _short(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    length = dice.randint(1, 6) if off else dice.randint(10, 30)
    return {"response_tokens": ["a"] * length, "reward": 1 - length / 40 + dice.gauss(0, 0.05)}


def _calling(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    calls = dice.choice([0, 0, 0, 0, 1]) if off else dice.choice([1, 2, 2, 3])
    return {"response": "<tool_call>{}</tool_call>so" * calls + f" {step} {dice.random()}", "reward": pays(dice, 0.5)}


def _long(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    length = dice.randint(40, 90) if off else dice.randint(10, 30)
    return {"response_tokens": ["a"] * length, "reward": length / 90 + dice.gauss(0, 0.05)}


def _twins(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    return {"group_id": f"{step}", "reward": pays(dice, 0.5), "response": "the same" if off else f"{step} {dice.random()}"}


def _arrays(level: float, spread: float, off: bool, dice: random.Random) -> list[float]:
    return [(level if off else 0.0) + dice.gauss(0, spread) for _ in range(12)]


def _kl(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    policy = [-abs(dice.gauss(1, 0.3)) for _ in range(12)]
    apart = _arrays(1.2, 0.2, off, dice)
    return {
        "response_tokens": ["a"] * 12,
        "logprobs": policy,
        "ref_logprobs": [p - a for p, a in zip(policy, apart, strict=True)],
        "reward": pays(dice, 0.5),
    }


def _entropies(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    return {
        "response_tokens": ["a"] * 12,
        "entropies": [abs(dice.gauss(1.6 if off else 0.4, 0.2)) for _ in range(12)],
        "reward": pays(dice, 0.5),
    }


def _mismatch(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    policy = [-abs(dice.gauss(1, 0.3)) for _ in range(12)]
    apart = _arrays(0.0, 0.5 if off else 0.01, off, dice)
    return {
        "response_tokens": ["a"] * 12,
        "logprobs": policy,
        "rollout_logprobs": [p - a for p, a in zip(policy, apart, strict=True)],
        "reward": pays(dice, 0.5),
    }


FAULTS = [
    pytest.param("reward_falls", _graded, "the reward falls from 1.", id="a graded reward"),
    pytest.param("reward_falls", _binary, "the reward falls from 0.6", id="right or wrong"),
    pytest.param("part_falls", _parts, "`accuracy_reward` falls from 0.4", id="a part, while the total rises"),
    pytest.param("source_falls", _sources, "the reward of `hard` falls from 0.6", id="a source, while the mean rises"),
    pytest.param("source_falls", _ranks, "the reward of rank 2 falls from 0.", id="a rank"),
    pytest.param("evaluation_falls", _evaluated, "the reward of the evaluation falls from 0.", id="the evaluation"),
    pytest.param("tool_calls_fall", _calling, "the number of tool calls per response falls from", id="calls of tools"),
    pytest.param("length_falls", _short, "the mean length in tokens falls from 19", id="the length"),
    pytest.param("length_grows", _long, "the mean length in tokens rises from", id="the length, upwards"),
    pytest.param("equal_responses", _twins, "an equal in their group rises from 0 to 1", id="equal responses"),
    pytest.param("kl_jumps", _kl, "the KL to the reference rises from 0.01", id="the KL"),
    pytest.param("entropy_rises", _entropies, "the entropy rises from 0.3", id="the entropy"),
    pytest.param("mismatch_jumps", _mismatch, "the excess of the ratio of trainer and engine rises", id="the mismatch"),
]


@pytest.mark.parametrize(("name", "make", "says"), FAULTS)
def test_what_departs_is_found_and_its_clean_twin_is_not(tmp_path: Path, name: str, make: Make, says: str) -> None:
    """A number that leaves its level for good is a warning, dated to two steps; the same run without it has none."""
    found = one(asked(BY_NAME[name], tmp_path / "off", rows(make, off=True)))

    assert says in found.effect
    assert abs(found.first_step - ONSET) <= 2
    assert found.last_step >= STEPS - 2
    assert found.severity == "warning"
    assert silent(asked(BY_NAME[name], tmp_path / "clean", rows(make, off=False)))


@pytest.mark.parametrize(("name", "make", "says"), FAULTS)
def test_what_comes_back_is_an_episode_with_an_end(tmp_path: Path, name: str, make: Make, says: str) -> None:
    """Eight steps that are off stay a finding when the run goes on."""
    found = one(asked(BY_NAME[name], tmp_path, rows(make, off=True, end=ONSET + 8)))

    assert "comes back" in found.effect
    assert abs(found.first_step - ONSET) <= 2
    assert abs(found.last_step - (ONSET + 7)) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "make", "says"), FAULTS)
def test_what_was_found_stays_found_at_every_length(tmp_path: Path, name: str, make: Make, says: str) -> None:
    """A run that is opened after each of its steps: an episode that was found once is found ever after, dated as before."""
    whole = rows(make, off=True, end=ONSET + 8)
    dated = dict[int, int]()
    for length in range(2, STEPS + 1):
        answer = asked(BY_NAME[name], tmp_path / f"{length}", [row for row in whole if row["step"] < length])
        if isinstance(answer, Found) or (answer and not isinstance(answer, CannotTell)):
            dated[length] = one(answer).first_step

    assert [*dated] == [*range(min(dated), STEPS + 1)], "and none is lost"
    assert ONSET < min(dated) <= ONSET + 8
    assert all(abs(step - ONSET) <= 2 for step in dated.values())


@pytest.mark.parametrize(
    ("name", "make"), [(one.values[0], one.values[1]) for one in FAULTS if one.values[1] not in (_binary, _sources, _evaluated)]
)
def test_from_the_second_step_on(tmp_path: Path, name: str, make: Make) -> None:
    """One step before a fault is enough to date it, where it is large."""
    assert one(asked(BY_NAME[name], tmp_path, rows(make, off=True, onset=1, each=48))).first_step == 1


def _uneven(dice: random.Random, step: int, off: bool) -> dict[str, Any]:
    hard = dice.random() < 0.5
    return {"prompt": f"p{step % 3}{hard}", "reward": 0.0 if off else pays(dice, 0.15 if hard else 0.95)}


@pytest.mark.parametrize("onset", [3, ONSET])
def test_prompts_that_differ_hide_no_fall_to_nothing(tmp_path: Path, onset: int) -> None:
    """Where easy and hard prompts come again, each is off its own mean by another distance when none is paid."""
    run = rows(_uneven, off=True, onset=onset, end=onset + 3, each=32)
    assert one(asked(BY_NAME["reward_falls"], tmp_path, run)).first_step == onset


def test_what_fell_is_named_by_its_parts(tmp_path: Path) -> None:
    """A reward that falls says which of its parts fell."""

    def both(dice: random.Random, _: int, off: bool) -> dict[str, Any]:
        right, form = pays(dice, 0.1 if off else 0.8), pays(dice, 0.9)
        return {"accuracy": right, "format": form, "reward": right + form}

    assert "of its parts `accuracy` by 0.6" in one(asked(BY_NAME["reward_falls"], tmp_path, rows(both, off=True))).effect


def test_several_parts_that_fall_together_are_one_finding(tmp_path: Path) -> None:
    """They begin at one step, for one reason."""

    def both(dice: random.Random, _: int, off: bool) -> dict[str, Any]:
        right, form = pays(dice, 0.1 if off else 0.8), pays(dice, 0.2 if off else 0.9)
        return {"accuracy": right, "format": form, "reward": right + form}

    found = asked(BY_NAME["part_falls"], tmp_path, rows(both, off=True))
    assert isinstance(one(found), Found)
    assert all(name in one(found).effect for name in ("`accuracy`", "`format`"))


def test_length_whose_worth_is_not_known_is_no_reason(tmp_path: Path) -> None:
    """Responses that all become as long, and earn nothing, tell of no length that pays."""

    def stuck(dice: random.Random, _: int, off: bool) -> dict[str, Any]:
        return {"response_tokens": ["!"] * (90 if off else dice.randint(10, 30)), "reward": 0.0 if off else pays(dice, 0.5)}

    found = one(asked(BY_NAME["length_grows"], tmp_path, rows(stuck, off=True)))
    assert (found.severity, "earn" in found.effect, "nan" in found.effect) == ("note", False, False)
