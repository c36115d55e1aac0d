"""The shapes of all replies, and their form as JSON. Data only.

The fields and their sentences are the reference: docs/scripts.py makes the JSON Schema and the tables of docs/scripts.md of them. A change that
takes a field away or gives it another meaning raises VERSION; a new field does not.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Final

VERSION: Final = 1
"""Of the shapes below."""

Scalar = float | int | str | None
"""A cell: null where the rollout or the step has none, or where the number is not finite."""


@dataclass(frozen=True)
class StepSpan:
    """Which steps there are."""

    first: int
    last: int
    count: int


@dataclass(frozen=True)
class RewardCourse:
    """The mean reward by step, in four numbers."""

    first: float
    """Of the first step that has one."""
    last: float
    """Of the last step that has one."""
    highest: float
    highest_step: int


@dataclass(frozen=True)
class SummaryReply:
    """What there is of a run."""

    run: str
    """The path, or the name under the root, as it was given."""
    rollouts: int
    steps: StepSpan | None
    """Null where there is no rollout."""
    splits: dict[str, int]
    """Rollouts of `train`, `evaluation` and `discarded`, where there are any."""
    prompts: int
    """Different prompts."""
    groups: int
    """Groups of rollouts of one prompt in one step; 0 where none was sampled more than once."""
    reward: RewardCourse | None
    """Of training where there is any; null without rewards."""
    reward_by: dict[str, RewardCourse]
    """The same of each of the largest data sources and each part of the reward, by the key of their metric."""
    columns: list[str]
    """What `rollouts` can select, sort by and return of each rollout: numbers and short texts."""
    texts: list[str]
    token_metrics: list[str]
    """Token metrics that `show` can tell, derived ones included."""
    shards: int
    bytes: int
    refused: int
    """Lines and files that could not be read."""
    flagged: int
    """Rows that were read and are odd."""
    left_out: dict[str, str]
    """Files that are not taken for rollouts, and why."""
    warnings: list[str]
    """That no response says anything, or that there is no reward; what the formats say of the numbers, such as that the reward is a sum."""


@dataclass(frozen=True)
class StepReply:
    """One step."""

    step: int
    reward_low: float | None
    """Ends of the 95 % interval of the mean reward, by bootstrap over prompts."""
    reward_high: float | None
    values: dict[str, float | None]
    """By metric's key."""


@dataclass(frozen=True)
class StepsReply:
    """A run's steps."""

    run: str
    metrics: dict[str, str]
    """Key → what it means, in a sentence."""
    steps: list[StepReply]


@dataclass(frozen=True)
class RolloutRow:
    """One rollout of a list."""

    rollout: str
    """What `show` and links call it: shard:line."""
    step: int
    values: dict[str, Scalar]
    """By the requested columns."""


@dataclass(frozen=True)
class RolloutsReply:
    """Rollouts of a run."""

    run: str
    matching: int
    """How many satisfy the condition; `rollouts` are the first of them in the requested order."""
    rollouts: list[RolloutRow]


@dataclass(frozen=True)
class MemberReply:
    """One rollout of a group."""

    rollout: str
    reward: float | None


@dataclass(frozen=True)
class TokenReply:
    """One token of a response."""

    position: int
    """From 0."""
    token: str
    counts: bool
    """False for padding and masked tokens, which enter no mean."""
    values: dict[str, float | None]
    """By token metric."""


@dataclass(frozen=True)
class RolloutReply:
    """One rollout, whole."""

    run: str
    rollout: str
    step: int
    split: str
    numbers: dict[str, Scalar]
    texts: dict[str, str]
    cut: dict[str, int]
    """Texts that are not whole here, and how many characters they have; empty unless cuts were requested."""
    group: list[MemberReply]
    """The rollouts of its group, the best first, this one included; empty where it is of none."""
    token_count: int
    """Tokens of the response; 0 where the row has none."""
    tokens: list[TokenReply]
    """The requested ones: none, all, or the most extreme by a metric, in that order."""


@dataclass(frozen=True)
class MetricReply:
    """One metric over the steps."""

    key: str
    meaning: str
    unit: str
    formula: str
    steps: int
    """How many have it."""
    first: float
    last: float
    lowest: float
    lowest_step: int
    highest: float
    highest_step: int
    curve: list[tuple[int, float]]
    """(step, value), rising; empty unless requested."""


@dataclass(frozen=True)
class LoggedScalarReply:
    """One number that a tracker holds, over the steps; null where it is NaN or infinite."""

    name: str
    """As the trainer logged it."""
    key: str
    """Of the metric it stands for; the name itself where none is known."""
    tracker: str
    source: str
    """The file or folder it is read from, by its name."""
    meaning: str
    steps: int
    """How many have it."""
    first: float
    last: float
    lowest: float
    """Of the finite values, as the three that follow."""
    lowest_step: int | None
    highest: float
    highest_step: int | None
    curve: list[tuple[int, float]]
    """(step, value), rising; empty unless requested."""


@dataclass(frozen=True)
class LoggedReply:
    """What trackers hold of a run in addition to its rollouts."""

    scalars: list[LoggedScalarReply]
    texts: dict[str, str]
    """By name, the last of each."""
    not_shown: list[str]
    """Names of tables, pictures, histograms and the like."""
    problems: list[str]
    """Why a source could not be read, a sentence each."""


@dataclass(frozen=True)
class MetricsReply:
    """What of a run can be drawn over its steps."""

    run: str
    metrics: list[MetricReply]
    """Those that the rollouts give."""
    logged: LoggedReply | None = None
    """Null where no tracker left anything in or next to the run."""


@dataclass(frozen=True)
class ListedRunReply:
    """A run under a root."""

    run: str
    """What other questions call it."""
    shards: int
    bytes: int
    written: str
    """When a shard was written last, ISO 8601 in UTC; empty without shards, or outside of the years 1 to 9999."""


@dataclass(frozen=True)
class RunsReply:
    """The runs under a root."""

    runs: list[ListedRunReply]
    more: int
    """Runs that are not listed."""
    links_out: list[str]
    """A sentence for each link to a folder outside the root, with the way to open it, and for each folder that may not be read."""


@dataclass(frozen=True)
class QueryReply:
    """What an SQL query gave."""

    columns: list[str]
    rows: list[list[Scalar]]
    cut: bool
    """Whether there were more rows than are listed."""


REPLIES: Final = (SummaryReply, StepsReply, RolloutsReply, RolloutReply, MetricsReply, RunsReply, QueryReply)
"""The replies to a request of their own."""

Reply = SummaryReply | StepsReply | RolloutsReply | RolloutReply | MetricsReply | RunsReply | QueryReply


def document(reply: Reply) -> dict[str, Any]:
    """The reply as JSON has it: `version`, then its fields; numbers that are not finite are null."""
    return {"version": VERSION, **plain(dataclasses.asdict(reply))}


def plain(value: Any) -> Any:
    """A value with null for numbers that are not finite, at every depth: JSON does not have them."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
