"""ROLL. Of the update's ratios ROLL logs those of its minibatches; the board's need both logprobs in the rows."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

UPDATES: Final = Words(
    "ROLL averages over the update's minibatches, and means over rollouts rather than tokens.",
    "ROLL 对更新中各小批量取平均，且均值按 rollout 而非 token 计算。",
)
EXACT: Final = Words(
    "ROLL's documents call it the exact KL of the current and the old policy; here it is the mean log-ratio, which may be negative. "
    "ROLL averages over the update's minibatches, and means over rollouts rather than tokens.",
    "ROLL 文档称之为新旧策略间的精确 KL；这里是对数概率比的均值，可能为负。ROLL 对更新中各小批量取平均，且均值按 rollout 而非 token 计算。",
)
PENALISED: Final = Words(
    "The KL penalty is in it: it is the sum of the rewards per token, not the score.",
    "其中含 KL 惩罚：它是各 token 奖励之和，而不是得分。",
)
EPSILON: Final = Words(
    "ROLL clips at its own epsilon, and averages over the update's minibatches.",
    "ROLL 使用自己配置的 epsilon，并对更新中各小批量取平均。",
)
AGGREGATED: Final = Words(
    "ROLL averages as its loss does (loss_agg_mode), which may be over rollouts, or of sums, instead of over tokens.",
    "ROLL 按损失的聚合方式（loss_agg_mode）取平均：可能是对 rollout 取平均，也可能先对 token 求和。",
)
PENALTY: Final = Words(
    "The estimator is the one configured for the penalty (kl_penalty), k1 unless it is said otherwise.",
    "估计量取决于惩罚的配置（kl_penalty），默认为 k1。",
)

ROLL: Final = Dialect(
    "roll",
    "ROLL",
    suffixes=("@sum", "@mean", "@max", "@min"),
)
