"""The tabs and the lists of runs and steps in a browser: where they lead, what they find, and what a quick reader keeps."""

import re

from playwright.sync_api import Page, expect
from settling import settled, tab

STEP = "?run=tiny_ppo_rhyme&step=5"


def test_a_tab_takes_the_address_along(board_server: str, page: Page) -> None:
    """Run, step and filter stay, one press of Back leads to the page before, and no script is loaded anew."""
    page.goto(f"{board_server}{STEP}&filter=reward+%3E+0.5")
    settled(page)
    page.evaluate("window.stays = true")

    tab(page, "Steps").click()
    expect(page).to_have_url(re.compile(r"/steps\?.*step=5"))
    settled(page)
    expect(page).to_have_url(re.compile("filter=reward"))
    expect(tab(page, "Steps")).to_have_attribute("aria-current", "page")
    expect(tab(page, "Rewards")).not_to_have_attribute("aria-current", "page")
    page.go_back()
    settled(page)
    expect(page).to_have_url(re.compile(r"/\?.*step=5"))
    expect(tab(page, "Rewards")).to_have_attribute("aria-current", "page")
    assert page.evaluate("window.stays")


def test_a_click_on_a_tab_loses_no_click_before_it(board_server: str, page: Page) -> None:
    """The address still says the step of before when the reader goes on at once: the page comes at the step that was asked for."""
    page.goto(f"{board_server}{STEP}")
    settled(page)

    page.keyboard.press("l")
    tab(page, "Steps").click()

    expect(page).to_have_url(re.compile(r"/steps\?.*step=6"))
    settled(page)
    expect(page.get_by_role("combobox", name="Step")).to_have_value("6")


def test_a_tab_opens_beside(board_server: str, page: Page) -> None:
    """What the browser offers for links works: the address behind a tab is the page at the reader's place as it is now."""
    page.goto(f"{board_server}{STEP}")
    settled(page)
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile("step=6"))

    with page.context.expect_page() as opened:
        tab(page, "Steps").click(modifiers=["Control"])

    expect(opened.value).to_have_url(re.compile(r"/steps\?.*step=6"))
    expect(page).to_have_url(re.compile(r"/\?.*step=6"))


def test_quick_presses_all_count(board_server: str, page: Page) -> None:
    """Each press goes on from the step the list shows, though the page has not followed yet."""
    page.goto(f"{board_server}{STEP}")
    settled(page)

    for _ in range(5):
        page.keyboard.press("l")

    expect(page.get_by_role("combobox", name="Step")).to_have_value("10")
    settled(page)
    expect(page).to_have_url(re.compile("step=10"))
    expect(page.get_by_role("combobox", name="Step")).to_have_value("10")


def test_a_step_is_typed(board_server: str, page: Page) -> None:
    """The list shows what begins so; Enter goes there, or to the nearest there is, and Escape leaves all as it was."""
    page.goto(f"{board_server}{STEP}")
    settled(page)
    steps = page.get_by_role("combobox", name="Step")

    steps.click()
    steps.fill("11")
    expect(page.get_by_role("option").first).to_have_text("11")
    page.keyboard.press("Escape")
    expect(steps).to_have_value("5")
    expect(page.get_by_role("option")).to_have_count(0)

    steps.fill("5000")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("step=119"))
    expect(steps).to_have_value("119")


def test_a_run_is_found_by_a_part_of_its_name(board_server: str, page: Page) -> None:
    """By keyboard alone; its last step opens."""
    page.goto(f"{board_server}{STEP}")
    settled(page)
    runs = page.get_by_role("combobox", name="Run")

    runs.click()
    page.keyboard.type("hack")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("run=tiny_ppo_hacked"))
    expect(runs).to_have_value("tiny_ppo_hacked")
    assert "step=5&" not in page.url
