"""The page that `token_view.py` measures: made-up tokens, as many as the address says, and a button for the next rollout."""

import numpy as np
import streamlit as st

from board.ui.components.token_view import show

METRICS = ("kl", "log_ratio", "entropy", "logprob", "ref_logprob", "prob", "ref_prob", "value", "advantage", "token_reward")
WORDS = (
    " the",
    " sum",
    " of",
    " x",
    " is",
    " 12",
    ",",
    " so",
    " we",
    " have",
    " therefore",
    ".\n",
    " check",
    " again",
    "今日",
    " =",
    "ing",
)


@st.cache_resource(max_entries=8)
def rollout(n: int, seed: int) -> tuple[list[str], dict[str, np.ndarray]]:
    """`n` tokens and ten metrics, with one spike of KL three quarters in."""
    random = np.random.default_rng(seed)
    tokens = [WORDS[i] for i in random.integers(0, len(WORDS), n)]
    metrics = {name: random.gamma(0.3, 1.0, n).astype(np.float32) for name in METRICS}
    for name in ("log_ratio", "value", "advantage", "token_reward"):
        metrics[name] *= random.choice([-1, 1], n)
    for name in ("logprob", "ref_logprob"):
        metrics[name] *= -1
    for name in ("prob", "ref_prob"):
        metrics[name] = np.exp(-metrics[name])
    if n:
        metrics["kl"][3 * n // 4] = 80
    return tokens, metrics


st.title("Token view")
seed = st.session_state.setdefault("seed", 0)
tokens, metrics = rollout(int(st.query_params.get("n", 100)), seed)
result = show(tokens, metrics, metric=st.session_state.get("metric", "kl"), key="tokens")
st.session_state["metric"] = result.metric or "kl"
if st.button("next rollout"):
    st.session_state["seed"] += 1
    st.rerun()
