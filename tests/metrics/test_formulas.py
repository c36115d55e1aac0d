"""board.metrics.formulas: every formula against a slow, obvious reading of its definition, and against values known in closed form."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from board.errors import BoardError
from board.metrics import formulas

ANY_FLOAT = st.floats(width=32) | st.floats()
LOGPROB = st.floats(-50, 0)
KEPT = st.booleans()

pytestmark = pytest.mark.filterwarnings("error")  # no formula may warn, whatever it is given


def slow_kl(d: float, name: str) -> float:
    """The estimators as the paper writes them, one token at a time; overflow is infinity."""
    if math.isnan(d) or name == "k1":
        return d
    try:
        return d * d / 2 if name == "k2" else math.exp(-d) - 1 + d
    except OverflowError:
        return math.inf


@settings(deadline=None)
@given(st.lists(st.tuples(ANY_FLOAT, ANY_FLOAT), max_size=20))
def test_log_ratio_is_the_difference_token_by_token(pairs: list[tuple[float, float]]) -> None:
    """logprob minus ref_logprob; NaN where either is, or where infinities cancel."""
    policy, reference = np.array(pairs, np.float64).reshape(-1, 2).T

    np.testing.assert_array_equal(formulas.log_ratio(policy, reference), [a - b for a, b in pairs])


def test_log_ratio_of_float32_is_computed_in_float64() -> None:
    """Subtraction adds no rounding of its own to what the shard holds."""
    policy, reference = np.array([-1e-4], np.float32), np.array([-12.3], np.float32)

    assert formulas.log_ratio(policy, reference)[0] == float(policy[0]) - float(reference[0])
    assert formulas.log_ratio(policy, reference).dtype == np.float64


@pytest.mark.parametrize("length", [1, 4], ids=["one value", "one too many"])
def test_log_ratio_of_unequal_lengths_is_refused(length: int) -> None:
    """A shorter array is never stretched over the tokens."""
    with pytest.raises(BoardError, match=r"differ in shape: \(3,\) and"):
        formulas.log_ratio(np.zeros(3), np.zeros(length))


@pytest.mark.parametrize("name", list(formulas.ESTIMATORS))
@settings(deadline=None)
@given(ds=st.lists(st.floats(-600, 600), max_size=20))
def test_estimators_agree_with_their_formulas(name: str, ds: list[float]) -> None:
    """k1, k2 and k3 equal the formulas of Schulman (2020) on every token."""
    np.testing.assert_allclose(formulas.kl(np.array(ds), name), [slow_kl(d, name) for d in ds], rtol=1e-12, atol=1e-12)


CLOSED_FORM = {
    "the policies agree": ("k3", 0.0, 0.0),
    "far likelier under the policy": ("k3", 8.0, math.exp(-8) + 7),
    "far likelier under the reference": ("k3", -8.0, math.exp(8) - 9),
    "a small ratio is half its square": ("k3", 1e-6, 0.5e-12),
    "k2": ("k2", -3.0, 4.5),
    "k1 keeps the sign": ("k1", -3.0, -3.0),
    "overflow": ("k3", -1000.0, math.inf),
    "impossible under the policy": ("k3", -math.inf, math.inf),
    "impossible under the reference": ("k3", math.inf, math.inf),
    "k2 of an infinite ratio": ("k2", -math.inf, math.inf),
    "k2 overflows": ("k2", 1e200, math.inf),
    "k1 of an infinite ratio": ("k1", -math.inf, -math.inf),
    "k3 of nothing": ("k3", math.nan, math.nan),
    "k2 of nothing": ("k2", math.nan, math.nan),
    "k1 of nothing": ("k1", math.nan, math.nan),
}


@pytest.mark.parametrize(("name", "d", "expected"), CLOSED_FORM.values(), ids=CLOSED_FORM)
def test_estimators_in_closed_form(name: str, d: float, expected: float) -> None:
    """One token at a time, also where exp overflows and where infinities meet."""
    assert formulas.kl(np.array([d]), name) == pytest.approx([expected], rel=1e-3 if abs(d) < 1e-3 else 1e-12, nan_ok=True)


def test_one_token_eight_nats_likelier_does_not_explode() -> None:
    """k3 of d = 8 is 7.000335, where exp(d) - 1 - d would give 2972."""
    assert formulas.kl(np.array([8.0]))[0] == pytest.approx(7.000335, abs=1e-6)


@pytest.mark.parametrize("name", ["k2", "k3"])
@settings(deadline=None)
@given(d=ANY_FLOAT)
def test_k2_and_k3_are_never_negative(name: str, d: float) -> None:
    """Not even by a rounding error; NaN stays NaN."""
    estimate = formulas.kl(np.array([d]), name)[0]

    assert estimate >= 0 or math.isnan(d)


def test_estimators_use_k3_when_none_is_named() -> None:
    """The default is k3, and every estimator is listed under its own name."""
    d = np.array([0.3, -0.2])

    np.testing.assert_array_equal(formulas.kl(d), formulas.kl(d, "k3"))
    assert [estimator.name for estimator in formulas.ESTIMATORS.values()] == list(formulas.ESTIMATORS) == ["k1", "k2", "k3"]


def test_an_unknown_estimator_is_named_in_the_error() -> None:
    """A choice that does not exist (an old link) is refused with the ones that do."""
    with pytest.raises(BoardError, match="There is no KL estimator 'k4', only k1, k2, k3"):
        formulas.kl(np.zeros(1), "k4")
    with pytest.raises(BoardError, match="k4"):
        formulas.kl_column("k4")


POLICIES = {
    "mild": ([0.7, 0.2, 0.1], [0.5, 0.3, 0.2]),
    "strong": ([0.9, 0.05, 0.05], [0.3, 0.35, 0.35]),
}


@pytest.mark.parametrize(("policy", "reference"), POLICIES.values(), ids=POLICIES)
def test_k1_and_k3_converge_to_the_true_kl(policy: list[float], reference: list[float]) -> None:
    """Over tokens sampled from the policy, k1 and k3 average to KL(policy‖reference); exp(d) - 1 - d does not."""
    pi, ref = np.array(policy), np.array(reference)
    true_kl = float(np.sum(pi * np.log(pi / ref)))
    d = formulas.log_ratio(np.log(pi), np.log(ref))[np.random.default_rng(7).choice(3, size=200_000, p=pi)]

    def standard_errors_off(estimate: NDArray[np.float64]) -> float:
        return abs(float(estimate.mean()) - true_kl) / (float(estimate.std()) / math.sqrt(d.size))

    assert standard_errors_off(formulas.kl(d, "k1")) < 4
    assert standard_errors_off(formulas.kl(d, "k3")) < 4
    assert standard_errors_off(np.exp(d) - 1 - d) > 20


@pytest.mark.parametrize(("policy", "reference"), POLICIES.values(), ids=POLICIES)
def test_expectations_of_the_estimators(policy: list[float], reference: list[float]) -> None:
    """Weighted by the policy, k1 and k3 are the KL exactly, k2 is half the second moment of d."""
    pi, ref = np.array(policy), np.array(reference)
    d = formulas.log_ratio(np.log(pi), np.log(ref))
    k1, k2, k3 = (pi @ formulas.kl(d, name) for name in formulas.ESTIMATORS)
    true_kl = sum(p * math.log(p / q) for p, q in zip(policy, reference, strict=True))

    assert k1 == pytest.approx(true_kl, rel=1e-12)
    assert k3 == pytest.approx(true_kl, rel=1e-12)
    assert k2 == pytest.approx(sum(p * math.log(p / q) ** 2 / 2 for p, q in zip(policy, reference, strict=True)), rel=1e-12)


def test_probability_is_exp_of_the_logprob() -> None:
    """0 nats is certain, minus infinity impossible, NaN unknown, and a positive "logprob" overflows to infinity."""
    logprobs = np.array([0.0, math.log(0.25), -np.inf, np.nan, -2000.0, 1e4])

    assert formulas.exp(logprobs) == pytest.approx([1, 0.25, 0, math.nan, 0, math.inf], nan_ok=True)


@pytest.mark.parametrize(
    ("estimator", "stat", "expected"),
    [("k1", "mean", "log_ratio_mean"), ("k1", "max", "log_ratio_max"), ("k2", "sum", "kl_k2_sum"), ("k3", "mean", "kl_k3_mean")],
)
def test_kl_column_names(estimator: str, stat: formulas.Stat, expected: str) -> None:
    """k1 is the log-ratio and is not kept twice."""
    assert formulas.kl_column(estimator, stat) == expected


SEGMENTS = st.lists(
    st.lists(st.tuples(st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf]), KEPT), max_size=6), max_size=8
)


@settings(deadline=None)
@given(SEGMENTS, st.booleans(), st.integers(0, 3), st.integers(0, 3))
def test_segment_stats_agree_with_a_loop(segments: list[list[tuple[float, bool]]], masked: bool, before: int, after: int) -> None:
    """Each segment on its own: finite kept values only, empty ones NaN; values outside the offsets belong to no segment."""
    flat = [(9e9, True)] * before + [pair for segment in segments for pair in segment] + [(9e9, True)] * after
    values, keep = np.array([value for value, _ in flat]), np.array([kept for _, kept in flat], bool)
    offsets = before + np.cumsum([0, *(len(segment) for segment in segments)])

    stats = formulas.segment_stats(values, offsets, keep if masked else None)

    entering = [[value for value, kept in segment if math.isfinite(value) and (kept or not masked)] for segment in segments]
    assert stats.count.tolist() == [len(values) for values in entering]
    np.testing.assert_allclose(stats.sum, [math.fsum(values) if values else math.nan for values in entering], atol=1e-8)
    np.testing.assert_allclose(
        stats.mean, [math.fsum(values) / len(values) if values else math.nan for values in entering], atol=1e-8
    )
    np.testing.assert_array_equal(stats.max, [max(values, default=math.nan) for values in entering])


EMPTY_SEGMENTS = {
    "none at all": ([], [0], []),
    "only empty ones": ([], [0, 0, 0], [0, 0]),
    "first": ([1.0, 3.0], [0, 0, 2], [0, 2]),
    "between": ([1.0, 3.0], [0, 1, 1, 2], [1, 0, 1]),
    "last": ([1.0, 3.0], [0, 2, 2], [2, 0]),
}


@pytest.mark.parametrize(("values", "offsets", "counts"), EMPTY_SEGMENTS.values(), ids=EMPTY_SEGMENTS)
def test_empty_segments_have_no_statistics(values: list[float], offsets: list[int], counts: list[int]) -> None:
    """A response of no tokens gets NaN, never its neighbour's value and never zero."""
    stats = formulas.segment_stats(np.array(values), np.array(offsets))

    assert stats.count.tolist() == counts
    for statistic in (stats.mean, stats.sum, stats.max):
        assert np.isnan(statistic).tolist() == [count == 0 for count in counts]


