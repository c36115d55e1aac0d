"""Arrays against each other: logprobs a token late, a policy that does not begin at its reference, token rewards that are not the reward.

Measures per rollout, and checks of them over steps and runs. Knows nothing of texts or groups.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.checks.contract import Answer, Fault, Unable
from board.checks.evidence import Batch, Evidence, PerRollout
from board.metrics.formulas import Float64Array
from board.schema import title
from board.text.counting import plural
from board.text.format_number import fmt

PAIRS: Final = {"ref": ("logprobs", "ref_logprobs"), "rollout": ("logprobs", "rollout_logprobs")}
"""Arrays that measure the same tokens, so that equal positions must agree best."""

_WINDOWS: Final = {-1: (slice(1, None), slice(None, -1)), 0: (slice(None), slice(None)), 1: (slice(None, -1), slice(1, None))}
"""By lag: the tokens of the one array and those of the other that are laid on them."""

LAGS: Final = tuple(_WINDOWS)

_SUMS: Final = ("n", "x", "y", "xx", "yy", "xy")

LEAST_PAIRS: Final = 64
"""From fewer tokens nothing is told of a correlation, or of a mean distance."""

LEAST_CORRELATION: Final = 0.5
LEAST_SCORE: Final = 6.0
"""Standard errors by which a neighbour must agree better, tokens taken as independent, which they are not quite."""

START_TOLERANCE: Final = 0.05
"""Mean |log-ratio| in nats per token that rounding, and another engine's kernels, explain at the start of training."""

LEAST_ROWS: Final = 30
"""From fewer rollouts no rule about token rewards can be told from chance."""

KEPT_RULE: Final = 0.8
"""A rule that so large a share of the rollouts keeps is the trainer's; the others break it."""

_PENALTIES: Final = {"KL k1": "log_ratio_sum", "KL k2": "kl_k2_sum", "KL k3": "kl_k3_sum"}


def measure(batch: Batch) -> dict[str, PerRollout]:
    """The sums that correlations at three lags are made of, for every pair of arrays, and the sum of |log-ratio|."""
    columns: dict[str, PerRollout] = {}
    for pair, (ours, theirs) in PAIRS.items():
        columns |= _correlation_sums(batch, ours, theirs, pair)
    columns |= _distance(batch)
    return columns


def _correlation_sums(batch: Batch, ours: str, theirs: str, pair: str) -> dict[str, PerRollout]:
    """_moments of two arrays at every lag, over tokens that count and have both numbers; zeros where the batch lacks an array."""
    if ours not in batch.arrays or theirs not in batch.arrays:
        return {f"{pair}{lag:+d}_{name}": np.zeros(len(batch.part)) for lag in LAGS for name in _SUMS}
    entering = np.isfinite(batch.arrays[ours]) & np.isfinite(batch.arrays[theirs]) & batch.counts
    x = np.where(entering, batch.arrays[ours], 0.0).astype(np.float64)
    y = np.where(entering, batch.arrays[theirs], 0.0).astype(np.float64)
    columns: dict[str, PerRollout] = {}
    for lag in LAGS:
        columns |= {f"{pair}{lag:+d}_{name}": value for name, value in _moments(batch, x, y, entering, lag).items()}
    return columns


def _moments(batch: Batch, x: Float64Array, y: Float64Array, entering: NDArray[np.bool_], lag: int) -> dict[str, PerRollout]:
    """n, Σx, Σy, Σx², Σy² and Σxy per rollout over the pairs x[t], y[t + lag] that both enter and are of one rollout."""
    here, there = _WINDOWS[lag]
    both = np.zeros(len(entering), np.bool_)
    pairs = both[: len(entering) - abs(lag)]
    pairs[:] = entering[here] & entering[there]
    ends = batch.offsets[(batch.offsets > 0) & (batch.offsets < len(entering))]
    if lag:
        pairs[ends - 1] = False
    ours, theirs = x[here] * pairs, y[there] * pairs
    whole = np.zeros(len(entering))
    columns: dict[str, PerRollout] = {"n": batch.per_rollout(both)}
    for name, product in (("x", ours), ("y", theirs), ("xx", ours * ours), ("yy", theirs * theirs), ("xy", ours * theirs)):
        whole[: len(product)] = product
        columns[name] = batch.per_rollout(whole)
    return columns


def _distance(batch: Batch) -> dict[str, PerRollout]:
    """Σ|logprob - ref_logprob| per rollout, and over how many tokens."""
    if "logprobs" not in batch.arrays or "ref_logprobs" not in batch.arrays:
        return {"distance": np.zeros(len(batch.part)), "distance_n": np.zeros(len(batch.part), np.int64)}
    with np.errstate(invalid="ignore"):
        apart = np.abs(batch.arrays["logprobs"].astype(np.float64) - batch.arrays["ref_logprobs"])
    entering = np.isfinite(apart) & batch.counts
    return {"distance": batch.per_rollout(np.where(entering, apart, 0.0)), "distance_n": batch.per_rollout(entering)}


def correlation(sums: pd.DataFrame, prefix: str) -> Float64Array:
    """Pearson's r from the six sums of each row; NaN where there are no pairs or one side does not vary."""
    n, x, y, xx, yy, xy = (sums[f"{prefix}_{name}"].to_numpy(np.float64) for name in ("n", "x", "y", "xx", "yy", "xy"))
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (n * xx - x * x) * (n * yy - y * y)
        # what rounding leaves of a spread of zero is no spread
        spread[~((n * xx - x * x > 1e-9 * n * xx) & (n * yy - y * y > 1e-9 * n * yy))] = np.nan
        r: Float64Array = np.clip((n * xy - x * y) / np.sqrt(spread), -1, 1)
    return r


