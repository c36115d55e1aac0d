"""When a page of the board in a browser has come to rest."""

from typing import Final

from playwright.sync_api import Page

CALM_MILLISECONDS: Final = 150
"""So long must nothing run: between a click and the script's start, and between a page's arrival and its first run, nothing runs either."""

_CALM: Final = """
(milliseconds) => {
    const app = document.querySelector('[data-testid="stApp"]');
    const state = app?.dataset ?? {};
    const rests = state.testScriptState === 'notRunning' && state.testConnectionState === 'CONNECTED'
        && document.querySelector('[data-testid="stTopNavLink"]') !== null;
    const now = performance.now();
    window.boardRestsSince = rests ? window.boardRestsSince ?? now : null;
    return rests && now - window.boardRestsSince >= milliseconds;
}
"""


def settled(page: Page) -> None:
    """Wait until the script has run, nothing more comes, and the browser has drawn."""
    page.evaluate("() => { window.boardRestsSince = null; }")
    page.wait_for_function(_CALM, arg=CALM_MILLISECONDS, polling=50, timeout=60_000)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
