"""What several browser tests do: a page is gone to, a chart is clicked."""

from playwright.sync_api import Locator, Page, expect
from settling import settled, tab


def go_to_page(page: Page, name: str) -> None:
    """Click a page's name in the navigation."""
    tab(page, name).click()
    settled(page)


def click_middle(page: Page, curve: Locator) -> None:
    """Click the middle of the plot, once Plotly has noticed the pointer there."""
    plot = curve.locator(".nsewdrag").first
    box = plot.bounding_box()
    assert box is not None
    middle = {"x": box["width"] / 2, "y": box["height"] / 2}
    plot.hover(position={"x": middle["x"] - 2, "y": middle["y"]})
    plot.hover(position={"x": middle["x"], "y": middle["y"]})
    expect(curve.locator(".hoverlayer .legend, .hoverlayer .hovertext").first).to_be_visible()
    plot.click(position={"x": middle["x"], "y": middle["y"]})
