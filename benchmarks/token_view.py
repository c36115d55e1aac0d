"""How fast the token view is at any length: `python benchmarks/token_view.py` prints a table. Needs playwright and chromium.

A small Streamlit page is opened in Chromium at 100, 2,000, 32,000 and 128,000 tokens of ten metrics; the sizes take turns, so
that a busy machine slows them all alike, and each figure is the median of five. Times are those of the browser's own clock.
"""

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, WebSocket, sync_playwright

HERE = Path(__file__).parent
SIZES = (100, 2_000, 32_000, 128_000)
LATER = {32_000: 200.0, 128_000: 600.0}
RECOLOUR = 100.0
LONG_TASK = 100.0

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


def main() -> None:
    """Measure and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    rounds = options.parse_args().rounds
    chromium = shutil.which("chromium") or sys.exit("There is no chromium.")
    runs: dict[int, list[dict[str, float]]] = {n: [] for n in SIZES}
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        warm(browser, address)
        for _ in range(rounds):
            for n in SIZES:
                runs[n].append(measured(browser, f"{address}?n={n}"))
        browser.close()
    print(table({n: {name: statistics.median(run[name] for run in found) for name in found[0]} for n, found in runs.items()}))


QUIET_CHECKS = 4
QUIET_MILLISECONDS = 300


@contextmanager
def served() -> Iterator[str]:
    """The address of the page, served by a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    page = str(HERE / "token_view_page.py")
    flags = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": HERE.parent}
    command = [sys.executable, "-m", "streamlit", "run", page, *flags, "--browser.gatherUsageStats", "false"]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(HERE.parent)}, **quiet)
    try:
        for _ in range(300):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                break
            time.sleep(0.1)
        else:
            raise SystemExit("The page's server did not start within 30 seconds.")
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def warm(browser: Browser, address: str) -> None:
    """Makes the server draw up every rollout once, so that no measured page waits for random numbers."""
    for n in SIZES:
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


def table(medians: dict[int, dict[str, float]]) -> str:
    """The figures as Markdown, each goal with whether it is met."""
    least = medians[SIZES[0]]["paint"]
    lines = [
        "| tokens | painted after (ms) | later than 100 (ms) | recolour (ms) | longest task, scrolling (ms)"
        " | longest task, opening (ms) | JS heap (MB) | bytes first | on a colour change | next rollout |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for n, found in medians.items():
        cells = [
            f"{n:,}",
            f"{found['paint']:.0f}",
            goal(found["paint"] - least, LATER.get(n)),
            goal(found["recolour"], RECOLOUR),
            goal(found["scroll_task"], LONG_TASK),
            f"{found['load_task']:.0f}",
            f"{found['heap']:.0f}",
            *(f"{found[name]:,.0f}" for name in ("first_bytes", "colour_bytes", "next_bytes")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def goal(value: float, most: float | None) -> str:
    """The figure, and whether it keeps within its goal."""
    if most is None:
        return f"{value:.0f}"
    return f"{value:.0f} (goal {most:.0f}: {'met' if value <= most else 'NOT met'})"


if __name__ == "__main__":
    main()
