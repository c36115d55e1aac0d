"""verl: its PPO trainer and what belongs to it.

Its importance weights (rollout_is_*) are cut at a threshold and its perplexity ratio is averaged over rollouts, hence keys of
their own.
"""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

ANSWERED: Final = Words(
    "Rollouts whose response is empty are left out.",
    "verl 不计入回答为空的 rollout。",
)
PENALISED: Final = Words(
    "The KL penalty is in it: it is the sum of the rewards per token, not the score. Rollouts whose response is empty are left out.",
    "其中含 KL 惩罚：它是各 token 奖励之和，而不是得分。verl 不计入回答为空的 rollout。",
)
AGGREGATED: Final = Words(
    "It is averaged as the loss is (loss_agg_mode), which may be over rollouts instead of tokens.",
    "verl 按损失的聚合方式（loss_agg_mode）取平均，可能是对 rollout 而非 token。",
)
PENALTY: Final = Words(
    "The estimator is the one configured for the penalty (kl_penalty), k1 unless it is said otherwise.",
    "估计量取决于惩罚的配置（kl_penalty），默认为 k1。",
)
LIMIT: Final = Words(
    "Responses that fill the limit of length are counted, finished or not.",
    "verl 统计达到长度上限的回答，不论是否写完。",
)
ATTENDED: Final = Words(
    "Every token after the prompt is counted, those of tools included.",
    "verl 统计提示之后的全部 token，包括工具返回的 token。",
)
SAMPLE: Final = Words(
    "It is divided by n - 1, on the board by n.",
    "verl 除以 n - 1，本面板除以 n。",
)
UPDATES: Final = Words(
    "It is averaged over the update's minibatches, and clipped at verl's own epsilon.",
    "verl 对更新中各小批量取平均，并使用自己配置的 epsilon。",
)
LATER: Final = Words(
    "Where the actor logs it as well, its number is the later policy's.",
    "若 actor 也记录同名指标，其数值来自更新之后的策略。",
)

VERL: Final = Dialect(
    "verl",
    "verl",
)
