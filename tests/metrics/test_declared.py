"""The catalogue is complete against the names trainers log, and says of every metric what it must, in both languages."""

import re
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from board.metrics import declared
from board.metrics.declared import DIALECTS, METRICS, name_of, resolve, resolve_any
from board.metrics.declared.contract import FAMILIES, PLACES, Metric, Words

REPOSITORY = Path(__file__).parents[2]

STATS = ("mean", "max", "min")
PHASES = ("train_step", "generate", "model_update", "compute_log_probs", "do_checkpoint", "compute_values", "compute_rewards")
MEMORY = ("allocated", "reserved", "max_allocated", "max_reserved", "max_allocated_frac", "max_reserved_frac")
DEVICES = ("0", "cuda:0")


CHINESE = re.compile(r"[\u4e00-\u9fff]")
CHINESE_ANYWHERE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")


def under(prefix: str, names: str) -> list[str]:
    """Names in braces of the list, written out: under("critic", "lr loss") is critic/lr and critic/loss."""
    return [f"{prefix}/{name}" for name in names.split()]


ROLL = [
    *under("val/score", "mean max min"),
    *under("critic", "lr loss value vpred clipfrac error"),
    *(f"critic/{name}/{stat}" for name in ("score", "rewards", "advantages", "returns", "values") for stat in STATS),
    "critic/ref_log_prob/mean",
    "critic/old_log_prob/mean",
    "critic/entropy/mean",
    "critic/reward_clip_frac",
    *(f"tokens/{name}/{stat}" for name in ("response_length", "prompt_length") for stat in STATS),
    *under("actor", "lr ppo_ratio_high_clipfrac ppo_ratio_low_clipfrac ppo_ratio_clipfrac ratio_mean ratio_max ratio_min"),
    *under("actor", "clipfrac kl_loss total_loss approxkl policykl pg_loss weighted_pg_loss valid_samples total_samples"),
    *under("actor", "valid_sample_ratio sample_weights_mean sample_weights_min sample_weights_max"),
    *under("actor", "sft_loss positive_sft_loss negative_sft_loss"),
    *under("system", "tps samples"),
    *under("time", "rollout ref_log_probs_values_reward old_log_probs_values adv"),
    *(f"time/{phase}/{part}" for phase in PHASES for part in ("total", "execute", "onload", "offload")),
    *(
        f"memory/{phase}/{when}/{state}/{stat}/{device}"
        for phase, when, state, stat, device in product(PHASES, ("start", "end"), ("offload", "onload"), MEMORY, DEVICES)
    ),
    *(f"memory/cpu/{phase}/{when}/{stat}" for phase, when, stat in product(PHASES, ("start", "end"), ("rss", "vms"))),
]

TRL = [
    "eps",
    *under("objective", "kl entropy non_score_reward rlhf_reward scores kl_coef"),
    *under("policy", "approxkl_avg clipfrac_avg entropy_avg"),
    *under("loss", "policy_avg value_avg"),
    *under("val", "clipfrac_avg ratio ratio_var num_eos_tokens"),
    "lr",
    "episode",
]

RE_GRPO = [
    *under("rollouts", "returns_sum returns_mean returns_std returns_max returns_min returns_best_mean kl_mean kl_std kl_max"),
    *under("rollouts", "advantages_mean advantages_std total_rollouts batch_step"),
    *under("training_step", "loss kl grad_norm learning_rate"),
    *under("training_epoch", "loss_mean loss_std kl_mean kl_std grad_norm_mean grad_norm_max"),
    *under("system", "gpu_memory_allocated_gb gpu_memory_reserved_gb replay_buffer_size"),
    *under("checkpoint", "saved step"),
    *under("final", "total_steps total_batches total_rollouts best_mean_return"),
    *under("dr_grpo", "advantages_variance advantages_skewness critic_type"),
    *under("training_step", "dr_component_policy dr_component_kl"),
    *under("accelerate", "device sync_gradients"),
    *under("ddp", "num_processes process_index local_process_index sync_gradients"),
    *under("batch_returns", "mean max best_mean"),
    "examples/completion",
    "training/invalid_loss_count",
]

