"""Metrics of the length of responses and prompts, and of how responses end."""

from typing import Final

from board.metrics.declared.computation import OfColumns, applied, over_rollouts
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import verl

GROWS = reading(
    "",
    (
        "If it grows while the validation reward does not, length itself is rewarded; if it falls fast, the policy stops thinking.",
        "若它增长而验证奖励不变，说明被奖励的是长度本身；若快速变短，说明策略放弃了思考。",
    ),
    look="responses",
)
APART = reading(
    "",
    (
        "If it grows, a few long responses hold up the whole batch: sort the step by length.",
        "若增大，说明少数很长的回答拖慢了整个批次：请把该步按长度排序。",
    ),
    look="responses",
)
LIMIT = reading(
    "",
    (
        "If it stands at the limit, responses are being cut: see the share of truncated ones.",
        "若停在上限，说明回答被截断：请查看截断比例。",
    ),
    look="responses",
)
CUT = reading(
    "down",
    (
        "Above one quarter, the policy learns from much unfinished text: raise the limit or penalise length.",
        "超过四分之一时，策略在大量从未写完的文本中学习：请提高上限或惩罚长度。",
    ),
    look="responses",
    high=0.25,
)
EMPTY = reading(
    "down",
    (
        "Above 0, requests were aborted or every token is masked: check the data.",
        "大于 0：请求被中止，或全部 token 被掩码。请检查数据。",
    ),
    look="data",
)
PROMPTS = reading(
    "steady",
    (
        "A trend comes from the order of the data or, over many turns, from a context that grows.",
        "若有趋势，原因是数据的顺序；多轮任务中则是上下文在变长。",
    ),
    look="data",
)
PAYS = reading(
    "steady",
    (
        "Above 0.3 for long, longer responses to the same prompt earn more: see whether the validation reward agrees.",
        "若长期高于 0.3，说明同一提示下越长的回答得分越高：请看验证奖励是否也如此。",
    ),
    look="responses",
    high=0.3,
)
OUTCOME = reading(
    "",
    (
        "If wrong responses grow longer than right ones, the mean over tokens favours long wrong answers (Dr. GRPO).",
        "若错误回答比正确回答越来越长，说明对 token 求平均偏袒了又长又错的回答（Dr. GRPO）。",
    ),
    look="responses",
)
ENDINGS = reading(
    "",
    (
        "If it is far below the number of responses, many end without the end token: see the share of truncated ones.",
        "若远少于回答数，说明许多回答没有结束符：请查看截断比例。",
    ),
    look="responses",
)
ROLL = "ROLL, Trackers and Metrics"
OWN = "the board's definition"
UNIT = "tokens"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "length/mean",
        UNIT,
        "mean over rollouts of the counted tokens of the response",
        ROLL,
        ("Mean length of a response.", "回答的平均长度。"),
        GROWS,
        over_rollouts("response_length", "mean"),
        names=(
            Name("roll", "tokens/response_length/mean"),
            Name("trl-grpo", "completions/mean_length"),
            Name("verl", "response_length/mean", verl.ATTENDED),
        ),
    ),
    metric(
        "length/std",
        UNIT,
        "standard deviation over rollouts of the counted tokens of the response (ddof 0)",
        OWN,
        ("Spread of the responses' lengths (standard deviation).", "回答长度的离散程度（标准差）。"),
        APART,
        over_rollouts("response_length", "std"),
    ),
    metric(
        "length/median",
        UNIT,
        "median over rollouts of the counted tokens of the response",
        OWN,
        ("Length that half of the responses do not exceed.", "回答长度的中位数。"),
        GROWS,
        over_rollouts("response_length", "median"),
    ),
    metric(
        "length/max",
        UNIT,
        "largest number of counted tokens of a response",
        ROLL,
        ("Longest response of the step.", "该步最长的回答。"),
        LIMIT,
        over_rollouts("response_length", "max"),
        names=(
            Name("roll", "tokens/response_length/max"),
            Name("trl-grpo", "completions/max_length"),
            Name("verl", "response_length/max", verl.ATTENDED),
        ),
    ),
    metric(
        "length/min",
        UNIT,
        "smallest number of counted tokens of a response",
        ROLL,
        ("Shortest response of the step.", "该步最短的回答。"),
        GROWS,
        over_rollouts("response_length", "min"),
        names=(
            Name("roll", "tokens/response_length/min"),
            Name("trl-grpo", "completions/min_length"),
            Name("verl", "response_length/min", verl.ATTENDED),
        ),
    ),
    metric(
        "length/chars_mean",
        "characters",
        "mean over rollouts of the characters of the response text",
        OWN,
        ("Mean length of a response in characters.", "回答的平均字符数。"),
        GROWS,
        over_rollouts("response_chars", "mean"),
    ),
    metric(
        "length/truncated_share",
        "share, 0 to 1",
        "share of rollouts cut at the limit of length: finish_reason, or a number `truncated`",
        "TRL, completions/clipped_ratio; threshold by Miles",
        ("Share of responses cut at the limit of length.", "因长度上限而被截断的回答比例。"),
        CUT,
        over_rollouts("truncated", "mean"),
        names=(
            Name("trl-grpo", "completions/clipped_ratio"),
            Name("verl", "response_length/clip_ratio", verl.LIMIT),
        ),
    ),
    metric(
        "length/empty_share",
        "share, 0 to 1",
        "share of rollouts with no counted token in the response",
        "verl, response/aborted_ratio",
        ("Share of responses without any counted token.", "没有任何计入 token 的回答比例。"),
        EMPTY,
        over_rollouts(applied("is_0", "response_length"), "mean"),
        names=(Name("verl", "response/aborted_ratio"),),
    ),
    metric(
        "length/eos_count",
        UNIT,
        "number of end tokens among the step's counted response tokens; those that pad behind one are none",
        "TRL, PPO Trainer",
        ("How many end tokens were sampled.", "采样到的结束符个数。"),
        ENDINGS,
        over_rollouts("end_token/sum", "sum"),
        names=(Name("trl", "val/num_eos_tokens"),),
    ),
    metric(
        "length/prompt_mean",
        UNIT,
        "mean over rollouts of the tokens of the prompt",
        ROLL,
        ("Mean length of a prompt.", "提示的平均长度。"),
        PROMPTS,
        over_rollouts("prompt_length", "mean"),
        names=(
            Name("roll", "tokens/prompt_length/mean"),
            Name("verl", "prompt_length/mean"),
        ),
    ),
    metric(
        "length/prompt_max",
        UNIT,
        "largest number of tokens of a prompt",
        ROLL,
        ("Longest prompt of the step.", "该步最长的提示。"),
        PROMPTS,
        over_rollouts("prompt_length", "max"),
        names=(
            Name("roll", "tokens/prompt_length/max"),
            Name("verl", "prompt_length/max"),
        ),
    ),
    metric(
        "length/prompt_min",
        UNIT,
        "smallest number of tokens of a prompt",
        ROLL,
        ("Shortest prompt of the step.", "该步最短的提示。"),
        PROMPTS,
        over_rollouts("prompt_length", "min"),
        names=(
            Name("roll", "tokens/prompt_length/min"),
            Name("verl", "prompt_length/min"),
        ),
    ),
    metric(
        "length/reward_correlation",
        "correlation, -1 to 1",
        "Pearson's of length and reward, each less its group's mean, over the rollouts of the step",
        "rolloutscope; arXiv 2310.03716",
        (
            "How strongly longer responses earn more than others to the same prompt.",
            "同一提示下，回答越长得分越高的程度。",
        ),
        PAYS,
        OfColumns("correlation_in_groups", ("response_length", "reward", "group")),
    ),
    metric(
        "length/right_mean",
        UNIT,
        "mean length of rollouts whose reward is at least halfway from the run's smallest to its largest",
        "Dr. GRPO, arXiv 2503.20783",
        (
            "Mean length of right responses: the better half of the range of rewards.",
            "正确回答（奖励在取值范围上半）的平均长度。",
        ),
        OUTCOME,
        OfColumns("length_of_right", ("response_length", "reward")),
    ),
    metric(
        "length/wrong_mean",
        UNIT,
        "mean length of rollouts whose reward is below halfway from the run's smallest to its largest",
        "Dr. GRPO, arXiv 2503.20783",
        ("Mean length of wrong responses: the worse half of the range of rewards.", "错误回答（奖励在取值范围下半）的平均长度。"),
        OUTCOME,
        OfColumns("length_of_wrong", ("response_length", "reward")),
    ),
)
