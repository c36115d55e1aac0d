"""Metrics of the reward of whole rollouts, over the rollouts of a step."""

from typing import Final

from board.metrics.declared.computation import OfColumns, SoFar, applied, over_rollouts
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import re_grpo, roll, trl, trl_grpo, verl

RISES = reading(
    "up",
    (
        "It should rise. If it stands still or falls while KL or length grows, read the best and worst responses of that step.",
        "应当上升。若奖励下降或停滞，而 KL 或长度仍在增长，请阅读该步最好与最差的回答。",
    ),
    look="responses",
)
UNFAILED = reading(
    "up",
    (
        "If it stands while the mean falls, it is the machines that fail, not the policy: read status and error of the failed rollouts.",
        "若它不变而平均奖励下降，出问题的是机器而不是策略：请查看失败 rollout 的 status 与 error。",
    ),
    look="responses",
)
SPREAD = reading(
    "",
    (
        "If it nears 0 with the reward at its maximum, there is no signal left to learn from: see which groups are all alike.",
        "若接近 0 且奖励已到最大值，就没有可学的信号了：看看哪些组的奖励全都相同。",
    ),
)
EXTREME = reading(
    "",
    (
        "A sudden jump comes from a few rollouts: open them and check how they were scored.",
        "突然跳变往往只来自少数几条 rollout：打开它们，并检查打分程序给出的分数。",
    ),
    look="responses",
)
SHAPED = reading(
    "up",
    (
        "Training maximises it, so it should keep rising. If it falls while the score rises, the KL penalty outweighs the gain.",
        "它是训练真正最大化的量，应当持续上升。若它下降而得分上升，说明收益被 KL 惩罚抵消了。",
    ),
)
PENALTY = reading(
    "",
    (
        "Usually a little below 0. If it sinks, the policy leaves the reference; above 0, the estimate of the KL is negative.",
        "通常略小于 0。越来越负，说明策略正在远离参考模型；大于 0，则 KL 估计为负。",
    ),
    look="tokens",
)
GAP = reading(
    "up",
    (
        "It should rise: with training, fewer responses are worse than the reference's. If it falls, compare the two texts.",
        "应当上升：随着训练，不如参考模型的回答会越来越少。若下降，请对比两段文字。",
    ),
    look="responses",
)
GOLD = reading(
    "up",
    (
        "If it falls while the training reward rises, the policy exploits the reward: read the responses rewarded best.",
        "若训练奖励上升而它下降，说明策略在钻奖励的空子：请阅读奖励最高的回答。",
    ),
    look="responses",
)
FIXED = reading(
    "steady",
    (
        "The reference does not learn, so any trend comes from the prompts or from the scorer.",
        "参考模型不参与学习，若出现趋势，原因在提示或打分程序。",
    ),
    look="data",
)

