"""The board under plain `streamlit run`, without its own server, in a real browser."""

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from board.serving.page_addresses import FORMER, TABS

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the entry script as Streamlit alone serves it; it ends in a slash."""
    home = tmp_path_factory.mktemp("home")
    with (home / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "rl_logging_board.py", "--server.port", "0", "--", "rollout_samples"],
            cwd=REPOSITORY,
            env=os.environ | {"HOME": str(home), "RL_BOARD_CACHE": str(home / "cache"), "RL_BOARD_FINDINGS": "off"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _address(process, home / "output.txt")
    finally:
        process.terminate()
        process.wait(timeout=30)


def _address(process: subprocess.Popen[bytes], output: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"http://\S+:([0-9]+)", output.read_text()):
            address = f"http://127.0.0.1:{found[1]}/"
            try:
                urllib.request.urlopen(f"{address}_stcore/health", timeout=5).close()
            except OSError:
                continue
            return address
        time.sleep(0.1)
    raise AssertionError(f"Streamlit did not start:\n{output.read_text()}")


def test_every_page_opens_by_its_address(plain: str, browser: Browser) -> None:
    """Each page's address, and each former one, opens that page with the run and the step of the link, and no error."""
    page = browser.new_page(bypass_csp=True)
    wrong = []
    for path, tab in ({tab.path: tab for tab in TABS} | FORMER).items():
        page.goto(f"{plain}{path}?run=tiny_ppo_eval&step=20")
        expect(page.locator("[aria-current=page]")).to_have_text(tab.title, timeout=60_000)
        if page.locator("[data-testid=stException]").count() or "step=20" not in page.url:
            wrong.append((path, page.url))
    page.close()

    assert wrong == []
