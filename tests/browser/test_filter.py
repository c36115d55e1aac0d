"""The filter in a browser: written with proposals, changed chip by chip, brushed, and the way from it to the token that did it."""

import re

import pytest
from browsing import go_to_page
from playwright.sync_api import Page, expect
from settling import settled


def write(page: Page, *pieces: str) -> None:
    """Type into the filter, and take the first proposal between the pieces."""
    field = page.locator(".fb-input")
    field.click()
    for at, piece in enumerate(pieces):
        if at:
            page.keyboard.press("Tab")
        field.press_sequentially(piece)
    page.keyboard.press("Enter")


def test_a_condition_is_completed_and_changed(board_server: str, page: Page) -> None:
    """Columns are proposed while one types; a chip can be negated, switched off, changed and removed; the link and the count follow."""
    page.goto(f"{board_server}responses?run=tiny_ppo_hacked&step=40")
    settled(page)
    count = page.locator(".fb-count")
    expect(count).to_have_text("3,840 rollouts")

    write(page, "valid_", " < 0.1 AND rewa", " > 2")
    expect(page.locator(".fb-words")).to_have_text("valid_reward < 0.1 AND reward > 2")
    expect(count).to_have_text(re.compile(r"^[\d,]+ of 3,840 rollouts$"))
    left = count.inner_text()

    page.locator(".fb-not").click()
    expect(count).not_to_have_text(left)
    expect(page).to_have_url(re.compile(r"filter=NOT"))
    page.locator(".fb-on").uncheck()
    expect(count).to_have_text("3,840 rollouts")
    page.locator(".fb-on").check()
    page.locator(".fb-not").click()
    expect(count).to_have_text(left)
    page.locator(".fb-words").click()
    page.keyboard.type(" AND rewrad > 1")
    page.keyboard.press("Enter")
    expect(page.locator(".fb-problem")).to_contain_text('Candidate bindings: "reward"')
    expect(count).to_have_text(left)
    page.locator(".fb-away").click()
    expect(page.locator(".fb-chip")).to_have_count(0)
    expect(count).to_have_text("3,840 rollouts")
    page.get_by_role("button", name="filters of before").click()
    expect(page.locator(".fb-what").first).to_contain_text("valid_reward < 0.1 AND reward > 2")


def test_what_is_half_typed_stays(board_server: str, page: Page) -> None:
    """Under quick presses for the next step the field keeps its text, and a condition can be written on."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=10")
    settled(page)
    field = page.locator(".fb-input")
    field.click()
    field.press_sequentially("reward >")
    field.blur()

    for _ in range(40):
        page.keyboard.down("l")
        page.wait_for_timeout(30)
    page.keyboard.up("l")
    settled(page)

    expect(page).to_have_url(re.compile("step=50"))
    expect(field).to_have_value("reward >")
    field.press("End")
    field.press_sequentially(" 2")
    page.keyboard.press("Enter")
    expect(page.locator(".fb-words")).to_have_text("reward > 2")


def test_a_stretch_that_is_brushed_is_a_chip(board_server: str, page: Page) -> None:
    """A drag over the rewards of a step keeps every page to rollouts of these rewards."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=40")
    settled(page)
    page.mouse.move(700, 600)  # over the tabs, which stay, a wheel moves nothing
    page.mouse.wheel(0, 900)
    plot = page.locator(".st-key-histogram .nsewdrag").first
    plot.wait_for()
    plot.scroll_into_view_if_needed()
    page.mouse.wheel(0, 150)
    settled(page)
    box = plot.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40, steps=8)
    page.mouse.up()

    expect(page.locator(".fb-words")).to_have_text(re.compile(r"^reward BETWEEN [\d.]+ AND [\d.]+$"))
    expect(page.locator(".fb-count")).to_have_text(re.compile(r"^[\d,]+ of 3,840 rollouts$"))


@pytest.mark.journey
def test_from_the_filter_to_the_token(board_server: str, page: Page) -> None:
    """A filter, a group, its best against its worst, and the token: a click each, and the filter holds all the way."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=40")
    expect(page.get_by_text("3,840 rollouts", exact=True)).to_be_visible()  # nobody may have read it yet
    settled(page)
    write(page, "valid_", " < 0.2")
    expect(page.locator(".fb-count")).to_have_text(re.compile(r" of 3,840 rollouts$"))

    go_to_page(page, "Groups")
    settled(page)
    page.locator("[class*=st-key-group_strips]").get_by_role("button").first.click()
    settled(page)
    expect(page).to_have_url(re.compile(r"group=\d+"))
    expect(page.get_by_text("Best against worst")).to_be_visible()
    go_to_page(page, "Tokens")
    settled(page)
    expect(page.locator(".tv-tok").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"filter=valid_reward"))


def test_a_place_that_is_searched_is_opened(board_server: str, page: Page) -> None:
    """A line of a search opens its rollout with the place marked and in view, and Tokens opens at its token."""
    page.goto(f"{board_server}search?run=tiny_ppo_hacked&q=early May&search_in=response")
    settled(page)

    page.locator(".co-row").nth(3).click()
    marked = page.locator(".verbatim mark")
    expect(marked).to_have_text("early May")
    expect(marked).to_be_in_viewport()
    settled(page)
    go_to_page(page, "Tokens")
    settled(page)
    expect(page).to_have_url(re.compile(r"token=\d+"))


@pytest.mark.parametrize("ends", [pytest.param(key, id=key) for key in ("Escape", "Enter", "another page")])
def test_naming_a_filter_ends_without_an_error(board_server: str, page: Page, ends: str) -> None:
    """However it ends, the button is back, and the field gone; on another page too, where it was open until then."""
    page.goto(f"{board_server}responses?run=tiny_ppo_hacked&step=40&filter=reward > 1")
    settled(page)
    page.get_by_role("button", name="keep this filter under a name").click()
    name = page.get_by_role("textbox", name="name of this filter")
    expect(name).to_be_focused()

    if ends == "another page":
        page.get_by_role("link", name="Steps", exact=True).evaluate("(link) => link.click()")  # the keyboard stays in the field
        settled(page)
        page.locator(".fb-input").click()
    else:
        page.keyboard.press(ends)

    expect(name).to_have_count(0)
    expect(page.get_by_role("button", name="keep this filter under a name")).to_be_visible()
