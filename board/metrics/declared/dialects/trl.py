"""TRL's PPO trainer. The trainer they all go through puts "train/" before the names in TensorBoard and W&B."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

PADDED: Final = Words(
    "TRL averages over the update's minibatches, padding counted as unchanged.",
    "TRL 对更新中各小批量取平均，并把填充位置按“未改变”计入。",
)
ESTIMATOR: Final = Words(
    "With kl_estimator k3 TRL logs the sum of k3 instead.",
    "若 kl_estimator 设为 k3，TRL 记录的是 k3 之和。",
)
UPDATED: Final = Words(
    "TRL averages over the update's minibatches, with the policy as it is then, padding included.",
    "TRL 用更新过程中的策略对各小批量取平均，并计入填充位置。",
)
SURPRISAL: Final = Words(
    "It is minus the summed logprobs of a response, not the entropy of its tokens. Releases that do not mask padding count each as -1.",
    "它是整条回答的负对数概率之和，而不是各 token 的熵。未掩码填充位置的版本会把每个填充 token 按 -1 计入。",
)
SIGN: Final = Words(
    "TRL's guide writes beta · KL; what TRL logs, as the board gives, is minus that: what the KL adds to the score. "
    "TRL takes it before rewards are whitened; rows may hold them after.",
    "TRL 文档写作 beta · KL；TRL 实际记录的与本面板相同，是其相反数，即 KL 加到得分上的量。TRL 取白化之前的奖励；数据行中的可能是白化之后的。",
)
WHITENED: Final = Words(
    "TRL takes it before rewards are whitened; rows may hold them after.",
    "TRL 取白化之前的奖励；数据行中的可能是白化之后的。",
)

TRL: Final = Dialect(
    "trl",
    "TRL (PPO)",
    prefixes=("train/",),
)