VERL = [
    *(f"critic/{name}/{stat}" for name in ("score", "rewards", "advantages", "returns", "values") for stat in STATS),
    *under("critic", "vf_explained_var vf_loss vf_clipfrac vpred_mean grad_norm lr"),
    *under("response_length", "mean max min clip_ratio"),
    *under("response_length_non_aborted", "mean max min clip_ratio"),
    "response/aborted_ratio",
    *under("prompt_length", "mean max min clip_ratio"),
    *under("num_turns", "mean max min"),
    *under("tool_call_counts", "mean max min"),
    *under("actor", "pg_loss kl_loss entropy grad_norm lr pg_clipfrac ppo_kl pg_clipfrac_lower kl_coef"),
    *under("actor", "reward_kl_penalty reward_kl_penalty_coeff"),
    *under("timing_s", "gen ref values adv update_critic update_actor step old_log_prob reward testing save_checkpoint"),
    *under("timing_s", "update_weights agent_loop/tool_calls/mean"),
    *under("timing_per_token_ms", "gen ref values adv update_critic update_actor"),
    *under("perf", "total_num_tokens time_per_step throughput max_memory_allocated_gb max_memory_reserved_gb cpu_memory_used_gb"),
    *under("perf/mfu", "actor critic actor_infer"),
    *under("variance_proxy", "proxy1_signal_strength proxy2_total_power proxy3_pure_noise expected_a_squared expected_w"),
    *under("rollout_corr", "rollout_is_mean rollout_is_max rollout_is_min rollout_is_std rollout_is_ratio_fraction_high"),
    *under("rollout_corr", "rollout_is_ratio_fraction_low rollout_is_eff_sample_size rollout_is_seq_mean rollout_is_seq_std"),
    *under("rollout_corr", "rollout_is_seq_max rollout_is_seq_min rollout_is_seq_max_deviation rollout_is_seq_fraction_high"),
    *under("rollout_corr", "rollout_is_seq_fraction_low rollout_is_batch_norm_factor rollout_is_oob_ratio"),
    *under("rollout_corr", "rollout_rs_token_k1_mean rollout_rs_seq_sum_k1_seq_max_deviation rollout_rs_masked_fraction"),
    *under("rollout_corr", "training_ppl training_log_ppl kl k3_kl rollout_ppl rollout_log_ppl log_ppl_diff log_ppl_abs_diff"),
    *under("rollout_corr", "log_ppl_diff_max log_ppl_diff_min ppl_ratio chi2_token chi2_seq"),
    *under("global_seqlen", "min max minmax_diff balanced_min balanced_max mean"),
    *under("gdpo/format", "mean std max min"),
    *under("training", "rollout_probs_diff_valid rollout_probs_diff_max rollout_probs_diff_mean rollout_probs_diff_std"),
    *under("training", "rollout_actor_probs_pearson_corr global_step epoch"),
    *under("val-core/openai/gsm8k/acc", "mean@1 maj@8/mean best@8/mean"),
    *under("val-aux/aime_2025/reward", "std@30 worst@2/mean worst@2/std best@2/std maj@4/std"),
    *under("val-aux/num_turns", "mean max min"),
    *under("fully_async", "count/stale_trajectory_processed partial/partial_ratio"),
]

TRL_GRPO = [
    *under("clip_ratio", "high_max high_mean low_mean low_min region_mean"),
    *under("completions", "clipped_ratio max_length max_terminated_length mean_length mean_terminated_length min_length"),
    "completions/min_terminated_length",
    *under("rewards/digits", "mean std"),
    *under("rewards/<lambda>", "mean std"),
    *under("rewards/Qwen2.5-7B reward_v2", "mean std"),
    *[
        "entropy",
        "epoch",
        "frac_reward_zero_std",
        "grad_norm",
        "kl",
        "learning_rate",
        "loss",
        "num_tokens",
        "reward",
        "reward_std",
        "step_time",
    ],
    *["aux_loss", "policy_loss", "entropy_coef", "cispo_clip_ratio", "vespo/phi_seq_mean"],
    *under("tools", "call_frequency failure_frequency"),
    *under("sampling/sampling_logp_difference", "mean max"),
    *under("sampling/importance_sampling_ratio", "min mean max"),
    *under("eval", "reward runtime samples_per_second steps_per_second kl loss rewards/digits/mean completions/mean_length"),
]

LISTS = {"roll": ROLL, "trl": TRL, "trl-grpo": TRL_GRPO, "re-grpo": RE_GRPO, "verl": VERL}