def off_by_one(evidence: Evidence) -> Answer:
    """Rollouts among whose like a token's logprob agrees better with its neighbour's in the other array than with its own.

    Pearson's r over all their tokens; the difference of two of them by Fisher's z, whose standard error is √(2 / (n - 3)).
    """
    shifted, told, tested = np.zeros(len(evidence.frame), np.bool_), [], False
    for pair, (ours, theirs) in PAIRS.items():
        lags = _lags(evidence, pair)
        tested = tested or bool(lags.notna().any())
        marks = (lags.abs() == 1).to_numpy()
        shifted |= marks
        if marks.any():
            late = int(np.sign(lags.sum()))
            towards = "a token late" if late > 0 else "a token early"
            told.append(f"{title(theirs)} agrees with {title(ours)} best when read {towards}")
    if not tested:
        return Unable(f"fewer than {LEAST_PAIRS} tokens have two logprobs, or these do not vary")
    if not shifted.any():
        return None
    return Fault(f"{'; '.join(told)}, in {plural(int(shifted.sum()), 'rollout')}", evidence.keys(shifted))


def _lags(evidence: Evidence, pair: str) -> pd.Series:
    """For every rollout the lag at which its like agree best, clearly; 0 where that is in doubt, NaN where it cannot be told.

    Its like are the rollouts of its shard and step; where those have too few tokens, of its shard, and then of the run.
    """
    sums = evidence.measures.filter(regex=f"^{pair}[+-]")
    shards = pd.Series(evidence.frame["shard"].cat.codes.to_numpy().astype(np.int64), index=sums.index)
    run = pd.Series(0, index=sums.index)
    lags = pd.Series(np.nan, index=sums.index)
    for like in ([shards, evidence.frame["step"]], [shards], [run]):
        grouped = sums.groupby(like, sort=False)
        lags = lags.fillna(pd.Series(_best_lags(grouped.sum(), pair)[grouped.ngroup().to_numpy()], index=sums.index))
    return lags


def _best_lags(sums: pd.DataFrame, pair: str) -> Float64Array:
    """The lag of the clearly best correlation of each row of sums, 0 in doubt, NaN where there are too few pairs or one side does not vary."""
    own = correlation(sums, f"{pair}+0")
    best = np.where(np.isnan(own) | (sums[f"{pair}+0_n"] < LEAST_PAIRS), np.nan, 0.0)
    for lag in (-1, 1):
        clear = clearly_above(correlation(sums, f"{pair}{lag:+d}"), own, sums[f"{pair}{lag:+d}_n"].to_numpy())
        best[clear & ~np.isnan(best)] = lag
    return best


def clearly_above(other: Float64Array, own: Float64Array, pairs: Float64Array) -> NDArray[np.bool_]:
    """Where a correlation is of substance and above another by LEAST_SCORE standard errors of the difference of their Fisher's z."""
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (np.arctanh(np.clip(other, -1 + 1e-12, 1 - 1e-12)) - np.arctanh(np.clip(own, -1 + 1e-12, 1 - 1e-12))) / np.sqrt(
            2 / (pairs - 3)
        )
        clear: NDArray[np.bool_] = (other > LEAST_CORRELATION) & (other > own + 0.1) & (z > LEAST_SCORE)
    return clear


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
    """β of every row: the median of gap / penalty over its step, or over the run where a step has few rows to tell it from."""
    ratio = pd.Series(np.where(np.abs(penalty) > 1e-6, gap, np.nan) / np.where(np.abs(penalty) > 1e-6, penalty, 1.0))
    by_step = ratio.groupby(steps)
    small = by_step.transform("count") < LEAST_ROWS // 4
    beta: Float64Array = by_step.transform("median").where(~small, ratio.median()).fillna(0.0).to_numpy()
    return beta


def reward_sum(evidence: Evidence) -> Answer:
    """Rollouts whose token rewards break the rule that most of the run's keep. Without such a rule nothing can be told of any one."""
    frame = evidence.frame
    if "token_reward_sum" not in frame:
        return Unable("no token that counts has a token_reward")
    present = {name: frame[column].to_numpy() for name, column in _PENALTIES.items() if column in frame.columns}
    columns = [frame["reward"].to_numpy(), frame["token_reward_sum"].to_numpy(), *present.values()]
    whole = np.isfinite(columns).all(axis=0) & (evidence.measures["missing_numbers"].to_numpy() == 0)
    if whole.sum() < LEAST_ROWS:
        return Unable(f"fewer than {LEAST_ROWS} rollouts have the numbers it takes")
    rewards, sums, *others = (column[whole] for column in columns)
    rule = reward_rule(rewards, sums, dict(zip(present, others, strict=True)), frame["step"].to_numpy()[whole])
    if rule.holds.all():
        return None
    if rule.holds.mean() < KEPT_RULE:
        return Unable("token rewards add up to the reward by no rule it knows: they may be scaled, whitened or clipped")
    broken = np.zeros(len(frame), np.bool_)
    broken[whole] = ~rule.holds
    formula = f"the reward less a share of {rule.penalty}" if rule.penalty else "the reward"
    share = fmt(100 * float(rule.holds.mean()))
    what = f"Token rewards sum to {formula} in {share} % of the rollouts, and do not in {plural(int(broken.sum()), 'rollout')}"
    return Fault(what, evidence.keys(broken))
