"""A run with the command line's verbs as methods, for Python: `board.open_run(folder).summary()`.

What answers is imported when it is called: opening a run stays quick.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from board.runs import opening
from board.runs.run import Run
from board.text.path_names import shown

if TYPE_CHECKING:
    from board.cli.replies.contract import MetricsReply, QueryReply, RolloutReply, RolloutsReply, StepsReply, SummaryReply
    from board.findings.contract import FindingsReport


@dataclass(frozen=True, repr=False)
class QueryableRun(Run):
    """A run as loaded, with the verbs of the command line; `docs/scripts.md` has what each replies."""

    def summary(self) -> "SummaryReply":
        """What there is of the run."""
        from board.cli.replies import summary

        return summary.summary(self, self._called)

    def step_rows(self, metrics: Sequence[str] = ()) -> "StepsReply":
        """The steps with these metrics by key, the usual ones unless given. Raises ArgumentRefused."""
        from board.cli.replies import steps

        return steps.steps(self, self._called, metrics)

    def rollouts(self, **question: Any) -> "RolloutsReply":
        """Rollouts by `where`, `sort`, `top`, `columns` and `longest`, as `RolloutQuestion` has them. Raises ArgumentRefused."""
        from board.cli.replies import rollouts
        from board.cli.replies.rollouts import RolloutQuestion

        return rollouts.rollouts(self, self._called, RolloutQuestion(**question))

    def show(self, rollout: str = "", **request: Any) -> "RolloutReply":
        """One rollout; `step`, `tokens`, `extremes_of`, `top` and `longest` as `RolloutRequest` has them. Raises ArgumentRefused."""
        from board.cli.replies import one_rollout
        from board.cli.replies.one_rollout import RolloutRequest

        return one_rollout.one_rollout(self, self._called, RolloutRequest(rollout, **request))

    def metrics(self, curves_of: Sequence[str] = ()) -> "MetricsReply":
        """What can be drawn over the steps. Raises ArgumentRefused."""
        from board.cli.replies import metric_rows

        return metric_rows.metrics(self, self._called, curves_of)

    def query(self, sql: str) -> "QueryReply":
        """What one SELECT gives over the table `rollouts`. Raises ArgumentRefused."""
        from board.cli.replies import query

        return query.query(self, sql)

    def findings(self) -> "FindingsReport":
        """What went wrong in training, by the declared thresholds."""
        from board.findings.scan import find_all

        return find_all(self)

    @property
    def _called(self) -> str:
        return shown(self.location)


def open_run(location: Path | str, **options: Any) -> QueryableRun:
    """Read every shard under `location`, as `board.runs.opening.open_run` does with the same options and errors, as a run with these methods."""
    run = opening.open_run(location, **options)
    return QueryableRun(**{one.name: getattr(run, one.name) for one in fields(run)})
