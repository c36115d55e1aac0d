"""Makes a run step by step: samples texts, pays them, gives each token its numbers; a fault acts after the stage it belongs to."""

import math
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.findings.reported.configuration import CRITIC, VALIDATION, Curves, Run, curves_of
from benchmarks.findings.reported.fault import Hooks, OnSamples, Row, Sample, Spot
from benchmarks.findings.reported.texts import Prompt, filler, prompt_of, respond, tokens_of

Array = NDArray[np.float64]
BEGIN = "<|begin_of_text|>"


def made(run: Run, hooks: Hooks | None = None, spot: Spot | None = None) -> list[Row]:
    """The rows of a run, each with the file that it belongs to under `_file`."""
    curves = curves_of(run)
    if hooks and spot and hooks.curves:
        hooks.curves(curves, spot)
    known: dict[int, Prompt] = {}
    rows: list[Row] = []
    for at in range(len(run.steps)):
        acting = hooks if hooks and spot and spot.first <= at <= spot.last else None
        training = _training(run, curves, at, known)
        _stage(acting.texts if acting else None, training, spot)
        held_out = _validation(run, curves, at) if "validation" in run.traits and at % max(2, len(run.steps) // 8) == 0 else []
        pay(run, curves, at, [*training, *held_out])
        _stage(acting.pays if acting else None, training, spot)
        if "dynamic" in run.traits:
            training = _dynamic(run, training, at)
        advantages(run, training)
        numbers(run, curves, at, [*training, *held_out])
        _stage(acting.numbers if acting else None, training, spot)
        rows += [_row(run, curves, sample, number) for number, sample in enumerate([*training, *held_out])]
    if "async" in run.traits:
        dice = Random(f"{run.seed}/async")
        rows.sort(key=lambda row: run.steps.index(row["step"]) + 1.4 * dice.random())
    if hooks and spot and hooks.rows:
        rows = hooks.rows(rows, spot)
    return rows


def _stage(hook: OnSamples | None, samples: list[Sample], spot: Spot | None) -> None:
    if hook and spot:
        hook(samples, spot)


def _training(run: Run, curves: Curves, at: int, known: dict[int, Prompt]) -> list[Sample]:
    dice = Random(f"{run.kind}/{run.seed}/{at}/texts")
    samples = []
    for index in range(run.prompts):
        number = index if run.kind == "evaluation" else (at * run.prompts + index) % run.pool
        if number not in known:
            known[number] = prompt_of(run.kind, number, run.seed, run.sources)
        prompt = known[number]
        hard = 0.8 * curves["harder"][at] * (prompt.source == 0)
        ease = curves["skill"][at] + curves[f"source_{prompt.source}"][at] - prompt.difficulty - hard
        samples += [sample_of(run, curves, at, prompt, f"{run.steps[at]}-{index}", ease, dice) for _ in range(run.group)]
    return samples


def _validation(run: Run, curves: Curves, at: int) -> list[Sample]:
    dice = Random(f"{run.kind}/{run.seed}/{at}/validation")
    samples = []
    for number in range(40):
        prompt = prompt_of(run.kind, 10**8 + number, run.seed, 1)
        name = VALIDATION[number % 2]
        sample = sample_of(run, curves, at, prompt, f"v{number}", curves[name][at] - prompt.difficulty, dice)
        sample.split, sample.more = "evaluation", {"data_source": name}
        samples.append(sample)
    return samples


def sample_of(run: Run, curves: Curves, at: int, prompt: Prompt, group: str, ease: float, dice: Random) -> Sample:
    """A rollout: its text, and how good it is; equal texts are judged alike."""
    learned = run.pay in ("model", "scaled")
    chance = 1 / (1 + math.exp(-1.7 * ease))
    right = dice.random() < chance
    answer = prompt.a if run.kind == "code" else prompt.a + prompt.b
    if not right:
        answer += dice.choice((-10, -2, -1, 1, 2, 10, 20))
    fillers = int(curves["fillers"][at] + dice.gauss(0, 0.7) + 0.5)
    pieces = respond(run.kind, prompt, str(answer), max(0, fillers), dice)
    tokens = [token for text, _ in pieces for token in tokens_of(text)]
    own = [mine for text, mine in pieces for _ in tokens_of(text)] if len(pieces) > 1 else [True] * len(tokens)
    cut = dice.random() < curves["cut"][at] or len(tokens) >= run.limit
    if cut:
        while len(tokens) < run.limit + 10:  # so that the answer is cut off
            more = tokens_of(filler(run.kind, prompt, dice))
            place = 0 if run.kind == "agents" else 2
            tokens[place:place], own[place:place] = more, [True] * len(more)
        right, tokens, own = False, tokens[: run.limit], own[: run.limit]
    else:
        tokens.append(dice.choice(run.ends))
        own.append(True)
    judge = Random("".join(tokens[:-1]))
    score = 0.7 * ease + judge.gauss(0, 0.6) - cut if learned else float(right)
    if run.pay == "graded" and not score:
        score = sum(judge.random() < 0.6 * chance for _ in range(4)) / 5
    return Sample(at, prompt, group, tokens, own, score, cut)


def pay(run: Run, curves: Curves, at: int, samples: list[Sample]) -> None:
    """Give each rollout its reward and the parts of it."""
    dice = Random(f"{run.kind}/{run.seed}/{at}/pay")
    for sample in samples:
        if run.weights:
            chances = {"format_reward": curves["form"][at], "bonus_reward": curves["rare"][at]}
            judge = Random("".join(sample.tokens[:-1]))
            drawn = {
                name: float(judge.random() < chance and not sample.cut) for name, chance in chances.items() if name in run.weights
            }
            sample.parts = {"accuracy_reward": sample.score, **drawn}
        if "acc" in run.traits:
            right = 1 / (1 + math.exp(-1.7 * (curves["accuracy"][at] - sample.prompt.difficulty)))
            sample.more["acc"] = float(dice.random() < right)
        settle(run, sample)


def settle(run: Run, sample: Sample) -> None:
    """The total reward out of its parts, or out of the score."""
    if sample.parts:
        sample.reward = round(sum(run.weights[name] * value for name, value in sample.parts.items()), 4)
    else:
        sample.reward = round(run.shift + run.scale * sample.score, 3)
    if run.longer_pays:
        sample.reward = round(sample.reward + run.longer_pays * len(sample.tokens) / run.limit, 3)


def _groups(samples: list[Sample]) -> dict[str, list[Sample]]:
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.group, []).append(sample)
    return groups


