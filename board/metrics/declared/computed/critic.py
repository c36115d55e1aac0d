"""Metrics of the critic: its values, and how well they foretell the returns."""

from typing import Final

from board.metrics.declared.computation import applied, over_rollouts, over_tokens
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

LEVEL = reading(
    "",
    (
        "It should follow the returns. If the two stay apart, the critic is biased: see at which positions.",
        "应跟随回报。若与回报长期有差距，说明价值模型有偏差：请查看出现在哪些位置。",
    ),
    look="tokens",
)
FLAT = reading(
    "",
    (
        "If it nears 0, the critic says the same of every token and advantages are noise; if it jumps, the critic diverges.",
        "若接近 0，说明价值模型对每个 token 的判断都一样，优势全是噪声；若跳变，说明价值模型在发散。",
    ),
    look="tokens",
)
EDGE = reading(
    "",
    (
        "If it jumps while the returns do not, the critic diverges: look at the token.",
        "若它跳变而回报没有变，说明价值模型在发散：请查看该 token。",
    ),
    look="tokens",
)
EXPLAINS = reading(
    "up",
    (
        "1 is perfect. Below 0, the critic is worse than a constant: train it longer first, or check returns and masks.",
        "1 为完美。小于 0 说明价值模型还不如一个常数：请先多训练价值模型，或检查回报与掩码。",
    ),
    look="tokens",
    low=0.0,
)
BIAS = reading(
    "steady",
    (
        "It should stay near 0. A slope at the start of responses is the bias that the critic was initialised with.",
        "应接近 0。若在回答开头呈斜坡，则是价值模型初始化带来的偏差。",
    ),
    look="tokens",
)
ERROR = reading(
    "down",
    (
        "It should fall. A spike means that the returns changed or that the critic diverges: look at the tokens.",
        "应当下降。尖峰说明回报突然改变，或价值模型在发散：请查看相应 token。",
    ),
    look="tokens",
)
TD = reading(
    "down",
    (
        "It should fall. Large errors sit on tokens where the critic changed its mind: see which ones.",
        "应当下降。误差大的地方是价值模型改变判断的 token：请查看是哪些。",
    ),
    look="tokens",
)
VERL = "verl, critic/vf_explained_var"
GAE = "Schulman et al. 2015 (GAE), arXiv:1506.02438"
VC = "VC-PPO, arXiv:2503.01491"
ROLL = "ROLL, Trackers and Metrics"
UNIT = "reward"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "critic/value_mean",
        UNIT,
        "mean over tokens of v",
        ROLL,
        ("Mean value the critic gives a token.", "价值模型对每个 token 的平均估值。"),
        LEVEL,
        over_tokens("value", "mean"),
        names=(
            Name("roll", "critic/values/mean"),
            Name("verl", "critic/values/mean"),
        ),
    ),
    metric(
        "critic/value_std",
        UNIT,
        "standard deviation over tokens of v (ddof 0)",
        "the board's definition",
        ("Spread of the values (standard deviation).", "价值的离散程度（标准差）。"),
        FLAT,
        over_tokens("value", "std"),
    ),
    metric(
        "critic/value_max",
        UNIT,
        "largest v of a token",
        ROLL,
        ("Largest value of a token of the step.", "该步单个 token 的最大价值。"),
        EDGE,
        over_tokens("value", "max"),
        names=(
            Name("roll", "critic/values/max"),
            Name("verl", "critic/values/max"),
        ),
    ),
    metric(
        "critic/value_min",
        UNIT,
        "smallest v of a token",
        ROLL,
        ("Smallest value of a token of the step.", "该步单个 token 的最小价值。"),
        EDGE,
        over_tokens("value", "min"),
        names=(
            Name("roll", "critic/values/min"),
            Name("verl", "critic/values/min"),
        ),
    ),
    metric(
        "critic/explained_variance",
        "share, at most 1",
        "1 - Var(G - v) / Var(G) over tokens, G = returns",
        VERL,
        ("Share of the returns' variance that the critic foretells.", "价值模型能解释回报方差的比例。"),
        EXPLAINS,
        applied("explained_share", over_tokens("value_error", "variance"), over_tokens("valued_return", "variance")),
        names=(Name("verl", "critic/vf_explained_var"),),
    ),
    metric(
        "critic/bias",
        UNIT,
        "mean over tokens of v - G, G = returns",
        VC,
        ("How much too high the critic's values are on average.", "价值模型的估值平均偏高多少。"),
        BIAS,
        applied("negative", over_tokens("value_error", "mean")),
    ),
    metric(
        "critic/error",
        "reward²",
        "mean over tokens of (v - G)², G = returns",
        ROLL,
        (
            "Mean squared error of the values as they were when the rollouts were made.",
            "生成 rollout 时的价值与回报之间的均方误差。",
        ),
        ERROR,
        over_tokens("value_error", "mean_square"),
    ),
    metric(
        "critic/td_error",
        UNIT,
        "mean over tokens of |tr_t + v_{t+1} - v_t|, gamma = 1, v after the last counted token = 0",
        GAE,
        (
            "Mean size of the step from one value to the next that the reward does not explain.",
            "相邻价值之间无法由奖励解释的变化的平均大小。",
        ),
        TD,
        over_tokens("td_error", "mean"),
    ),
    metric(
        "critic/explained_variance_mc",
        "share, at most 1",
        "1 - Var(G - v) / Var(G) over tokens, G_t = sum of token_rewards from t on (gamma = lambda = 1)",
        VERL,
        (
            "Share of the variance of rewards to come that the critic foretells, computed without the logged returns.",
            "价值模型能解释后续奖励方差的比例，计算时不依赖记录的回报。",
        ),
        EXPLAINS,
        applied("explained_share", over_tokens("value_error_mc", "variance"), over_tokens("valued_return_mc", "variance")),
    ),
    metric(
        "critic/bias_mc",
        UNIT,
        "mean over tokens of v - G, G_t = sum of token_rewards from t on (gamma = lambda = 1)",
        VC,
        (
            "How much too high the values are against the rewards to come, computed without the logged returns.",
            "价值相对后续奖励平均偏高多少，计算时不依赖记录的回报。",
        ),
        BIAS,
        applied("negative", over_tokens("value_error_mc", "mean")),
    ),
    metric(
        "critic/value_rollout_mean",
        "reward",
        "mean over rollouts of the rollout's token mean of v, as the rollouts were made",
        ROLL,
        ("Mean over rollouts of the rollout's mean value before the update.", "更新前各 rollout 平均价值的平均值。"),
        LEVEL,
        over_rollouts("value/mean", "mean"),
        names=(Name("roll", "critic/value"),),
    ),
)
