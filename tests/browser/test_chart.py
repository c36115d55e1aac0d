"""Chart and heatmap beneath the token text, as a reader meets them: brush, window link, spike, numbers, ranges over several rollouts."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from servers import Written
from settling import settled, tab

LONG = 128_000
SPIKE = 100_000
SHORT = 2_000


def row(tokens: list[str], **arrays: list[float]) -> dict[str, Any]:
    """One rollout as the recorder writes it."""
    return {"step": 0, "prompt": "p", "response": "r", "response_tokens": tokens, "reward": 1.0, **arrays}


def wave(n: int, size: float, spike: int | None = None) -> dict[str, Any]:
    """`n` tokens whose values go up and down, by a fifth of `size` at first and by all of it in the end, and one that has six times as much."""
    values = [size * ((i * 37 % 19) / 9 - 1) * (1 + i * 5 // n) / 5 for i in range(n)]
    if spike is not None:
        values[spike] = 6 * size
    return row([f" w{i % 10}" for i in range(n)], values=values, entropies=[(i % 7) / 7 for i in range(n)])


@pytest.fixture(scope="module")
def board(written: Written) -> dict[str, str]:
    """The links to a short run, a long one and an odd one."""
    bare = ["a", " b", " c"]
    runs = {
        "long": [wave(LONG, 1, SPIKE)],
        "odd": [row(bare, entropies=[0.1, 0.5, 0.2]), row(bare)],
        "short": [wave(SHORT, 1), wave(SHORT, 3)],
    }
    return {name: written(rows).link for name, rows in runs.items()}


def opened(page: Page, board: dict[str, str], run: str, line: int = 1, **place: str) -> Locator:
    """The token view of one rollout, as a link opens it."""
    asked = {"step": "0", "rollout": f"rank_0.jsonl:{line}", **place}
    page.goto("&".join([board[run], *(f"{name}={value}" for name, value in asked.items())]))
    expect(page.locator(".facts").or_(page.get_by_test_id("stPlotlyChart")).first).to_be_visible()
    settled(page)
    tab(page, "Tokens").click()
    expect(page.locator(".tv-tok").first).to_be_visible()
    settled(page)
    return page.locator(".tv")


def box_of(place: Locator) -> dict[str, float]:
    """Where it is on the screen."""
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box is not None
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def drag(page: Page, place: Locator, start: float, end: float) -> None:
    """Draws the pointer over it, from one share of its width to another."""
    box = box_of(place)
    page.mouse.move(box["x"] + start * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], box["y"] + 24, steps=4)
    page.mouse.up()


def colours(canvas: Locator, left: float, top: float, width: float, height: float) -> int:
    """How many different colours a part of the canvas has; a share of its width across, pixels down."""
    return int(
        canvas.evaluate(
            """(canvas, [left, top, width, height]) => {
              const { data } = canvas.getContext("2d").getImageData(left * canvas.width, top, width * canvas.width, height);
              return new Set(new Uint32Array(data.buffer)).size;
            }""",
            [left, top, width, height],
        )
    )


def heights(canvas: Locator) -> list[int]:
    """How far from the upper edge the line of each pixel column is; the zero line counts."""
    return list(
        canvas.evaluate(
            """(canvas) => {
              const { width, height } = canvas;
              const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
              const inked = (x, y) => data[4 * (y * width + x) + 3] > 128;
              return Array.from({ length: width }, (_, x) => {
                for (let y = 0; y < height; y += 1) if (inked(x, y)) return y;
                return height;
              });
            }"""
        )
    )


def test_a_brush_zooms_chart_and_heatmap_and_the_link(page: Page, board: dict[str, str]) -> None:
    """Dragging over the chart shows those tokens in chart, heatmap and text; keys move on and back to all, and the URL says where."""
    view = opened(page, board, "short", metric="value")
    plot, stretch, scroller = view.locator(".tv-chart-plot"), view.locator(".tv-zoom-range"), view.locator(".tv-heat-scroll")
    expect(stretch).to_be_empty()
    drag(page, plot, 0.4, 0.5)
    expect(stretch).to_have_text(re.compile(r"tokens 80\d–1,00\d"))
    expect(plot).to_have_attribute("aria-label", re.compile(r"value, tokens 80\d to 1,00\d"))
    page.wait_for_url(re.compile(r"window=(79|80)\d-(99|100)\d"))
    assert scroller.evaluate("node => node.scrollLeft") > 1000
    first = view.locator(".tv-text").evaluate("""box => {
      const top = box.getBoundingClientRect().top;
      return [...box.querySelectorAll(".tv-tok")].find((token) => token.getBoundingClientRect().bottom > top + 12).index;
    }""")
    assert 780 < first < 805
    plot.focus()
    page.keyboard.press("]")
    expect(stretch).to_have_text(re.compile(r"tokens 90\d–1,10\d"))
    page.wait_for_url(re.compile(r"window=(89|90)\d-(109|110)\d"))
    page.keyboard.press("0")
    expect(stretch).to_be_empty()
    page.wait_for_url(lambda url: "window" not in url)
    page.keyboard.press("+")
    expect(stretch).to_have_text(re.compile(r"tokens \d{3}–1,\d{3}"))
    plot.dblclick()
    expect(stretch).to_be_empty()
    page.wait_for_url(lambda url: "window" not in url and "token=" not in url)


def test_a_brush_over_the_heatmap_zooms_as_over_the_chart(page: Page, board: dict[str, str]) -> None:
    """The same drag shows the same tokens, either way round; Escape gives it up, a click still pins, a double click shows all again."""
    view = opened(page, board, "short", metric="value")
    stretch, canvas, band = view.locator(".tv-zoom-range"), view.locator(".tv-canvas"), view.locator(".tv-heat .tv-brush")
    drag(page, canvas, 0.5, 0.4)
    expect(stretch).to_have_text(re.compile(r"tokens 80\d–1,00\d"))
    page.wait_for_url(re.compile(r"window=(79|80)\d-(99|100)\d"))
    expect(view.locator("[data-pinned]")).to_have_count(0)
    drag(page, canvas, 0.5, 1.0)
    expect(stretch).to_have_text(re.compile(r"tokens 90\d–1,00\d"))
    box = box_of(canvas)
    page.mouse.move(box["x"] + 200, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 12, steps=3)
    expect(band).to_have_css("width", "100px")
    page.keyboard.press("Escape")
    page.mouse.up()
    expect(band).to_be_hidden()
    expect(stretch).to_have_text(re.compile(r"tokens 90\d–1,00\d"))
    page.mouse.click(box["x"] + 200, box["y"] + 10)
    expect(view.locator("[data-pinned]")).to_have_count(1)
    canvas.dblclick()
    expect(stretch).to_be_empty()


def test_a_link_opens_its_window_with_numbers_in_the_cells(page: Page, board: dict[str, str]) -> None:
    """Few tokens: the heatmap prints their texts and numbers; further out it has neither. Another rollout shows all its tokens."""
    view = opened(page, board, "short", metric="value", window="300-311")
    expect(view.locator(".tv-zoom-range")).to_have_text("tokens 301–312")
    expect(view.locator(".tv-chart-name")).to_have_text("value reward")
    canvas = view.locator(".tv-canvas")
    expect(view.locator(".tv-heat")).to_have_css("--tv-head", "18px")
    assert colours(canvas, 0.01, 1, 0.06, 16) > 4
    assert colours(canvas, 0.01, 20, 0.06, 14) > 4
    view.get_by_role("button", name="show all tokens").click()
    expect(view.locator(".tv-heat")).to_have_css("--tv-head", "0px")
    expect(view.locator(".tv-heat-note")).to_contain_text("a column is the loudest of about 2 tokens")
    view.get_by_role("button", name="zoom in").click()
    page.wait_for_url(re.compile("window=500-1499"))
    page.locator(".st-key-rollout_Next button").click()
    expect(view.locator(".tv-zoom-range")).to_be_empty()
    page.wait_for_url(lambda url: "window" not in url and "rank_0.jsonl%3A2" in url)


def test_one_spike_in_128000_tokens_is_seen_and_pinned(page: Page, board: dict[str, str]) -> None:
    """It is the highest line of the chart, the pointer on it finds the very token, a click pins it, and the heatmap is not one colour."""
    view = opened(page, board, "long", metric="value")
    plot, canvas = view.locator(".tv-chart-plot"), view.locator(".tv-chart-canvas")
    box = box_of(plot)
    expect(view.locator(".tv-chart-numbers span").first).to_have_text("6.00")
    page.wait_for_function("canvas => canvas.width > 300", arg=canvas.element_handle())
    tops = heights(canvas)
    peak = tops.index(min(tops))
    assert peak == pytest.approx(SPIKE / LONG * len(tops), abs=1)
    assert tops[peak] < 8
    assert sorted(tops)[2] > 40
    page.mouse.move(box["x"] + (peak + 0.5) / len(tops) * box["width"], box["y"] + 10)
    expect(view.locator(".tv-status")).to_contain_text(f"token {SPIKE + 1:,}")
    expect(view.locator(".tv-chart-value")).to_have_text("6.00")
    expect(view.locator(".tv-chart-dot")).to_be_visible()
    page.mouse.down()
    page.mouse.up()
    expect(view.locator("[data-pinned]")).to_have_text(" w0")
    page.wait_for_url(re.compile(rf"token={SPIKE}(&|$)"))
    assert colours(view.locator(".tv-canvas"), 0, 8, 1, 1) > 3
    expect(view.locator(".tv-heat-note")).to_contain_text("colours span the 1 % to 99 % quantile of what is drawn")


def test_the_range_of_step_and_run_is_the_same_for_every_rollout(page: Page, board: dict[str, str]) -> None:
    """By its own quantiles each rollout has other numbers; by the step's and the run's both have the same, and say so."""
    view = opened(page, board, "short", metric="value")
    ticks, kind, note = view.locator(".tv-ticks"), view.get_by_label("range of the colours"), view.locator(".tv-range-note")
    expect(ticks).to_contain_text("1.00")
    kind.select_option("step")
    expect(note).to_have_text("step 0: 2 rollouts · symmetric around 0")
    expect(ticks).to_contain_text("3.00")
    page.wait_for_url(re.compile("scale=step"))
    before = ticks.text_content() or ""
    page.locator(".st-key-rollout_Next button").click()
    page.wait_for_url(re.compile("rank_0.jsonl%3A2"))
    expect(ticks).to_have_text(before)
    expect(kind).to_have_value("step")
    kind.select_option("run")
    expect(note).to_have_text("the run: 2 rollouts · symmetric around 0")
    expect(ticks).to_have_text(before)


def test_rows_with_one_metric_and_with_none(page: Page, board: dict[str, str]) -> None:
    """One metric is drawn like many; without any there is neither chart nor heatmap, and the text says why it has no colour."""
    view = opened(page, board, "odd")
    expect(view.locator(".tv-chart-name")).to_have_text("entropy nats")
    assert min(heights(view.locator(".tv-chart-canvas"))) < 8
    expect(view.locator(".tv-label")).to_have_count(1)
    page.locator(".st-key-rollout_Next button").click()
    expect(view.locator(".tv-note")).to_have_text("This row has no token metric, so its tokens have no colour.")
    for name in (".tv-chart", ".tv-heat", ".tv-heat-head"):
        expect(view.locator(name)).to_be_hidden()
    view.locator(".tv-text").focus()
    page.keyboard.press("]")
    page.keyboard.press("0")
    expect(view.locator(".tv-tok")).to_have_count(3)