TRL = "TRL, PPO Trainer"
ROLL = "ROLL, Trackers and Metrics"
README = "the board's definition"
GAO = "Gao et al. 2022, arXiv:2210.10760"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "reward/mean",
        "reward",
        "mean of R over the step's rollouts",
        TRL,
        ("Mean reward of the step's rollouts.", "该步所有 rollout 的平均奖励。"),
        RISES,
        over_rollouts("reward", "mean"),
        names=(
            Name("roll", "critic/score/mean"),
            Name("trl", "objective/scores"),
            Name("trl-grpo", "reward", trl_grpo.WEIGHTED),
            Name("re-grpo", "rollouts/returns_mean"),
            Name("verl", "critic/score/mean", verl.ANSWERED),
        ),
    ),
    metric(
        "reward/mean_without_failed",
        "reward",
        "mean of R over the step's rollouts that did not fail: status, error or flag of the row, or an empty response",
        README,
        ("Mean reward of the step's rollouts that did not fail.", "该步未失败的 rollout 的平均奖励。"),
        UNFAILED,
        OfColumns("mean_without", ("reward", "rollout_failed")),
    ),
    metric(
        "reward/std",
        "reward",
        "standard deviation of R over the step's rollouts (ddof 0)",
        README,
        ("Spread of the step's rewards (standard deviation).", "同一步内奖励的离散程度（标准差）。"),
        SPREAD,
        over_rollouts("reward", "std"),
        names=(
            Name("trl-grpo", "reward_std", trl_grpo.SAMPLE),
            Name("re-grpo", "rollouts/returns_std", re_grpo.SAMPLE),
        ),
    ),
    metric(
        "reward/max",
        "reward",
        "largest R of the step's rollouts",
        ROLL,
        ("Best reward of the step.", "该步的最高奖励。"),
        EXTREME,
        over_rollouts("reward", "max"),
        names=(
            Name("roll", "critic/score/max"),
            Name("re-grpo", "rollouts/returns_max"),
            Name("verl", "critic/score/max", verl.ANSWERED),
        ),
    ),
    metric(
        "reward/min",
        "reward",
        "smallest R of the step's rollouts",
        ROLL,
        ("Worst reward of the step.", "该步的最低奖励。"),
        EXTREME,
        over_rollouts("reward", "min"),
        names=(
            Name("roll", "critic/score/min"),
            Name("re-grpo", "rollouts/returns_min"),
            Name("verl", "critic/score/min", verl.ANSWERED),
        ),
    ),
    metric(
        "reward/sum",
        "reward",
        "sum of R over the step's rollouts",
        "re-grpo",
        (
            "Sum of the rewards of the step; it grows with the number of rollouts.",
            "该步奖励的总和；rollout 越多，数值越大。",
        ),
        RISES,
        over_rollouts("reward", "sum"),
        names=(Name("re-grpo", "rollouts/returns_sum"),),
    ),
    metric(
        "reward/best_mean",
        "reward",
        "largest mean of R over rollouts of any step so far",
        "re-grpo",
        ("Best mean reward of a step so far.", "到目前为止各步平均奖励的最高值。"),
        reading(
            "up",
            (
                "It never falls. If it stays level for long, no step has been better since: look at the step where that began.",
                "它不会下降。若长时间不变，说明此后没有更好的步：请查看平台开始的那一步。",
            ),
        ),
        SoFar("max", over_rollouts("reward", "mean")),
        names=(
            Name("re-grpo", "rollouts/returns_best_mean"),
            Name("re-grpo", "final/best_mean_return", re_grpo.AT_END),
        ),
    ),
    metric(
        "reward/shaped_mean",
        "reward",
        "mean over rollouts of R~, the sum of token_rewards over the response",
        TRL,
        (
            "Mean reward with the KL penalty counted in: what PPO maximises.",
            "计入 KL 惩罚之后的平均奖励，也就是 PPO 真正最大化的量。",
        ),
        SHAPED,
        over_rollouts("token_reward/sum", "mean"),
        names=(
            Name("roll", "critic/rewards/mean", roll.PENALISED),
            Name("trl", "objective/rlhf_reward", trl.WHITENED),
            Name("verl", "critic/rewards/mean", verl.PENALISED),
        ),
    ),
    metric(
        "reward/shaped_max",
        "reward",
        "largest R~ of the step's rollouts",
        ROLL,
        ("Best reward of the step with the KL penalty counted in.", "该步计入 KL 惩罚后的最高奖励。"),
        EXTREME,
        over_rollouts("token_reward/sum", "max"),
        names=(
            Name("roll", "critic/rewards/max", roll.PENALISED),
            Name("verl", "critic/rewards/max", verl.PENALISED),
        ),
    ),
    metric(
        "reward/shaped_min",
        "reward",
        "smallest R~ of the step's rollouts",
        ROLL,
        ("Worst reward of the step with the KL penalty counted in.", "该步计入 KL 惩罚后的最低奖励。"),
        EXTREME,
        over_rollouts("token_reward/sum", "min"),
        names=(
            Name("roll", "critic/rewards/min", roll.PENALISED),
            Name("verl", "critic/rewards/min", verl.PENALISED),
        ),
    ),
    metric(
        "reward/penalty_mean",
        "reward",
        "mean over rollouts of (sum of token_rewards) - R",
        TRL,
        (
            "What was added to the score of a rollout on average, as a rule the KL penalty.",
            "平均每条 rollout 在得分之外附加的奖励，通常就是 KL 惩罚。",
        ),
        PENALTY,
        over_rollouts(applied("difference", "token_reward/sum", "reward"), "mean"),
        names=(Name("trl", "objective/non_score_reward", trl.SIGN),),
    ),
    metric(
        "reward/reference_mean",
        "reward",
        "mean of ref_reward over the step's rollouts",
        README,
        ("Mean reward of the reference's responses to the same prompts.", "参考模型对相同提示的回答的平均奖励。"),
        FIXED,
        over_rollouts("ref_reward", "mean"),
    ),
    metric(
        "reward/gap_mean",
        "reward",
        "mean over rollouts of R - ref_reward",
        README,
        ("How much better than the reference the policy is on average.", "策略比参考模型平均好多少。"),
        GAP,
        over_rollouts("reward_gap", "mean"),
    ),
    metric(
        "reward/win_rate",
        "share, 0 to 1",
        "share of rollouts with R > ref_reward",
        README,
        ("Share of responses better than the reference's.", "优于参考模型回答的比例。"),
        GAP,
        over_rollouts(applied("is_above_0", "reward_gap"), "mean"),
    ),
    metric(
        "reward/validation_mean",
        "reward",
        "mean of valid_reward over the step's rollouts",
        GAO,
        (
            "Mean reward by the validation scorer, which training does not see.",
            "验证打分器给出的平均奖励，训练看不到它。",
        ),
        GOLD,
        over_rollouts("valid_reward", "mean"),
    ),
)
