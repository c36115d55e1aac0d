"""Phrases of responses that earn more than their group, and phrases of late steps.

n-grams of a sample of rollouts, scored by weighted log-odds; each once in its longest form, with its course and with what it earns:
within groups, among right or wrong responses, and by validation.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.groups import usual_threshold
from board.analysis.rollouts.selection import numbers
from board.analysis.stats.log_odds import Z_LIMIT, LogOdds, against_shared_prior, of_pairs
from board.analysis.stats.within_groups import Worth, Worths, discordant, sides, stretches
from board.analysis.texts import phrase_forms
from board.analysis.texts.ngrams import Grams, frequent
from board.analysis.texts.phrase_sample import PhraseSample, group_codes, phrase_sample
from board.metrics.formulas import Float64Array
from board.runs.cache import run_tables
from board.runs.run import Run
from board.text.text_units import cut

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
    rewards = numbers(frame, "reward")
    if not np.isfinite(rewards).any():
        return Compared(np.full(len(frame), -1), np.full(len(frame), np.nan), None, None, "none", "")
    groups = group_codes(frame)
    within: Within = "group" if len(groups) and np.bincount(groups[groups >= 0]).max(initial=0) > 1 else "step"
    if within == "step":
        groups = pd.factorize(frame["step"])[0].astype(np.int64)
    logged = numbers(frame, "valid_reward")
    valid = logged if np.isfinite(logged).any() and not np.array_equal(logged, rewards, equal_nan=True) else None
    right, truth = _right(run, sample, valid)
    return Compared(groups, rewards, valid, right, within, truth)


def _right(run: Run, sample: PhraseSample, valid: Float64Array | None) -> tuple[NDArray[np.bool_] | None, Truth]:
    """Known only where some are right and some are not."""
    if valid is not None:
        right = valid >= usual_threshold(valid)
        return (right, "valid_reward") if 0 < right.sum() < len(right) else (None, "")
    if "ground_truth" not in run.text_columns:
        return None, ""
    right = np.zeros(len(sample.texts), np.bool_)
    for at, (expected, text) in enumerate(zip(run.texts("ground_truth", sample.keys).to_pylist(), sample.texts, strict=True)):
        answer = (expected or "").strip()
        right[at] = bool(expected) and (answer in text or answer.casefold() in text.casefold())
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


LEAST: Final = 20
"""A phrase stands in at least so many rollouts of the sample."""

MOST_LISTED: Final = 100
"""At most this many n-grams are listed of those that pay, of those that cost, of those that rise and of those that fall."""

MOST_STRETCHES: Final = 120
"""Of more steps, neighbours are taken together in the course of a phrase."""

Progress = Callable[[float], None]
"""Called now and then with the share that is done."""


@dataclass(frozen=True)
class Phrases:
    """k phrases of a run."""

    listed: pd.DataFrame
    """(k,) rows: phrase (its text) and times (how often at least), rollouts and share (of the sample), reward_z and reward_delta (z and
    log-odds of high against low reward within groups), time_z and time_delta (of late against early), forms (how many others it stands
    for), key (of a rollout that holds it), and the columns of `worths`. NaN where not known."""
    shares: NDArray[np.float32]
    """(k, s): the share of a stretch's rollouts that hold it."""
    firsts: NDArray[np.int64]
    """(s,): the first step of each stretch of steps."""
    lasts: NDArray[np.int64]
    """(s,): the last."""
    keys: NDArray[np.int64]
    """(n,): the rollouts of the sample."""
    of: int
    """How many they were chosen from."""
    cut: int
    """Of how many of them the middle was left out."""
    held: NDArray[np.uint8]
    """(k, ⌈n / 8⌉): which rollouts of the sample hold each, a bit each."""
    tested: int
    """n-grams that were compared."""
    by_chance: int
    """How many of them are beyond the limit when rewards are permuted within groups."""
    chance_z: float
    """The largest z then, and 0 without rewards."""
    within: Within
    truth: Truth

    def keys_of(self, at: int) -> NDArray[np.int64]:
        """The rollouts of the sample that hold the phrase in row `at`."""
        found: NDArray[np.int64] = self.keys[np.unpackbits(self.held[at], count=len(self.keys)).astype(bool)]
        return found


TABLE: Final = "run-phrases"


def of_run(run: Run, least: int = LEAST, progress: Progress = lambda _: None) -> Phrases:
    """`find` in the run; the result for `least` = LEAST is cached, as finding phrases takes seconds where texts are long."""
    if least != LEAST:
        return find(run, least, Z_LIMIT, progress)
    choices = f"{LEAST} {Z_LIMIT} {MOST_STRETCHES}"
    return run_tables.made(run, TABLE, choices, Phrases, lambda: find(run, LEAST, Z_LIMIT, progress))


