"""The token view as a reader meets it: a long response and one split over bytes, by mouse and keyboard, in a real browser."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from servers import Written

LONG = 30_000
SPIKE = 20_000
WORDS = (" the", " sum", " of", " x", ",", ".\n", " again")
SPLIT = ["The", "Ġcat", "Ġ", "ä", "»", "Ĭ", "æĹ¥", "Ċ", "Ġend"]


def long_row() -> dict[str, object]:
    """30,000 tokens; one of them, "needle", has by far the greatest KL."""
    tokens = [WORDS[i * 7919 % len(WORDS)] for i in range(LONG)]
    tokens[SPIKE] = " needle"
    logprobs = [-0.1 - (i % 13) / 40 for i in range(LONG)]
    gaps = [(i % 7) / 50 for i in range(LONG)]
    gaps[SPIKE] = -6.0
    reference = [logprob + gap for logprob, gap in zip(logprobs, gaps, strict=True)]
    return row(tokens, logprobs, reference)


def split_row() -> dict[str, object]:
    """Byte-level tokens: 今 is spread over three of them."""
    return row(SPLIT, [-0.1 * i for i in range(len(SPLIT))], [-0.2 * i for i in range(len(SPLIT))])


def row(tokens: list[str], logprobs: list[float], reference: list[float]) -> dict[str, object]:
    """One rollout as the recorder writes it."""
    numbers = {"logprobs": logprobs, "ref_logprobs": reference}
    return {"step": 0, "prompt": "p", "response": "r", "response_tokens": tokens, "reward": 1.0, **numbers}


@pytest.mark.parametrize("view", [long_row()], indirect=True, ids=["30,000 tokens"])
def test_a_long_response_is_whole_and_only_its_sight_is_built(view: Locator, page: Page) -> None:
    """The first and the last token are a key apart, and the page never holds more than a few thousand tokens."""
    expect(view.locator(".tv-extent")).to_have_text(f"{LONG:,} tokens")
    assert 200 < view.locator(".tv-tok").count() < 12_000
    view.locator(".tv-text").focus()
    page.keyboard.press("End")
    expect(view.locator(".tv-tip-where")).to_contain_text(f"token {LONG:,} of {LONG:,}")
    expect(view.locator("[data-focus]")).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(view.locator(".tv-tip-where")).to_contain_text(f"token 1 of {LONG:,}")
    expect(view.locator("[data-focus]")).to_be_in_viewport()
    assert view.locator(".tv-tok").count() < 12_000


@pytest.mark.parametrize("view", [long_row()], indirect=True, ids=["30,000 tokens"])
def test_the_guilty_token_is_found(view: Locator, page: Page) -> None:
    """Search, go to and the jump to extremes all lead to the one token in 30,000; the minimap moves the text; ? lists keys."""
    page.keyboard.press("Escape")
    view.locator(".tv-text").focus()
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(view.locator(".tv-found")).to_have_text("1 of 1")
    expect(view.locator('[data-match="now"]')).to_have_text(" needle")
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    page.keyboard.press("g")
    page.keyboard.type(f"{SPIKE + 1:,}")
    page.keyboard.press("Enter")
    expect(view.locator("[data-focus]")).to_have_text(" needle")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("n")
    expect(view.locator("[data-focus]")).to_have_text(" needle")
    page.keyboard.press("?")
    expect(page.locator(".st-key-key_list dialog")).to_contain_text("next, previous extreme")
    page.keyboard.press("?")
    view.locator(".tv-keys").click()
    expect(view.locator(".tv-help")).to_contain_text("next, previous extreme")
    strip = view.locator(".tv-map")
    box = strip.bounding_box()
    assert box is not None
    before = view.locator(".tv-text").evaluate("node => node.scrollTop")
    strip.click(position={"x": box["width"] * 0.1, "y": 10})
    assert 0 < view.locator(".tv-text").evaluate("node => node.scrollTop") < before / 3


@pytest.mark.parametrize("view", [split_row()], indirect=True, ids=["byte-level"])
def test_a_split_character_is_one_glyph_of_three_tokens(view: Locator, page: Page) -> None:
    """Byte-level tokens read as text, each token keeps its own card, and the raw names are one switch away."""
    text = view.locator(".tv-text")
    assert re.sub(r"\s+", " ", text.inner_text()).strip().endswith("end")
    assert text.locator(".tv-tok").count() == len(SPLIT)
    assert text.locator(".tv-glyph").count() == 3
    assert text.inner_text().count("今") == 1
    text.locator(".tv-tok").nth(4).hover()
    expect(view.locator(".tv-tip")).to_contain_text("part 2 of 3")
    expect(view.locator(".tv-tip")).to_contain_text("bytes BB")
    view.get_by_role("button", name="draw tokens by their names").click()
    expect(text).to_contain_text("TheĠcatĠä»ĬæĹ¥ĊĠend")


@pytest.mark.parametrize("view", [long_row()], indirect=True, ids=["30,000 tokens"])
def test_the_range_of_the_colours_is_the_readers_choice(view: Locator) -> None:
    """The legend's numbers follow the range: robust at first, then full, then fixed by hand."""
    ticks = view.locator(".tv-ticks")
    expect(ticks).to_contain_text("≥")
    view.get_by_label("range of the colours").select_option("full")
    expect(ticks).not_to_contain_text("≥")
    view.get_by_label("range of the colours").select_option("fixed")
    view.get_by_label("upper end of the colours").fill("7")
    view.get_by_label("upper end of the colours").press("Tab")
    expect(ticks).to_contain_text("7.00")


DRAWN = """
window.drawn = {};
const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
Object.defineProperty(HTMLCanvasElement.prototype, "width", {
  ...width,
  set(value) { drawn[this.className] = (drawn[this.className] ?? 0) + 1; width.set.call(this, value); },
});
window.classed = 0;
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (...asked) {
  const root = attach.apply(this, asked);
  const words = (records) => { classed += records.filter(({ target }) => target.matches(".tv-tok")).length; };
  new MutationObserver(words).observe(root, { subtree: true, attributes: true, attributeFilter: ["class"] });
  return root;
};
"""
"""Counts how often a canvas is wiped for a picture, by its class, and how often a token that stands already gets another colour."""
PICTURES = {"tv-chart-canvas", "tv-map-canvas", "tv-canvas"}


def test_a_fresh_page_draws_each_picture_once(written: Written, page: Page) -> None:
    """The text has the link's colours from the start, and nothing is drawn again before the view has another width."""
    page.add_init_script(DRAWN)
    page.goto(written([long_row()], "tokens").link)
    page.wait_for_function("(names) => names.every((name) => drawn[name])", arg=[*PICTURES])
    page.wait_for_timeout(700)  # in which whatever is drawn twice would be
    assert page.evaluate("[drawn, classed]") == [dict.fromkeys(PICTURES, 1), 0]
    page.set_viewport_size({"width": 1_000, "height": 800})
    page.wait_for_function("(names) => names.every((name) => drawn[name] > 1)", arg=[*PICTURES])
