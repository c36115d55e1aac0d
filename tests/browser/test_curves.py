"""Curves in a browser: the crosshair over all panels, zoom, the steps all pages are kept to, keys, and what can be saved."""

import re

import pytest
from browsing import panel
from playwright.sync_api import Locator, Page, expect
from settling import settled, tab

REWARD = "Does the reward rise?"


def opened(page: Page, board_server: str, place: str = "step=5") -> Locator:
    """The panel of the reward, drawn."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&{place}")
    settled(page)
    curve = panel(page, REWARD)
    expect(curve.locator(".cv-step, .cv-zoom").first).to_be_visible()
    return curve


WIPED = """
const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
Object.defineProperty(HTMLCanvasElement.prototype, "width", {
  ...width,
  set(value) { this.dataset.wiped = Number(this.dataset.wiped ?? 0) + 1; width.set.call(this, value); },
});
"""
"""Notes on each canvas how often it was wiped for a picture."""


def test_a_fresh_page_draws_each_panel_once(board_server: str, page: Page) -> None:
    """As wide as it stays: nothing is drawn again before the panels have another width, and then every one is."""
    page.add_init_script(WIPED)
    opened(page, board_server)
    expect(page.locator(".cv canvas")).to_have_count(5)
    page.wait_for_timeout(700)  # in which whatever is drawn twice would be
    wiped = "canvases => canvases.map(canvas => Number(canvas.dataset.wiped))"
    assert page.locator(".cv canvas").evaluate_all(wiped) == [1] * 5

    wide = page.locator(".cv canvas").first.evaluate("canvas => canvas.clientWidth")
    page.set_viewport_size({"width": 1_000, "height": 800})
    page.wait_for_function(
        "wide => [...document.querySelectorAll('.cv canvas')].every(one => one.clientWidth !== wide)", arg=wide
    )


def brush(page: Page, curve: Locator) -> None:
    """Drag over the middle third of a plot."""
    box = curve.locator(".u-over").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 3, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.move(box["x"] + box["width"] * 2 / 3, y)
    page.mouse.up()


def test_one_crosshair_stands_in_all_panels(board_server: str, page: Page) -> None:
    """Under the pointer every panel says the values of all its curves at that step, at the same place; it goes with the pointer."""
    curve = opened(page, board_server)
    curve.locator(".u-over").hover()

    lines = page.locator(".cv-at")
    expect(lines).to_have_count(5)
    assert len({line.get_attribute("x1") for line in lines.all()}) == 1
    told = [re.match(r"step (\d+)", text) for text in page.locator(".cv-caption").all_inner_texts()]
    assert len({found[1] for found in told if found}) == 1
    expect(curve.locator(".cv-caption")).to_contain_text(re.compile(r"validation \d.*policy \d"))

    page.locator(".st-key-strip").hover()
    expect(lines).to_have_count(0)
    expect(curve.locator(".cv-caption")).to_have_text("reward · mean ± std")


def test_a_brush_zooms_all_panels_and_is_in_the_link(board_server: str, page: Page) -> None:
    """The steps brushed over are shown in every panel, in the link, and after a reload; a double click shows all again."""
    curve = opened(page, board_server)
    brush(page, curve)

    expect(page).to_have_url(re.compile(r"zoom=2\d-5\d"))
    found = re.search(r"zoom=(\d+)-(\d+)", page.url)
    assert found is not None
    expect(curve.locator(".cv-keep")).to_have_text(f"Keep steps {found[1]}–{found[2]} on every page")
    expect(page.locator(".cv-step")).to_have_count(0)  # step 5 is out of view

    page.reload()
    settled(page)
    expect(page.locator(".cv-keep")).to_have_text(f"Keep steps {found[1]}–{found[2]} on every page")
    panel(page, "How long are the responses?").locator(".u-over").dblclick()

    expect(page).not_to_have_url(re.compile("zoom="))
    expect(page.locator(".cv-keep")).to_have_count(0)
    expect(page.locator(".cv-step")).to_have_count(5)


def test_all_pages_are_kept_to_the_steps_of_a_zoom(board_server: str, page: Page) -> None:
    """The button on the zoom makes a chip of its steps, which keeps every page to them until it is removed."""
    opened(page, board_server, "step=5&zoom=20-29")
    page.locator(".cv-keep").click()

    expect(page.locator(".fb-words")).to_have_text("step BETWEEN 20 AND 29")
    expect(page).to_have_url(re.compile(r"filter=step(\+|%20)BETWEEN(\+|%20)20(\+|%20)AND(\+|%20)29"))
    expect(page).to_have_url(re.compile(r"step=20"))
    expect(page.get_by_text("Step (of 10)")).to_be_visible()
    tab(page, "Responses").click()
    settled(page)
    expect(page.get_by_text("rollouts of step 20")).to_be_visible()
    page.locator(".fb-away").click()

    expect(page).not_to_have_url(re.compile("filter="))
    expect(page.get_by_text("Step (of 80)")).to_be_visible()


def test_curves_can_be_read_by_key(board_server: str, page: Page) -> None:
    """Arrow keys move the crosshair from the chosen step, what it says is read out, Enter goes there, and Escape ends a zoom."""
    opened(page, board_server, "step=5&zoom=2-40")
    page.locator(".cv").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")

    expect(page.locator(".cv-live")).to_have_text(re.compile(r"^Step 7\. Does the reward rise\?: validation .*policy"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"step=7(&|$)"))
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("zoom="))


@pytest.mark.parametrize(("width", "columns"), [(1500, 3), (1000, 2), (690, 1)])
def test_panels_stand_side_by_side_as_the_window_allows(board_server: str, page: Page, width: int, columns: int) -> None:
    """All plots are equally wide, so that a step stands at the same place in each; the first is near the top where there is room."""
    page.set_viewport_size({"width": width, "height": 1000})
    opened(page, board_server)
    expect(page.locator(".cv-card canvas").nth(1)).to_be_attached()

    boxes = page.locator(".cv-card .u-over").evaluate_all("plots => plots.map((plot) => plot.getBoundingClientRect().toJSON())")
    cards = page.locator(".cv-card").evaluate_all("cards => cards.map((card) => card.getBoundingClientRect().left)")
    top = page.locator(".st-key-topline").bounding_box()
    first = page.locator(".cv-card").first.bounding_box()

    assert len(set(cards)) == columns
    assert len({round(box["width"]) for box in boxes}) == 1
    assert top is not None
    assert first is not None
    assert width < 1500 or first["y"] - top["y"] - top["height"] < 130
