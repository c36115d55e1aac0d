"""Tests of the runs that findings are measured on: one seed is one run, honest runs are sound, and each plant does what it says."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from benchmarks.findings.cases import CLEAN, Case, Plan, made
from benchmarks.findings.plants.all_plants import PLANTS
from benchmarks.findings.plants.numbers import StaleRows
from benchmarks.findings.plants.plant import STRENGTHS, Plant
from benchmarks.findings.responses import END, THOUGHT, tokens_of
from benchmarks.findings.sampled import Sampled
from benchmarks.findings.setting import HELD_OUT, seeds, setting_of
from benchmarks.findings.simulation import shuffled, simulated
from board import open_run
from board.findings.checks.all_checks import run_checks

STEPS = 12


def read(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The rows of a run by shard and line."""
    return {
        (shard.name, line): orjson.loads(text)
        for shard in sorted(folder.glob("*.jsonl"))
        for line, text in enumerate(shard.read_bytes().splitlines(), 1)
    }


@cache
def planted(kind: str, seed: int, strength: str = "strong") -> tuple[Plant, tuple[Sampled, ...]]:
    """A short run with a plant."""
    plant = PLANTS[kind](setting_of(seed, STEPS), strength, "sudden")  # type: ignore[arg-type]
    return plant, tuple(simulated(plant.setting, plant))


@cache
def unplanted(kind: str, seed: int) -> tuple[Sampled, ...]:
    """The clean run that the plant went into."""
    setting = planted(kind, seed)[0].setting
    return tuple(simulated(setting, Plant(setting)))


def test_one_seed_writes_one_run(tmp_path: Path) -> None:
    """Two measurements of a case are of the same bytes and the same truth."""
    case = Case("gibberish", 3, "medium", "gradual", STEPS)

    assert made(case, tmp_path / "a") == made(case, tmp_path / "b")
    assert read(tmp_path / "a") == read(tmp_path / "b")


@pytest.mark.parametrize("seed", [1, 3, 4, 6])
def test_clean_runs_are_sound(tmp_path: Path, seed: int) -> None:
    """An honest run is read without a problem and no check of the data has anything to warn of."""
    truth = made(Case("clean", seed, steps=STEPS), tmp_path)

    run = open_run(tmp_path)
    assert run.report.problems == []
    assert [found.check.name for found in run_checks(run).findings if found.check.severity != "note"] == []
    assert not truth.rollouts


@pytest.mark.parametrize("seed", [0, 1, 3, 6])
def test_rows_are_as_a_trainer_writes_them(tmp_path: Path, seed: int) -> None:
    """Tokens join to the response, an end token is last unless the response was cut, arrays are as long as the tokens."""
    made(Case("clean", seed, steps=STEPS), tmp_path)

    for row in read(tmp_path).values():
        tokens = row["response_tokens"]
        assert (tokens[-1] == END) == (row["finish_reason"] == "stop")
        assert "".join(tokens).removesuffix(END) == row["response"]
        assert {len(value) for value in row.values() if isinstance(value, list)} == {len(tokens)}


def test_honest_runs_learn() -> None:
    """Reward and validation reward rise, the KL grows and stays small, entropy falls by less than a half."""
    for seed in (0, 2):
        setting = setting_of(seed)
        rollouts = simulated(setting, Plant(setting))
        early, late = ([one for one in rollouts if low <= one.step < high] for low, high in ((0, 10), (30, 40)))
        assert np.mean([one.reward for one in late]) > np.mean([one.reward for one in early])
        assert np.mean([one.valid for one in late]) > np.mean([one.valid for one in early])
        assert mean_ratio(early) < mean_ratio(late) < 0.05
        assert 0.5 < mean_of(late, "entropies") / mean_of(early, "entropies") < 1


def mean_of(rollouts: list[Sampled], name: str) -> float:
    """Mean over all tokens of an array."""
    return float(np.concatenate([one.arrays[name] for one in rollouts]).mean())


def mean_ratio(rollouts: list[Sampled]) -> float:
    """KL k1 over all tokens."""
    return mean_of(rollouts, "logprobs") - mean_of(rollouts, "ref_logprobs")


def test_advantages_follow_the_rule() -> None:
    """In a run by group rewards each group's advantages are those of its rule, on trained tokens alone."""
    setting = setting_of(3, STEPS)
    rollouts = simulated(setting, Plant(setting))

    groups = {one.name: [other for other in rollouts if other.name == one.name] for one in rollouts}
    for group in groups.values():
        rewards = np.array([one.reward for one in group])
        centred = rewards - rewards.mean()
        factor = {"grpo": 1 / (rewards.std() + 1e-4), "dr_grpo": 1.0, "rloo": len(group) / (len(group) - 1)}[setting.rule]
        for one, value in zip(group, (centred * factor).tolist(), strict=True):
            assert one.arrays["advantages"] == pytest.approx(np.where(one.arrays["loss_mask"] > 0, value, 0))


