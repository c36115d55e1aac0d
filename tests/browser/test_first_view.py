"""The first screen of every page as a browser loads it."""

import re

from playwright.sync_api import Page
from settling import settled

from board.serving.page_addresses import TABS

_ASKED = (
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => /\\.js$/.test(path))"
)


def test_a_page_names_the_scripts_of_its_first_screen(board_server: str, page: Page) -> None:
    """Whatever script a first screen asks for stands in the page's HTML, so that the browser has it before the elements come."""
    late: dict[str, set[str]] = {}
    for tab in TABS:
        answer = page.goto(f"{board_server}{tab.path}?run=tiny_ppo_hacked&step=5")
        assert answer is not None
        named = {f"/static/js/{name}" for name in re.findall(r'"\./static/js/([^"]+\.js)"', answer.text())}
        settled(page)
        late[tab.title] = set(page.evaluate(_ASKED)) - named
    assert late == {tab.title: set() for tab in TABS}
