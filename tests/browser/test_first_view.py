"""The first screen of every page as a browser loads it."""

import re

from playwright.sync_api import Page, WebSocket, expect
from settling import settled

from board.serving import component_scripts
from board.serving.page_addresses import TABS

_ASKED = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"


def test_a_page_names_the_scripts_of_its_first_screen(board_server: str, page: Page) -> None:
    """All that a first screen asks for stand in the page's HTML, so that the browser has them before the elements come: but for those of
    large components, each alone."""
    scripts = component_scripts.component_scripts()
    large = {f"/{component_scripts.PATH}/{name}" for name in scripts.contents if name != scripts.of_all_pages}
    late: dict[str, set[str]] = {}
    page.goto(board_server)  # with the first page of all they are made
    settled(page)
    for tab in TABS:
        answer = page.goto(f"{board_server}{tab.path}?run=tiny_ppo_hacked&step=5")
        assert answer is not None
        named = {f"/{path}" for path in re.findall(r'"\./([^"]+\.js)"', answer.text())}
        settled(page)
        asked = [path for path in page.evaluate(_ASKED) if path.endswith(".js")]
        assert len(asked) == len(set(asked)), tab.title
        late[tab.title] = set(asked) - named
    assert set().union(*late.values()) <= large
    assert max(len(asked) for asked in late.values()) <= 2


def test_no_message_brings_a_script(board_server: str, page: Page) -> None:
    """Neither with the first screen nor with a click: a browser has them, by their addresses, and makes no files of what is sent."""
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
    assert page.evaluate("performance.getEntriesByType('resource').filter(({ name }) => name.startsWith('blob:')).length") == 0
    assert not [one[:200] for one in sent if b"export default function" in one]


def test_what_comes_later_comes_from_the_same_folder(board_server: str, page: Page) -> None:
    """Plotly, which is not merged, takes what it shares with Streamlit out of the merged script, and works."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=5")
    settled(page)
    page.mouse.wheel(0, 20_000)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    scripts = [path for path in page.evaluate(_ASKED) if path.startswith("/static/") and path.endswith(".js")]
    assert any("PlotlyChart." in path for path in scripts)
    assert len({path.rpartition("/")[0] for path in scripts}) == 1


def test_a_page_asks_for_its_server_in_one_place(board_server: str, page: Page) -> None:
    """That is beside the page, never below it, and the connection does not wait for the answer."""
    page.goto(f"{board_server}responses?run=tiny_ppo_hacked&step=5")
    settled(page)
    probes = [path for path in page.evaluate(_ASKED) if "/_stcore/" in path]
    assert {path for path in probes if "bidi-components" not in path} == {"/_stcore/health", "/_stcore/host-config"}


_COUNT_STAND_INS = """
window.standIns = 0;
const isStandIn = (node) => node.nodeType === 1 && node.matches("[data-testid=stSkeleton], :has([data-testid=stSkeleton])");
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) standIns += [...addedNodes].filter(isStandIn).length;
}).observe(document, { subtree: true, childList: true });
"""


def test_nothing_stands_in_for_an_element(board_server: str, page: Page) -> None:
    """Every element of a first screen is drawn at once: what React draws in the place of one may stay for half a second."""
    page.add_init_script(_COUNT_STAND_INS)
    stood_in: dict[str, int] = {}
    for tab in TABS:
        page.goto(f"{board_server}{tab.path}?run=tiny_ppo_hacked&step=5")
        settled(page)
        stood_in[tab.title] = page.evaluate("standIns")
    assert stood_in == {tab.title: 0 for tab in TABS}
