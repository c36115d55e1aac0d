"""RL Logging Board: the Streamlit entry. Page config, tabs, the top line with the run picker, the page; nothing else."""

import streamlit as st

from board.ui import header, linked_widgets, navigation, not_found, place, strip

st.set_page_config(page_title="RL Logging Board", layout="wide", initial_sidebar_state="collapsed")
page, unknown = navigation.chosen()
try:
    place.adopt()
    draw_tabs = navigation.tabs()
    if unknown:
        not_found.page(unknown)
    elif not navigation.shows_run(page) or header.draw():
        page.run()
    place.write()
    draw_tabs()  # again: what the page chose for the reader, such as the step's first rollout, is in their links too
    strip.catch_up()
finally:
    linked_widgets.release()
