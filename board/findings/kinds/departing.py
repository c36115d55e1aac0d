"""The numbers that are watched for leaving their level in the direction that harms: reward, parts, sources, evaluations, length, KL, ...

Declared rows; how they are looked at is in `board.findings.watched`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from board.analysis.length_attribution import correlation
from board.analysis.reward_parts import is_penalty, reward_parts
from board.checks.contract import Severity
from board.findings.answers import correctness
from board.findings.contract import Kind, Page, Threshold
from board.findings.departures import CLEAR
from board.findings.dossier import Dossier
from board.findings.kinds.entropy_collapse import has_twin
from board.findings.watched import Left, Watch, Watched, as_kind
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

_ENGINE: Final = "board/findings/departures.py"
_OUR: Final = "our judgement"


def _reward(dossier: Dossier) -> Iterator[Watched]:
    values = dossier.number("reward")
    yield Watched("the reward", dossier, values, dossier.prompt_for_prompt(values))


def _parts(dossier: Dossier) -> Iterator[Watched]:
    for name in (one for one in reward_parts(dossier.frame) if not is_penalty(one)):
        values = dossier.number(name)
        yield Watched(f"`{name}`", dossier, values, dossier.prompt_for_prompt(values))


def _sources(dossier: Dossier) -> Iterator[Watched]:
    codes, rewards = dossier.sources, dossier.number("reward")
    if codes.max(initial=-1) < 1:
        return
    names = dossier.frame["data_source"].astype(str).to_numpy()
    for code in range(min(int(codes.max()) + 1, 64)):
        values = np.where(codes == code, rewards, np.nan)
        yield Watched(
            f"the reward of `{names[int((codes == code).argmax())]}`", dossier, values, dossier.prompt_for_prompt(values)
        )


def _evaluations(dossier: Dossier) -> Iterator[Watched]:
    held = dossier.evaluation
    if held is None:
        return
    rewards = held.number("reward")
    if held.sources.max(initial=-1) < 1:
        yield Watched("the reward of the evaluation", held, rewards, held.prompt_for_prompt(rewards))
        return
    for one in _sources(held):
        yield replace(one, name=f"the evaluation's {one.name.removeprefix('the ')}")


def _length(dossier: Dossier) -> Iterator[Watched]:
    tokens = dossier.number("response_length")
    held = tokens if np.isfinite(tokens).any() else dossier.number("response_chars")
    values = np.log(np.maximum(held, 1.0))
    unit = "tokens" if held is tokens else "characters"
    yield Watched(f"the mean length in {unit}", dossier, values, dossier.like_for_like(values), held)


def _growth(dossier: Dossier) -> Iterator[Watched]:
    """The length, where nothing says which responses are right: else `length_exploitation` tells."""
    if correctness(dossier) is None:
        yield from _length(dossier)


def _twins(dossier: Dossier) -> Iterator[Watched]:
    twins = has_twin(dossier.group_rows, dossier.number("response_digest"))
    if np.isfinite(twins).any():
        yield Watched("the share of responses with an equal in their group", dossier, twins, dossier.like_for_like(twins))


def _column(name: str, called: str, most: float = np.inf) -> Callable[[Dossier], Iterator[Watched]]:
    def curves(dossier: Dossier) -> Iterator[Watched]:
        values = np.minimum(dossier.number(name), most)
        if np.isfinite(values).any():
            yield Watched(called, dossier, values, dossier.like_for_like(values))

    return curves


def _mismatch(dossier: Dossier) -> Iterator[Watched]:
    if "mismatch_error/mean" in dossier.run.moment_names:
        values = dossier.run.moment("mismatch_error/mean", dossier.keys) - 1
        values = np.minimum(np.where(np.isfinite(values), values, np.nan), _MOST_RATIO)
        yield Watched("the excess of the ratio of trainer and engine", dossier, values, dossier.like_for_like(values))


_MOST_RATIO: Final = 10.0


def _change(dossier: Dossier, values: Float64Array, left: Left) -> float:
    """How much the mean of (rows,) training values changed over a departure: its steps against as many before."""
    first, last = left.steps
    span = min(max(last - first + 1, 3), 10) if not left.how.stays else 5
    steps = dossier.steps.of_rows
    before = values[(steps < first) & (steps >= first - span) & np.isfinite(values)]
    after = values[(steps <= last) & (steps > last - span) & (steps >= first) & np.isfinite(values)]
    return float(after.mean() - before.mean()) if len(before) and len(after) else np.nan


def _against_the_total(dossier: Dossier, left: Left) -> str:
    change = _change(dossier, dossier.number("reward"), left)
    return f", while the total rises by {fmt(change)}" if change > 0 else ""


def _if_part(dossier: Dossier, left: Left) -> Severity | None:
    """A part that falls a little while the total rises is a trade; one that loses half of what it had is a warning."""
    lost = abs(left.how.change) / max(abs(left.how.before), 1e-12)
    return "warning" if lost >= _HALF or not _change(dossier, dossier.number("reward"), left) > 0 else "note"


_HALF: Final = 0.5


def _if_it_pays(dossier: Dossier, left: Left) -> Severity | None:
    """Responses that shrink are a warning where shorter ones earn more than others of their group, else a note."""
    return "warning" if _worth(dossier, left) < -_PAYS else "note"


_PAYS: Final = 0.15
"""Correlation, inside groups, of length and reward from which on length pays."""


def _if_long_pays(dossier: Dossier, left: Left) -> Severity | None:
    return "warning" if _worth(dossier, left) > 2 * _PAYS else None


def _worth(dossier: Dossier, left: Left) -> float:
    since = dossier.since(left.how.at)
    length, reward = dossier.within_groups(left.curve.values), dossier.within_groups(dossier.number("reward"))
    return correlation(length[since], reward[since])


def _what_length_earns(dossier: Dossier, left: Left) -> str:
    worth = _worth(dossier, left)
    which = "shorter" if worth < 0 else "longer"
    paid = (worth < 0) == (left.how.change < 0)
    return f", and {which} ones earn more than others to their prompt (correlation {worth:.2f})" if paid else ""


def _which_parts(dossier: Dossier, left: Left) -> str:
    parts = [(one, _change(dossier, one.values, left)) for one in _parts(dossier)]
    fell = [f"{one.name} by {fmt(-change)}" for one, change in parts if change < -_PART * one.scale]
    return f"; of its parts {' and '.join(fell)}" if fell else ""


_PART: Final = 0.25
"""Standard deviations that a part fell by, to be named."""


def _thresholds(spreads: float, why: str, **others: tuple[float, str]) -> tuple[Threshold, ...]:
    return (
        Threshold("spreads", spreads, "change, in standard deviations of the rollouts' values", why),
        *(Threshold(name, value, meaning, _OUR) for name, (value, meaning) in others.items()),
        Threshold("z", CLEAR, "clearness of the change, in units of the curve's own noise", _ENGINE),
    )


def _kind(
    name: str, title: str, says: str, thresholds: tuple[Threshold, ...], means: str, looks_like: str,
    following: tuple[tuple[Page, str], ...], metrics: tuple[str, ...], needs: tuple[str, ...] = (), explains: tuple[str, ...] = (),
) -> Kind:  # fmt: skip
    return Kind(
        name, title, "warning", says, _FORMULA, thresholds, means, looks_like, following, lambda *_: None, needs, explains, metrics, general=True
    )  # fmt: skip


_FORMULA: Final = (
    "The mean by step, like for like by prompt or data source, cut into stretches of one level each; the change from the best level before "
    "it. One that goes half of the way back is an episode, which ends there."
)
_READ: Final[tuple[tuple[Page, str], ...]] = (
    ("steps", "compare the step before with this one"),
    ("responses", "read the rollouts of these steps, the lowest rewards first"),
)
_OF_REWARD: Final = ("no_learning", "dead_prompts", "part_falls", "source_falls")

ROWS: Final = (
    Watch(
        _kind(
            "reward_falls",
            "The reward falls",
            "The reward falls and stays down, or falls and comes back.",
            _thresholds(0.4, _OUR + ": less is not seen in samples"),
            "The policy broke (learning rate, KL, a bad batch), the environment or the verifier failed, or other prompts came.",
            "Harder prompts under the same data source; a reward whose scale changed.",
            _READ,
            ("reward",),
            ("reward",),
            _OF_REWARD,
        ),
        _reward,
        "no rollout has a reward",
        -1,
        severity=lambda _dossier, left: "warning" if left.how.stays or left.how.end - left.how.at > 1 else "note",
        more=_which_parts,
    ),
    Watch(
        _kind(
            "part_falls",
            "A part of the reward falls",
            "A part of the reward falls, which the total may hide.",
            _thresholds(0.4, _OUR + ": less is not seen in samples"),
            "The policy gives up one aim for another that is easier to earn; a part that is computed otherwise, or no more.",
            "A part that is a penalty on something useful; a part whose scale changed.",
            (("rewards", "the parts by step beside the total"), *_READ),
            ("reward",),
            ("reward",),
            ("dead_prompts", "no_learning"),
        ),
        _parts,
        "no column is a part of the reward",
        -1,
        severity=_if_part,
        more=_against_the_total,
    ),
    Watch(
        _kind(
            "source_falls",
            "The reward of a data source falls",
            "The reward of one data source falls, which the mean of all may hide.",
            _thresholds(0.4, _OUR + ": less is not seen in samples"),
            "What is learned on one source is unlearned on another; a verifier or an environment of one source fails.",
            "Other, harder prompts under the same name.",
            (("rewards", "the reward by data source"), *_READ),
            ("reward",),
            ("reward",),
            ("dead_prompts",),
        ),
        _sources,
        "there are no two data sources",
        -1,
        more=_against_the_total,
    ),
    Watch(
        _kind(
            "evaluation_falls",
            "The evaluation falls",
            "The reward of an evaluation falls while training goes on.",
            _thresholds(0.2, _OUR + ": evaluations have the same prompts each time"),
            "What training pays is not what the evaluation measures; the policy forgets, or overfits its prompts.",
            "Another evaluation set under the same name, or another sampling temperature.",
            (("rewards", "the evaluation beside training"), *_READ),
            ("reward",),
        ),
        _evaluations,
        "there is no evaluation with rewards",
        -1,
        more=_against_the_total,
    ),
    Watch(
        _kind(
            "length_falls",
            "Responses shrink",
            "Responses become much shorter, and shorter ones earn more.",
            _thresholds(0.5, _OUR, least=(0.69, "fall of the mean logarithm of the length: 0.69 is a half")),
            "The reward pays what is short: a penalty on length, or answers without reasoning that earn as much.",
            "A length penalty that is meant; a task that needs less.",
            (("groups", "compare long and short responses of one group"), *_READ),
            ("length/mean",),
            explains=("dead_prompts", "same-response", "part_falls", "template_collapse", "equal_responses"),
        ),
        _length,
        "no response has a length",
        -1,
        severity=_if_it_pays,
        more=_what_length_earns,
    ),
    Watch(
        _kind(
            "length_grows",
            "Responses grow, and longer ones earn more",
            "Responses become much longer, and longer ones earn more, where nothing says whether they are right.",
            _thresholds(0.5, _OUR, least=(0.5, "growth of the mean logarithm of the length: 0.69 is twice as long")),
            "The reward, or a model of it, takes length for quality; sums over tokens reward what is long.",
            "Harder tasks that need longer answers: log a validation reward or the ground truth to tell.",
            (("groups", "compare long and short responses of one group"), *_READ),
            ("length/mean",),
            explains=("truncation_wave", "repetition_loop", "dead_prompts"),
        ),
        _growth,
        "no response has a length, or something says which are right",
        1,
        severity=_if_long_pays,
        more=_what_length_earns,
    ),
    Watch(
        _kind(
            "equal_responses",
            "Responses of a group become the same text",
            "The share of responses that equal another one of their group rises.",
            _thresholds(0.3, _OUR, least=(0.25, "growth of the share of responses with an equal in their group")),
            "The policy is sure of one way: groups no longer differ, their advantages are zero, and learning stops.",
            "Short, forced answers; a lower sampling temperature.",
            (("groups", "read a group of these steps side by side"), ("metrics", "entropy and zero-variance groups together")),
            ("entropy_mean", "groups/zero_std_share"),
            explains=("same-response", "dead_prompts"),
        ),
        _twins,
        "no group has two responses with a text",
        1,
    ),
    Watch(
        _kind(
            "kl_jumps",
            "The KL to the reference jumps",
            "The KL to the reference jumps within a few steps, and stays or comes back.",
            _thresholds(
                0.2,
                _OUR,
                least=(0.08, "jump of the mean k3, nats per token"),
                share=(2.0, "jump in multiples of the level before"),
            ),
            "An update that was too large, one token or one prompt with an extreme log-ratio, weights that were loaded wrongly.",
            "A reference that was exchanged.",
            (("metrics", "KL, gradient norm and reward together"), ("all_tokens", "which tokens hold the KL"), *_READ),
            ("kl_k3_mean", "log_ratio_mean"),
        ),
        _column("kl_k3_mean", "the KL to the reference", 20.0),
        "no rollout has log-probabilities of policy and reference",
        1,
        within=4,
        own=0.0,
    ),
    Watch(
        _kind(
            "entropy_rises",
            "Entropy rises",
            "The entropy of the policy rises steeply.",
            _thresholds(0.5, _OUR, share=(0.75, "rise as a share of the level before"), least=(0.15, "rise, nats per token")),
            "The policy falls apart: an entropy bonus or a clip-higher that is too strong, a learning rate that is too high.",
            "A higher sampling temperature, other prompts.",
            (("metrics", "entropy, KL and reward together"), *_READ),
            ("entropy_mean",),
            explains=("gibberish", "language_mixing"),
        ),
        _column("entropy_mean", "the entropy"),
        "no rollout has entropies",
        1,
    ),
    Watch(
        _kind(
            "mismatch_jumps",
            "Engine and trainer part for some steps",
            "The engine's logprobs part from the trainer's within a few steps, and stay apart or come back.",
            _thresholds(
                0.2, _OUR, least=(0.05, "rise of the mean e^|Δ|"), share=(1.0, "rise as a share of its excess over 1 before")
            ),
            "Weights that were not synced for some steps, an engine that restarted with another precision or configuration.",
            "Rollouts sampled some steps ago: look at the staleness.",
            (
                ("metrics", "mismatch by step: KL, weights, effective sample size"),
                ("tokens", "the tokens with the largest difference"),
            ),
            ("mismatch_mean",),
        ),
        _mismatch,
        "no rollout has logprobs of the trainer and of the engine",
        1,
        within=4,
    ),
)
KINDS: Final = tuple(map(as_kind, ROWS))
