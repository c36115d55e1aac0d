"""RL Logging Board: the Streamlit entry. Page config, the top line with the run picker, navigation; nothing else."""

import streamlit as st

from board import session, topline

st.set_page_config(page_title="RL Logging Board", layout="wide", initial_sidebar_state="collapsed")
page = st.navigation(
    [
        st.Page("board/pages/rewards.py", title="Rewards", default=True),
        st.Page("board/pages/metrics.py", title="Metrics", url_path="metrics"),
        st.Page("board/pages/responses.py", title="Responses", url_path="responses"),
        st.Page("board/pages/tokens.py", title="Tokens", url_path="tokens"),
        st.Page("board/pages/doctor.py", title="Data", url_path="data"),
    ],
    position="top",
)
session.adopt_url()
if topline.draw():
    page.run()
session.write_url()
