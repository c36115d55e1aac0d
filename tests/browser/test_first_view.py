"""What a browser is sent of a component's script, and how often."""

import re

from playwright.sync_api import Page, WebSocket, expect
from settling import settled

from board.serving import component_scripts
from board.serving.page_addresses import TABS

_ASKED = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"


def test_every_script_of_a_component_is_asked_for_once(board_server: str, page: Page) -> None:
    """Whatever page has it: the browser keeps it under its address."""
    names = {f"/{component_scripts.PATH}/{path.name}" for path in component_scripts.BUILT.iterdir()}
    for tab in TABS:
        page.goto(f"{board_server}{tab.path}?run=tiny_ppo_hacked&step=5")
        settled(page)
        asked = [path for path in page.evaluate(_ASKED) if path.startswith(f"/{component_scripts.PATH}/")]
        assert 0 < len(asked) == len(set(asked)), tab.title
        assert set(asked) <= names


def test_no_message_brings_a_script(board_server: str, page: Page) -> None:
    """Neither with the first screen nor with a click: what is sent says where it is."""
    sent: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: sent.append(frame if isinstance(frame, bytes) else frame.encode()))

    page.on("websocket", listen)
    page.goto(f"{board_server}tokens?run=tiny_ppo_hacked&step=5")
    settled(page)
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile("step=6"))
    settled(page)
    assert len([one for one in sent if b"rl_logging_board.token_view" in one]) > 1
    assert not [one[:200] for one in sent if b"export default function" in one]
