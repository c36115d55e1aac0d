"""board.metrics.declared.computation: what a declared metric is made of, what it needs, and that the formulas it names exist."""

import pytest

from board.metrics.declared import METRICS, Metric
from board.metrics.declared.computation import (
    Applied,
    Computation,
    OfEvaluation,
    SoFar,
    Statistic,
    needed_fields,
    statistics,
    streamable,
)
from board.metrics.declared.quantities import DERIVED, PER_TOKEN
from board.metrics.expressions import FUNCTIONS
from board.metrics.group_statistics import GROUP_STATISTICS
from board.metrics.token_sums import QUANTITIES

GAP = Applied("difference", ("token_reward/sum", "reward"))

CASES: dict[str, tuple[Computation, tuple[str, ...], bool]] = {
    "a row's own array": (Statistic("tokens", "entropy", "mean"), ("entropies",), True),
    "a quantity": (Statistic("tokens", "clipped", "mean"), ("logprobs", "old_logprobs", "advantages"), True),
    "a column": (Statistic("rollouts", "reward", "std"), ("reward",), True),
    "a column made of others": (Statistic("rollouts", "reward_gap", "mean"), ("reward", "ref_reward"), True),
    "what tokens add up to": (Statistic("rollouts", "kl_k3/sum", "mean"), ("logprobs", "ref_logprobs"), True),
    "a function of a rollout's numbers": (Statistic("rollouts", GAP, "mean"), ("token_rewards", "reward"), True),
    "the rollouts themselves": (Statistic("rollouts", "", "size"), ("step",), True),
    "groups themselves": (Statistic("groups", "", "count"), ("group",), True),
    "rewards of groups": (Statistic("groups", "reward", "std_mean"), ("reward", "group"), True),
    "a function of statistics": (
        Applied("explained_share", (Statistic("tokens", "value_error", "variance"), Statistic("tokens", "return", "variance"))),
        ("values", "returns"),
        True,
    ),
    "an evaluation": (OfEvaluation(Statistic("rollouts", "reward", "max")), ("reward", "split"), True),
    "a median": (Statistic("rollouts", "response_length", "median"), ("response_length",), False),
    "all steps so far": (SoFar("max", Statistic("rollouts", "reward", "mean")), ("reward",), False),
}


@pytest.mark.parametrize(("computation", "fields", "_"), CASES.values(), ids=CASES)
def test_needed_fields_follow_from_what_is_computed(computation: Computation, fields: tuple[str, ...], _: bool) -> None:
    """The fields of every quantity and number that enters, each once, in their order."""
    assert needed_fields(computation) == fields


@pytest.mark.parametrize(("computation", "_", "streams"), CASES.values(), ids=CASES)
def test_what_can_be_streamed(computation: Computation, _: tuple[str, ...], streams: bool) -> None:
    """A median needs all values of the step at once, and a number of all steps so far needs the others."""
    assert streamable(computation) == streams


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
