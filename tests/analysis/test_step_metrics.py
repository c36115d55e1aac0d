"""board.analysis.steps.step_metrics: every metric that rollouts give, against its definition computed from the rows one by one."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, median, pstdev, pvariance

import numpy as np
import pytest
from metric_rows import Row, rows_of_a_run, write

from board.analysis.steps.step_metrics import computable, per_step_values, sources
from board.metrics.declared import METRICS
from board.runs.run import Run

NAN = math.nan


def tokens(rows: Sequence[Row], of: Callable[[Row, int], float]) -> list[float]:
    """A number of every counted token of all rows."""
    return [of(row, at) for row in rows for at in range(len(row["loss_mask"])) if row["loss_mask"][at]]


def sums(rows: Sequence[Row], of: Callable[[Row, int], float]) -> list[float]:
    """Its sum over the counted tokens of each row."""
    return [sum(tokens([row], of)) for row in rows]


def means(rows: Sequence[Row], of: Callable[[Row, int], float]) -> list[float]:
    """Its mean over the counted tokens of each row."""
    return [fmean(tokens([row], of)) for row in rows]


def test_progress_ends_with_the_last_metric(tmp_path: Path) -> None:
    """Each metric adds the same share, those of evaluations too, up to all of it."""
    shares: list[float] = []
    run = write(tmp_path, rows_of_a_run())

    values = per_step_values(run, computable(run), shares.append)

    assert shares == pytest.approx([(at + 1) / values.shape[1] for at in range(values.shape[1])])


def field(name: str) -> Callable[[Row, int], float]:
    """A token's own number."""
    return lambda row, at: row[name][at]


def change(of: str, minus: str) -> Callable[[Row, int], float]:
    """The difference of two of a token's numbers."""
    return lambda row, at: row[of][at] - row[minus][at]


def applied(function: Callable[[float], float], to: Callable[[Row, int], float]) -> Callable[[Row, int], float]:
    """A function of a token's number."""
    return lambda row, at: function(to(row, at))


D = change("logprobs", "ref_logprobs")
K2, K3 = applied(lambda d: d * d / 2, D), applied(lambda d: math.exp(-d) - 1 + d, D)
MISMATCH = change("old_logprobs", "rollout_logprobs")
WEIGHT = applied(math.exp, MISMATCH)
RATIO = applied(math.exp, change("logprobs", "old_logprobs"))
ERROR = change("returns", "values")


def gap(row: Row, at: int) -> float:
    """How far the trainer's and the engine's probability are apart."""
    return abs(math.exp(row["old_logprobs"][at]) - math.exp(row["rollout_logprobs"][at]))


def clipped(row: Row, at: int) -> bool:
    """Whether PPO's clipped objective differs from the plain one and is the smaller."""
    ratio, advantage = RATIO(row, at), row["advantages"][at]
    return min(max(ratio, 0.8), 1.2) * advantage < ratio * advantage


def to_go(row: Row, at: int) -> float:
    """Sum of the counted rewards from a token on."""
    return sum(reward for reward, mask in zip(row["token_rewards"][at:], row["loss_mask"][at:], strict=True) if mask)


def td(row: Row, at: int) -> float:
    """|r + v' - v|."""
    later = [value for value, mask in zip(row["values"][at + 1 :], row["loss_mask"][at + 1 :], strict=True) if mask]
    return abs(row["token_rewards"][at] + (later[0] if later else 0) - row["values"][at])


def rewards(rows: Sequence[Row]) -> list[float]:
    """Rewards of the rows."""
    return [row["reward"] for row in rows]


def groups(rows: Sequence[Row]) -> list[list[float]]:
    """Rewards of the rows by prompt."""
    return [[row["reward"] for row in rows if row["prompt"] == prompt] for prompt in dict.fromkeys(row["prompt"] for row in rows)]


def share(flags: Sequence[float]) -> float:
    """How many of them hold, 0 to 1."""
    return sum(flags) / len(flags)


def skewness(values: Sequence[float]) -> float:
    """Third standardised moment."""
    return fmean([(one - fmean(values)) ** 3 for one in values]) / pstdev(values) ** 3


def effective(weights: Sequence[float]) -> float:
    """(sum w)^2 / (n sum w^2)."""
    return sum(weights) ** 2 / (len(weights) * sum(w * w for w in weights))


def correlation(rows: Sequence[Row]) -> float:
    """Pearson's, by numpy."""
    pairs = [tokens(rows, applied(math.exp, field(name))) for name in ("old_logprobs", "rollout_logprobs")]
    return float(np.asarray(np.corrcoef(pairs))[0, 1])


