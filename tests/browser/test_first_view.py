"""The first screen of every page as a browser loads it."""

import re

from playwright.sync_api import Page
from settling import settled

from board.serving.page_addresses import TABS

_ASKED = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"


def test_a_page_names_the_scripts_of_its_first_screen(board_server: str, page: Page) -> None:
    """Whatever script a first screen asks for stands in the page's HTML, so that the browser has it before the elements come."""
    late: dict[str, set[str]] = {}
    for tab in TABS:
        answer = page.goto(f"{board_server}{tab.path}?run=tiny_ppo_hacked&step=5")
        assert answer is not None
        named = {f"/static/js/{name}" for name in re.findall(r'"\./static/js/([^"]+\.js)"', answer.text())}
        settled(page)
        late[tab.title] = {path for path in page.evaluate(_ASKED) if path.endswith(".js")} - named
    assert late == {tab.title: set() for tab in TABS}


def test_a_page_asks_for_its_server_in_one_place(board_server: str, page: Page) -> None:
    """That is beside the page, never below it, and the connection does not wait for the answer."""
    page.goto(f"{board_server}responses?run=tiny_ppo_hacked&step=5")
    settled(page)
    probes = [path for path in page.evaluate(_ASKED) if "/_stcore/" in path]
    assert {path for path in probes if "bidi-components" not in path} == {"/_stcore/health", "/_stcore/host-config"}
