"""Who may see the pages where readers log in, and the way out. By Streamlit's own log-in; nothing where nobody has to log in."""

import streamlit as st

from board.errors import BoardError
from board.serving import log_in
from board.ui.messages import notice


def is_let_in() -> bool:
    """Whether this session may see the pages; where not, draws why, and the ways to log in."""
    logged_in = st.user.get("is_logged_in")
    if logged_in is None and not log_in.ASKED.is_set():
        return True
    try:
        admission = log_in.admission(st.secrets.get("board", {}))
        auth = st.secrets["auth"]
    except (BoardError, KeyError, FileNotFoundError) as error:
        notice(
            f"Nobody can log in: {error}" if isinstance(error, BoardError) else "Nobody can log in: the file of secrets is gone.",
            "error",
        )
        return False
    claims = st.user.to_dict()
    if not logged_in:
        sentence = "Log in to see the runs on this board. A link that you followed here is to be opened once more afterwards."
    elif admission.is_over(claims):
        sentence = "Your log-in has ended. Log in again to see the runs on this board."
    elif not admission.admits(claims):
        who = str(claims.get("email") or "an account without an address")[:200]
        sentence = f"This board is not open to {who}. Log in with another account, or ask whoever runs it."
    else:
        return True
    with st.container(key="log_in"):
        st.text(sentence)
        named = [name for name, table in auth.items() if hasattr(table, "items") and "client_id" in table]
        for name in ["default", *named] if "client_id" in auth else named:
            words = "Log in" if name == "default" else f"Log in with {name}"
            st.button(words, key=f"log_in_{name}", type="primary", on_click=st.login, args=(name,))
    return False


def draw() -> None:
    """Draw the reader's address, as the provider tells it, and "Log out"."""
    if not st.user.get("is_logged_in"):
        return
    with st.container(key="account", horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.text(str(st.user.get("email") or st.user.get("name") or st.user.get("sub") or "")[:80], width=210, wrap=False)
        st.button("Log out", key="log_out", type="tertiary", on_click=st.logout)
