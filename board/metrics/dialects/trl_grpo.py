"""The names of TRL's GRPO and RLOO trainers. The trainer they both go through puts "train/" or "eval/" before them in a tracker."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

SAMPLE: Final = Words(
    "It is divided by n - 1, on the board by n.",
    "TRL 除以 n - 1，本面板除以 n。",
)
ESTIMATOR: Final = Words(
    "GRPO logs k3; RLOO logs k1, which may be negative, under the same name.",
    "GRPO 记录的是 k3；RLOO 以同一名称记录 k1，可能为负。",
)
WEIGHTED: Final = Words(
    "It is the sum of the reward functions by their weights; rollouts that no function scored are left out.",
    "它是各奖励函数按权重之和；没有任何函数打分的 rollout 不计入。",
)
UPDATES: Final = Words(
    "It is averaged over the step's updates, and clipped at TRL's own epsilon; RLOO's ratio is that of whole responses.",
    "TRL 对该步各次更新取平均，并使用自己配置的 epsilon；RLOO 的概率比针对整个回答。",
)
CAPPED: Final = Words(
    "It is cut at TRL's own threshold.",
    "按 TRL 自己的阈值截断。",
)
TERMS: Final = Words(
    "It is the sum of all terms as they are minimised, averaged over the step's updates.",
    "它是被最小化的各项之和，对该步各次更新取平均。",
)

TRL_GRPO: Final = Dialect(
    "trl-grpo",
    "TRL (GRPO, RLOO)",
    {
        "reward": "reward/mean",
        "reward_std": "reward/std",
        "rewards/{name}/mean": "reward/component/{name}/mean",
        "rewards/{name}/std": "reward/component/{name}/std",
        "frac_reward_zero_std": "groups/zero_std_share",
        "kl": "kl/k3_mean",
        "entropy": "policy/entropy_mean",
        "entropy_coef": "policy/entropy_coefficient",
        "completions/mean_length": "length/mean",
        "completions/min_length": "length/min",
        "completions/max_length": "length/max",
        "completions/clipped_ratio": "length/truncated_share",
        "completions/mean_terminated_length": "length/terminated_mean",
        "completions/min_terminated_length": "length/terminated_min",
        "completions/max_terminated_length": "length/terminated_max",
        "tools/call_frequency": "length/tool_calls_mean",
        "tools/failure_frequency": "length/tool_failure_share",
        "clip_ratio/region_mean": "update/objective_clip_share",
        "clip_ratio/low_mean": "update/objective_clip_low_share",
        "clip_ratio/low_min": "update/objective_clip_low_min",
        "clip_ratio/high_mean": "update/objective_clip_high_share",
        "clip_ratio/high_max": "update/objective_clip_high_max",
        "cispo_clip_ratio": "update/weight_clip_share",
        "vespo/phi_seq_mean": "update/sequence_weight_mean",
        "sampling/sampling_logp_difference/mean": "mismatch/abs_mean",
        "sampling/sampling_logp_difference/max": "mismatch/abs_max",
        "sampling/importance_sampling_ratio/min": "mismatch/is_cut_min",
        "sampling/importance_sampling_ratio/mean": "mismatch/is_cut_mean",
        "sampling/importance_sampling_ratio/max": "mismatch/is_cut_max",
        "loss": "loss/total",
        "policy_loss": "loss/policy",
        "aux_loss": "loss/router",
        "learning_rate": "optimiser/learning_rate",
        "grad_norm": "optimiser/grad_norm",
        "epoch": "counts/epoch",
        "num_tokens": "counts/tokens_seen",
        "step_time": "time/step",
        "eval/reward": "evaluation/mean",
        "eval/runtime": "time/evaluation",
        "eval/samples_per_second": "system/evaluation_samples_per_second",
        "eval/steps_per_second": "system/evaluation_batches_per_second",
    },
    remarks={
        "reward": WEIGHTED,
        "reward_std": SAMPLE,
        "kl": ESTIMATOR,
        "clip_ratio/region_mean": UPDATES,
        "sampling/importance_sampling_ratio/min": CAPPED,
        "sampling/importance_sampling_ratio/mean": CAPPED,
        "sampling/importance_sampling_ratio/max": CAPPED,
        "loss": TERMS,
    },
)
