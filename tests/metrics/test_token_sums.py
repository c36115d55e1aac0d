"""board.metrics.token_sums: what a rollout's tokens add up to, against loops over its tokens written from the definitions."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from board.metrics.formulas import CLIP
from board.metrics.token_sums import QUANTITIES, Tokens, moments

NAN = math.nan
FIELDS = (
    *("logprobs", "ref_logprobs", "values", "token_rewards", "returns", "advantages", "rollout_logprobs", "old_logprobs"),
    "response_tokens",
)

Row = dict[str, list[float]]
Number = Callable[[dict[str, float]], float]


def tokens_of(rows: list[Row], counts: list[list[bool]]) -> Tokens:
    """Rows end to end, NaN where one lacks a field that another has."""
    lengths = [len(one) for one in counts]
    fields = list(dict.fromkeys(name for row in rows for name in row))
    flats = {
        name: np.array([one for row, n in zip(rows, lengths, strict=True) for one in row.get(name, [NAN] * n)], np.float32)
        for name in fields
    }
    return Tokens(flats, np.cumsum([0, *lengths]), np.array([one for row in counts for one in row], bool))


def trained(token: dict[str, float]) -> float:
    """The trainer's logprob of the policy that sampled; a row without the policy's own has none."""
    return token.get("old_logprobs", token["logprobs"]) + 0 * token["logprobs"]


def ratio(token: dict[str, float]) -> float:
    """New over old probability."""
    return math.exp(token["logprobs"] - token["old_logprobs"])


PER_TOKEN: dict[str, Number] = {
    "log_ratio": lambda t: t["logprobs"] - t["ref_logprobs"],
    "kl_k2": lambda t: (t["logprobs"] - t["ref_logprobs"]) ** 2 / 2,
    "kl_k3": lambda t: math.exp(t["ref_logprobs"] - t["logprobs"]) - 1 + t["logprobs"] - t["ref_logprobs"],
    "value": lambda t: t["values"],
    "advantage": lambda t: t["advantages"],
    "value_error": lambda t: t["returns"] - t["values"],
    "valued_return": lambda t: t["returns"] + 0 * t["values"],
    "mismatch": lambda t: trained(t) - t["rollout_logprobs"],
    "mismatch_abs": lambda t: abs(trained(t) - t["rollout_logprobs"]),
    "mismatch_error": lambda t: math.exp(abs(trained(t) - t["rollout_logprobs"])),
    "mismatch_k3": lambda t: math.exp(trained(t) - t["rollout_logprobs"]) - (trained(t) - t["rollout_logprobs"]) - 1,
    "mismatch_weight": lambda t: math.exp(trained(t) - t["rollout_logprobs"]),
    "trained_prob": lambda t: math.exp(trained(t)) + 0 * t["rollout_logprobs"],
    "sampled_prob": lambda t: math.exp(t["rollout_logprobs"]) + 0 * trained(t),
    "prob_sum": lambda t: math.exp(trained(t)) + math.exp(t["rollout_logprobs"]),
    "prob_gap": lambda t: abs(math.exp(trained(t)) - math.exp(t["rollout_logprobs"])),
    "trained_logprob": lambda t: trained(t),
    "credited_logprob": lambda t: t["logprobs"] + 0 * t["advantages"],
    "credited_advantage": lambda t: t["advantages"] + 0 * t["logprobs"],
    "logprob_advantage": lambda t: t["logprobs"] * t["advantages"],
    "end_token": lambda t: t["response_tokens"],
    "update": lambda t: t["logprobs"] - t["old_logprobs"],
    "clipped": lambda t: float(min(max(ratio(t), 1 - CLIP), 1 + CLIP) * t["advantages"] < ratio(t) * t["advantages"]),
    "update_ratio": lambda t: math.exp(t["logprobs"] - t["old_logprobs"]),
    "update_k2": lambda t: (t["logprobs"] - t["old_logprobs"]) ** 2 / 2,
    "clip_low": lambda t: float(t["logprobs"] - t["old_logprobs"] < math.log(1 - CLIP)),
    "clip_high": lambda t: float(t["logprobs"] - t["old_logprobs"] > math.log(1 + CLIP)),
}
"""What each quantity is, from one token's numbers; one that is about two of them needs both."""

IN_ORDER = ("td_error", "value_error_mc", "valued_return_mc")
"""Quantities of a token that depend on those after it: they are tested by hand below."""


def test_every_quantity_is_tested() -> None:
    """A new quantity must be written down here too."""
    assert set(QUANTITIES) <= {*PER_TOKEN, *IN_ORDER}


def number() -> st.SearchStrategy[float]:
    """A number as float32 keeps it."""
    return st.floats(-4, 4, width=32)


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[Row], list[list[bool]]]:
    """A few rows of a few tokens, some masked, some without a field."""
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    counts = [draw(st.lists(st.booleans(), min_size=n, max_size=n)) for n in lengths]
    rows = []
    for n in lengths:
        fields = [name for name in FIELDS if draw(st.integers(0, 4))]
        rows.append({name: draw(st.lists(number(), min_size=n, max_size=n)) for name in fields})
    return rows, counts


