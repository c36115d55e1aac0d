"""A run's columns as step metrics need them: numbers per rollout, sums over tokens."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow.compute as pc

from board.analysis.steps.failed_rollouts import FAILED, failed
from board.analysis.steps.step_stats import finite_values
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Pooled, Steps, pool, token_mean
from board.runs.run import Run
from board.schema import CUT_SHORT, LEFT_OUT, TOKEN_METRICS, title

_T = TypeVar("_T")

TOKEN_COLUMNS: Final = frozenset(
    {
        *(f"{name}_{stat}" for name in ("log_ratio", "kl_k2", "kl_k3", "token_reward") for stat in ("mean", "sum", "max")),
        *(f"{title(name)}_mean" for name in TOKEN_METRICS),
    }
)
"""Columns of the frame that the board computed of declared token arrays."""


class StepData:
    """A run's columns as metrics ask for them, each fetched once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.steps = Steps(run.frame["step"].to_numpy(np.int64))
        self._made: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], _T]) -> _T:
        """What `make` makes, made once under that name."""
        if name not in self._made:
            self._made[name] = make()
        made: _T = self._made[name]
        return made

    def column(self, name: str) -> Float64Array:
        """A numeric column of the frame, (rollouts,); NaN where it has no finite number.

        A derived column that no rollout has a number in (all tokens masked) is not in the frame at all: as many NaN.
        """
        if name not in self.run.frame.columns:
            return np.full(len(self.run.frame), np.nan)
        return self.once(f"column {name}", lambda: finite_values(self.run.frame, name))

    def number(self, name: str) -> Float64Array:
        """A number of each rollout as metrics are declared of it, (rollouts,): a column, or what a quantity adds up to ("logprob/sum").

        What the frame holds of the latter is taken from there: the recorder keeps it where it leaves the arrays out.
        """
        if name == "truncated":
            return self.cut_short
        if name == FAILED:
            return self.once(name, lambda: failed(self.run).astype(np.float64))
        quantity, _, stat = name.partition("/")
        if not stat:
            return self.column(name)
        column = f"{quantity}_{stat}"
        return self.column(column) if column in TOKEN_COLUMNS else self.moment(quantity, stat)

    def moment(self, quantity: str, stat: str) -> Float64Array:
        """What the tokens of each rollout add up to, (rollouts,)."""
        name = f"{quantity}/{stat}"
        return self.once(f"moment {name}", lambda: self.run.moments([name])[name].to_numpy(np.float64))

    def token_mean(self, quantity: str) -> Float64Array:
        """Mean over all counted tokens of each step, (steps,). Of rollouts whose arrays the recorder left out it takes the recorded means."""
        means, counts = self.token_means(quantity)
        return token_mean(self.steps, counts, means)

    def token_means(self, quantity: str) -> tuple[Float64Array, Float64Array]:
        """Mean over the counted tokens of each rollout, and how many these are; each (rollouts,)."""
        counts, means = self.moment(quantity, "count"), self.moment(quantity, "mean")
        recorded = f"{quantity}_mean"
        if LEFT_OUT in self.run.frame and recorded in self.run.frame:
            left_out = self.column(LEFT_OUT) == 1
            means = np.where(left_out, self.column(recorded), means)
            counts = np.where(left_out, self.column("response_length"), counts)
        return means, counts

    def pooled(self, quantity: str) -> Pooled:
        """All counted tokens of each step taken together; those of rollouts whose arrays the recorder left out are not among them."""
        columns = (self.moment(quantity, stat) for stat in ("count", "mean", "m2", "m3"))
        return self.once(f"pooled {quantity}", lambda: pool(self.steps, *columns))

    @cached_property
    def cut_short(self) -> Float64Array:
        """1 for a rollout that ended at the limit, 0 for one that did not, NaN where the row has nothing of that; (rollouts,)."""
        if "truncated" in self.run.frame:
            return self.column("truncated")
        reasons = self.run.texts("finish_reason", self.run.frame.index.to_numpy())
        cut: Float64Array = pc.equal(reasons, CUT_SHORT).cast("float64").to_numpy()
        return cut