def test_segment_sums_of_float32_are_added_in_float64() -> None:
    """A long response does not lose its small values to the precision of the shard."""
    values = np.full(100_000, 0.1, np.float32)

    assert formulas.segment_stats(values, np.array([0, values.size])).sum[0] == pytest.approx(
        float(np.float32(0.1)) * values.size, rel=1e-9
    )


def test_segment_sums_beyond_the_largest_float_are_infinite() -> None:
    """Overflow is infinity without a warning; count and max are unharmed."""
    stats = formulas.segment_stats(np.array([1.5e308, 1.5e308]), np.array([0, 2]))

    assert (stats.sum[0], stats.max[0], stats.count[0]) == (math.inf, 1.5e308, 2)


def test_token_arrays_come_in_the_order_of_the_screen() -> None:
    """Derived metrics among the native ones, unknown ones last, loss_mask left out."""
    fields = ["foo", "entropies", "loss_mask", "ref_logprobs", "logprobs", "advantages", "token_rewards", "values"]

    listed = formulas.token_arrays({name: np.zeros(2, np.float32) for name in fields})

    first = ["token_reward", "log_ratio", "kl", "value", "logprob", "ref_logprob", "prob", "ref_prob"]
    assert list(listed) == [*first, "advantage", "entropy", "foo"]


