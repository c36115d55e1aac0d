"""What several browser tests do: a page is gone to, a chart or a table is clicked."""

from playwright.sync_api import Locator, Page
from settling import settled, tab


def go_to_page(page: Page, name: str) -> None:
    """Click a page's name in the navigation."""
    tab(page, name).click()
    settled(page)


def go_back(page: Page) -> None:
    """Press Back as a person does: for 0.7 s after a click the board takes the URL of before for a late one (docs/limits.md)."""
    page.wait_for_timeout(1_000)
    page.go_back()


def panel(page: Page, title: str) -> Locator:
    """The panel of curves with that title, the first of them."""
    return page.locator(".cv-card").filter(has=page.get_by_role("heading", name=title, exact=True)).first


def click_middle(curve: Locator) -> None:
    """Click the middle of a panel's plot."""
    curve.locator(".u-over").click()


def row_of(page: Page, row: int, table: int = 0) -> Locator:
    """A row, from 0, of a table of the page: one that is in sight or near it."""
    return page.get_by_role("grid").nth(table).locator(f'.tb-row[aria-rowindex="{row + 2}"]')


def click_row(page: Page, row: int, column: str = "", table: int = 0) -> None:
    """Click a row of a table of the page, in the column with that head where one is named."""
    cells = row_of(page, row, table).get_by_role("gridcell")
    names = page.get_by_role("grid").nth(table).get_by_role("columnheader").all_inner_texts() if column else [""]
    cells.nth(names.index(column)).click()