def covariance(rows: Sequence[Row]) -> float:
    """Of the population, by numpy."""
    pairs = [tokens(rows, field(name)) for name in ("logprobs", "advantages")]
    return float(np.cov(pairs, ddof=0)[0, 1])


def padded(rows: Sequence[Row]) -> list[float]:
    """k3 at every position of the rows, padded to the longest."""
    found = [[K3(row, at) for at, mask in enumerate(row["loss_mask"]) if mask] for row in rows]
    return [one for values in found for one in values + [0.0] * (max(map(len, found)) - len(values))]


HALFWAY = 1.0
"""Between the smallest reward of a run and the largest: they are 0, 1 and 2."""


def counted(row: Row) -> int:
    """Its length: the tokens that count."""
    return sum(row["loss_mask"])


def length_correlation(rows: Sequence[Row]) -> float:
    """Of length and reward less the group's means, by numpy."""
    pairs = [
        (counted(row) - fmean(map(counted, group)), row["reward"] - fmean(rewards(group)))
        for prompt in {row["prompt"] for row in rows}
        for group in [[row for row in rows if row["prompt"] == prompt]]
        for row in group
    ]
    return float(np.corrcoef(np.array(pairs).T)[0, 1])


def equal_at(rows: Sequence[Row], end: Callable[[list[float]], float]) -> float:
    """Share of groups all of whose rewards are that end of the step's."""
    return share([set(group) == {end(rewards(rows))} for group in groups(rows)])


def over(
    statistic: Callable[[list[float]], float],
    numbers: Callable[[Sequence[Row], Callable[[Row, int], float]], list[float]],
    of: Callable[[Row, int], float],
) -> Callable[[list[Row]], float]:
    """A statistic of a token's number, which `tokens`, `sums` or `means` takes of the rows."""
    return lambda rows: statistic(numbers(rows, of))


