"""What is wrong as it is, from the first step on: numbers that are judged by their level over the whole run, as a declared table of kinds.

A row says what its level is a fault from which on, and in which words; `level_looks` has what it looks for. The engine dates what was seen by
all rollouts that show it.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from board.checks.contract import Severity
from board.findings import level_looks
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, Page, Threshold
from board.findings.dossier import Dossier
from board.findings.level_looks import Look

_LIMIT: Final = "level"
_OURS: Final = "our judgement: a sound run has none"


def _row(
    name: str,
    title: str,
    severity: Severity,
    look: Callable[[Dossier, float], Look],
    level: tuple[float, str, str],
    says: str,
    formula: str,
    means: str,
    looks_like: str,
    next: tuple[tuple[Page, str], ...],
    needs: tuple[str, ...] = (),
    explains: tuple[str, ...] = (),
    metrics: tuple[str, ...] = (),
) -> Kind:
    """A row of the table as a kind; `level` is from what on it is a fault, of what, and who says so."""

    def run(dossier: Dossier, limits: Limits) -> Answer:
        if not dossier.is_training:
            return CannotTell("these are evaluations, on which nothing is trained")
        seen = look(dossier, limits[_LIMIT])
        if seen is None or isinstance(seen, CannotTell):
            return seen
        steps = dossier.steps.of_rows[seen.marks]
        return Found(
            effect=seen.effect,
            first_step=int(steps.min()),
            last_step=int(steps.max()),
            crossed=_LIMIT,
            measured=seen.measured,
            strength=float(np.sqrt(seen.marks.sum())),  # of n rollouts by chance, the square root of n is the noise
            rollouts=dossier.clearest(seen.marks, seen.by),
            tokens=seen.tokens,
            severity=seen.severity,
        )

    thresholds = (Threshold(_LIMIT, *level),)
    return Kind(name, title, severity, says, formula, thresholds, means, looks_like, next, run, needs, explains, metrics)


LEVELS: Final[tuple[Kind, ...]] = (
    _row(
        "no_signal",
        "Nothing to learn from: equal rewards",
        "warning",
        level_looks.signal,
        (
            0.7,
            "share of the groups whose rewards are equal, over the run and in its first fifth",
            "Miles warns at 0.5, and at any time",
        ),
        "From the first step on no group has two different rewards, or few have.",
        "Share of the groups of several rewards that are all equal, against the mean of Σ qⁿ, with n samples of a group and the run's shares q "
        "of each reward: with two rewards pⁿ + (1 − p)ⁿ. A note where that explains it to 0.1, or where the groups are solved always. Without "
        "groups: steps, of which none may have two rewards.",
        "A verifier that finds no answer, responses that are cut off before it, prompts that are much too hard or too easy.",
        "Few samples of a group with a low success rate, of which most groups are equal by chance.",
        (("groups", "which groups are all right or all wrong"), ("responses", "read some: is there an answer to reward?")),
        ("reward",),
        ("truncation_wave", "no_learning", "constant_part", "dead_prompts", "empty_responses", "reward_saturated"),
        ("reward",),
    ),
    _row(
        "constant_part",
        "A part of the reward that never varies",
        "warning",
        level_looks.constant_parts,
        (0.9, "share of the rollouts with a reward that have the part, whose values are all equal", _OURS),
        "A part of the reward is the same in every rollout.",
        "Range of each number of the rows that is called as parts of rewards are (reward, score, format, accuracy, ...); a note where it is "
        "above 0, or a penalty.",
        "A function that looks for something responses cannot have, such as tags that decoding left out; a weight of 0; an exception that is "
        "taken for 0.",
        "A penalty for what never happens; a form that all responses keep.",
        (("rewards", "the parts of the reward"), ("responses", "read some: do they have what the part rewards?")),
        ("reward",),
        (),
        ("reward",),
    ),
    _row(
        "paid_whatever",
        "Prompts that are paid whatever is answered",
        "warning",
        level_looks.paid_whatever,
        (1, "prompts whose rollouts are all paid, some of them with other answers", _OURS),
        "All rollouts of some prompts earn the better reward, whatever they answer, from some step on.",
        "Prompts of six rollouts or more that all earn as much as one with the ground truth since some step, three or more of them without it, "
        "with three final answers or more, or none that is marked; where there is no ground truth, but two rewards, three final answers are "
        "enough. Not where most prompts of such answers are, nor where chance pays as many wrong ones once in a thousand runs.",
        "A ground truth that is empty or matches anything; a verifier that fails open for these prompts.",
        "Prompts with several right answers, or whose answer is written in another way than the ground truth.",
        (("prompts", "these prompts, at every visit"), ("responses", "what was answered to them")),
        ("reward",),
        ("verifier_noise", "format_only_wins"),
    ),
    _row(
        "logprobs_unfilled",
        "Logprobs that were never filled in",
        "warning",
        level_looks.unfilled,
        (3, "tokens of which one array is exactly 0 and another below −4", "our judgement: one may be chance"),
        "Single tokens have a logprob of exactly 0 where another array of the same tokens is far below.",
        "Tokens that count with a logprob of exactly 0 in one of logprobs, rollout_logprobs and ref_logprobs, where logprobs, or the array "
        "it is compared with, is below −4. Its severity is that of the mean ratio e^|Δ| with them, less that without.",
        "Arrays that were made full of zeros and filled only in part: a turn, a stop token or a token of a tool was left out.",
        "A sampler that leaves a single token to choose, and reports its probability after that.",
        (("tokens", "the two arrays at these tokens"), ("data", "what the checks say of arrays")),
        (),
        ("train_inference_mismatch", "kl_concentrated", "gibberish", "first-step"),
        ("mismatch_mean",),
    ),
    _row(
        "advantages_not_centred",
        "Advantages not centred in their groups",
        "warning",
        level_looks.not_centred,
        (
            0.1,
            "mean distance of a group's mean advantage from 0, in standard deviations of advantages",
            "our judgement: rounding is far below",
        ),
        "Advantages follow from the rewards, and their mean is 0 over other rows than those of a group.",
        "Mean of |mean advantage| of the groups; the first of source, rank and file of a step, step and run over which it is 0; a line of "
        "advantages on rewards there, which must explain 90 %.",
        "Groups that were lost or mixed up before the advantages were computed: a group of equal rewards pushes the policy all the same.",
        "A trainer that centres by batch on purpose, such as REINFORCE++.",
        (("groups", "the audit of the advantages against each rule"),),
        ("reward",),
        ("advantage_bug",),
        ("advantage_mean",),
    ),
    _row(
        "prompt_doubled",
        "Prompts with a template in the template",
        "warning",
        level_looks.doubled,
        (0.05, "share of the prompts that show it", _OURS),
        "Prompts begin with the begin token twice, or hold the chat template twice.",
        "Prompts that begin with one special token twice, in which a turn begins where one has just begun, or whose second half is the first; "
        "of 2,000 prompts, evenly.",
        "The template was applied to a text to which it had been applied, or the tokenizer added a begin token to one that was there.",
        "Prompts about chat templates.",
        (("responses", "read the prompts as they are, special tokens shown"),),
        ("prompt",),
    ),
    _row(
        "empty_responses",
        "Empty responses",
        "warning",
        level_looks.empty_responses,
        (0.02, "share of the responses that are empty", _OURS),
        "Responses are empty, though they are counted and rewarded.",
        "Share of the responses without any text but white space, or without any token but the end token.",
        "Requests that failed and were written as empty answers, a prompt that fills the context, a policy that ends at once.",
        "Responses whose text was not written, though their tokens were.",
        (("responses", "which they are, and what ended them"), ("rewards", "the mean without them")),
    ),
)
"""Every row, in the order in which they are asked."""
