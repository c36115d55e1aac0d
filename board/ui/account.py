"""Who is logged in, and the way out; nothing where nobody has to log in. Decides nothing: `board.serving.login_gate` lets nobody past it."""

import streamlit as st

from board.ui.messages import notice


def is_missing() -> bool:
    """Whether a log-in is asked for by a server that cannot ask, as under plain `streamlit run`; then says what to do."""
    if st.user.get("is_logged_in") is not False:
        return False
    notice("This board asks its readers to log in, which `rl-logging-board serve` alone can do: start it by that.", "error")
    return True


def draw() -> None:
    """Draw the reader's address, as the provider tells it, and "Log out"."""
    if not st.user.get("is_logged_in"):
        return
    with st.container(key="account", horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.text(str(st.user.get("email") or st.user.get("name") or st.user.get("sub") or "")[:80])
        if st.button("Log out", key="log_out", type="tertiary"):
            st.logout()