DEFINITIONS: dict[str, Callable[[list[Row]], float]] = {
    "reward/mean": lambda rows: fmean(rewards(rows)),
    "reward/mean_without_failed": lambda rows: fmean(row["reward"] for row in rows if row["status"] != "aborted"),
    "reward/std": lambda rows: pstdev(rewards(rows)),
    "reward/max": lambda rows: max(rewards(rows)),
    "reward/min": lambda rows: min(rewards(rows)),
    "reward/sum": lambda rows: sum(rewards(rows)),
    "reward/shaped_mean": lambda rows: fmean(sums(rows, field("token_rewards"))),
    "reward/shaped_max": lambda rows: max(sums(rows, field("token_rewards"))),
    "reward/shaped_min": lambda rows: min(sums(rows, field("token_rewards"))),
    "reward/penalty_mean": lambda rows: fmean(sums(rows, field("token_rewards"))) - fmean(rewards(rows)),
    "reward/reference_mean": lambda rows: fmean(row["ref_reward"] for row in rows),
    "reward/gap_mean": lambda rows: fmean(row["reward"] - row["ref_reward"] for row in rows),
    "reward/win_rate": lambda rows: share([row["reward"] > row["ref_reward"] for row in rows]),
    "reward/validation_mean": lambda rows: fmean(row["valid_reward"] for row in rows),
    "groups/count": lambda rows: len(groups(rows)),
    "groups/size_mean": lambda rows: fmean(map(len, groups(rows))),
    "groups/zero_std_share": lambda rows: share([len(set(group)) == 1 for group in groups(rows)]),
    "groups/all_best_share": lambda rows: equal_at(rows, max),
    "groups/all_worst_share": lambda rows: equal_at(rows, min),
    "groups/std_mean": lambda rows: fmean(map(pstdev, groups(rows))),
    "groups/signal_to_noise": lambda rows: pvariance(list(map(fmean, groups(rows)))) / fmean(map(pvariance, groups(rows))),
    "groups/best_mean": lambda rows: fmean(map(max, groups(rows))),
    **{f"kl/{name}_mean": over(fmean, tokens, of) for name, of in (("k1", D), ("k2", K2), ("k3", K3))},
    **{f"kl/{name}_max": over(max, tokens, of) for name, of in (("k1", D), ("k2", K2), ("k3", K3))},
    **{f"kl/{name}_sum_mean": over(fmean, sums, of) for name, of in (("k1", D), ("k2", K2), ("k3", K3))},
    "kl/k3_padded_mean": lambda rows: fmean(padded(rows)),
    "kl/k3_padded_std": lambda rows: pstdev(padded(rows)),
    **{f"kl/{name}_rollout_mean": over(fmean, means, of) for name, of in (("k1", D), ("k3", K3))},
    **{f"kl/{name}_rollout_std": over(pstdev, means, of) for name, of in (("k1", D), ("k3", K3))},
    **{f"kl/{name}_rollout_max": over(max, means, of) for name, of in (("k1", D), ("k3", K3))},
    "kl/negative_share": lambda rows: share([one < 0 for one in sums(rows, D)]),
    "policy/logprob_mean": lambda rows: fmean(tokens(rows, field("logprobs"))),
    "policy/old_logprob_mean": lambda rows: fmean(tokens(rows, field("old_logprobs"))),
    "policy/ref_logprob_mean": lambda rows: fmean(tokens(rows, field("ref_logprobs"))),
    "policy/surprisal_sum_mean": lambda rows: -fmean(sums(rows, field("logprobs"))),
    "policy/entropy_mean": lambda rows: fmean(tokens(rows, field("entropies"))),
    "policy/entropy_max": lambda rows: max(tokens(rows, field("entropies"))),
    "advantage/mean": lambda rows: fmean(tokens(rows, field("advantages"))),
    "advantage/std": lambda rows: pstdev(tokens(rows, field("advantages"))),
    "advantage/variance": lambda rows: pvariance(tokens(rows, field("advantages"))),
    "advantage/skewness": lambda rows: skewness(tokens(rows, field("advantages"))),
    "advantage/max": lambda rows: max(tokens(rows, field("advantages"))),
    "advantage/min": lambda rows: min(tokens(rows, field("advantages"))),
    "advantage/rollout_mean": lambda rows: fmean(means(rows, field("advantages"))),
    "advantage/rollout_std": lambda rows: pstdev(means(rows, field("advantages"))),
    "advantage/rollout_variance": lambda rows: pvariance(means(rows, field("advantages"))),
    "advantage/rollout_skewness": lambda rows: skewness(means(rows, field("advantages"))),
    "returns/mean": lambda rows: fmean(tokens(rows, field("returns"))),
    "returns/max": lambda rows: max(tokens(rows, field("returns"))),
    "returns/min": lambda rows: min(tokens(rows, field("returns"))),
    "critic/value_mean": lambda rows: fmean(tokens(rows, field("values"))),
    "critic/value_rollout_mean": lambda rows: fmean(means(rows, field("values"))),
    "critic/value_std": lambda rows: pstdev(tokens(rows, field("values"))),
    "critic/value_max": lambda rows: max(tokens(rows, field("values"))),
    "critic/value_min": lambda rows: min(tokens(rows, field("values"))),
    "critic/explained_variance": lambda rows: 1 - pvariance(tokens(rows, ERROR)) / pvariance(tokens(rows, field("returns"))),
    "critic/bias": lambda rows: -fmean(tokens(rows, ERROR)),
    "critic/error": lambda rows: fmean(tokens(rows, applied(lambda e: e * e, ERROR))),
    "critic/td_error": lambda rows: fmean(tokens(rows, td)),
    "critic/explained_variance_mc": lambda rows: (
        1 - pvariance(tokens(rows, lambda row, at: to_go(row, at) - row["values"][at])) / pvariance(tokens(rows, to_go))
    ),
    "critic/bias_mc": lambda rows: fmean(tokens(rows, lambda row, at: row["values"][at] - to_go(row, at))),
    "length/mean": lambda rows: fmean(sums(rows, lambda row, at: 1)),
    "length/std": lambda rows: pstdev(sums(rows, lambda row, at: 1)),
    "length/median": lambda rows: median(sums(rows, lambda row, at: 1)),
    "length/max": lambda rows: max(sums(rows, lambda row, at: 1)),
    "length/min": lambda rows: min(sums(rows, lambda row, at: 1)),
    "length/chars_mean": lambda rows: fmean(len(row["response"]) for row in rows),
    "length/truncated_share": lambda rows: share([row["finish_reason"] == "length" for row in rows]),
    "length/empty_share": lambda rows: 0.0,
    "length/eos_count": lambda rows: sum(tokens(rows, lambda row, at: row["response_tokens"][at] == "<|im_end|>")),
    "length/prompt_mean": lambda rows: fmean(row["prompt_length"] for row in rows),
    "length/prompt_max": lambda rows: max(row["prompt_length"] for row in rows),
    "length/prompt_min": lambda rows: min(row["prompt_length"] for row in rows),
    "mismatch/abs_mean": lambda rows: fmean(tokens(rows, applied(abs, MISMATCH))),
    "mismatch/abs_max": lambda rows: max(tokens(rows, applied(abs, MISMATCH))),
    "mismatch/prob_diff_mean": lambda rows: fmean(tokens(rows, gap)),
    "mismatch/prob_diff_max": lambda rows: max(tokens(rows, gap)),
    "mismatch/prob_diff_std": lambda rows: pstdev(tokens(rows, gap)),
    "mismatch/mult_prob_error": lambda rows: fmean(tokens(rows, applied(lambda d: math.exp(abs(d)), MISMATCH))),
    "mismatch/kl": lambda rows: -fmean(tokens(rows, MISMATCH)),
    "mismatch/k3": lambda rows: fmean(tokens(rows, applied(lambda d: math.exp(d) - d - 1, MISMATCH))),
    "mismatch/ppl_ratio": lambda rows: math.exp(
        fmean(tokens(rows, field("rollout_logprobs"))) - fmean(tokens(rows, field("old_logprobs")))
    ),
    "mismatch/is_mean": lambda rows: fmean(tokens(rows, WEIGHT)),
    "mismatch/is_std": lambda rows: pstdev(tokens(rows, WEIGHT)),
    "mismatch/is_sequence_mean": lambda rows: fmean(map(math.exp, sums(rows, MISMATCH))),
    "mismatch/chi2": lambda rows: fmean(tokens(rows, applied(lambda w: w * w, WEIGHT))) - 1,
    "mismatch/chi2_sequence": lambda rows: fmean(math.exp(2 * one) for one in sums(rows, MISMATCH)) - 1,
    "mismatch/ess": lambda rows: effective(tokens(rows, WEIGHT)),
    "mismatch/ess_sequence": lambda rows: effective(list(map(math.exp, sums(rows, MISMATCH)))),
    "mismatch/correlation": correlation,
    "policy/logprob_advantage_covariance": covariance,
    "length/reward_correlation": length_correlation,
    "length/right_mean": lambda rows: fmean([counted(row) for row in rows if row["reward"] >= HALFWAY]),
    "length/wrong_mean": lambda rows: fmean([counted(row) for row in rows if row["reward"] < HALFWAY]),
    "mismatch/policy_ppl": lambda rows: fmean(math.exp(-one) for one in means(rows, field("old_logprobs"))),
    "mismatch/policy_log_ppl": lambda rows: -fmean(means(rows, field("old_logprobs"))),
    "mismatch/rollout_ppl": lambda rows: fmean(math.exp(-one) for one in means(rows, field("rollout_logprobs"))),
    "mismatch/rollout_log_ppl": lambda rows: -fmean(means(rows, field("rollout_logprobs"))),
    "mismatch/log_ppl_diff_mean": lambda rows: -fmean(means(rows, MISMATCH)),
    "mismatch/log_ppl_diff_abs": lambda rows: fmean(map(abs, means(rows, MISMATCH))),
    "mismatch/log_ppl_diff_max": lambda rows: max(-one for one in means(rows, MISMATCH)),
    "mismatch/log_ppl_diff_min": lambda rows: min(-one for one in means(rows, MISMATCH)),
    "mismatch/ppl_ratio_rollout_mean": lambda rows: fmean(math.exp(-one) for one in means(rows, MISMATCH)),
    "update/ratio_mean": lambda rows: fmean(tokens(rows, RATIO)),
    "update/ratio_max": lambda rows: max(tokens(rows, RATIO)),
    "update/ratio_min": lambda rows: min(tokens(rows, RATIO)),
    "update/ratio_variance": lambda rows: pvariance(tokens(rows, RATIO)),
    "update/clip_low_share": lambda rows: share([ratio < 0.8 for ratio in tokens(rows, RATIO)]),
    "update/clip_high_share": lambda rows: share([ratio > 1.2 for ratio in tokens(rows, RATIO)]),
    "update/clip_share": lambda rows: share([not 0.8 <= ratio <= 1.2 for ratio in tokens(rows, RATIO)]),
    "update/approxkl": lambda rows: fmean(tokens(rows, applied(lambda r: math.log(r) ** 2 / 2, RATIO))),
    "update/policy_kl": lambda rows: -fmean(tokens(rows, applied(math.log, RATIO))),
    "update/log_ratio_mean": lambda rows: fmean(tokens(rows, applied(math.log, RATIO))),
    "update/objective_clip_share": lambda rows: share(tokens(rows, clipped)),
    "counts/rollouts": len,
    "counts/tokens": lambda rows: sum(sums(rows, lambda row, at: 1)),
    "reward/part/accuracy": lambda rows: fmean(row["accuracy"] for row in rows),
}
"""What each metric is, from the rows of one step."""