ALIKE = {
    "TRL's KL": ("trl", "objective/kl", "kl/k1_sum_mean"),
    "TRL's score": ("trl", "objective/scores", "reward/mean"),
    "TRL's shaped reward": ("trl", "objective/rlhf_reward", "reward/shaped_mean"),
    "TRL's penalty": ("trl", "objective/non_score_reward", "reward/penalty_mean"),
    "TRL's entropy of the update": ("trl", "policy/entropy_avg", "policy/entropy_mean"),
    "TRL's entropy": ("trl", "objective/entropy", "policy/surprisal_sum_mean"),
    "TRL's episodes": ("trl", "episode", "counts/rollouts_total"),
    "GRPO's reward": ("trl-grpo", "reward", "reward/mean"),
    "GRPO's KL": ("trl-grpo", "kl", "kl/k3_mean"),
    "GRPO's equal groups": ("trl-grpo", "frac_reward_zero_std", "groups/zero_std_share"),
    "GRPO's cut completions": ("trl-grpo", "completions/clipped_ratio", "length/truncated_share"),
    "ROLL's score": ("roll", "critic/score/mean", "reward/mean"),
    "ROLL's rewards": ("roll", "critic/rewards/min", "reward/shaped_min"),
    "ROLL's values": ("roll", "critic/values/max", "critic/value_max"),
    "ROLL's logprobs": ("roll", "critic/old_log_prob/mean", "policy/old_logprob_mean"),
    "ROLL's clipping": ("roll", "actor/ppo_ratio_low_clipfrac", "update/clip_low_share"),
    "re-grpo's KL": ("re-grpo", "rollouts/kl_mean", "kl/k3_padded_mean"),
    "re-grpo's spread of the KL": ("re-grpo", "rollouts/kl_std", "kl/k3_padded_std"),
    "re-grpo's best": ("re-grpo", "rollouts/returns_best_mean", "reward/best_mean"),
    "verl's mismatch": ("verl", "rollout_corr/k3_kl", "mismatch/k3"),
    "verl's critic": ("verl", "critic/vf_explained_var", "critic/explained_variance"),
}

OF_THE_UPDATE = {
    "values while they are updated": ("roll", "critic/vpred"),
    "error of new values": ("roll", "critic/error"),
    "weights cut at a threshold": ("verl", "rollout_corr/rollout_is_mean"),
}


@pytest.mark.parametrize(("dialect", "name"), [(dialect, name) for dialect, names in LISTS.items() for name in names])
def test_every_listed_name_is_in_its_dialect(dialect: str, name: str) -> None:
    """Each name of a trainer's list resolves in its dialect, and in some dialect when no trainer is named."""
    assert resolve(dialect, name) is not None
    assert resolve_any(name) is not None


def test_no_key_is_declared_twice() -> None:
    """A key stands for one metric."""
    remarks = {dialect.name: dialect.remarks for dialect in declared.dialects()}
    assert sorted(METRICS) == sorted(metric.key for metric in declared.metrics(remarks))


def test_what_is_computed_needs_something_of_the_rows() -> None:
    """And what is logged alone needs nothing of them."""
    assert [metric.key for metric in METRICS.values() if (metric.computation is None) != (metric.needs == ())] == []


ENTRY = """
[[metric]]
key = "kl/mean"
unit = "nats"
formula = "mean over tokens"
source = "a page"
meaning = { en = "A number.", zh = "数值。" }
computation = { over = "tokens", of = "kl_k3", statistic = "mean" }
reading = "small"
names.trl = ["kl", { name = "kl_of_tokens", remark = "padded" }]

[reading.small]
better = "down"
departure = { en = "It grows.", zh = "增大。" }
"""

REMARKS = {"trl": {"padded": Words("Padding is counted.", "计入填充。")}}


