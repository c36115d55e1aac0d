"""What several test files share: a clean machine for every test, the real server, a browser that notices what goes wrong."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Locator, Page, Request, expect, sync_playwright
from settling import tab

expect.set_options(timeout=30_000)  # a busy machine may take long to draw; what never comes fails all the same
settings.register_profile("board", deadline=None)  # time is for benchmarks/
settings.load_profile("board")

REPOSITORY = Path(__file__).parent.parent
CHROMIUM_SWITCHES = [
    "--no-sandbox",  # tests run as root in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60

Serve = Callable[..., str]
"""Called with a root folder and options, gives the address the server printed."""


@pytest.fixture(autouse=True)
def clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test sees another's cache, this user's home and settings or a root chosen by whoever runs the tests."""
    aside = tmp_path.with_name(f"{tmp_path.name}-home")
    monkeypatch.setenv("HOME", str(aside))
    monkeypatch.setenv("RL_BOARD_CACHE", str(aside / "cache"))
    for name in ("RL_BOARD_ROOT", "RL_BOARD_SETTINGS", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    # AppTest leaves the script it ran as the main module, and processes that a later test spawns would run it again.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    yield
    if streamlit := sys.modules.get("streamlit"):
        streamlit.cache_data.clear()
        streamlit.cache_resource.clear()


@pytest.fixture
def free_port() -> int:
    """A port of the loopback interface that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Starts the real server in a process of its own, on a free port; all of them stop with the session."""
    with ExitStack() as stop:

        def start(root: Path | str, *options: str, cwd: Path = REPOSITORY) -> str:
            folder = tmp_path_factory.mktemp("server")
            output = folder / "output.txt"
            process = subprocess.Popen(
                [sys.executable, "-m", "board", "serve", str(root), "--port", "0", *options],
                cwd=cwd,
                env=os.environ | {"HOME": str(folder), "RL_BOARD_CACHE": str(folder / "cache"), "PYTHONPATH": str(REPOSITORY)},
                stdin=subprocess.DEVNULL,
                stdout=stop.enter_context(output.open("wb")),
                stderr=subprocess.STDOUT,
            )
            stop.callback(_stopped, process)
            return _printed_address(process, output)

        yield start


def _stopped(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _printed_address(process: subprocess.Popen[bytes], output: Path) -> str:
    """The address in the server's output, once the health check answers there."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        address = next((word for word in output.read_text().split() if word.startswith("http://")), None)
        if address and _is_healthy(address):
            return address
        time.sleep(0.05)
    raise AssertionError(f"The server did not start:\n{output.read_text()}")


def _is_healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address.partition('?')[0]}_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="session")
def board_server(serve: Serve) -> str:
    """The address of a board over the runs that ship with it; it ends in a slash."""
    return serve(REPOSITORY / "rollout_samples")


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
    page.set_default_timeout(30_000)
    yield page
    context.close()
    assert not wrongs


@pytest.fixture
def view(serve: Serve, page: Page, tmp_path: Path, request: pytest.FixtureRequest) -> Locator:
    """The token view of the row that the test asks for."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "rank_0.jsonl").write_text(json.dumps(request.param) + "\n", encoding="utf-8")
    page.goto(serve(tmp_path))
    tab(page, "Tokens").click()
    expect(page.locator(".tv-tok").first).to_be_visible()
    # The link is written last: from here on no run of the script draws the view anew.
    expect(page).to_have_url(re.compile("granularity=token"))
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    return page.locator(".tv")
