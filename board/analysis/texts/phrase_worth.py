"""The worth of phrases: within groups, among right or wrong responses, by validation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.groups import usual_threshold
from board.analysis.rollouts.rollout_sample import group_codes
from board.analysis.stats.within_groups import Worth, Worths
from board.analysis.texts.phrase_sample import PhraseSample
from board.metrics.formulas import Float64Array
from board.runs.run import Run

Within = Literal["group", "step", "none"]
"""What a rollout is compared with: its group; its step where the run did not sample in groups; nothing where there are no rewards."""

Truth = Literal["valid_reward", "ground_truth", ""]
"""What decides whether a response is right: a validation reward of at least `usual_threshold`, or holding the expected answer."""

_SEED: Final = 15


@dataclass(frozen=True)
class Compared:
    """n rollouts, and whom each is compared with."""

    groups: NDArray[np.int64]
    """(n,): a number from 0 for those compared with each other, -1 for none."""
    rewards: Float64Array
    """(n,): NaN where missing."""
    valid: Float64Array | None
    """(n,): the validation reward, where it is another than the reward."""
    right: NDArray[np.bool_] | None
    """(n,): which responses are right, where that is known."""
    within: Within
    truth: Truth

    def permuted(self) -> Float64Array:
        """The rewards permuted within the groups, with a fixed seed: which phrases would be found by chance alone."""
        order = np.lexsort([np.arange(len(self.groups)), self.groups])
        lot = np.lexsort([np.random.default_rng(_SEED).random(len(self.groups)), self.groups])
        permuted = np.empty(len(self.groups))
        permuted[order] = self.rewards[lot]
        return permuted


def compared(run: Run, sample: PhraseSample) -> Compared:
    """Whom the rollouts of a sample are compared with."""
    frame = sample.frame
    rewards = _numbers(frame, "reward")
    if rewards is None:
        return Compared(np.full(len(frame), -1), np.full(len(frame), np.nan), None, None, "none", "")
    groups = group_codes(frame)
    within: Within = "group" if len(groups) and np.bincount(groups[groups >= 0]).max(initial=0) > 1 else "step"
    if within == "step":
        groups = pd.factorize(frame["step"])[0].astype(np.int64)
    valid = _numbers(frame, "valid_reward")
    if valid is not None and np.array_equal(valid, rewards, equal_nan=True):
        valid = None
    right, truth = _right(run, sample, valid)
    return Compared(groups, rewards, valid, right, within, truth)


def _numbers(frame: pd.DataFrame, name: str) -> Float64Array | None:
    if name not in frame.columns or not pd.api.types.is_numeric_dtype(frame[name].dtype):
        return None
    values = frame[name].to_numpy(np.float64, na_value=np.nan)
    found: Float64Array = np.where(np.isfinite(values), values, np.nan)
    return found if np.isfinite(found).any() else None


def _right(run: Run, sample: PhraseSample, valid: Float64Array | None) -> tuple[NDArray[np.bool_] | None, Truth]:
    """Known only where some are right and some are not."""
    if valid is not None:
        right = valid >= usual_threshold(valid)
        return (right, "valid_reward") if 0 < right.sum() < len(right) else (None, "")
    if "ground_truth" not in run.text_columns:
        return None, ""
    expected = run.texts("ground_truth", sample.keys).to_pylist()
    right = np.array(
        [bool(one) and one.strip().casefold() in text.casefold() for one, text in zip(expected, sample.texts, strict=True)]
    )
    return (right, "ground_truth") if 0 < right.sum() < len(right) else (None, "")


def worths(compared: Compared, holders: Iterable[NDArray[np.int32]]) -> pd.DataFrame:
    """A row for each phrase, whose rollouts in the sample are given: with_it, without, gain, gain_error and compared (groups that have both);
    gain_right, gain_right_error, gain_wrong, gain_wrong_error, valid_gain, valid_gain_error. NaN where not known."""
    rewards = Worths(compared.groups, compared.rewards)
    right, wrong = (_among(compared, among) for among in (True, False))
    valid = Worths(compared.groups, compared.valid) if compared.valid is not None else None
    rows = [_row(rewards, right, wrong, valid, of) for of in holders]
    names = ("with_it", "without", *_pair("gain"), "compared", *_pair("gain_right"), *_pair("gain_wrong"), *_pair("valid_gain"))
    return pd.DataFrame(rows, columns=pd.Index(names), dtype=np.float64)


def _pair(name: str) -> tuple[str, str]:
    return name, f"{name}_error"


def _among(compared: Compared, among: bool) -> Worths | None:
    """Rewards of right responses alone, or of wrong ones."""
    if compared.right is None:
        return None
    return Worths(np.where(compared.right == among, compared.groups, -1), compared.rewards)


def _row(rewards: Worths, right: Worths | None, wrong: Worths | None, valid: Worths | None, of: NDArray[np.int32]) -> list[float]:
    whole = rewards.of(of)
    others = [found for one in (right, wrong, valid) for found in _gain(one.of(of) if one is not None else None)]
    return [whole.with_it, whole.without, whole.gain, whole.error, whole.groups, *others]


def _gain(worth: Worth | None) -> tuple[float, float]:
    return (worth.gain, worth.error) if worth is not None else (np.nan, np.nan)