def test_returns_are_advantages_plus_values_and_are_predicted() -> None:
    """In a PPO run returns follow the values' definition, and the critic is better than a constant."""
    setting = setting_of(5, STEPS)
    assert setting.trainer == "ppo"
    rollouts = simulated(setting, Plant(setting))

    returns, values = (np.concatenate([one.arrays[name] for one in rollouts]) for name in ("returns", "values"))
    assert 1 - np.var(returns - values) / np.var(returns) > 0.2
    for one in rollouts:
        count = len(one.tokens)
        delta = one.arrays["token_rewards"] + np.append(one.arrays["values"][1:], 0) - one.arrays["values"]
        whole = [sum(0.95 ** (at - start) * delta[at] for at in range(start, count)) for start in (0, count - 1)]
        assert (one.arrays["returns"] - one.arrays["values"])[[0, -1]] == pytest.approx(whole)


@pytest.mark.parametrize("whole_groups", [True, False])
def test_shuffled_runs_have_the_same_rollouts(whole_groups: bool) -> None:
    """Only the steps are others, as many rollouts at each; groups stay together where they should."""
    setting = setting_of(0, STEPS)
    before = simulated(setting, Plant(setting))
    texts, counts = sorted("".join(one.tokens) for one in before), np.bincount([one.step for one in before])
    steps = [one.step for one in before]

    after = shuffled(before, 0, whole_groups=whole_groups)

    assert sorted("".join(one.tokens) for one in after) == texts
    assert np.bincount([one.step for one in after]).tolist() == counts.tolist()
    assert [one.step for one in before] != steps
    together = {name: {one.step for one in after if one.name == name} for name in {one.name for one in after}}
    assert (max(map(len, together.values())) == 1) == whole_groups


def test_tuning_and_held_out_seeds_are_apart() -> None:
    """No seed is on both sides, and the texts of one side are not those of the other."""
    assert not set(seeds(HELD_OUT, held_out=False)) & set(seeds(HELD_OUT, held_out=True))
    pool = tuple("abcdef")
    assert not set(setting_of(0).half(pool)) & set(setting_of(HELD_OUT).half(pool))


def test_every_case_has_a_name_of_its_own() -> None:
    """Runs that are written side by side do not overwrite one another."""
    names = [case.name for case in Plan(seeds=2, strengths=STRENGTHS).cases()]

    assert len(set(names)) == len(names)


Shows = Callable[[Sampled, Sampled], bool]
"""Whether a planted rollout, beside that of the clean run at its place, shows the plant."""


def text(one: Sampled) -> str:
    """All of a response."""
    return "".join(one.tokens)


def differs(name: str) -> Shows:
    """An array that was changed."""
    return lambda one, clean: not np.array_equal(one.arrays[name], clean.arrays[name])


def loops(one: Sampled, _: Sampled) -> bool:
    """The end is one stretch again and again."""
    end = text(one).removesuffix(END)[-120:]
    return any(end[-size * 3 :] == end[-size:] * 3 for size in range(3, 40))


SHOWS: dict[str, Shows] = {
    "proxy_gold_gap": lambda one, _: one.valid == 0 and one.reward > 0.3,
    "length_exploitation": lambda one, clean: len(one.tokens) > len(clean.tokens) and one.reward > clean.reward,
    "phrase_exploit": lambda one, clean: len(one.tokens) > len(clean.tokens) and one.reward > clean.reward,
    "reward_after_truncation": lambda one, _: one.cut and END not in one.tokens and one.reward >= 0.4,
    "reward_scale_jump": lambda one, clean: one.reward != clean.reward or clean.reward == 0,
    "verifier_noise": lambda one, _: one.reward in (0, 1),
    "reward_saturated": lambda one, _: one.reward >= 0.9 or one.cut,
    "no_learning": lambda one, _: np.array_equal(one.arrays["logprobs"].round(4), one.arrays["ref_logprobs"].round(4)),
    "advantage_bug": differs("advantages"),
    "format_only_wins": lambda one, _: one.reward >= 0.4 and one.valid == 0 and one.roles.count("answer") == 0,
    "prompt_echo": lambda one, _: one.exercise.text in text(one) or one.cut,
    "answer_leak": lambda one, clean: one.exercise.answer in one.prompt and one.prompt != clean.prompt,
    "language_mixing": lambda one, clean: text(one) != text(clean),
    "template_collapse": lambda one, _: len(one.positions("template_collapse")) > 20,
    "gibberish": lambda one, _: bool((one.arrays["logprobs"] < -13).any()) or one.cut,
    "repetition_loop": loops,
    "think_without_answer": lambda one, _: text(one).startswith("<think>") and THOUGHT not in text(one),
    "truncation_wave": lambda one, _: one.cut and END not in one.tokens,
    "eos_missing": lambda one, _: not one.cut and END not in one.tokens,
    "entropy_collapse": lambda one, clean: one.arrays["entropies"].mean() < clean.arrays["entropies"].mean(),
    "kl_concentrated": lambda one, _: bool((one.arrays["logprobs"] - one.arrays["ref_logprobs"]).max() > 5),
    "logprob_misalignment": differs("logprobs"),
    "train_inference_mismatch": differs("rollout_logprobs"),
    "critic_collapse": differs("values"),
    "loss_mask_wrong": lambda one, clean: bool(one.arrays["loss_mask"].all() and not clean.arrays["loss_mask"].all()),
    "staleness": lambda one, _: one.step > min(one.extra.values()),
    "kl_runaway": lambda one, clean: mean_ratio([one]) > mean_ratio([clean]),
}


