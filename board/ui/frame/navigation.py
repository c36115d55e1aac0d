"""The page of an address, the row of tabs, and who may see the pages.

Streamlit's own navigation hides in a menu where the window is narrow, and its links leave the reader's place behind.
"""

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from board.errors import BoardError
from board.serving import log_in
from board.serving.page_addresses import FORMER, TABS
from board.ui.components import key_list, page_links
from board.ui.shared.messages import notice
from board.ui.state import place


def is_let_in() -> bool:
    """Whether this session may see the pages; where not, draws why, and the ways to log in."""
    logged_in = st.user.get("is_logged_in")
    if logged_in is None and not log_in.REQUIRED.is_set():
        return True
    try:
        admission = log_in.admission(st.secrets.get("board", {}))
        auth = st.secrets["auth"]
    except (BoardError, KeyError, FileNotFoundError) as error:
        notice(
            f"No one can log in: {error}" if isinstance(error, BoardError) else "No one can log in: the file of secrets is gone.",
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
        sentence = f"This board is not open to {who}. Log in with another account, or ask the person who runs it."
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
    """Draw the reader's e-mail address or name, as the provider gives it, and "Log out"."""
    if not st.user.get("is_logged_in"):
        return
    with st.container(key="account", horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.text(str(st.user.get("email") or st.user.get("name") or st.user.get("sub") or "")[:80], width=210, wrap=False)
        st.button("Log out", key="log_out", type="tertiary", on_click=st.logout)


_STYLE: Final = Path(__file__).with_name("frame.css")


def chosen() -> tuple[StreamlitPage, str]:
    """The page of the address, and the name in the address if the board has no such page, else ""."""
    pages = [*_pages().values()]
    name = requested_page(st.context.url or "", st.get_option("server.baseUrlPath"))
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


def requested_page(url: str, base: str) -> str:
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
    draw()
