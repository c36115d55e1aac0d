"""Takes the README's pictures from the running board: `python assets/take_pictures.py [NAME ...]`, with the test requirements installed.

Starts the board over the bundled runs, opens a few views of the run with the exploited reward, or those that are named, and writes PNG files
beside itself.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
READY = '[data-testid="stApp"][data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
SIZE = {"width": 1400, "height": 960}

VIEWS = {
    "rewards": "?run=tiny_ppo_hacked&step=18",
    "findings": "findings?run=tiny_ppo_hacked",
    "metrics": "metrics?run=tiny_ppo_hacked&step=18",
    "responses": "responses?run=tiny_ppo_hacked&step=20",
    "tokens": "tokens?run=tiny_ppo_hacked&step=20&metric=log_ratio",
    "steps": "steps?run=tiny_ppo_hacked&step=18&steps_view=Scatter&scatter_scope=All steps",
    "groups": "groups?run=tiny_ppo_hacked&step=20&group=20",
    "prompts": "prompts?run=tiny_ppo_hacked&step=40",
    "all_tokens": "all_tokens?run=tiny_ppo_hacked&step=40",
    "compare": "compare?run=tiny_ppo_rhyme&beside=tiny_ppo_hacked&step=20",
    "compare-opened": "compare?run=tiny_ppo_rhyme&beside=tiny_ppo_hacked&step=20&pair_prompt=-7266672849974185428&metric=log_ratio",
    "compare-curves": "?run=tiny_ppo_rhyme&beside=tiny_ppo_hacked&along=rollouts&step=60",
    "search": "search?run=tiny_ppo_hacked&step=40&q=early May&filter=valid_reward < 0.3",
    "export": "responses?run=tiny_ppo_hacked&filter=step BETWEEN 20 AND 40%0Avalid_reward < 0.2",
}
"""Picture name → what to open."""

SCROLLED = {"compare-opened": ".st-key-pair_diff"}
"""Picture name → what stands below the top line, where that is not the top of the page."""

OPENED = {"export": "Export"}
"""Picture name → the text that is clicked before it is taken."""


@contextmanager
def board(root: str = "rollout_samples") -> Iterator[str]:
    """The address of a board over the bundled runs, or those of another folder."""
    command = [sys.executable, "-m", "board", "serve", root, "--port", "0"]
    process = subprocess.Popen(command, cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Write every view in light and dark, or those that are named on the command line."""
    views = {name: view for name, view in VIEWS.items() if name in sys.argv[1:] or not sys.argv[1:]}
    with board() as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            for name, view in views.items():
                page = chromium.new_page(viewport=SIZE, color_scheme=scheme)
                page.goto(address + view)
                page.wait_for_selector(READY)
                page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
                page.wait_for_timeout(10_000)  # charts and the token view draw themselves once they are there
                if top := SCROLLED.get(name):
                    page.locator(top).evaluate("(one) => { one.style.scrollMarginTop = '260px'; one.scrollIntoView(); }")
                    page.wait_for_timeout(1_000)
                if name in OPENED:
                    page.get_by_text(OPENED[name], exact=True).first.click()
                    page.wait_for_timeout(3_000)
                page.screenshot(path=HERE / f"{name}-{scheme}.png")
                page.close()
        chromium.close()


if __name__ == "__main__":
    main()
