"""The board's real server, or a page of ours, in a process of its own; and Chromium. What browser benchmarks share."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

REPOSITORY: Final = Path(__file__).parent.parent
START_SECONDS: Final = 30


@contextmanager
def served_board(root: Path, cache: Path, checkout: Path = REPOSITORY, options: Sequence[str] = ()) -> Iterator[tuple[str, int]]:
    """The address of a board over the runs under `root`, and the process that serves it; `checkout` holds the board's code."""
    with served(["-m", "board", "serve", str(root), *options], "--port", {"RL_BOARD_CACHE": str(cache)}, checkout) as found:
        yield found


@contextmanager
def served_page(script: Path) -> Iterator[str]:
    """The address of one Streamlit script."""
    flags = ["--server.address", "127.0.0.1", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    with served(["-m", "streamlit", "run", str(script), *flags], "--server.port", {}) as (address, _):
        yield address


@contextmanager
def served(
    command: Sequence[str], port_option: str, environment: dict[str, str], checkout: Path = REPOSITORY
) -> Iterator[tuple[str, int]]:
    """A server started with Python on a free port; it ends with the block. Raises RuntimeError when it does not start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, *command, port_option, port],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        _wait_for(address, process)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{address}_stcore/health", timeout=2):
            return
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start within {START_SECONDS} seconds.")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium without a graphics card. Raises RuntimeError where there is none."""
    path = shutil.which("chromium")
    if path is None:
        raise RuntimeError("There is no chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