def test_mismatch_is_of_the_policy_that_sampled() -> None:
    """Logprobs before the update are held against the engine's where the row has them; a token without them has its own."""
    row = {
        "logprobs": np.array([-1.0, -1.0]),
        "rollout_logprobs": np.array([-2.0, -2.0]),
        "old_logprobs": np.array([-1.5, np.nan]),
    }

    assert formulas.token_arrays(row)["mismatch"].tolist() == [0.5, 1.0]
    assert "mismatch" not in formulas.token_arrays({"logprobs": np.array([-1.0])})


def test_token_arrays_are_computed_from_the_row() -> None:
    """log_ratio, kl by the chosen estimator, prob and ref_prob hold their formulas; NaN stays in its token."""
    row = {"logprobs": np.array([-1.0, np.nan]), "ref_logprobs": np.array([-2.0, -1.0])}

    listed = formulas.token_arrays(row, "k2")

    assert listed["log_ratio"] == pytest.approx([1, math.nan], nan_ok=True)
    assert listed["kl"] == pytest.approx([0.5, math.nan], nan_ok=True)
    assert listed["prob"] == pytest.approx([math.exp(-1), math.nan], nan_ok=True)
    assert listed["ref_prob"] == pytest.approx([math.exp(-2), math.exp(-1)])


