"""Arrays against each other: logprobs a token late, a policy that does not begin at its reference, token rewards that are not the reward.

Measures per rollout, and checks of them over steps and runs.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts import logprob_lags, rollout_measures
from board.analysis.rollouts.logprob_lags import LAGS, column
from board.findings.checks.contract import Answer, Fault, Unable, shown_by
from board.findings.checks.evidence import Batch, Evidence, PerRollout
from board.metrics.formulas import Float64Array
from board.schema import title
from board.text.format_number import fmt

PAIRS: Final = {name: logprob_lags.PAIRS[name] for name in ("ref", "engine")}
"""Arrays that measure the same tokens, so that equal positions must agree best."""

LEAST_PAIRS: Final = 64
"""With fewer tokens a correlation or a mean distance says nothing."""

NEARER: Final = 0.5
"""A neighbour at so small a share of the distance of a token's own number is no chance."""
LEAST_APART: Final = 0.1
"""Nats: arrays that are nearer to each other are not misaligned, whatever a neighbour does."""

START_TOLERANCE: Final = 0.05
"""Mean |log-ratio| in nats per token that rounding, and another engine's kernels, explain at the start of training."""

LEAST_ROWS: Final = 30
"""With fewer rollouts a rule about token rewards could hold by chance."""

RULE_HOLDS: Final = 0.8
"""A rule that so large a share of the rollouts keeps is the trainer's; the others break it."""

_PENALTIES: Final = {"KL k1": "log_ratio_sum", "KL k2": "kl_k2_sum", "KL k3": "kl_k3_sum"}


def measure(batch: Batch) -> dict[str, PerRollout]:
    """How far two arrays are apart at three lags, for every pair of arrays, and the sum of |log-ratio|."""
    lags = rollout_measures.of_part(batch.part, "lags", logprob_lags.measure)
    return {column(pair, lag): lags[column(pair, lag)] for pair in PAIRS for lag in LAGS} | _distance(batch)


def _distance(batch: Batch) -> dict[str, PerRollout]:
    """Σ|logprob - ref_logprob| per rollout, and over how many tokens."""
    if "logprobs" not in batch.arrays or "ref_logprobs" not in batch.arrays:
        return {"distance": np.zeros(len(batch.part)), "distance_n": np.zeros(len(batch.part), np.int64)}
    with np.errstate(invalid="ignore"):
        apart = np.abs(batch.arrays["logprobs"].astype(np.float64) - batch.arrays["ref_logprobs"])
    entering = np.isfinite(apart) & batch.counts
    return {"distance": batch.per_rollout(np.where(entering, apart, 0.0)), "distance_n": batch.per_rollout(entering)}


def off_by_one(evidence: Evidence) -> Answer:
    """Rollouts among whose like a token's logprob is much nearer to its neighbour's in the other array than to its own."""
    shifted, reports, tested = np.zeros(len(evidence.frame), np.bool_), [], False
    for pair, (ours, theirs) in PAIRS.items():
        lags = _lags(evidence, pair)
        tested = tested or bool(lags.notna().any())
        marks = (lags.abs() == 1).to_numpy()
        shifted |= marks
        if marks.any():
            towards = "a token late" if int(np.sign(lags.sum())) > 0 else "a token early"
            reports.append(f"{title(theirs)} agrees with {title(ours)} best when read {towards}")
    if not tested:
        return Unable(f"fewer than {LEAST_PAIRS} tokens have two logprobs")
    return shown_by(evidence, shifted, f"{'; '.join(reports)}, in {{rollouts}}")


def _lags(evidence: Evidence, pair: str) -> pd.Series:
    """For every rollout the lag at which its like are nearest; 0 where they are not twice as near, NaN where it is unknown.

    Its like are the rollouts of its shard and step; where those have too few tokens, of its shard, and then of the run.
    """
    apart = evidence.measures[[column(pair, lag) for lag in LAGS]].set_axis(LAGS, axis="columns")
    tokens = evidence.frame.get("response_length", pd.Series(np.nan, apart.index)).where(apart[0].notna())
    shards, run = evidence.frame["shard"].cat.codes, pd.Series(0, apart.index)
    lags = pd.Series(np.nan, apart.index)
    for like in ([shards, evidence.frame["step"]], [shards], [run]):
        n = tokens.groupby(like).transform("sum")
        mean = apart.mul(tokens, axis="index").groupby(like).transform("sum").div(n, axis="index")
        side = pd.Series(np.where(mean[-1] <= mean[1], -1.0, 1.0), apart.index)
        shifted = (mean[0] > LEAST_APART) & (mean[[-1, 1]].min(axis="columns") < NEARER * mean[0])
        known = lags.isna() & (n >= LEAST_PAIRS) & tokens.notna()
        lags = lags.mask(known, side.where(shifted, 0.0))
    return lags


