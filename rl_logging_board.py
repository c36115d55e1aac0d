"""RL Logging Board: the Streamlit entry. Page config, tabs, the top line with the run picker, the page; nothing else."""

import streamlit as st

from board.ui.frame import header, navigation, strip
from board.ui.state import place

st.set_page_config(page_title="RL Logging Board", layout="wide", initial_sidebar_state="collapsed")
# Not st.stop(): a script that ends so leaves the fragments of a reader who was let in before to run on.
if navigation.is_let_in():
    page, unknown = navigation.chosen()
    try:
        place.adopt()
        navigation.tabs(page)
        if unknown:
            header.not_found(unknown)
        elif not navigation.shows_run(page) or header.draw():
            with st.container(key="page_body"):
                page.run()
        place.write()
        strip.catch_up()
    finally:
        place.settle()
