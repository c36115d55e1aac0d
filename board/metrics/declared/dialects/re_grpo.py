"""re-grpo. It averages its KL over the padded batch and advantages over rollouts, hence keys of their own; `final/` comes once, at the end."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

SAMPLE: Final = Words(
    "It is divided by n - 1, on the board by n.",
    "re-grpo 除以 n - 1，本面板除以 n。",
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