def first_step(evidence: Evidence) -> Answer:
    """A first step whose policy is not its reference. Only where the run begins at step 0 or 1: a resumed one begins elsewhere."""
    first = int(evidence.frame["step"].min())
    if first not in (0, 1):
        return Unable(f"the first step here is {first}, where the policy need not be its reference any more")
    marks = (evidence.frame["step"] == first).to_numpy() & (evidence.measures["distance_n"].to_numpy() > 0)
    tokens = int(evidence.measures["distance_n"].to_numpy()[marks].sum())
    if tokens < LEAST_PAIRS:
        return Unable(f"fewer than {LEAST_PAIRS} tokens of step {first} have both logprobs")
    mean = float(evidence.measures["distance"].to_numpy()[marks].sum()) / tokens
    if mean <= START_TOLERANCE:
        return None
    what = f"logprob and ref_logprob differ by {fmt(mean)} nats per token on average in step {first}"
    return Fault(what, evidence.keys(marks), tokens=tokens)


@dataclass(frozen=True)
class RewardRule:
    """How token rewards add up in a run: Σ token_reward = reward - β · penalty."""

    penalty: str
    """What is taken off, empty for nothing."""
    holds: NDArray[np.bool_]
    """Whether it holds, for every rollout that can be tested."""


def reward_rule(
    rewards: Float64Array, sums: Float64Array, penalties: dict[str, Float64Array], steps: NDArray[np.int64]
) -> RewardRule:
    """The rule that most rollouts keep: none taken off, or β times one KL, β the step's median where steps are large, else the run's.

    All of shape (rows,), finite. Tolerance: 1e-3 of the magnitudes, and 1e-4.
    """
    best = RewardRule("", np.abs(rewards - sums) <= 1e-4 + 1e-3 * np.abs(rewards))
    for name, penalty in penalties.items():
        taken = _coefficient(rewards - sums, penalty, steps) * penalty
        holds = np.abs(rewards - taken - sums) <= 1e-4 + 1e-3 * (np.abs(rewards) + np.abs(taken))
        if holds.sum() > best.holds.sum():
            best = RewardRule(name, holds)
    return best


def _coefficient(gap: Float64Array, penalty: Float64Array, steps: NDArray[np.int64]) -> Float64Array:
    """β of every row: the median of gap / penalty over its step, or over the run where a step has few rows."""
    ratio = pd.Series(np.where(np.abs(penalty) > 1e-6, gap, np.nan) / np.where(np.abs(penalty) > 1e-6, penalty, 1.0))
    by_step = ratio.groupby(steps)
    small = by_step.transform("count") < LEAST_ROWS // 4
    beta: Float64Array = by_step.transform("median").where(~small, ratio.median()).fillna(0.0).to_numpy()
    return beta


def reward_sum(evidence: Evidence) -> Answer:
    """Rollouts whose token rewards break the rule that most of the run's keep. Without such a rule no rollout can be judged."""
    frame = evidence.frame
    if "token_reward_sum" not in frame:
        return Unable("no token that counts has a token_reward")
    present = {name: frame[column].to_numpy() for name, column in _PENALTIES.items() if column in frame.columns}
    columns = [frame["reward"].to_numpy(), frame["token_reward_sum"].to_numpy(), *present.values()]
    whole = np.isfinite(columns).all(axis=0) & ~evidence.without_numbers
    if whole.sum() < LEAST_ROWS:
        return Unable(f"fewer than {LEAST_ROWS} rollouts have the numbers it takes")
    rewards, sums, *others = (column[whole] for column in columns)
    rule = reward_rule(rewards, sums, dict(zip(present, others, strict=True)), frame["step"].to_numpy()[whole])
    if rule.holds.mean() < RULE_HOLDS:
        return Unable("token rewards add up to the reward by no rule it knows: they may be scaled, whitened or clipped")
    broken = np.zeros(len(frame), np.bool_)
    broken[whole] = ~rule.holds
    formula = f"the reward less a share of {rule.penalty}" if rule.penalty else "the reward"
    share = fmt(100 * float(rule.holds.mean()))
    return shown_by(evidence, broken, f"Token rewards sum to {formula} in {share} % of the rollouts, and do not in {{rollouts}}")