@pytest.mark.parametrize(
    ("of", "instead", "said"),
    [
        pytest.param('unit = "nats"', 'units = "nats"', "units", id="a field that no metric has"),
        pytest.param('unit = "nats"\n', "", "unit", id="a field left out"),
        pytest.param('reading = "small"', 'reading = "large"', "large", id="a reading that is not there"),
        pytest.param('"padded"', '"unpadded"', "unpadded", id="a remark that is not there"),
        pytest.param("names.trl", "names.lrt", "lrt", id="a dialect that is not there"),
        pytest.param('over = "tokens"', 'over = "steps"', "over is 'steps'", id="over what there is no statistic"),
        pytest.param('of = "kl_k3"', 'of = "kl_k9"', "kl_k9", id="a quantity that is not there"),
        pytest.param('en = "A number.", ', "", "en", id="a sentence in one language"),
    ],
)
def test_an_entry_that_is_wrong(tmp_path: Path, of: str, instead: str, said: str) -> None:
    """Is refused where the catalogue is read, by its file and key; a right one is a metric."""
    file = tmp_path / "kl.toml"
    file.write_text(ENTRY)
    (metric,) = declared.metrics(REMARKS, tmp_path)
    assert (metric.family, metric.needs, metric.reading.better) == ("kl", ("logprobs", "ref_logprobs"), "down")
    assert [(one.name, one.remark) for one in metric.names] == [("kl", None), ("kl_of_tokens", REMARKS["trl"]["padded"])]

    file.write_text(ENTRY.replace(of, instead))
    with pytest.raises(ValueError, match=said) as refused:
        list(declared.metrics(REMARKS, tmp_path))
    assert str(refused.value).startswith("kl.toml, kl/mean: ")


def test_a_reading_that_is_wrong(tmp_path: Path) -> None:
    """Is refused, too."""
    (tmp_path / "kl.toml").write_text(ENTRY.replace('better = "down"', 'better = "sideways"'))
    with pytest.raises(ValueError, match=r"kl.toml, reading small: better is 'sideways'"):
        list(declared.metrics(REMARKS, tmp_path))


def is_said_in_both(words: Words) -> bool:
    """Whether words are a sentence in English and one in Chinese, neither with the other's letters or stops."""
    english = re.match(r"[A-Z0-9]", words.en) and words.en.endswith(".") and not CHINESE_ANYWHERE.search(words.en)
    return bool(english) and words.zh.endswith("。") and len(CHINESE.findall(words.zh)) >= 4


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())
def test_metric_says_what_it_must(metric: Metric) -> None:
    """Family, unit, formula and source are there, meaning and departure are said in both languages, and bounds are in order."""
    low, high = metric.reading.low, metric.reading.high

    assert metric.family in FAMILIES
    assert min(len(metric.unit), len(metric.formula), len(metric.source)) > 1
    assert is_said_in_both(metric.meaning)
    assert is_said_in_both(metric.reading.departure)
    assert low is None or high is None or low <= high


def test_no_two_metrics_mean_the_same() -> None:
    """Each metric has a meaning of its own, in either language."""
    for meanings in ([metric.meaning.en for metric in METRICS.values()], [metric.meaning.zh for metric in METRICS.values()]):
        assert [meaning for meaning, times in Counter(meanings).items() if times > 1] == []


GUIDANCE = {
    "the reward with the penalty should rise": ("objective/rlhf_reward", "up", "keep rising"),
    "KL should stay positive and small": ("objective/kl", "steady", "positive and small"),
    "the ratio should stay near 1, and 2.0 or 0.1 is too drastic": ("val/ratio", "steady", "At 2.0 or 0.1"),
    "a value loss that spikes or is NaN is bad": ("loss/value_avg", "down", "spike or NaN is bad"),
    "clipping that collapses to 0": ("policy/clipfrac_avg", "", "stays at 0"),
    "clipping of values that collapses to 0": ("val/clipfrac_avg", "", "falls to 0 for good"),
    "an update's KL that collapses to 0": ("policy/approxkl_avg", "steady", "falls to 0 for good"),
}


@pytest.mark.parametrize(("name", "better", "said"), GUIDANCE.values(), ids=GUIDANCE)
def test_readings_hold_what_trl_advises(name: str, better: str, said: str) -> None:
    """What TRL advises on its PPO metrics is in their readings."""
    found = resolve("trl", name)

    assert found is not None
    assert found[0].reading.better == better
    assert said in found[0].reading.departure.en
    assert "TRL, PPO Trainer" in found[0].source


HEALTH = {
    "on the lower bound": ("mismatch/is_mean", 0.5, True),
    "on the upper bound": ("mismatch/is_mean", 2.0, True),
    "below": ("mismatch/is_mean", 0.49, False),
    "above": ("mismatch/is_mean", 2.01, False),
    "no lower bound": ("mismatch/k3", -5.0, True),
    "no upper bound": ("mismatch/ess", 5.0, True),
    "no bounds": ("reward/mean", 1e9, True),
}