def find(run: Run, least: int = LEAST, limit: float = Z_LIMIT, progress: Progress = lambda _: None) -> Phrases:
    """The phrases of the rollouts of the run's frame that stand in at least `least` of its sample and are beyond |z| = `limit`.

    A run without responses has none; without rewards, or with one step, there is no z of them (NaN).
    """
    sample = phrase_sample(run)
    progress(0.3)
    units = cut(sample.texts)
    grams = frequent(units, least)
    progress(0.6)
    against = compared(run, sample)
    scored = _scored(grams, sample, against)
    found = phrase_forms.phrases(grams, units, sample.texts, _outstanding(scored, limit))
    progress(0.8)
    at = np.array([phrase.gram for phrase in found], np.int64)
    firsts, lasts, shares = _course(grams, at, sample.frame["step"].to_numpy(np.int64))
    return Phrases(
        listed=_table(found, at, grams, sample, scored).join(worths(against, map(grams.held_by, at.tolist()))),
        shares=shares,
        firsts=firsts,
        lasts=lasts,
        keys=sample.keys,
        of=sample.of,
        cut=sample.cut,
        held=_packed(grams, at, len(sample.texts)),
        tested=len(scored.grams),
        by_chance=int((np.abs(scored.chance) > limit).sum()),
        chance_z=float(scored.chance.max(initial=0.0)),
        within=against.within,
        truth=against.truth,
    )


@dataclass(frozen=True)
class _Scored:
    """The c n-grams that are compared."""

    grams: NDArray[np.int64]
    """(c,) rising: those that are no piece of a longer one, and that not all hold."""
    by_reward: LogOdds
    by_time: LogOdds
    chance: Float64Array
    """(c,): z by permuted rewards; 0 without rewards."""


def _scored(grams: Grams, sample: PhraseSample, against: Compared) -> _Scored:
    which = np.flatnonzero(phrase_forms.whole(grams) & (grams.counts < len(sample.texts)))
    of, rollouts = grams.chosen(which)
    begins = stretches(against.groups, of, rollouts)

    def by(rewards: Float64Array) -> LogOdds:
        found = sides(against.groups, rewards)
        if not found.groups:
            return _unknown(len(which))
        return of_pairs(*discordant(found, begins, of, rollouts, len(which)))

    chance = np.nan_to_num(by(against.permuted()).z)
    return _Scored(which, by(against.rewards), _by_time(of, rollouts, len(which), sample.frame), chance)


def _by_time(of: NDArray[np.int64], rollouts: NDArray[np.int32], number: int, frame: pd.DataFrame) -> LogOdds:
    """The last third of the steps against the first."""
    steps = frame["step"].to_numpy()
    there = np.unique(steps)
    third = -(-len(there) // 3)
    if len(there) < 2:
        return _unknown(number)
    late, early = np.isin(steps, there[len(there) - third :]), np.isin(steps, there[:third])
    counts = [np.bincount(of, side[rollouts], number) for side in (late, early)]
    return against_shared_prior(counts[0], counts[1], (float(late.sum()), float(early.sum())))


def _unknown(number: int) -> LogOdds:
    unknown = np.full(number, np.nan)
    return LogOdds(unknown, unknown)


def _outstanding(scored: _Scored, limit: float) -> NDArray[np.int64]:
    """The n-grams that are listed, those that stand out most first."""
    zs = [np.nan_to_num(by.z) for by in (scored.by_reward, scored.by_time)]
    found: list[NDArray[np.int64]] = []
    for signed in (zs[0], -zs[0], zs[1], -zs[1]):
        order = np.argsort(-signed, kind="stable")[:MOST_LISTED]
        found.append(order[signed[order] > limit])
    every = np.unique(np.concatenate(found))
    most = np.maximum(np.abs(zs[0][every]), np.abs(zs[1][every]))
    return scored.grams[every[np.argsort(-most, kind="stable")]]


def _table(
    found: list[phrase_forms.Phrase], at: NDArray[np.int64], grams: Grams, sample: PhraseSample, scored: _Scored
) -> pd.DataFrame:
    place = np.searchsorted(scored.grams, at)
    return pd.DataFrame(
        {
            "phrase": pd.Series([phrase.text for phrase in found], dtype=object),
            "times": grams.times[at],
            "rollouts": grams.counts[at],
            "share": grams.counts[at] / max(1, len(sample.texts)),
            "reward_z": scored.by_reward.z[place],
            "reward_delta": scored.by_reward.delta[place],
            "time_z": scored.by_time.z[place],
            "time_delta": scored.by_time.delta[place],
            "forms": np.array([len(phrase.forms) for phrase in found], np.int64),
            "key": sample.keys[np.array([phrase.sample_row for phrase in found], np.int64)],
        }
    )


def _course(
    grams: Grams, at: NDArray[np.int64], steps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """First and last steps of stretches, and the share of each stretch's rollouts that hold each of the n-grams `at`."""
    there, of_step = np.unique(steps, return_inverse=True)
    count = min(len(there), MOST_STRETCHES)
    stretch = np.arange(len(there)) * count // max(1, len(there))
    edges = np.searchsorted(stretch, np.arange(count + 1))
    of = stretch[of_step]
    rollouts = np.maximum(np.bincount(of, minlength=count), 1)
    shares = np.zeros((len(at), count), np.float32)
    for row, gram in enumerate(at.tolist()):
        shares[row] = np.bincount(of[grams.held_by(gram)], minlength=count) / rollouts
    return there[edges[:-1]], there[edges[1:] - 1], shares


def _packed(grams: Grams, at: NDArray[np.int64], texts: int) -> NDArray[np.uint8]:
    packed = np.zeros((len(at), -(-texts // 8)), np.uint8)
    for row, gram in enumerate(at.tolist()):
        holds = np.zeros(texts, bool)
        holds[grams.held_by(gram)] = True
        packed[row] = np.packbits(holds)
    return packed
