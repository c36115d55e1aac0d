"""The steps a reader should look at first, from per-step aggregates alone. Frame in, a few named steps out; draws nothing."""

from dataclasses import dataclass

import pandas as pd

from board.numbers import fmt


@dataclass(frozen=True)
class Landmark:
    """A step that stands out, and why in a few words."""

    step: int
    text: str


def largest_fall(stats: pd.DataFrame, what: str) -> Landmark | None:
    """The step whose mean fell most against the step before; None when no step fell. `stats` is per_step's frame."""
    known = stats["mean"].dropna()
    change = known.diff()
    if not (change < 0).any():
        return None
    step = _step(change.index, change.argmin())
    return Landmark(step, f"{what} falls most: −{fmt(abs(float(change.min())))} at step {step}")


def highest(stats: pd.DataFrame, what: str) -> Landmark | None:
    """The step with the highest mean; None when no step has one or all are equal. `stats` is per_step's frame."""
    known = stats["mean"].dropna()
    if known.empty or known.min() == known.max():
        return None
    step = _step(known.index, known.argmax())
    return Landmark(step, f"{what} is highest: {fmt(float(known.max()))} at step {step}")


def parting(proxy: pd.DataFrame, gold: pd.DataFrame) -> Landmark | None:
    """Where the validation reward peaked, when it then fell while the reward rose: the sign of a reward that is being exploited.

    None unless, from that step to the last, the reward's mean rose and the validation reward's fell by more than the spread (std over
    steps of the differences between neighbours) of either. Both are per_step's frames.
    """
    means = pd.DataFrame({"proxy": proxy["mean"], "gold": gold["mean"]}).dropna()
    if len(means) < 3:
        return None
    step = _step(means.index, means["gold"].argmax())
    change = means.iloc[-1] - means.loc[step]
    noise = means.diff().std()
    if not (change["proxy"] > noise["proxy"] and -change["gold"] > noise["gold"]):
        return None
    text = f"validation reward peaks at step {step}, then falls by {fmt(float(-change['gold']))} while the reward rises by {fmt(float(change['proxy']))}"
    return Landmark(step, text)


def _step(steps: pd.Index, at: int) -> int:
    return int(steps.to_numpy()[at])


def landmarks(stats: dict[str, pd.DataFrame], kl: str) -> list[Landmark]:
    """What stands out in a run, most telling first. `stats` maps columns to per_step's frames; `kl` is the KL column in use."""
    found: list[Landmark | None] = []
    if "reward" in stats and "valid_reward" in stats:
        found.append(parting(stats["reward"], stats["valid_reward"]))
    if "reward" in stats:
        found.append(largest_fall(stats["reward"], "reward"))
    if kl in stats:
        found.append(highest(stats[kl], "KL"))
    if "response_length" in stats:
        found.append(highest(stats["response_length"], "length"))
    return [landmark for landmark in found if landmark is not None]
