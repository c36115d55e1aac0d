"""The chosen step on charts as a reader meets it: the mark moves, the charts stay, and a click goes to a step every time."""

import re

from browsing import click_middle, go_back, panel
from playwright.sync_api import Locator, Page, expect
from settling import settled


def opened(page: Page, board_server: str, step: int) -> Locator:
    """The reward curve's part of the page, with everything drawn."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step={step}")
    settled(page)
    curve = panel(page, "Does the reward rise?")
    expect(curve.locator(".cv-step")).to_have_text(f"step {step}")
    page.locator(".st-key-heat_place").scroll_into_view_if_needed()
    expect(page.locator(".st-key-heat .step-mark .step")).to_have_text(f"step {step}")
    expect(page.locator(".st-key-strip .strip-over").last).to_be_attached()
    return curve


def left_edge(bar: Locator) -> float:
    """Where the bar begins, in pixels of the window."""
    box = bar.bounding_box()
    assert box is not None
    return box["x"]


def test_another_step_moves_the_marks_and_keeps_the_charts(board_server: str, page: Page) -> None:
    """Curve, heat and strip are the same elements afterwards; line, name and dots stand at the new step."""
    curve = opened(page, board_server, 5)
    page.evaluate("() => document.querySelectorAll('.js-plotly-plot').forEach((chart) => { chart.dataset.before = 'yes'; })")
    curve.locator("canvas").evaluate("canvas => { canvas.dataset.before = 'yes'; }")
    line, bar = curve.locator(".cv-chosen"), page.locator(".st-key-strip .strip-over").last
    before = line.get_attribute("x1") or "", left_edge(bar)

    page.keyboard.press("l")

    expect(curve.locator(".cv-step")).to_have_text("step 6")
    expect(page.locator(".st-key-heat .step-mark .step")).to_have_text("step 6")
    assert float(line.get_attribute("x1") or 0) > float(before[0])
    assert left_edge(bar) > before[1]
    assert curve.locator(".cv-mark circle").count() == 2
    # the numbers beside the dots are those of step 6, those at the ends of the lines are none
    expect(curve.locator(".cv-value")).to_have_text(["0.722", "0.497"])
    expect(curve.locator(".cv-name")).to_have_text(["policy", "validation"])
    expect(page.locator(".st-key-heat .js-plotly-plot")).to_have_attribute("data-before", "yes")
    expect(curve.locator("canvas")).to_have_attribute("data-before", "yes")


def test_the_same_point_can_be_clicked_again(board_server: str, page: Page) -> None:
    """A click goes to its step also when it is the one clicked last, and Back undoes it."""
    curve = opened(page, board_server, 1)
    click_middle(curve)
    expect(page).not_to_have_url(re.compile(r"step=1(&|$)"))
    first = re.search(r"step=(\d+)", page.url)
    assert first is not None
    expect(curve.locator(".cv-step")).to_have_text(f"step {first[1]}")

    page.keyboard.press("l")
    expect(page).not_to_have_url(re.compile(rf"step={first[1]}(&|$)"))
    click_middle(curve)
    expect(page).to_have_url(re.compile(rf"step={first[1]}(&|$)"))

    go_back(page)
    expect(curve.locator(".cv-step")).to_have_text(f"step {int(first[1]) + 1}")


def test_no_page_comes_up_with_the_chart_library(board_server: str, page: Page) -> None:
    """The first screen of every page is drawn without Plotly, whose script is the largest of all; a chart that comes into view asks for it."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in ("metrics", "responses", "tokens", "data", ""):
        page.goto(f"{board_server}{name}?run=tiny_ppo_hacked&step=5")
        settled(page)
        page.wait_for_timeout(1_000)  # what is in the window is asked for within a moment
        assert [url for url in asked if "plotly" in url.lower()] == [], name
    page.locator(".st-key-by_sample_place").scroll_into_view_if_needed()
    expect(page.locator(".st-key-by_sample .js-plotly-plot")).to_be_visible()
    assert any("plotly" in url.lower() for url in asked)


def test_the_strip_goes_from_bar_to_bar_by_key(board_server: str, page: Page) -> None:
    """It is a slider for the keyboard and for screen readers, says what its height is, and a bar under the pointer says its number."""
    page.goto(f"{board_server}responses?run=tiny_ppo_hacked&step=5")
    settled(page)
    strip = page.get_by_role("slider", name="mean reward by step")
    expect(strip).to_have_attribute("aria-valuetext", re.compile("^step 5: mean reward "))
    strip.focus()
    page.keyboard.press("ArrowRight")

    expect(page).to_have_url(re.compile(r"step=6(&|$)"))
    expect(strip).to_have_attribute("aria-valuetext", re.compile("^step 6: mean reward "))
    page.locator(".strip-plot").hover(position={"x": 1, "y": 2})
    expect(page.locator(".strip-caption")).to_contain_text("step 0: mean reward")