SO_FAR: dict[str, tuple[str, Callable[..., float]]] = {
    "reward/best_mean": ("reward/mean", max),
    "counts/rollouts_total": ("counts/rollouts", sum),
    "counts/tokens_total": ("counts/tokens", sum),
}
"""Metrics of all steps so far, and what of."""

EVALUATED: dict[str, Callable[[list[float]], float]] = {"evaluation/mean": fmean, "evaluation/max": max, "evaluation/min": min}


def test_every_metric_has_a_definition_here_and_a_line_in_the_catalogue() -> None:
    """Each metric that the catalogue says rollouts give is tested."""
    from_rollouts = {key for key, metric in METRICS.items() if metric.origin == "rollouts"}

    assert {*DEFINITIONS, *SO_FAR, *EVALUATED} == {*from_rollouts, "reward/part/accuracy"}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], Run]:
    """The rows, and the run they were written as."""
    rows = rows_of_a_run()
    return rows, write(tmp_path_factory.mktemp("metrics") / "run", rows)


@pytest.mark.parametrize("key", DEFINITIONS)
def test_metric_is_what_its_definition_says(key: str, given: tuple[list[Row], Run]) -> None:
    """Per step the number that a loop over the training rows gives; float32 is what rows are kept in."""
    rows, run = given
    found = per_step_values(run, [key])[key]

    for step in (1, 2, 5):
        expected = DEFINITIONS[key]([row for row in rows if row["step"] == step and row["split"] == "train"])
        assert found[step] == pytest.approx(expected, rel=2e-5, abs=2e-6), step


