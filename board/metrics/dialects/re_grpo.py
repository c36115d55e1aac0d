"""re-grpo's names. Its KL is averaged over the padded batch and its advantages over rollouts, hence keys of their own."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

SAMPLE: Final = Words(
    "It is divided by n - 1, on the board by n.",
    "re-grpo 除以 n - 1，本面板除以 n。",
)
AT_END: Final = Words(
    "Logged once, at the end of the run.",
    "仅在训练结束时记录一次。",
)

RE_GRPO: Final = Dialect(
    "re-grpo",
    "re-grpo",
    {
        "rollouts/returns_sum": "reward/sum",
        "rollouts/returns_mean": "reward/mean",
        "rollouts/returns_std": "reward/std",
        "rollouts/returns_max": "reward/max",
        "rollouts/returns_min": "reward/min",
        "rollouts/returns_best_mean": "reward/best_mean",
        "rollouts/kl_mean": "kl/k3_padded_mean",
        "rollouts/kl_std": "kl/k3_padded_std",
        "rollouts/kl_max": "kl/k3_max",
        "rollouts/advantages_mean": "advantage/rollout_mean",
        "rollouts/advantages_std": "advantage/rollout_std",
        "rollouts/total_rollouts": "counts/rollouts_total",
        "rollouts/batch_step": "counts/batches_total",
        "training_step/loss": "loss/total",
        "training_step/kl": "loss/kl",
        "training_step/grad_norm": "optimiser/grad_norm",
        "training_step/learning_rate": "optimiser/learning_rate",
        "training_step/dr_component_{name}": "loss/component/{name}",
        "training_epoch/loss_mean": "loss/total_epoch_mean",
        "training_epoch/loss_std": "loss/total_epoch_std",
        "training_epoch/kl_mean": "loss/kl_epoch_mean",
        "training_epoch/kl_std": "loss/kl_epoch_std",
        "training_epoch/grad_norm_mean": "optimiser/grad_norm_epoch_mean",
        "training_epoch/grad_norm_max": "optimiser/grad_norm_epoch_max",
        "training_epoch/steps_per_epoch": "counts/updates",
        "training/invalid_loss_count": "loss/invalid_count",
        "system/gpu_memory_allocated_gb": "memory/gpu_allocated",
        "system/gpu_memory_reserved_gb": "memory/gpu_reserved",
        "system/replay_buffer_size": "counts/replay_buffer",
        "checkpoint/saved": "counts/checkpoint_saved",
        "checkpoint/step": "counts/checkpoint_step",
        "final/total_steps": "counts/updates_total",
        "final/total_batches": "counts/batches_total",
        "final/total_rollouts": "counts/rollouts_total",
        "final/best_mean_return": "reward/best_mean",
        "dr_grpo/advantages_variance": "advantage/rollout_variance",
        "dr_grpo/advantages_skewness": "advantage/rollout_skewness",
        "dr_grpo/critic_type": "other/critic_type",
        "accelerate/{name}": "system/accelerate/{name}",
        "ddp/{name}": "system/ddp/{name}",
        "batch_returns/{path}": "reward/batch/{path}",
        "examples/completion": "other/examples",
    },
    remarks={
        "rollouts/returns_std": SAMPLE,
        "rollouts/advantages_std": SAMPLE,
        "final/total_rollouts": AT_END,
        "final/best_mean_return": AT_END,
        "final/total_batches": AT_END,
    },
)
