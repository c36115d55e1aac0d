"""The Metrics page in a browser: its panels are marked and clicked like every chart, and what is closed is not there."""

import json
import re
from pathlib import Path

from browsing import click_middle
from playwright.sync_api import Page, expect
from servers import Serve
from settling import settled, tab

REPOSITORY = Path(__file__).parents[2]

KEYS = ".st-key-curves_keys .cv-card"
"""The panels that are open from the start."""


def opened(page: Page, board_server: str, step: int, run: str = "tiny_ppo_rhyme") -> None:
    """The page with its first panels drawn and marked."""
    page.goto(f"{board_server}?run={run}&step={step}")
    settled(page)
    tab(page, "Metrics").click()
    settled(page)
    expect(page.locator(f"{KEYS} .cv-step").first).to_have_text(f"step {step}")


def scroll_to_the_frontier(page: Page) -> None:
    """Scroll until it has come: what stands above its place may still grow, and move the place out of sight again."""
    page.wait_for_function(
        """() => {
          const [place, chart] = ["_place", " .js-plotly-plot"].map((one) => document.querySelector(`.st-key-frontier${one}`));
          if (chart === null) place?.scrollIntoView({ block: "center" });
          return chart !== null;
        }""",
        polling=500,
    )


def test_a_click_in_a_panel_goes_to_its_step(board_server: str, page: Page) -> None:
    """The middle of a panel is a step in the middle of the run; the mark goes there in every panel, and none is drawn anew."""
    opened(page, board_server, 1)
    page.locator(f"{KEYS} canvas").first.evaluate("canvas => { canvas.dataset.before = 'yes'; }")

    click_middle(page.locator(KEYS).first)

    expect(page).not_to_have_url(re.compile(r"step=1(&|$)"))
    step = re.search(r"step=(\d+)", page.url)
    assert step is not None
    for at in (0, 1):
        expect(page.locator(f"{KEYS} .cv-step").nth(at)).to_have_text(f"step {step[1]}")
    expect(page.locator(f"{KEYS} canvas").first).to_have_attribute("data-before", "yes")


def test_a_pin_puts_a_panel_first(board_server: str, page: Page) -> None:
    """The panel that is pinned stands above all others, and goes when its pin is taken off."""
    opened(page, board_server, 1)
    title = page.locator(f"{KEYS} .cv-title").first.inner_text()
    page.locator(f"{KEYS} .cv-pin").first.click()

    pinned = page.locator(".st-key-curves_pinned .cv-card")
    expect(pinned.locator(".cv-title")).to_have_text([title])
    expect(page.locator(f"{KEYS} .cv-pin").first).to_have_text("Unpin")
    pinned.locator(".cv-pin").click()

    expect(pinned).to_have_count(0)


def test_a_departure_leads_to_the_page_that_shows_it(board_server: str, page: Page) -> None:
    """What stands below a panel goes to the page it names, at the step where the healthy range is first left."""
    opened(page, board_server, 1, "tiny_ppo_hacked")
    look = page.locator(".st-key-curves_departed .cv-look").first
    told = re.fullmatch(r"Step (\d+) on (\w+)", look.inner_text())
    assert told is not None

    look.click()

    expect(page).to_have_url(re.compile(rf"/(?!metrics)[a-z]*[?](?=.*run=tiny_ppo_hacked)(?=.*step={told[1]}(&|$))"))


def test_a_point_of_the_frontier_is_its_step(board_server: str, page: Page) -> None:
    """x of the frontier is a distance, not a step: a click on a point goes to the step that the point is."""
    opened(page, board_server, 1)
    page.get_by_text("Reward ·").click()
    expect(page.locator(".st-key-curves_reward canvas").first).to_be_visible()
    settled(page)
    chart = page.locator(".st-key-frontier .js-plotly-plot")
    scroll_to_the_frontier(page)
    expect(page.locator(".st-key-frontier .step-mark .step")).to_have_text("step 1")
    wanted = chart.evaluate("chart => chart.data.find((one) => one.name === 'steps').ids.at(-1)")

    points = page.locator(".st-key-frontier .scatterlayer .points path")
    points.last.scroll_into_view_if_needed()
    box = points.last.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".st-key-frontier .hoverlayer .hovertext").first).to_be_visible()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    expect(page).to_have_url(re.compile(rf"step={wanted}(&|$)"))
    expect(page.locator(".st-key-frontier .step-mark .step")).to_have_text(f"step {wanted}")


OVERLAPPING = """
cards => cards.filter((card) => {
    const [step, ...values] = [...card.querySelectorAll('.cv-step, .cv-value')]
        .sort((one, other) => +other.matches('.cv-step') - one.matches('.cv-step')).map((text) => text.getBoundingClientRect());
    return values.some((value) => value.top < step.bottom && step.top < value.bottom && value.left < step.right && step.left < value.right);
}).length
"""
"""On how many charts a value lies on the step's name."""


def test_an_open_family_is_in_the_link(board_server: str, page: Page) -> None:
    """A closed family has no chart; opening it draws them and writes it into the link. No value at a chart's top lies on the step's name."""
    opened(page, board_server, 79, "tiny_ppo_hacked")  # where two rewards are the highest of the run
    assert page.locator(f"{KEYS} .cv-value").count() > 1
    assert page.locator(KEYS).evaluate_all(OVERLAPPING) == 0
    assert page.locator(".st-key-curves_length").count() == 0

    page.get_by_text("Length ·").click()

    expect(page.locator(".st-key-curves_length canvas").first).to_be_visible()
    expect(page).to_have_url(re.compile("family_length=true"))


def test_scalars_are_followed_while_they_grow(serve: Serve, page: Page, tmp_path: Path) -> None:
    """What a tracker adds to the file that `serve --scalars` names comes up by itself, and nothing the reader opened closes."""
    scalars = tmp_path / "metrics.jsonl"
    scalars.write_text(json.dumps({"step": 1, "lr": 0.5}) + "\n", encoding="utf-8")
    opened(page, serve(REPOSITORY / "rollout_samples", "--scalars", str(scalars)), 9)
    page.get_by_text("Optimiser ·").click()
    panel = page.locator(".st-key-curves_optimiser .cv-card")
    expect(panel.locator(".cv-value")).to_have_text("0.500 at step 1")

    with scalars.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"step": 9, "lr": 0.25}) + "\n")

    expect(panel.locator(".cv-value")).to_have_text("0.250")
