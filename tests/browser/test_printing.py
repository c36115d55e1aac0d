"""Pages of curves as they are printed."""

from itertools import combinations

from playwright.sync_api import Page, expect
from printed import page_width, pictures
from settling import settled

WIDE = 100.0
"""Points: a picture that is wider is a plot."""


def test_every_curve_is_printed_whole(board_server: str, page: Page) -> None:
    """Those below the fold, too; none reaches over the paper's edge, and none lies on another, though paper is narrower than the window."""
    page.set_viewport_size({"width": 1400, "height": 500})
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=5")
    settled(page)
    cards = page.locator(".cv-card")
    count = cards.count()
    assert count > page.locator(".cv-card canvas").count() > 0

    page.evaluate(
        "() => window.dispatchEvent(new Event('beforeprint'))"
    )  # a browser without a window tells nobody that it prints
    expect(page.locator(".cv-card canvas")).to_have_count(count)
    page.locator(".cv-card").last.scroll_into_view_if_needed()
    settled(page)  # what was drawn for the first sheet alone is printed as lines, what was on the screen as a picture

    printed = page.pdf()

    plots = [one for one in pictures(printed) if one[2] - one[1] > WIDE]
    assert len(plots) == count
    assert all(left >= 0 and right <= page_width(printed) for _, left, right, _, _ in plots)
    for one, other in combinations(plots, 2):
        apart = one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1] or one[3] >= other[4] or other[3] >= one[4]
        assert apart, (one, other)
