"""Metrics of groups: the rollouts of one step that share a prompt."""

from typing import Final

from board.metrics.declared.computation import over_groups
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

PLANNED = reading(
    "steady",
    (
        "It should be what the trainer was told. If not, rows were lost, filtered or grouped by the wrong prompt.",
        "应当等于训练配置中的值。若不相等，说明有数据丢失、被过滤，或按错误的提示分了组。",
    ),
    look="data",
)
DEAD = reading(
    "down",
    (
        "Above one half, most of the batch gives no gradient: choose prompts of another difficulty, or filter such groups.",
        "超过一半时，批次的大部分不产生梯度：请调整提示难度，或过滤这些组。",
    ),
    look="rewards",
    high=0.5,
)
SOLVED = reading(
    "",
    (
        "If it grows, these prompts are solved and teach nothing more; if it jumps, read how they were solved.",
        "若上升，说明这些提示已被解决，不再提供信息；若突然上升，请看它们是怎样被“解决”的。",
    ),
    look="responses",
)
HOPELESS = reading(
    "down",
    (
        "If it stays high, the prompts are too hard or the scorer fails every answer: read a few of them.",
        "若居高不下，说明提示太难，或打分程序全判为失败：请阅读其中几条。",
    ),
    look="responses",
)
SIGNAL = reading(
    "",
    (
        "If it nears 0, the policy gives one answer to each prompt and the advantages within groups vanish: check the entropy.",
        "若组内差异趋近于 0，说明策略对每个提示只给一种答案，组内优势随之消失：请检查熵。",
    ),
)
NOISE = reading(
    "",
    (
        "If it grows, rewards differ between prompts but hardly within a group, so there is little left to learn from.",
        "若上升，说明奖励的差别主要在提示之间，组内几乎没有差别，可学的信号很少。",
    ),
)
BEST = reading(
    "up",
    (
        "If the mean reward rises and this does not, training only sharpens what the policy could do before.",
        "若平均奖励上升而它不升，说明训练只是强化策略原本就会的回答。",
    ),
    look="responses",
)

DAPO = "DAPO, arXiv:2503.14476; threshold by Miles"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "groups/count",
        "groups",
        "number of groups of the step",
        "the board's definition",
        ("Number of groups of the step.", "该步的组数。"),
        PLANNED,
        over_groups("count"),
    ),
    metric(
        "groups/size_mean",
        "rollouts",
        "mean over groups of their number of rollouts",
        "the board's definition",
        ("Mean number of rollouts in a group.", "每组平均有多少条 rollout。"),
        PLANNED,
        over_groups("size_mean"),
    ),
    metric(
        "groups/zero_std_share",
        "share, 0 to 1",
        "share of groups, of at least 2 scored rollouts, whose rewards are all equal",
        DAPO,
        ("Share of groups whose rollouts all got the same reward.", "组内所有 rollout 奖励完全相同的组所占比例。"),
        DEAD,
        over_groups("zero_std_share"),
        names=(Name("trl-grpo", "frac_reward_zero_std"),),
    ),
    metric(
        "groups/all_best_share",
        "share, 0 to 1",
        "share of groups, of at least 2 scored rollouts, whose rewards all equal the step's maximum (where maximum > minimum)",
        "DAPO, arXiv:2503.14476",
        (
            "Share of groups in which every rollout got the step's best reward.",
            "组内全部 rollout 都得到该步最高奖励的组所占比例。",
        ),
        SOLVED,
        over_groups("all_best_share"),
    ),
    metric(
        "groups/all_worst_share",
        "share, 0 to 1",
        "share of groups, of at least 2 scored rollouts, whose rewards all equal the step's minimum (where maximum > minimum)",
        "DAPO, arXiv:2503.14476",
        (
            "Share of groups in which every rollout got the step's worst reward.",
            "组内全部 rollout 都得到该步最低奖励的组所占比例。",
        ),
        HOPELESS,
        over_groups("all_worst_share"),
    ),
    metric(
        "groups/std_mean",
        "reward",
        "mean over groups, of at least 2 scored rollouts, of the standard deviation of R in the group (ddof 0)",
        "DeepSeekMath (GRPO), arXiv:2402.03300",
        ("Mean spread of the rewards within a group (standard deviation).", "组内奖励的平均离散程度（标准差）。"),
        SIGNAL,
        over_groups("std_mean"),
    ),
    metric(
        "groups/signal_to_noise",
        "ratio",
        "variance over groups of the group's mean R / mean over groups of the variance of R in it (ddof 0); groups of 2 scored rollouts or more",
        "RAGEN-2, arXiv:2604.06268",
        (
            "Spread of rewards between prompts, divided by the spread within a prompt's group.",
            "提示之间的奖励差异与组内奖励差异之比。",
        ),
        NOISE,
        over_groups("signal_to_noise"),
    ),
    metric(
        "groups/best_mean",
        "reward",
        "mean over groups of the largest R of the group",
        "Chen et al. 2021 (pass@k), arXiv:2107.03374",
        ("Mean over groups of the best reward in the group.", "各组最高奖励的平均值。"),
        BEST,
        over_groups("best_mean"),
    ),
)
