"""Which fields of a rollout the quantities are made of that metrics are statistics of. Data only: what they are is in `board.metrics`."""

from collections.abc import Mapping
from typing import Final

from board.schema import TOKEN_METRICS, TOKENS, title

_REFERENCE: Final = ("logprobs", "ref_logprobs")
_ENGINE: Final = ("logprobs", "rollout_logprobs")
_CHANGE: Final = ("logprobs", "old_logprobs")
_CREDIT: Final = ("logprobs", "advantages")
_CRITIC: Final = ("values", "returns")
_MONTE_CARLO: Final = ("values", "token_rewards")

DERIVED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("log_ratio", "kl_k2", "kl_k3"), _REFERENCE),
    **dict.fromkeys(("value_error", "valued_return"), _CRITIC),
    **dict.fromkeys(("td_error", "value_error_mc", "valued_return_mc"), _MONTE_CARLO),
    **dict.fromkeys(("mismatch", "mismatch_abs", "mismatch_error", "mismatch_k3", "mismatch_weight"), _ENGINE),
    **dict.fromkeys(("trained_prob", "sampled_prob", "prob_sum", "prob_gap"), _ENGINE),
    "trained_logprob": ("logprobs",),
    "end_token": (TOKENS,),
    **dict.fromkeys(("credited_logprob", "credited_advantage", "logprob_advantage"), _CREDIT),
    **dict.fromkeys(("update", "update_ratio", "update_k2", "clip_low", "clip_high"), _CHANGE),
    "clipped": (*_CHANGE, "advantages"),
}
"""Numbers per token that are not one of the row's own arrays → the arrays they need; `board.metrics.token_sums` computes them."""

PER_TOKEN: Final[Mapping[str, tuple[str, ...]]] = {
    **{title(name): (name,) for name in TOKEN_METRICS if name != "loss_mask"},
    **DERIVED,
}
"""All numbers per token; the row's own arrays go by their screen names ("logprob")."""

PER_ROLLOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "reward_gap": ("reward", "ref_reward"),
    "truncated": ("finish_reason",),
}
"""Numbers per rollout that are made of other fields → those fields; every other one is a field."""
