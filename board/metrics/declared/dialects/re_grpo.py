"""re-grpo. Its KL is averaged over the padded batch and its advantages over rollouts, hence keys of their own."""

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
)
