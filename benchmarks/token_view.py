"""How fast the token view is at any length, in Chromium, by the browser's own clock.

A small Streamlit page is opened at 100, 2,000, 32,000, 128,000 and 1,000,000 tokens of ten metrics; the sizes take turns, so that a busy
machine slows them all alike. The longest has fewer rounds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, WebSocket

from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure
from benchmarks.serving import chromium, served_page

PAGE: Final = Path(__file__).with_name("token_view_page.py")
SIZES: Final = (100, 2_000, 32_000, 128_000, 1_000_000)
QUIET_CHECKS: Final = 4
QUIET_MILLISECONDS: Final = 300
MEASURES: Final = {
    "paint": ("painted after (ms)", "ms"),
    "later": ("later than 100 (ms)", "ms"),
    "recolour": ("recolour (ms)", "ms"),
    "scroll_task": ("longest task, scrolling (ms)", "ms"),
    "load_task": ("longest task, opening (ms)", "ms"),
    "heap": ("JS heap (MB)", "MB"),
    "first_bytes": ("bytes first", "bytes"),
    "colour_bytes": ("bytes on a colour change", "bytes"),
    "next_bytes": ("bytes, next rollout", "bytes"),
}
GOAL_OF: Final[dict[tuple[str, int | None], str]] = {
    ("paint", 32_000): "tokens_32k",
    ("paint", 1_000_000): "tokens_million",
    ("recolour", None): "tokens_recolour",
}
NOTE: Final = (
    "Painted: two frames after the first token is in the page, from the start of its loading. Recolour: two frames after the click. "
    "Scrolling: 60 jumps. Bytes: what the server sends on the web socket."
)

WATCH = """
window.tv = { roots: [], painted: null, tasks: [] };
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (...asked) {
  tv.roots.push(attach.apply(this, asked));
  return tv.roots.at(-1);
};
tv.find = (what) => tv.roots.map((root) => root.querySelector(what)).find(Boolean) ?? null;
tv.frames = (then) => requestAnimationFrame(() => requestAnimationFrame(() => then(performance.now())));
const look = () => (tv.find('.tv-tok') ? tv.frames((at) => { tv.painted = at; }) : requestAnimationFrame(look));
look();
new PerformanceObserver((list) => tv.tasks.push(...list.getEntries().map((task) => task.duration))).observe({ type: 'longtask' });
"""
RECOLOURED = """() => new Promise((done) => {
  const buttons = [...tv.find('.tv-chooser').querySelectorAll('.tv-metric')];
  const wanted = buttons.find((button) => button.getAttribute('aria-checked') !== 'true');
  const from = performance.now();
  wanted.click();
  tv.frames((at) => done(at - from));
})"""
SCROLLED = """() => new Promise((done) => {
  const text = tv.find('.tv-text');
  tv.tasks.length = 0;
  let step = 0;
  const next = () => {
    step += 1;
    text.scrollTop = step <= 30 ? step * 200 : text.scrollHeight * ((step * 7919) % 101) / 101;
    if (step < 60) requestAnimationFrame(next);
    else setTimeout(() => done(Math.max(0, ...tv.tasks)), 200);
  };
  next();
})"""


def sections(plan: Plan, _: Path) -> Iterator[Section]:
    """One table, a row for each length."""
    runs: dict[int, list[dict[str, float]]] = {n: [] for n in SIZES}
    with served_page(PAGE) as address, chromium() as browser:
        warm(browser, address)
        for at in range(plan.rounds):
            for n in SIZES if at < plan.large_rounds else SIZES[:-1]:
                say(f"token_view: {n:,} tokens, round {at + 1} of {plan.rounds}")
                runs[n].append(measured(browser, f"{address}?n={n}"))
    yield table(runs)


def warm(browser: Browser, address: str) -> None:
    """Makes the server draw up every rollout once, so that no measured page waits for random numbers."""
    for n in SIZES:
        say(f"token_view: warming up {n:,} tokens")
        measured(browser, f"{address}?n={n}")


def measured(browser: Browser, address: str) -> dict[str, float]:
    """The figures of one page load, in milliseconds, bytes and megabytes."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    wire = Wire(page)
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_function("tv.painted !== null", timeout=60_000)
    wire.settle(page)
    found = {"paint": float(page.evaluate("tv.painted")), "load_task": float(page.evaluate("Math.max(0, ...tv.tasks)"))}
    found["first_bytes"] = wire.taken()
    found["recolour"] = float(page.evaluate(RECOLOURED))
    wire.settle(page)
    found["colour_bytes"] = wire.taken()
    found["scroll_task"] = float(page.evaluate(SCROLLED))
    found["heap"] = float(page.evaluate("performance.memory.usedJSHeapSize / 1e6"))
    wire.taken()
    page.get_by_role("button", name="next rollout").click()
    wire.settle(page)
    found["next_bytes"] = wire.taken()
    context.close()
    return found


class Wire:
    """Counts what the server sends to a page."""

    def __init__(self, page: Page) -> None:
        self._bytes = 0
        page.on("websocket", self._listen)

    def _listen(self, websocket: WebSocket) -> None:
        websocket.on("framereceived", self._count)

    def _count(self, payload: str | bytes) -> None:
        self._bytes += len(payload)

    def settle(self, page: Page) -> None:
        """Wait until the script has run and nothing has come for QUIET_CHECKS looks in a row, so that no byte is missed."""
        quiet, seen = 0, -1
        while quiet < QUIET_CHECKS:
            page.wait_for_timeout(QUIET_MILLISECONDS)
            running = page.locator("[data-testid=stApp]").get_attribute("data-test-script-state") != "notRunning"
            quiet = 0 if running or self._bytes != seen else quiet + 1
            seen = self._bytes

    def taken(self) -> float:
        """Bytes since the last question."""
        taken, self._bytes = self._bytes, 0
        return float(taken)


def table(runs: dict[int, list[dict[str, float]]]) -> Section:
    """The figures of each length; "later" is against the shortest in the same round."""
    columns = ("tokens", *(title for title, _ in MEASURES.values()))
    rows = tuple((f"{n:,}", *cells(n, found, runs[SIZES[0]])) for n, found in runs.items())
    return Section("token_view", "Token view by length of the response", columns, rows, NOTE)


def cells(n: int, found: list[dict[str, float]], shortest: list[dict[str, float]]) -> Iterator[Cell]:
    """One length's figures, in the order of MEASURES."""
    later = [{"later": one["paint"] - least["paint"], **one} for one, least in zip(found, shortest, strict=False)]
    for name, (_, unit) in MEASURES.items():
        yield figure([one[name] for one in later], unit, GOAL_OF.get((name, n)) or GOAL_OF.get((name, None)))
