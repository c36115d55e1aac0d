"""Very many panels of curves on Metrics: few are drawn at once, few in one frame, and each when the reader comes to it."""

from playwright.sync_api import Page, expect
from servers import Written
from settling import settled

PANELS = 150
IN_A_FRAME = 3
"""So many are drawn in one frame of the browser, at most: what a frame takes does not grow with the panels of a page."""

AT_ONCE = 60
"""More than are near the window of a test, and far fewer than there are."""

COUNTED = """
window.drawn = {};
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (...asked) {
  const frame = document.timeline.currentTime;
  window.drawn[frame] = (window.drawn[frame] ?? 0) + 1;
  return context.apply(this, asked);
};
"""
"""How many canvases were begun in each frame: a panel begins one, and all work of one frame is done at one time of the document."""


def test_panels_are_drawn_a_few_at_a_time_near_the_reader(written: Written, page: Page) -> None:
    """From the top to the bottom and back: never more than three in a frame, never most of them at once, and whatever is in sight is drawn."""
    rows = (
        {"step": step, "response": "r", "reward": 0.0, **{f"extra_{at:03}": float(step * at) for at in range(PANELS)}}
        for step in range(20)
    )
    page.add_init_script(COUNTED)
    page.goto(f"{written(rows, 'metrics').link}&find=extra_")
    settled(page)
    cards, canvases = page.locator(".cv-card"), page.locator(".cv-card canvas")
    expect(cards).to_have_count(PANELS)
    expect(canvases.first).to_be_visible()
    assert canvases.count() < AT_ONCE
    page.evaluate("window.drawn = {}")

    box = page.locator("[data-testid=stMain]")
    most = 0
    page.mouse.move(700, 500)
    while box.evaluate("(one) => one.scrollTop + one.clientHeight + 4 < one.scrollHeight"):
        page.mouse.wheel(0, 2000)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        most = max(most, canvases.count())

    expect(cards.last.locator("canvas")).to_be_visible()
    assert most < AT_ONCE
    box.evaluate("(one) => one.scrollTo(0, 0)")
    expect(cards.first.locator("canvas")).to_be_visible()
    expect(cards.last.locator("canvas")).to_have_count(0)
    in_frames = page.evaluate("Object.values(window.drawn)")
    assert max(in_frames) <= IN_A_FRAME
    assert sum(in_frames) > IN_A_FRAME
