"""What the benchmarks take for the end of a page's work."""

from urllib.parse import quote

from playwright.sync_api import Page

from benchmarks import idle

BUSY_PAGE = """
<div data-testid="stApp" data-test-script-state="notRunning" data-test-connection-state="CONNECTED">
  <button onclick="setTimeout(() => { said.textContent = 'done' }, 100); setTimeout(() => { cell.textContent = '2' }, 300);
    setTimeout(() => { cell.textContent = '3' }, 600)">go</button>
  <p id="said"></p>
  <canvas><table><tr><td id="cell">1</td></tr></table></canvas>
</div>
"""


def test_what_stands_in_a_canvas_is_the_last_change_but_is_not_seen(page: Page) -> None:
    """A data grid renews its cells for screen readers after it has drawn: that is counted, and told apart from what is painted."""
    idle.watch(page)
    page.goto(f"data:text/html,{quote(BUSY_PAGE)}")
    page.get_by_role("button").click()

    busy = idle.busy(page)

    assert 0 < busy.seen < busy.altogether
