"""What browser tests share: a browser, and a tab that notices what goes wrong."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect, sync_playwright
from rows import add_run
from servers import Serve, Written, WrittenRun
from settling import settled

expect.set_options(timeout=60_000)  # a busy machine may take long to draw; what never comes fails all the same

CHROMIUM_SWITCHES = [
    "--no-sandbox",  # tests run as root in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, for one test file: its event loop occupies the thread, which AppTest in other files does not bear."""
    chromium = shutil.which("chromium")
    if chromium is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI runs the browser tests, and there is no chromium.")
        pytest.skip("there is no chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh browser tab; the test fails if a script throws, the console reports an error or another host is asked."""
    wrongs: list[str] = []

    def watch(request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
            wrongs.append(f"fetched {request.url}")

    context = browser.new_context(viewport={"width": 1400, "height": 1000}, color_scheme="light")
    page = context.new_page()
    page.on("pageerror", lambda error: wrongs.append(f"threw {error}"))
    page.on("console", lambda message: wrongs.append(f"console: {message.text}") if message.type == "error" else None)
    page.on("request", watch)
    page.set_default_timeout(60_000)
    yield page
    context.close()
    assert not wrongs


@pytest.fixture(scope="session")
def written(serve_session: Serve, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Writes a run in one shard, `rank_0.jsonl`; all are on one server, which no test may change in another way."""
    root, numbers = tmp_path_factory.mktemp("runs"), count()
    address = serve_session(root)

    def write(rows: Iterable[Mapping[str, Any]], page: str = "") -> WrittenRun:
        folder = add_run(root, f"run-{next(numbers)}", rows)
        return WrittenRun(f"{address}{page}?run={folder.name}", folder)

    return write


@pytest.fixture
def view(written: Written, page: Page, request: pytest.FixtureRequest) -> Locator:
    """The token view of the row that the test asks for."""
    page.goto(written([request.param], "tokens").link)
    expect(page.locator(".tv-tok").first).to_be_visible()
    # The link is written last: from here on no run of the script draws the view anew.
    expect(page).to_have_url(re.compile("granularity=token"))
    settled(page)
    return page.locator(".tv")
