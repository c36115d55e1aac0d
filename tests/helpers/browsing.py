"""What several browser tests do: a page is gone to, a chart is clicked."""

from playwright.sync_api import Locator, Page
from settling import settled, tab


def go_to_page(page: Page, name: str) -> None:
    """Click a page's name in the navigation."""
    tab(page, name).click()
    settled(page)


def panel(page: Page, title: str) -> Locator:
    """The panel of curves with that title, the first of them."""
    return page.locator(".cv-card").filter(has=page.get_by_role("heading", name=title, exact=True)).first


def click_middle(curve: Locator) -> None:
    """Click the middle of a panel's plot."""
    curve.locator(".u-over").click()