def expected(name: str, row: Row, counts: list[bool]) -> list[float]:
    """The quantity at every counted token of a row; empty when the row lacks what it needs."""
    found = []
    for at, counted in enumerate(counts):
        here = {field: row[field][at] for field in row}
        try:
            value = PER_TOKEN[name](here)
        except KeyError:
            return []
        if counted:
            found.append(value)
    return found


@settings(max_examples=100)
@given(batches(), st.sampled_from(sorted(PER_TOKEN)))
def test_moments_are_those_of_a_loop(batch: tuple[list[Row], list[list[bool]]], name: str) -> None:
    """Count, mean, sum, largest, smallest and the sums around the mean are those of the counted tokens, one by one."""
    rows, counts = batch
    found = moments(tokens_of(rows, counts))
    for at, (row, counted) in enumerate(zip(rows, counts, strict=True)):
        values = expected(name, row, counted)
        if f"{name}/count" not in found:
            assert not values
            continue
        assert found[f"{name}/count"][at] == len(values)
        mean = sum(values) / len(values) if values else NAN
        wanted = {
            "mean": mean,
            "sum": sum(values) if values else NAN,
            "max": max(values, default=NAN),
            "min": min(values, default=NAN),
            "m2": sum((one - mean) ** 2 for one in values) if values else NAN,
            "m3": sum((one - mean) ** 3 for one in values) if values else NAN,
        }
        for stat, value in wanted.items():
            if f"{name}/{stat}" in found:
                assert found[f"{name}/{stat}"][at] == pytest.approx(value, rel=1e-5, abs=1e-5, nan_ok=True), stat


def column(name: str, rows: list[Row], counts: list[list[bool]]) -> list[float]:
    """One column of the moments of these rows."""
    return [float(one) for one in moments(tokens_of(rows, counts))[name]]


def test_td_error_skips_masked_tokens_and_ends_with_nothing() -> None:
    """|r + v' - v| with v' the value at the next counted token of the same rollout, 0 after the last."""
    rows: list[Row] = [
        {"values": [1, 50, 3], "token_rewards": [0.5, 9, 2]},
        {"values": [10], "token_rewards": [4]},
    ]
    found = column("td_error/sum", rows, [[True, False, True], [True]])

    assert found == [abs(0.5 + 3 - 1) + abs(2 + 0 - 3), abs(4 - 10)]


def test_monte_carlo_returns_are_rewards_to_go() -> None:
    """The return of a token is the sum of the counted rewards from it to the end of its own rollout."""
    rows: list[Row] = [{"values": [0, 0, 0], "token_rewards": [1, 7, 4]}, {"values": [1], "token_rewards": [2]}]
    counts = [[True, False, True], [True]]

    assert column("valued_return_mc/sum", rows, counts) == [5 + 4, 2]
    assert column("value_error_mc/sum", rows, counts) == [9, 1]


def test_a_missing_reward_leaves_no_return_before_it() -> None:
    """A return that a missing reward belongs to is unknown; those after it are not."""
    rows: list[Row] = [{"values": [0, 0, 0], "token_rewards": [1, NAN, 4]}]

    assert column("valued_return_mc/count", rows, [[True, True, True]]) == [1]
    assert column("valued_return_mc/sum", rows, [[True, True, True]]) == [4]


def test_tokens_with_one_probability_alone_enter_no_comparison() -> None:
    """Where the inference engine reports nothing, neither side's probability is counted."""
    rows: list[Row] = [{"logprobs": [-1, -2], "rollout_logprobs": [NAN, -2]}]

    for name in ("trained_prob", "sampled_prob", "prob_sum", "prob_gap", "mismatch"):
        assert column(f"{name}/count", rows, [[True, True]]) == [1]


def test_infinities_enter_nothing() -> None:
    """A token the reference thinks impossible has no finite KL: it is left out, and the rest is summed."""
    rows: list[Row] = [{"logprobs": [-1, -1], "ref_logprobs": [-math.inf, -2]}]

    assert column("kl_k3/count", rows, [[True, True]]) == [1]
    assert column("log_ratio/sum", rows, [[True, True]]) == [1]


@pytest.mark.filterwarnings("error")
@given(st.lists(st.lists(st.floats(width=32), min_size=len(FIELDS), max_size=len(FIELDS)), min_size=1, max_size=4))
def test_whatever_the_floats_nothing_warns(numbers: list[list[float]]) -> None:
    """Impossible logprobs, infinities and overflow make missing numbers, and no warning."""
    rows: list[Row] = [
        {name: [one, float(np.float32(one / 3))] for name, one in zip(FIELDS, row, strict=True)} for row in numbers
    ]
    found = moments(tokens_of(rows, [[True, True]] * len(rows)))

    assert all((one == np.floor(one)).all() for name, one in found.items() if name.endswith("/count"))


def test_no_arrays_no_columns() -> None:
    """Rows without token arrays have no moments at all."""
    nothing: NDArray[np.int64] = np.zeros(3, np.int64)

    assert moments(Tokens({}, nothing, np.zeros(0, bool))) == {}
