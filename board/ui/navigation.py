"""Finds the page that an address asks for, and draws the row of tabs that leads from page to page. Knows no run.

Streamlit's own navigation hides in a menu where the window is narrow, and its links leave the reader's place behind.
"""

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from board.serving.page_addresses import FORMER, TABS
from board.ui import account, place
from board.ui.components import key_list, page_links

_STYLE: Final = Path(__file__).with_name("frame.css")


def chosen() -> tuple[StreamlitPage, str]:
    """The page that the address asks for, and "" or the name it asks for where the board has no such page; none to who is not let in."""
    if not account.is_let_in():
        st.stop()
    pages = [*_pages().values()]
    name = asked_name(st.context.url or "", st.get_option("server.baseUrlPath"))
    unknown = name if name not in {tab.path for tab in TABS} else ""
    if unknown:  # with a page of that name Streamlit opens no dialog over the first page
        pages.append(st.Page(_nothing, title="No such page", url_path=unknown, visibility="hidden"))
    page = st.navigation(pages, position="hidden")
    if former := FORMER.get(page.url_path):  # the board's own server leads there before the page is loaded
        st.switch_page(_pages()[former.file], query_params=place.in_link())
    return page, unknown if page.url_path == unknown else ""


def _pages() -> dict[str, StreamlitPage]:
    """The pages by their files, made once for each reader: Streamlit looks each up on the disk."""
    pages: dict[str, StreamlitPage] | None = place.remembered("pages")
    if pages is None:
        pages = {tab.file: st.Page(tab.file, title=tab.title, url_path=tab.path, default=not tab.path) for tab in TABS}
        place.remember(pages=pages)
    return pages


def shows_run(page: StreamlitPage) -> bool:
    """Whether the page is of a run, and stands below the top line."""
    return next((tab.of_run for tab in TABS if tab.path == page.url_path), True)


def _nothing() -> None:
    """A page the board does not have."""


def asked_name(url: str, base: str) -> str:
    """The last part of the path in the browser's address, behind what all addresses begin with; empty where there is none, as in tests."""
    path = urlsplit(url).path
    first_page = path.strip("/") == unquote(base).strip("/")
    return "" if first_page else unquote(path.rpartition("/")[2])


def tabs(page: StreamlitPage) -> None:
    """Draw the row of tabs, each a link to its page with the reader's whole place; that of `page` is marked."""
    st.html(_STYLE)
    with st.container(key="tabs"):
        links = [page_links.PageLink(tab.title, tab.path) for tab in TABS]
        page_links.show(links, chosen=page.url_path, label="Pages", key="tabs_row")
    key_list.show()
    account.draw()
