"""How long a browser is busy after a click: a watch put into every page, and the question to it. Knows Streamlit's page, not ours."""

from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Page

QUIET_MILLISECONDS: Final = 400
"""Idle is what nothing followed for so long. Only the time until the last activity counts, not this."""

TIMEOUT_MILLISECONDS: Final = 60_000

WATCH: Final = """
window.idle = { from: 0, seen: 0, last: 0 };
const active = (at, seen) => {
  idle.last = Math.max(idle.last, at);
  if (seen) idle.seen = Math.max(idle.seen, at);
};
const isPainted = ({ target }) => !(target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement)?.closest('canvas');
const changes = new MutationObserver((records) => active(performance.now(), records.some(isPainted)));
const everything = { subtree: true, childList: true, characterData: true, attributes: true };
changes.observe(document, everything);
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (...asked) {
  const root = attach.apply(this, asked);
  changes.observe(root, everything);
  return root;
};
new PerformanceObserver((list) => list.getEntries().forEach((task) => active(task.startTime + task.duration, true)))
  .observe({ type: 'longtask' });
for (const kind of ['click', 'keydown']) {
  addEventListener(kind, (event) => { if (event.isTrusted) idle.from = idle.seen = idle.last = event.timeStamp; }, true);
}
"""
"""Notes when the reader last clicked or pressed a key, and when the page last changed, shadow roots too, or ended a long task.

What stands inside a canvas is never painted: a change of it is the page's last, but not the last that can be seen."""

IS_IDLE: Final = """(quiet) => {
  const app = document.querySelector('[data-testid=stApp]');
  const ready = app?.dataset.testScriptState === 'notRunning' && app?.dataset.testConnectionState === 'CONNECTED';
  return ready && performance.now() - idle.last > quiet;
}"""


def watch(page: Page) -> None:
    """To be called before the page is opened."""
    page.add_init_script(WATCH)


def settle(page: Page) -> None:
    """Wait until the script has run, the server is connected and nothing has changed for QUIET_MILLISECONDS."""
    page.wait_for_function(IS_IDLE, arg=QUIET_MILLISECONDS, timeout=TIMEOUT_MILLISECONDS, polling=50)


@dataclass(frozen=True)
class Busy:
    """How long a page was busy after a click, in milliseconds."""

    seen: float
    """Until the last change that is painted, or the end of the last long task."""
    altogether: float
    """Until the last change of any kind."""


def busy(page: Page) -> Busy:
    """From the last click or key, once the page is idle."""
    settle(page)
    return Busy(*page.evaluate("[idle.seen - idle.from, idle.last - idle.from]"))
