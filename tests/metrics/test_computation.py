"""board.metrics.declared.computation: what a declared metric is made of, what it needs, and that the formulas it names exist."""

import pytest

from board.metrics.declared import METRICS
from board.metrics.declared.computation import (
    DERIVED,
    PER_TOKEN,
    Applied,
    Computation,
    OfEvaluation,
    SoFar,
    Statistic,
    needed_fields,
    statistics,
)
from board.metrics.declared.contract import Metric
from board.metrics.expressions import FUNCTIONS
from board.metrics.group_statistics import GROUP_STATISTICS
from board.metrics.token_sums import QUANTITIES

GAP = Applied("difference", ("token_reward/sum", "reward"))

CASES: dict[str, tuple[Computation, tuple[str, ...]]] = {
    "a row's own array": (Statistic("tokens", "entropy", "mean"), ("entropies",)),
    "a quantity": (Statistic("tokens", "clipped", "mean"), ("logprobs", "old_logprobs", "advantages")),
    "a column": (Statistic("rollouts", "reward", "std"), ("reward",)),
    "a column made of others": (Statistic("rollouts", "reward_gap", "mean"), ("reward", "ref_reward")),
    "what tokens add up to": (Statistic("rollouts", "kl_k3/sum", "mean"), ("logprobs", "ref_logprobs")),
    "a function of a rollout's numbers": (Statistic("rollouts", GAP, "mean"), ("token_rewards", "reward")),
    "the rollouts themselves": (Statistic("rollouts", "", "size"), ("step",)),
    "groups themselves": (Statistic("groups", "", "count"), ("group",)),
    "rewards of groups": (Statistic("groups", "reward", "std_mean"), ("reward", "group")),
    "a function of statistics": (
        Applied("explained_share", (Statistic("tokens", "value_error", "variance"), Statistic("tokens", "return", "variance"))),
        ("values", "returns"),
    ),
    "an evaluation": (OfEvaluation(Statistic("rollouts", "reward", "max")), ("reward", "split")),
    "a median": (Statistic("rollouts", "response_length", "median"), ("response_length",)),
    "all steps so far": (SoFar("max", Statistic("rollouts", "reward", "mean")), ("reward",)),
}


@pytest.mark.parametrize(("computation", "fields"), CASES.values(), ids=CASES)
def test_needed_fields_follow_from_what_is_computed(computation: Computation, fields: tuple[str, ...]) -> None:
    """The fields of every quantity and number that enters, each once, in their order."""
    assert needed_fields(computation) == fields


COMPUTED = {key: metric for key, metric in METRICS.items() if metric.computation is not None}


@pytest.mark.parametrize("metric", COMPUTED.values(), ids=COMPUTED)
def test_declared_computation_names_what_there_is(metric: Metric) -> None:
    """Its quantities, functions and statistics over groups are known by these names."""
    assert metric.computation is not None
    applications = [
        one for one in (metric.computation, *(one.of for one in statistics(metric.computation))) if isinstance(one, Applied)
    ]

    assert {one.function for one in applications} <= set(FUNCTIONS)
    for one in statistics(metric.computation):
        assert one.over != "tokens" or one.of in PER_TOKEN
        assert one.over != "groups" or one.name in GROUP_STATISTICS


def test_every_quantity_says_what_it_needs() -> None:
    """What is computed of tokens is what the declarations can name."""
    assert set(QUANTITIES) == set(DERIVED)
