"""Numbers that cannot be: missing or infinite ones, probabilities above 1, and what stands where tokens are masked.

Measures per rollout, and checks of them.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.checks import loading
from board.findings.checks.contract import Answer, Fault, Unable, shown_by
from board.findings.checks.evidence import MISSING, Batch, Evidence, PerRollout
from board.metrics.declared import FAMILIES, METRICS
from board.schema import title
from board.text.counting import plural
from board.text.format_number import fmt

LOGPROBS: Final = ("logprobs", "ref_logprobs", "rollout_logprobs")

ROUNDING: Final = 1e-3
"""A logprob so little above 0 is a probability of 1 that was rounded."""

LONG_STRETCH: Final = 16
"""So many tokens on end of probability exactly 1 were hardly sampled."""


def measure(batch: Batch) -> dict[str, PerRollout]:
    """Tokens of each rollout that have a number that cannot be, by kind and field."""
    columns: dict[str, PerRollout] = {"masked": batch.per_rollout(~batch.counts & ~batch.pads)}
    for name, values in batch.arrays.items():
        if name != "loss_mask":
            columns[f"{MISSING}{name}"] = batch.per_rollout(~np.isfinite(values) & batch.counts) * batch.has[name]
    for name in LOGPROBS:
        columns[f"positive_{name}"] = _above(batch, name, batch.counts)
    columns["masked_certain"] = _masked_certain(batch)
    columns["certain_stretch"] = _certain_stretch(batch)
    columns["odd_mask"] = _odd_mask(batch)
    return columns


def _nothing(batch: Batch) -> NDArray[np.int64]:
    return np.zeros(len(batch.part), np.int64)


def _above(batch: Batch, name: str, among: NDArray[np.bool_]) -> PerRollout:
    """Tokens whose logprob is above 0; infinity is reported as missing."""
    if name not in batch.arrays:
        return _nothing(batch)
    values = batch.arrays[name]
    return batch.per_rollout((values > ROUNDING) & np.isfinite(values) & among)


def _masked_certain(batch: Batch) -> PerRollout:
    """Masked tokens, other than padding, whose logprob says that they are certain, or more than that."""
    certain = [values >= 0 for name, values in batch.arrays.items() if name in LOGPROBS]
    if not certain:
        return _nothing(batch)
    return batch.per_rollout(np.logical_or.reduce(certain) & ~batch.counts & ~batch.pads)


def _certain_stretch(batch: Batch) -> PerRollout:
    """Tokens that count, in stretches of LONG_STRETCH or more where every logprob the batch has is exactly 0. Only rollouts without a mask."""
    present = [name for name in LOGPROBS if name in batch.arrays]
    if not present:
        return _nothing(batch)
    certain = batch.counts.copy()
    for name in present:
        certain &= (batch.arrays[name] == 0) | ~batch.spread(batch.has[name])
    certain &= batch.spread(np.logical_or.reduce([batch.has[name] for name in present]))
    if "loss_mask" in batch.has:
        certain &= ~batch.spread(batch.has["loss_mask"])
    return batch.per_rollout(in_stretches(certain, batch.offsets, LONG_STRETCH))


def in_stretches(marks: NDArray[np.bool_], offsets: NDArray[np.int64], least: int) -> NDArray[np.bool_]:
    """Marks that stand in an unbroken row of at least so many; a new rollout breaks it. Shape of `marks`, (N,)."""
    changes = np.flatnonzero(marks[1:] != marks[:-1]) + 1
    bounds = np.unique(np.concatenate([[0, len(marks)], changes, offsets]))
    long = np.diff(bounds) >= least
    return marks & np.repeat(long, np.diff(bounds))


def _odd_mask(batch: Batch) -> PerRollout:
    """Tokens whose loss_mask is neither 0 nor 1; a missing one is reported by loading."""
    if "loss_mask" not in batch.arrays:
        return _nothing(batch)
    mask = batch.arrays["loss_mask"]
    return batch.per_rollout((mask != 0) & (mask != 1) & np.isfinite(mask))


def missing_numbers(evidence: Evidence) -> Answer:
    """NaN, infinity or null in an array or a number of the row, by name; those that begin at the same step are one fault.

    Tokens that do not count do not concern it, nor does an array that is too short, which another check reports.
    """
    even = ~loading.uneven(evidence)
    tokens = {name: np.where(even, found, 0) for name, found in evidence.missing.items()}
    marks = {name: found > 0 for name, found in tokens.items()} | loading.odd_numbers(evidence)
    steps = evidence.frame["step"].to_numpy()
    begun: dict[int, list[str]] = {}
    for name in [name for name, rows in marks.items() if rows.any()]:
        begun.setdefault(int(steps[marks[name]].min()), []).append(name)
    faults = []
    for _, names in sorted(begun.items()):
        text = "; ".join(_described(name, marks[name], steps, tokens.get(name)) for name in names)
        total = sum(int(tokens[name].sum()) for name in names if name in tokens)
        faults.append(Fault(text, evidence.keys(np.any([marks[name] for name in names], axis=0)), tokens=total or None))
    return tuple(faults)


def _described(name: str, marks: NDArray[np.bool_], steps: NDArray[np.int64], tokens: NDArray[np.int64] | None) -> str:
    """Where an array or a number of the row is not finite, and what is not computed for that."""
    counted, ends = plural(int(marks.sum()), "rollout"), sorted({int(steps[marks].min()), int(steps[marks].max())})
    counted = counted if tokens is None else f"{plural(int(tokens.sum()), 'token')} in {counted}"
    text = f"{name} is NaN, infinite or missing at {counted}" if tokens is not None else f"{name} is NaN or infinite in {counted}"
    text += f" ({fmt(100 * float(marks.mean()))} %), step{'s' * (len(ends) - 1)} {' to '.join(map(str, ends))}"
    given = [metric for metric in METRICS.values() if metric.needs]
    families = [one for one in FAMILIES if all(name in metric.needs for metric in given if metric.family == one)]
    families = [one for one in families if any(metric.family == one for metric in given)]
    labels = [one.upper() if len(one) < 3 else one for one in families]  # KL
    return text + (f": {' and '.join(labels)} metrics are missing there" if labels and marks.all() else "")


def positive_logprobs(evidence: Evidence) -> Answer:
    """Probabilities above 1."""
    columns = {name: evidence.measures[f"positive_{name}"].to_numpy() for name in LOGPROBS}
    tokens = np.sum([*columns.values()], axis=0)
    named = ", ".join(f"{title(name)}: {int(column.sum()):,}" for name, column in columns.items() if column.any())
    return _tokens(evidence, tokens, f"{plural(int(tokens.sum()), 'number')} in {{rollouts}} above 0 ({named})")


def masked_certain(evidence: Evidence) -> Answer:
    """Masked tokens with a logprob of 0 or more."""
    if not evidence.measures["masked"].any():
        return Unable("no token is masked")
    return _tokens(evidence, _column(evidence, "masked_certain"), "{tokens} masked in {rollouts} with a probability of 1 or more")


def certain_stretch(evidence: Evidence) -> Answer:
    """Long stretches of probability 1 in rollouts that mask nothing."""
    return _tokens(
        evidence,
        _column(evidence, "certain_stretch"),
        f"{{tokens}} in {{rollouts}} without a loss_mask with a logprob of exactly 0, {LONG_STRETCH} or more in a row",
    )


def odd_mask(evidence: Evidence) -> Answer:
    """Masks of other values than 0 and 1."""
    return _tokens(evidence, _column(evidence, "odd_mask"), "{tokens} in {rollouts} with a loss_mask that is neither 0 nor 1")


def _column(evidence: Evidence, name: str) -> NDArray[np.int64]:
    return evidence.measures[name].to_numpy(np.int64)


def _tokens(evidence: Evidence, tokens: NDArray[np.int64], what: str) -> Answer:
    """What was found of so many tokens in each rollout, which `what` calls {tokens}."""
    total = int(tokens.sum())
    return shown_by(evidence, tokens > 0, what.replace("{tokens}", plural(total, "token")), tokens=total)
