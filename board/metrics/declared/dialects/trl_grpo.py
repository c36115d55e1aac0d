"""TRL's GRPO and RLOO trainers. The trainer they both go through puts "train/" or "eval/" before the names in a tracker."""

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
)
