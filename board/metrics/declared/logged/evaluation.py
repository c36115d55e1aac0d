"""Evaluations by data source, which trainers log under names of their own."""

from typing import Final

from board.metrics.declared.computed.evaluation import HELD_OUT
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import Pair, metric, reading
from board.metrics.declared.logged.length import TURNS

VERL = "verl, trainer/ppo/metric_utils.py"
OF: Final = "evaluation/by_source/{path}"
SPREAD = reading(
    "",
    (
        "If it falls to 0, all answers to a prompt are alike: the policy no longer explores.",
        "若降到 0，说明同一提示的回答全都一样：策略不再探索。",
    ),
    look="responses",
)
PICKS: Final[tuple[tuple[str, Pair], ...]] = (
    ("best", ("the best of n answers", "n 个回答中最好的一个")),
    ("worst", ("the worst of n answers", "n 个回答中最差的一个")),
    ("maj", ("the answer most of n agree on", "n 个回答多数一致的答案")),
)


def _names(score: str) -> tuple[Name, Name]:
    """verl's names of a score: of the one each data source is judged by, and of the others."""
    return Name("verl", f"val-core/{{path}}/{score}"), Name("verl", f"val-aux/{{path}}/{score}")


def _pick(name: str, words: Pair) -> tuple[Metric, Metric]:
    """Mean and spread, over resamplings, of one pick among n answers to a prompt."""
    formula = f"over resamplings of n answers to a prompt of the score of {words[0]}, averaged over prompts"
    mean: Pair = (f"Score of {words[0]} to a prompt, by data source.", f"按数据来源：{words[1]}的得分。")
    spread: Pair = (
        f"Spread of the score of {words[0]} (standard deviation), by data source.",
        f"按数据来源：{words[1]}的得分的离散程度（标准差）。",
    )
    return (
        metric(f"{OF}/{name}@{{n}}/mean", "reward", f"mean {formula}", VERL, mean, HELD_OUT, names=_names(f"{name}@{{n}}/mean")),
        metric(
            f"{OF}/{name}@{{n}}/std",
            "reward",
            f"standard deviation {formula}",
            VERL,
            spread,
            SPREAD,
            names=_names(f"{name}@{{n}}/std"),
        ),
    )


METRICS: Final[tuple[Metric, ...]] = (
    metric(
        f"{OF}/mean@{{n}}",
        "reward",
        "mean over prompts of the mean score of their n answers",
        VERL,
        ("Mean score of an evaluation, by data source.", "按数据来源：评测的平均得分。"),
        HELD_OUT,
        names=_names("mean@{n}"),
    ),
    metric(
        f"{OF}/std@{{n}}",
        "reward",
        "mean over prompts of the standard deviation of the scores of their n answers",
        VERL,
        (
            "Mean spread of the scores of a prompt's answers (standard deviation), by data source.",
            "按数据来源：同一提示各回答得分的离散程度。",
        ),
        SPREAD,
        names=_names("std@{n}"),
    ),
    *(one for pick in PICKS for one in _pick(*pick)),
    metric(
        "evaluation/turns_{name}",
        "turns",
        "mean, largest or smallest number of turns of an evaluation's dialogues",
        VERL,
        ("Turns of an evaluation's dialogues.", "评测对话的轮数。"),
        TURNS,
        names=(Name("verl", "val-aux/num_turns/{name}"),),
    ),
)