PRESENT = {
    "nothing": ([], []),
    "only the policy": (["logprobs"], ["logprob", "prob"]),
    "only the reference": (["ref_logprobs"], ["ref_logprob", "ref_prob"]),
    "no logprobs": (["values", "token_rewards"], ["token_reward", "value"]),
    "a trainer's own kl alone": (["kl"], ["kl"]),
    "a trainer's own kl beside ours": (
        ["kl", "logprobs", "ref_logprobs"],
        ["log_ratio", "kl", "logprob", "ref_logprob", "prob", "ref_prob", "kl (logged)"],
    ),
    "a field named as a native title": (["logprob", "logprobs"], ["logprob", "prob", "logprob (logged)"]),
}


@pytest.mark.parametrize(("fields", "expected"), PRESENT.values(), ids=PRESENT)
def test_only_what_can_be_computed_is_listed(fields: list[str], expected: list[str]) -> None:
    """A metric that lacks a field is absent, never zero; what the trainer logged is never hidden by a name."""
    assert list(formulas.token_arrays({name: np.zeros(1) for name in fields})) == expected


def test_nothing_given_is_changed() -> None:
    """Formulas work on read-only arrays and give back arrays that do not share their memory."""
    d = np.array([1.0, -np.inf, np.nan])
    d.flags.writeable = False
    calls: list[Any] = [
        formulas.log_ratio(d, d),
        formulas.exp(d),
        *(formulas.kl(d, name) for name in formulas.ESTIMATORS),
    ]
    formulas.segment_stats(d, np.array([0, 3]))
    formulas.token_arrays({"logprobs": d, "ref_logprobs": d})

    assert not any(np.shares_memory(d, result) for result in calls)
    np.testing.assert_array_equal(d, [1.0, -np.inf, np.nan])