@pytest.mark.parametrize("kind", SHOWS)
def test_named_rollouts_show_what_was_planted(kind: str) -> None:
    """Every rollout that the truth names shows the kind, from the onset on, and there are enough of them."""
    plant, rollouts = planted(kind, 12)
    pairs = [(one, clean) for one, clean in zip(rollouts, unplanted(kind, 12), strict=True) if one.touched]

    assert len(pairs) > 4
    assert {one.step for one, _ in pairs} <= set(range(plant.onset, plant.setting.steps))
    shown = [SHOWS[kind](one, clean) for one, clean in pairs]
    assert np.mean(shown) > (0.9 if kind in ("kl_runaway", "entropy_collapse", "reward_saturated", "gibberish") else 0.999)


def copies() -> Iterator[tuple[Sampled, list[Sampled]]]:
    """Each stale rollout and those of earlier steps with its text."""
    _, rollouts = planted("stale_rows", 12)
    for one in rollouts:
        if one.touched:
            yield one, [other for other in rollouts if other.step < one.step and other.tokens == one.tokens]


def test_stale_rows_are_those_of_an_earlier_step() -> None:
    """Each has a rollout before it with its text, its prompt and its logprobs."""
    found = list(copies())

    assert len(found) > 4
    for one, before in found:
        assert any(np.array_equal(other.arrays["logprobs"], one.arrays["logprobs"]) for other in before)
        assert {other.prompt for other in before} == {one.prompt}


def test_dead_prompts_give_no_gradient() -> None:
    """All members of a named group have one reward, but for those that were cut; a clean run's groups mostly differ."""
    _, rollouts = planted("dead_prompts", 12)
    dead = {one.name for one in rollouts if one.touched}

    assert len(dead) > 4
    for name in dead:
        assert len({one.reward for one in rollouts if one.name == name and not one.cut}) == 1


def test_verdicts_of_equal_answers_contradict_each_other() -> None:
    """Every named rollout has one with its prompt and answer and the other verdict."""
    plant, rollouts = planted("verifier_noise", 12)
    later = [one for one in rollouts if one.step >= plant.onset]

    for one in (one for one in later if one.touched):
        same = [
            other for other in later if (other.exercise.name, other.answer, other.cut) == (one.exercise.name, one.answer, one.cut)
        ]
        assert len({other.reward for other in same}) == 2 or one.reward != float(one.correct)


def test_collapsed_critics_are_worse_than_a_constant() -> None:
    """The explained variance is above zero before the onset and below it afterwards."""
    plant, rollouts = planted("critic_collapse", 12)
    for later in (False, True):
        some = [one for one in rollouts if (one.step >= plant.onset) == later]
        returns, values = (np.concatenate([one.arrays[name] for one in some]) for name in ("returns", "values"))
        assert (np.var(returns - values) > np.var(returns)) == later


def test_all_plants_are_tested() -> None:
    """A new plant comes with a rule of how it shows."""
    assert set(PLANTS) == {*SHOWS, StaleRows.kind, "dead_prompts", "verifier_noise"}
    assert not set(PLANTS) & set(CLEAN)


@pytest.mark.parametrize(("shape", "least"), [("sudden", 1.0), ("gradual", 0.1), ("always", 1.0)])
def test_weights(shape: str, least: float) -> None:
    """Nothing before the onset, all of it at once or after a third of the run, and never more than all."""
    plant = PLANTS["gibberish"](setting_of(0), "mild", shape)  # type: ignore[arg-type]
    weights = [plant.weight(step) for step in range(40)]

    assert not any(weights[: plant.onset])
    assert (plant.onset == 0) == (shape == "always")
    assert 0 < weights[plant.onset] <= 1
    assert weights[plant.onset] == 1.0 if least == 1 else weights[plant.onset] < least
    assert weights == sorted(weights)
    assert max(weights) <= 1


@pytest.mark.parametrize("given", ["", "a b", "<think>\nx = 12345.\n</think>", "题目说有12箱, ok?\n\n  done", "🙂 é\t`f(2)`"])
def test_tokens_join_to_their_text(given: str) -> None:
    """No character is lost or added, whatever the script."""
    assert "".join(tokens_of(given)) == given
