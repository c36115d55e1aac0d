"""The tabs and the lists of runs and steps in a browser: where they lead, what they find, and what a quick reader keeps."""

import re

import pytest
from browsing import go_back
from late_browser import LateBrowser
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
    go_back(page)
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


@pytest.mark.parametrize("milliseconds", [0, 40, 120, 300])
def test_a_click_after_that_on_a_tab_goes_on_there(board_server: str, page: Page, milliseconds: int) -> None:
    """The step is chosen on the page that was gone to, though the browser still had the one of before: neither click is undone."""
    page.goto(f"{board_server}{STEP}")
    settled(page)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})

    for at, name in enumerate(("Data", "Tokens", "Steps"), start=6):
        tab(page, name).click()
        page.wait_for_timeout(milliseconds)
        page.keyboard.press("l")

        settled(page)
        expect(page).to_have_url(re.compile(rf"/{name.lower()}\?.*step={at}\b"))
        expect(page.get_by_role("combobox", name="Step")).to_have_value(str(at))
        expect(tab(page, name)).to_have_attribute("aria-current", "page")


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


def test_keys_go_on_from_where_one_is_after_a_page_without_steps(board_server: str, page: Page) -> None:
    """The list of runs has no steps to choose from; back from it a press leads to the next step, not to one of before."""
    page.goto(f"{board_server}{STEP}")
    settled(page)
    for _ in range(3):
        page.keyboard.press("l")
        settled(page)
    tab(page, "Runs").click()
    settled(page)
    expect(page.get_by_role("combobox", name="Step")).to_have_count(0)
    tab(page, "Steps").click()
    settled(page)
    steps = page.get_by_role("combobox", name="Step")
    steps.fill("50")
    steps.press("Enter")
    settled(page)
    steps.blur()

    page.keyboard.press("l")

    expect(page).to_have_url(re.compile(r"/steps\?.*step=51"))
    settled(page)
    expect(steps).to_have_value("51")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="keyboard shortcuts")).to_be_visible()


def test_a_key_that_is_held_goes_on_step_by_step(board_server: str, page: Page) -> None:
    """As fast as a keyboard repeats: the list runs along, and the page is at its step once the key is let go."""
    page.goto(f"{board_server}{STEP}")
    settled(page)

    for _ in range(60):
        page.keyboard.down("l")  # pressed again without being let go: what a keyboard repeats
        page.wait_for_timeout(30)
    page.keyboard.up("l")

    expect(page.get_by_role("combobox", name="Step")).to_have_value("65")
    settled(page)
    expect(page).to_have_url(re.compile("step=65"))
    expect(page.get_by_role("combobox", name="Step")).to_have_value("65")


PRESSED = """
async () => {
    for (let n = 0; n < 20; n++) {
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "l", bubbles: true }));
        await new Promise(later => setTimeout(later, 5));
    }
}
"""


def test_presses_while_the_page_draws_are_one_request(board_server: str, page: Page) -> None:
    """The first press is asked for at once; of those that come until the page has followed, the last alone is asked for then."""
    late = LateBrowser(page)
    page.goto(f"{board_server}{STEP}")
    settled(page)

    late.hold()
    page.evaluate(PRESSED)
    assert sum(b'"chosen"' in request for request in late.asked) == 1
    late.release()

    expect(page).to_have_url(re.compile("step=25"))
    expect(page.get_by_role("combobox", name="Step")).to_have_value("25")
    assert sum(b'"chosen"' in request for request in late.asked) == 2


BENEATH = """
() => {
    window.boardBeneath = [];
    for (const kind of ["click", "mouseup", "pointerup"]) document.addEventListener(kind, (event) => {
        const path = event.composedPath().filter((one) => one instanceof Element);
        if (!path.some((one) => one.classList.contains("pick-list"))) window.boardBeneath.push(`${kind} ${path[0].tagName}`);
    }, { capture: true });
}
"""


def test_a_choice_in_the_list_clicks_nothing_beneath_it(board_server: str, page: Page) -> None:
    """The list closes when the button is let go, over the row: what lies beneath sees neither the press nor its end."""
    page.goto(f"{board_server}{STEP}")
    settled(page)
    page.get_by_role("combobox", name="Step").click()
    row = page.get_by_role("option", name="8", exact=True)
    row.scroll_into_view_if_needed()
    page.evaluate(BENEATH)

    row.click()

    expect(page).to_have_url(re.compile("step=8"))
    assert page.evaluate("() => window.boardBeneath") == []


def test_the_list_stays_open_for_what_is_no_row(board_server: str, page: Page) -> None:
    """A drag at its scrollbar scrolls, a click on the note below changes nothing, one beside the list closes it."""
    page.goto(f"{board_server}{STEP}")
    settled(page)
    page.get_by_role("combobox", name="Step").click()
    rows = page.get_by_role("listbox")
    box = rows.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 200, steps=5)
    page.mouse.up()
    expect(page.get_by_role("option").first).to_be_attached()
    page.mouse.click(box["x"] + 2, box["y"] + 2)  # its edge, which no row covers
    expect(page.get_by_role("option").first).to_be_attached()
    expect(page.get_by_role("combobox", name="Step")).to_be_focused()

    page.mouse.click(700, 900)
    expect(page.get_by_role("option")).to_have_count(0)
    expect(page).to_have_url(re.compile("step=5"))