def slow_concentration(values: list[float]) -> tuple[float, float, float, int]:
    """Shares of the top 1 % and top 5, Gini as the mean difference of all pairs over twice the mean, and tokens for half."""
    ordered = sorted((abs(value) for value in values), reverse=True)
    total, n = math.fsum(ordered), len(ordered)
    gini = math.fsum(abs(a - b) for a in ordered for b in ordered) / (2 * n * total)
    half = next(k for k in range(1, n + 1) if math.fsum(ordered[:k]) >= total * (0.5 - 1e-9))
    return math.fsum(ordered[: max(1, n // 100)]) / total, math.fsum(ordered[:5]) / total, gini, half


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-1000, 1000) | st.sampled_from([math.nan, math.inf, -math.inf]), KEPT), max_size=150))
def test_concentration_agrees_with_a_loop(pairs: list[tuple[float, bool]]) -> None:
    """Shares, Gini and the tokens for half, over magnitudes of finite kept values; nothing to spread is None."""
    values, keep = np.array([value for value, _ in pairs], float), np.array([kept for _, kept in pairs], bool)
    entering = [value for value, kept in pairs if kept and math.isfinite(value)]

    found = formulas.concentration(values, keep)

    if not any(entering):
        assert found is None
        return
    assert found is not None
    shown = (found.top_percent_share, found.top_five_share, found.gini, found.half)
    assert shown == pytest.approx(slow_concentration(entering), rel=1e-9, abs=1e-9)
    assert (found.count, found.top_five) == (len(entering), min(5, len(entering)))


CONCENTRATIONS = {
    "one holds everything": ([0.0] * 99 + [-7.0], (1, 1, 1, 0.99, 1)),
    "all hold the same": ([2.0] * 100, (1, 0.01, 0.05, 0, 50)),
    "a line from 1 to 100": (list(range(1, 101)), (1, 100 / 5050, 490 / 5050, 0.33, 30)),
    "300 tokens": ([1.0] * 297 + [99.0] * 3, (3, 0.5, (297 + 2) / 594, 0.49, 3)),
    "one token": ([3.0], (1, 1, 1, 0, 1)),
    "sums beyond the largest float": ([1.5e308, -1.5e308], (1, 0.5, 1, 0, 1)),
    "beside the smallest": ([5e-324, 1.0], (1, 1, 1, 0.5, 1)),
}


@pytest.mark.parametrize(("values", "expected"), CONCENTRATIONS.values(), ids=CONCENTRATIONS)
def test_concentration_in_closed_form(values: list[float], expected: tuple[float, ...]) -> None:
    """The size of the top 1 %, its share, the share of the top 5, Gini and the tokens for half, known by hand."""
    found = formulas.concentration(np.array(values))

    assert found is not None
    shown = (found.top_percent, found.top_percent_share, found.top_five_share, found.gini, found.half)
    assert shown == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [math.nan, math.inf]], ids=["no tokens", "no KL", "no numbers"])
def test_concentration_of_nothing_is_none(values: list[float]) -> None:
    """Where nothing is spread, no share is invented."""
    assert formulas.concentration(np.array(values)) is None


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, -2.0, math.nan, math.inf]), min_size=1, max_size=300), st.integers(0, 3))
def test_the_largest_tokens_are_those_whose_share_is_told(values: list[float], masked: int) -> None:
    """The tokens marked in the text hold exactly the shares that `concentration` prints, and a masked one is never among them."""
    array = np.array(values)
    keep = np.arange(len(values)) % 4 != masked
    told = formulas.concentration(array, keep)
    if told is None:
        return
    total = np.abs(array[np.isfinite(array) & keep]).sum()
    for count, share in ((told.top_five, told.top_five_share), (told.top_percent, told.top_percent_share)):
        marked = formulas.largest(array, count, keep)
        assert len(set(marked.tolist())) == min(count, np.count_nonzero(array[np.isfinite(array) & keep]))
        assert keep[marked].all()
        assert np.abs(array[marked]).sum() / total == pytest.approx(share)


def test_token_ids_are_whole_numbers_and_no_metric() -> None:
    """What is no id counts as missing; a row without ids has none; ids are never listed among the metrics."""
    ids = np.array([5, 0, 151_643, np.nan, 1.5, -2, 2**24, np.inf], np.float32)
    found = formulas.token_ids({"response_token_ids": ids})
    assert found is not None
    assert found.tolist() == [5, 0, 151_643, -1, -1, -1, -1, -1]
    assert formulas.token_ids({"logprobs": ids}) is None
    assert list(formulas.token_arrays({"response_token_ids": ids, "mine": ids})) == ["mine"]