@pytest.mark.parametrize(("key", "value", "healthy"), HEALTH.values(), ids=HEALTH)
def test_a_value_is_healthy_within_its_bounds(key: str, value: float, healthy: bool) -> None:
    """Both bounds belong to the healthy range, and a side without a bound has no end."""
    assert METRICS[key].reading.healthy(value) == healthy


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialect_names_what_there_is(dialect: str) -> None:
    """Every name of a dialect leads to a metric with the same placeholders, each of a known kind; remarks are on its own names."""
    table = DIALECTS[dialect]

    assert [key for key in table.names.values() if key not in METRICS] == []
    for name, key in table.names.items():
        places = re.findall(r"\{(\w+)\}", name)
        assert sorted(places) == sorted(re.findall(r"\{(\w+)\}", key))
        assert set(places) <= set(PLACES)
    assert set(table.remarks) <= set(table.names)
    assert all(map(is_said_in_both, table.remarks.values()))


def test_dialects_stand_in_their_order() -> None:
    """The board's own names come first, then the trainers'."""
    assert list(DIALECTS) == ["board", "roll", "trl", "trl-grpo", "re-grpo", "verl"]


def test_what_only_trainers_log_is_in_a_trainers_dialect() -> None:
    """A metric that only a trainer can log is known by the name some trainer gives it."""
    named = {key for name, table in DIALECTS.items() if name != "board" for key in table.names.values()}

    assert [metric.key for metric in METRICS.values() if metric.origin == "tracker" and metric.key not in named] == []


def test_declared_names_are_in_their_dialect() -> None:
    """What a metric is called is said of a known dialect, and no dialect calls two metrics alike."""
    declared = [(one.dialect, one.name) for metric in METRICS.values() for one in metric.names]
    tables = [(dialect, name) for dialect, table in DIALECTS.items() if dialect != "board" for name in table.names]

    assert sorted(declared) == sorted(tables)


def test_board_names_are_the_keys() -> None:
    """In the board's own dialect every metric is called by its key."""
    assert {name_of("board", key) for key in METRICS} == set(METRICS)


def test_a_name_of_two_trainers_means_one_thing() -> None:
    """Where two trainers share a name it stands for the same metric, so that no trainer needs be named to read a log."""
    trainers = [table.names for name, table in DIALECTS.items() if name != "board"]
    meanings = {(name, key) for names in trainers for name, key in names.items()}

    assert len({name for name, _ in meanings}) == len(meanings)


@pytest.mark.parametrize(("dialect", "name", "key"), ALIKE.values(), ids=ALIKE)
def test_name_of_the_same_definition_is_the_computed_metric(dialect: str, name: str, key: str) -> None:
    """A trainer's name leads to the computed metric where both are defined alike."""
    found = resolve(dialect, name)

    assert found is not None
    assert (found[0].key, found[0].origin, found[1]) == (key, "rollouts", {})


@pytest.mark.parametrize(("dialect", "name"), OF_THE_UPDATE.values(), ids=OF_THE_UPDATE)
def test_name_of_another_definition_is_not_computed(dialect: str, name: str) -> None:
    """What a trainer takes with later weights, or averages otherwise, is left to its tracker."""
    found = resolve(dialect, name)

    assert found is not None
    assert found[0].origin == "tracker"


OTHERWISE = {
    "exact KL": ("roll", "actor/policykl", "exact KL"),
    "sign": ("trl", "objective/non_score_reward", "minus that"),
    "surprisal": ("trl", "objective/entropy", "not the entropy of its tokens"),
    "ROLL's penalty": ("roll", "critic/rewards/mean", "KL penalty is in it"),
    "verl's penalty": ("verl", "critic/rewards/max", "KL penalty is in it"),
    "n - 1": ("re-grpo", "rollouts/returns_std", "n - 1"),
}


@pytest.mark.parametrize(("dialect", "name", "said"), OTHERWISE.values(), ids=OTHERWISE)
def test_a_name_that_means_something_else_says_so(dialect: str, name: str, said: str) -> None:
    """Where a trainer's documents mean something else by a name than the board's number, its remark says what."""
    assert said in DIALECTS[dialect].remarks[name].en


def test_catalogue_needs_the_standard_library_alone() -> None:
    """The recorder, which trainers import, can know the metrics without any library."""
    code = "import sys; sys.path.insert(0, '.'); import board.metrics.declared; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert set(loaded.stdout.split()) - sys.stdlib_module_names <= {"board", "__main__"}