def _dynamic(run: Run, samples: list[Sample], at: int) -> list[Sample]:
    """Leave most groups of equal rewards out, or mark them as discarded."""
    dice = Random(f"{run.seed}/{at}/dynamic")
    groups = list(_groups(samples).values())
    flat = [group for group in groups if len(group) > 1 and len({one.reward for one in group}) == 1 and dice.random() < 0.7]
    if run.seed % 2:
        for one in (one for group in flat for one in group):
            one.split = "discarded"
        return samples
    return [one for group in groups if group not in flat for one in group] or samples


def advantages(run: Run, samples: list[Sample]) -> None:
    """Advantages by the rule of the run; those of a critic come later."""
    for group in _groups(samples).values():
        rewards = np.array([one.reward for one in group])
        centred = rewards - rewards.mean()
        if run.rule == "grpo":
            centred = centred / (rewards.std() + 1e-4)
        if run.rule == "rloo" and len(group) > 1:
            centred = centred * len(group) / (len(group) - 1)
        for one, value in zip(group, centred.tolist(), strict=True):
            one.advantage = value


def numbers(run: Run, curves: Curves, at: int, samples: list[Sample]) -> None:
    """The token arrays: log-ratios have the mean that samples of a policy have, their tails are heavy."""
    if not run.arrays or not samples:
        return
    dice = np.random.default_rng([run.seed, at, 2])
    counts = np.array([len(one.tokens) for one in samples])
    count = int(counts.sum())
    own = np.concatenate([one.own for one in samples]).astype(np.float64)
    relative = dice.gamma(0.5, 2.0, count)
    entropies = np.maximum(relative * curves["entropy"][at], 1e-5)
    logprobs = -entropies * dice.gamma(0.9, 1 / 0.9, count) - 1e-5
    kl = relative * curves["kl"][at] * dice.gamma(0.5, 2.0, count)
    noise = curves["mismatch"][at] * np.sqrt(np.minimum(relative, 4))
    found = {
        "logprobs": logprobs,
        "entropies": entropies,
        "ref_logprobs": np.minimum(logprobs - dice.normal(kl, np.sqrt(2 * kl)), -1e-5),
        "rollout_logprobs": np.minimum(logprobs - dice.normal(-noise * noise / 2, noise), -1e-5),
        "advantages": np.repeat([one.advantage for one in samples], counts),
        "loss_mask": np.ones(count),
    }
    if CRITIC[0] in run.arrays:
        found |= _critic(run, curves, at, samples, found["logprobs"] - found["ref_logprobs"], dice)
    ends = np.cumsum(counts)[:-1]
    for name in run.arrays:
        for one, part in zip(samples, np.split(np.round(found[name] * own, 6 if name in CRITIC else 4), ends), strict=True):
            one.arrays[name] = part