@pytest.mark.parametrize("key", SO_FAR)
def test_metric_of_all_steps_so_far(key: str, given: tuple[list[Row], Run]) -> None:
    """It is made of the other metric's values up to and including the step."""
    of, combine = SO_FAR[key]
    found = per_step_values(given[1], [key, of])

    assert found[key].tolist() == pytest.approx([combine(found[of].iloc[: at + 1]) for at in range(3)])


@pytest.mark.parametrize("key", EVALUATED)
def test_evaluation_is_of_its_own_rollouts(key: str, given: tuple[list[Row], Run]) -> None:
    """Evaluations enter their own metrics and no other; a step without one has no number."""
    rows, run = given
    found = per_step_values(run, [key])[key]

    for step in (1, 5):
        assert found[step] == EVALUATED[key](
            rewards([row for row in rows if row["step"] == step and row["split"] == "evaluation"])
        )
    assert math.isnan(per_step_values(run, [key, "reward/mean"])[key].get(2, NAN))


@pytest.mark.parametrize("said", [{"split": "train"}, {}], ids=["said", "not said"])
def test_rows_that_do_not_say_their_split_are_of_training(tmp_path: Path, said: Row) -> None:
    """Their sources have a curve each, beside those of evaluations."""
    by_split = {"ab": said, "cd": {"split": "evaluation"}}
    rows = [
        {"step": step, "response": "x", "reward": float(number), "data_source": name, **split}
        for step in range(2)
        for names, split in by_split.items()
        for number, name in enumerate(names)
    ]
    run = write(tmp_path, rows)
    keys = [*(f"reward/source/{name}" for name in "ab"), *(f"evaluation/reward/source/{name}" for name in "cd")]

    assert sources(run) == keys
    assert per_step_values(run, keys).to_numpy().tolist() == [[0, 1, 0, 1]] * 2


def test_end_tokens_are_those_that_responses_end_with(tmp_path: Path) -> None:
    """Special tokens that nobody named, a role's marker too, but none that ends a response or two; what stands before counts as well."""
    ends = ["<|user|>", "<|observation|>"] * 4 + ["<|endoftext|>", "<|once|>", " cut"]
    rows = [{"step": 0, "response": "a", "response_tokens": [" a", "<|user|>", end], "loss_mask": [1, 0, 1]} for end in ends]

    assert per_step_values(write(tmp_path, rows), ["length/eos_count"])["length/eos_count"].tolist() == [9]
