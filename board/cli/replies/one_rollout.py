"""One rollout whole: its numbers, texts, group and tokens. A run in, a reply out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from board.analysis.rollouts.selection import extreme_tokens, of_step
from board.cli.replies.contract import MemberReply, RolloutReply, TokenReply
from board.cli.replies.rollouts import askable, scalar
from board.errors import ArgumentRefused, FieldMissing
from board.metrics.formulas import token_arrays
from board.runs.cache.rollout import Rollout
from board.runs.run import Run
from board.schema import extreme

Tokens = Literal["none", "all"]


@dataclass(frozen=True)
class RolloutRequest:
    """Which rollout is requested, and what of it."""

    rollout: str = ""
    """As lists and links call it: shard:line; the step's best rewarded unless given."""
    step: int | None = None
    """Its step; needed where `rollout` is not given."""
    tokens: Tokens = "none"
    extremes_of: str = ""
    """A token metric: only its most extreme tokens are listed, the most extreme first."""
    top: int = 20
    """So many of these."""
    longest: int | None = None
    """Characters of a text that are returned; None for all of it."""


def one_rollout(run: Run, name: str, request: RolloutRequest) -> RolloutReply:
    """The rollout. Raises ArgumentRefused where there is none, or no such token metric."""
    run = _with_step(run, request)
    rollout = run.rollout(_key(run, request))
    row = run.frame.loc[[rollout.key]]
    numbers = {column: scalar(row[column].tolist()[0]) for column in askable(run)}
    texts = {column: text for column in run.text_columns if (text := rollout.texts.get(column)) is not None}
    most = request.longest
    return RolloutReply(
        run=name,
        rollout=rollout.source,
        step=rollout.step,
        split=run.split_of(rollout.key),
        numbers={column: value for column, value in numbers.items() if value is not None},
        texts=texts if most is None else {column: text[:most] for column, text in texts.items()},
        cut={} if most is None else {column: len(text) for column, text in texts.items() if len(text) > most},
        group=_group(run, rollout),
        token_count=len(rollout.counts),
        tokens=_tokens(rollout, request),
    )


def _with_step(run: Run, request: RolloutRequest) -> Run:
    """The run with all of the requested step, where it is a sample."""
    step = run.step_of(request.rollout) if request.rollout else request.step
    return run if step is None else run.at_step(step)


def _key(run: Run, request: RolloutRequest) -> int:
    if request.rollout:
        key = run.key_of(request.rollout)
        if key is None or request.step not in (None, run.rollout(key).step):
            at = "" if request.step is None else f" at step {request.step}"
            raise ArgumentRefused(f"There is no rollout {request.rollout!r}{at} in this run.")
        return key
    if request.step is None:
        raise ArgumentRefused("Which rollout? Name it, or a step, whose best rewarded is taken.")
    rows = of_step(run.frame, request.step)
    if rows.empty:
        raise ArgumentRefused(f"There is no step {request.step} in this run.")
    return int(_best_first(rows.index.to_numpy(np.int64), run)[0])


def _best_first(keys: NDArray[np.int64], run: Run) -> NDArray[np.int64]:
    """The rollouts by their reward; in their order where they have none."""
    if "reward" not in run.frame.columns:
        return keys
    rewards = run.frame.loc[keys, "reward"].to_numpy(np.float64, na_value=np.nan)
    return keys[np.argsort(-np.nan_to_num(rewards, nan=-np.inf), kind="stable")]


def _group(run: Run, rollout: Rollout) -> list[MemberReply]:
    if "group" not in run.frame.columns:
        return []
    rows = of_step(run.frame, rollout.step)
    number = rows["group"].loc[rollout.key]
    keys = _best_first(rows.index[rows["group"] == number].to_numpy(np.int64), run)
    rewards = run.frame.loc[keys, "reward"].tolist() if "reward" in run.frame.columns else [None] * len(keys)
    return [MemberReply(source, reward) for source, reward in zip(run.sources(keys), rewards, strict=True)]


def _tokens(rollout: Rollout, request: RolloutRequest) -> list[TokenReply]:
    if request.tokens == "none" and not request.extremes_of:
        return []
    arrays = token_arrays(rollout.arrays)
    tokens = rollout.tokens or [""] * len(rollout.counts)
    positions = _extreme_positions(rollout, tokens, arrays, request) if request.extremes_of else range(len(rollout.counts))
    return [
        TokenReply(
            at,
            tokens[at] if at < len(tokens) else "",
            bool(rollout.counts[at]),
            {metric: float(values[at]) for metric, values in arrays.items()},
        )
        for at in positions
    ]


def _extreme_positions(
    rollout: Rollout, tokens: list[str], arrays: Mapping[str, NDArray[np.floating]], request: RolloutRequest
) -> list[int]:
    by = request.extremes_of
    try:
        found = extreme_tokens(tokens, arrays, by, extreme(by), request.top, rollout.counts)
    except FieldMissing as error:
        raise ArgumentRefused(f"{error} It has {', '.join(arrays) or 'no token metrics'}.") from error
    return [int(at) for at in found["position"]]
