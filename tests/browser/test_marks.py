"""The chosen step on charts as a reader meets it: the mark moves, the charts stay, and a click goes to a step every time."""

import re

from browsing import click_middle
from playwright.sync_api import Locator, Page, expect
from settling import settled


def opened(page: Page, board_server: str, step: int) -> Locator:
    """The reward curve's part of the page, with everything drawn."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step={step}")
    settled(page)
    curve = page.locator(".st-key-curve_0")
    for mark in (".st-key-curve_0 .step-mark .step", ".st-key-heat .step-mark .step"):
        expect(page.locator(mark)).to_have_text(f"step {step}")
    expect(page.locator(".st-key-strip .step-mark rect")).to_be_attached()
    return curve


def test_another_step_moves_the_marks_and_keeps_the_charts(board_server: str, page: Page) -> None:
    """Curve, heat and strip are the same elements afterwards; line, name and dots stand at the new step."""
    curve = opened(page, board_server, 5)
    page.evaluate("() => document.querySelectorAll('.js-plotly-plot').forEach((chart) => { chart.dataset.before = 'yes'; })")
    line, bar = curve.locator(".step-mark line"), page.locator(".st-key-strip .step-mark rect")
    before = line.get_attribute("x1") or "", bar.get_attribute("x") or ""

    page.keyboard.press("l")

    expect(curve.locator(".step-mark .step")).to_have_text("step 6")
    expect(page.locator(".st-key-heat .step-mark .step")).to_have_text("step 6")
    expect(bar).not_to_have_attribute("x", before[1])
    assert float(line.get_attribute("x1") or 0) > float(before[0])
    assert float(bar.get_attribute("x") or 0) > float(before[1])
    assert curve.locator(".step-mark circle").count() >= 1
    # the numbers beside the dots are those of step 6, those at the ends of the lines are none
    expect(curve.locator(".step-mark .value")).to_have_text(["0.497", "0.722"])
    expect(curve.locator(".annotation-text")).to_have_text(["policy", "validation"])
    for key in ("strip", "curve_0", "curve_1", "heat"):
        expect(page.locator(f".st-key-{key} .js-plotly-plot")).to_have_attribute("data-before", "yes")


def test_the_same_point_can_be_clicked_again(board_server: str, page: Page) -> None:
    """A click goes to its step also when it is the one clicked last, and Back undoes it."""
    curve = opened(page, board_server, 1)
    click_middle(page, curve)
    expect(page).not_to_have_url(re.compile(r"step=1(&|$)"))
    first = re.search(r"step=(\d+)", page.url)
    assert first is not None
    expect(curve.locator(".step-mark .step")).to_have_text(f"step {first[1]}")

    page.keyboard.press("l")
    expect(page).not_to_have_url(re.compile(rf"step={first[1]}(&|$)"))
    click_middle(page, curve)
    expect(page).to_have_url(re.compile(rf"step={first[1]}(&|$)"))

    page.wait_for_timeout(
        1_500
    )  # for a second after a click the URL of before is taken for one that the browser had not yet replaced
    page.go_back()
    expect(curve.locator(".step-mark .step")).to_have_text(f"step {int(first[1]) + 1}")