def _critic(
    run: Run, curves: Curves, at: int, samples: list[Sample], ratio: Array, dice: np.random.Generator
) -> dict[str, Array]:
    mean, rewards = float(np.mean([one.reward for one in samples])), np.array([one.reward for one in samples])
    spread = float(rewards.std()) + 0.05
    known = 0.3 + 0.4 * at / len(run.steps)
    paid, returns, values = [], [], []
    for one, part in zip(samples, np.split(-0.02 * ratio, np.cumsum([len(one.tokens) for one in samples])[:-1]), strict=True):
        part = part.copy()
        part[-1] += one.reward
        place = np.linspace(0.2, 1, len(part)) * known
        paid.append(part)
        returns.append(np.cumsum(part[::-1])[::-1])
        values.append(mean + place * (one.reward - mean) + dice.normal(0, 0.2 * spread, len(part)))
    found = {"token_rewards": np.concatenate(paid), "returns": np.concatenate(returns), "values": np.concatenate(values)}
    return found | {"advantages": found["returns"] - found["values"]}


def _row(run: Run, curves: Curves, sample: Sample, number: int) -> Row:
    """A rollout as a trainer writes it."""
    traits, at = run.traits, sample.at
    text = "".join(sample.tokens[:-1] if sample.tokens and sample.tokens[-1] in run.ends else sample.tokens)
    row: Row = {"step": run.steps[at], "prompt": BEGIN * ("template" in traits) + sample.prompt.text, "response": text}
    if run.tokens:
        row["response_tokens"] = sample.tokens
    row |= {name: values.tolist() for name, values in sample.arrays.items()}
    row |= {"reward": sample.reward} | sample.parts
    if not run.arrays and run.group > 1 and run.seed % 3 == 0:
        row["advantage"] = round(sample.advantage, 4)
    optional: dict[str, Row] = {
        "ids": {"group_id": sample.group, "prompt_id": sample.prompt.name},
        "source": {"data_source": f"source_{sample.prompt.source}"},
        "truth": {} if run.kind == "chat" else {"ground_truth": str(sample.prompt.a + sample.prompt.b * (run.kind != "code"))},
        "finish": {"finish_reason": "length" if sample.cut else "stop"},
        "status": {"status": "truncated" if sample.cut else "completed"},
        "length": {"response_length": len(sample.tokens)},
        "version": {"policy_version": max(run.steps[0], run.steps[at] - int(curves["lag"][at]))},
        "ranks": {"rank": number % 3},
    }
    for name, values in optional.items():
        if name in traits:
            row |= values
    if run.kind == "evaluation":
        row["split"] = "evaluation"
    if sample.split:
        row["split"] = sample.split
    row["_file"] = f"rank_{number % 3}.jsonl" if "ranks" in traits else "rollouts.jsonl"
    if "resumed" in traits and at >= len(run.steps) * 2 // 3:
        row["_file"] = "resumed_" + row["_file"]
    return row | sample.more
