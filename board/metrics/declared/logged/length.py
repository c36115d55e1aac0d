"""What trainers log of lengths, turns and tools, from what rows do not hold."""

from typing import Final

from board.metrics.declared.computed.length import CUT, GROWS, LIMIT, PROMPTS
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

TURNS = reading(
    "",
    (
        "If it stands at the limit, the agent does not learn to stop; if it falls to its least, the tools were given up. Read them.",
        "若停在上限，说明智能体没学会结束；若降到最低，说明它放弃了工具。请阅读对话。",
    ),
    look="responses",
)
FAILS = reading(
    "down",
    (
        "If it stays high, the policy has not learnt how the tools are called, or they are down: read such a response.",
        "若一直很高，说明策略还不会调用工具，或工具本身不可用：请阅读这样的回答。",
    ),
    look="responses",
)

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "length/turns_mean",
        "turns",
        "mean over rollouts of the turns of the dialogue",
        "verl, trainer/ppo/metric_utils.py",
        ("Mean number of turns of a dialogue.", "每段对话的平均轮数。"),
        TURNS,
        names=(Name("verl", "num_turns/mean"),),
    ),
    metric(
        "length/turns_max",
        "turns",
        "largest number of turns of a dialogue",
        "verl, trainer/ppo/metric_utils.py",
        ("Largest number of turns of a dialogue.", "单段对话的最多轮数。"),
        TURNS,
        names=(Name("verl", "num_turns/max"),),
    ),
    metric(
        "length/turns_min",
        "turns",
        "smallest number of turns of a dialogue",
        "verl, trainer/ppo/metric_utils.py",
        ("Smallest number of turns of a dialogue.", "单段对话的最少轮数。"),
        TURNS,
        names=(Name("verl", "num_turns/min"),),
    ),
    metric(
        "length/tool_calls_mean",
        "calls",
        "mean over rollouts of the calls of tools",
        "verl, trainer/ppo/metric_utils.py",
        ("Mean number of tool calls of a rollout.", "每条 rollout 的平均工具调用次数。"),
        TURNS,
        names=(
            Name("trl-grpo", "tools/call_frequency"),
            Name("verl", "tool_call_counts/mean"),
        ),
    ),
    metric(
        "length/tool_calls_max",
        "calls",
        "largest number of calls of tools of a rollout",
        "verl, trainer/ppo/metric_utils.py",
        ("Largest number of tool calls of a rollout.", "单条 rollout 的最多工具调用次数。"),
        TURNS,
        names=(Name("verl", "tool_call_counts/max"),),
    ),
    metric(
        "length/tool_calls_min",
        "calls",
        "smallest number of calls of tools of a rollout",
        "verl, trainer/ppo/metric_utils.py",
        ("Smallest number of tool calls of a rollout.", "单条 rollout 的最少工具调用次数。"),
        TURNS,
        names=(Name("verl", "tool_call_counts/min"),),
    ),
    metric(
        "length/finished_mean",
        "tokens",
        "mean over rollouts with any response token of their response tokens",
        "verl, trainer/ppo/metric_utils.py",
        ("Mean length of the responses that are not empty.", "非空回答的平均长度。"),
        GROWS,
        names=(Name("verl", "response_length_non_aborted/mean"),),
    ),
    metric(
        "length/finished_max",
        "tokens",
        "largest number of response tokens of a rollout with any",
        "verl, trainer/ppo/metric_utils.py",
        ("Longest response that is not empty.", "最长的非空回答。"),
        LIMIT,
        names=(Name("verl", "response_length_non_aborted/max"),),
    ),
    metric(
        "length/finished_min",
        "tokens",
        "smallest number of response tokens of a rollout with any",
        "verl, trainer/ppo/metric_utils.py",
        ("Shortest response that is not empty.", "最短的非空回答。"),
        GROWS,
        names=(Name("verl", "response_length_non_aborted/min"),),
    ),
    metric(
        "length/finished_truncated_share",
        "share, 0 to 1",
        "share of rollouts at the limit of length among those with any response token",
        "verl, trainer/ppo/metric_utils.py; threshold by Miles",
        ("Share of the responses that are not empty and reach the limit of length.", "非空回答中达到长度上限的比例。"),
        CUT,
        names=(Name("verl", "response_length_non_aborted/clip_ratio"),),
    ),
    metric(
        "length/prompt_limit_share",
        "share, 0 to 1",
        "share of prompts that fill the limit of length",
        "verl, trainer/ppo/metric_utils.py",
        ("Share of prompts that reach the limit of length.", "达到长度上限的提示比例。"),
        PROMPTS,
        names=(Name("verl", "prompt_length/clip_ratio"),),
    ),
    metric(
        "length/terminated_mean",
        "tokens",
        "mean over rollouts that end with the end token of their response tokens; 0 where none does",
        "TRL, GRPO Trainer",
        ("Mean length of the responses that end by themselves.", "自行结束的回答的平均长度。"),
        GROWS,
        names=(Name("trl-grpo", "completions/mean_terminated_length"),),
    ),
    metric(
        "length/terminated_min",
        "tokens",
        "smallest number of response tokens of a rollout that ends with the end token; 0 where none does",
        "TRL, GRPO Trainer",
        ("Shortest response that ends by itself.", "自行结束的最短回答。"),
        GROWS,
        names=(Name("trl-grpo", "completions/min_terminated_length"),),
    ),
    metric(
        "length/terminated_max",
        "tokens",
        "largest number of response tokens of a rollout that ends with the end token; 0 where none does",
        "TRL, GRPO Trainer",
        ("Longest response that ends by itself.", "自行结束的最长回答。"),
        LIMIT,
        names=(Name("trl-grpo", "completions/max_terminated_length"),),
    ),
    metric(
        "length/tool_failure_share",
        "share, 0 to 1",
        "calls of tools that failed / calls of tools",
        "TRL, GRPO Trainer",
        ("Share of calls of tools that failed.", "失败的工具调用所占比例。"),
        FAILS,
        names=(Name("trl-grpo", "tools/failure_frequency"),),
    ),
)
