"""When a page of the board in a browser has come to rest."""

from typing import Final

from playwright.sync_api import Locator, Page

BACKGROUND_MILLISECONDS: Final = 300_000
"""For what a process of low priority finds out: busy cores leave it a tenth of one, or less."""

CALM_MILLISECONDS: Final = 200
"""So long must nothing run: between a click and the script's start, and between a page's arrival and its first run, nothing runs either."""

_CALM: Final = """
(milliseconds) => {
    const app = document.querySelector('[data-testid="stApp"]');
    const state = app?.dataset ?? {};
    const now = performance.now();
    const looked = window.boardLookedAt ?? now;
    const began = window.boardBegan ?? (window.boardBegan = now);
    window.boardLookedAt = now;
    // The script may have ended long before the browser has built what it sent: then looks come late. A slow machine is given longer.
    const busy = now - looked > 100 + (now - began) / 40;
    const shown = (name) => document.querySelector(`[data-testid="${name}"]`) !== null;
    const built = document.querySelector('.st-key-tabs a') !== null && !shown('stSkeleton');
    const rests = state.testScriptState === 'notRunning' && state.testConnectionState === 'CONNECTED' && built && !busy;
    window.boardRestsSince = rests ? window.boardRestsSince ?? now : null;
    return rests && now - window.boardRestsSince >= milliseconds;
}
"""

_DRAWN: Final = """
() => new Promise(done => requestIdleCallback(
    () => requestAnimationFrame(() => requestAnimationFrame(done)), {timeout: 5000}
))
"""


def settled(page: Page) -> None:
    """Wait until the script has run, nothing more comes, and the browser has built and drawn it and listens to keys."""
    page.evaluate("() => { window.boardRestsSince = window.boardLookedAt = window.boardBegan = null; }")
    page.wait_for_function(_CALM, arg=CALM_MILLISECONDS, polling=50, timeout=60_000)
    page.evaluate(_DRAWN)


def tab(page: Page, name: str) -> Locator:
    """The link to a page of the board, in the row that every page has."""
    return page.locator(".st-key-tabs").get_by_role("link", name=name, exact=True)
