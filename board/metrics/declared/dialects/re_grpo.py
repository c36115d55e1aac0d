"""re-grpo. It averages its KL over the padded batch and advantages over rollouts, hence keys of their own; `final/` comes once, at the end."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

SAMPLE: Final = Words(
    "It is divided by n - 1, on the board by n.",
    "re-grpo 除以 n - 1，本面板除以 n。",
)
BATCH: Final = Words(
    "Each of its batches is padded by itself, on the board all rollouts of the step together.",
    "re-grpo 对每个批次分别填充，本面板把该步全部 rollout 一起填充。",
)
AT_END: Final = Words(
    "Logged once, at the end of the run.",
    "仅在训练结束时记录一次。",
)

RE_GRPO: Final = Dialect(
    "re-grpo",
    "re-grpo",
    at_end=("final/",),
)
