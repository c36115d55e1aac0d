"""Sentences on what no rollout of a run has: a word in a response, a reward."""

import numpy as np
import pandas as pd

from board.text.counting import plural


def without_responses(rollouts: pd.DataFrame) -> str:
    """That all responses are empty, one sentence without its full stop; empty where one is not, or where there are tokens in their place."""
    if "response_chars" not in rollouts or not (known := rollouts["response_chars"].dropna()).size or known.any():
        return ""
    if len(known) < len(rollouts):
        return ""
    lengths = rollouts["response_length"].to_numpy(np.float64) if "response_length" in rollouts else np.empty(0)
    tokens = ", though tokens were sampled" if (np.nan_to_num(lengths) > 0).any() else ""
    return f"All {len(rollouts):,} responses are empty{tokens}" if len(rollouts) > 1 else f"The only response is empty{tokens}"


def without_rewards(rollouts: pd.DataFrame) -> str:
    """That no rollout has a reward, one sentence without its full stop; empty where one has, or where there are no rollouts."""
    if rollouts.empty or ("reward" in rollouts and np.isfinite(rollouts["reward"].to_numpy(np.float64)).any()):
        return ""
    return f"No rollout has a reward ({plural(len(rollouts), 'rollout')})"


def warnings(rollouts: pd.DataFrame) -> list[str]:
    """Both, those that hold."""
    return [sentence for sentence in (without_responses(rollouts), without_rewards(rollouts)) if sentence]
