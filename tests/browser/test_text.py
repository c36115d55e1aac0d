"""The text of the token view in a real browser: lines as the response has them, segments, units of colour, marks, hard scripts."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect
from settling import tab

FAMILY = "👩\u200d👧\u200d👦"
LINE = 33_000
STEPS = ["<think>", " First", " 3", ".", "14", ",", " then", " two", ".\n", " So", " six", ".", "</think>", "\n"]
TOOL = ["<tool_response>", " 6.28", "</tool_response>", "\n"]
ANSWER = ["The", " answer", " is", " six", "."]


def row(tokens: list[str], gaps: list[float], **more: object) -> dict[str, object]:
    """One rollout whose log-ratio is `gaps`."""
    logprobs = [-1.0] * len(tokens)
    reference = [-1.0 - gap for gap in gaps]
    rest = {"logprobs": logprobs, "ref_logprobs": reference, **more}
    return {"step": 0, "prompt": "p", "response": "r", "response_tokens": tokens, "reward": 1.0, **rest}


def agent_row() -> dict[str, object]:
    """A think, a tool's answer that does not count and holds the wildest numbers, and an answer."""
    tokens = STEPS + TOOL + ANSWER
    inside = [len(STEPS) <= i < len(STEPS) + len(TOOL) for i in range(len(tokens))]
    gaps = [9.0 if tool else 0.1 * (i % 5) for i, tool in enumerate(inside)]
    gaps[tokens.index(" two")] = 3.0
    return row(tokens, gaps, loss_mask=[int(not tool) for tool in inside])


def hard_row() -> dict[str, object]:
    """An override of the direction between two words, a family spelled by four tokens, and words to find."""
    tokens = ["abc", " \u202edef", " ghi", "\n", "👩", "\u200d", "👧\u200d", "👦", " end"]
    return row(tokens, [0.1 * i for i in range(len(tokens))])


def line_row() -> dict[str, object]:
    """33,000 tokens without a single line end."""
    words = [" the", " sum", " of", " x", ",", " again", "今日", "ing", " therefore"]
    tokens = [words[(i * 7919 + i // 8) % len(words)] for i in range(LINE)]
    return row(tokens, [(i % 7) / 50 for i in range(LINE)])


def token(view: Locator, text: str) -> Locator:
    """The first token drawn with exactly this text."""
    return view.locator(".tv-tok").filter(has_text=re.compile(f"^{re.escape(text)}$")).first


FILL = "node => new Promise(done => requestAnimationFrame(() => done(getComputedStyle(node).backgroundColor)))"


def fill(view: Locator, text: str) -> str:
    """The colour a token stands on; a token that is just being drawn anew has none yet, and is looked for again."""
    for _ in range(100):
        if colour := token(view, text).evaluate(FILL):
            return str(colour)
    raise AssertionError(f"{text!r} is on no page.")


@pytest.mark.parametrize("view", [agent_row()], indirect=True, ids=["agent"])
def test_segments_fold_and_open_to_a_jump(view: Locator, page: Page) -> None:
    """A click on a segment's name folds it to one line with its length and KL; a search for what it hides opens it; F folds all."""
    expect(view.locator(".tv-seg")).to_have_count(3)
    view.get_by_role("button", name="fold think").click()
    line = view.locator(".tv-fold")
    expect(line).to_have_attribute("aria-label", re.compile(r"^unfold think · 14 tokens · Σ kl \d"))
    expect(token(view, " First")).to_have_count(0)
    assert "think ·" not in view.locator(".tv-text").inner_text()
    view.locator(".tv-search").fill("first")
    expect(line).to_have_count(0)
    expect(token(view, " First")).to_have_attribute("data-match", "now")
    view.locator(".tv-text").focus()
    page.keyboard.press("F")
    expect(line).to_have_count(3)
    line.last.click()
    expect(token(view, " answer")).to_be_visible()
    page.keyboard.press("F")
    expect(line).to_have_count(0)


@pytest.mark.parametrize("view", [agent_row()], indirect=True, ids=["agent"])
def test_masked_turns_are_dim_and_in_no_scale_and_no_mark(view: Locator) -> None:
    """A tool's tokens have no colour, do not stretch the scale, and hold none of the KL that is marked."""
    view.locator(".tv-metric[data-metric=kl]").click()
    tool = token(view, " 6.28")
    expect(tool).to_have_class(re.compile("tv-masked"))
    assert fill(view, " 6.28") == "rgba(0, 0, 0, 0)"
    assert float(tool.evaluate("node => getComputedStyle(node).opacity")) < 0.6
    view.get_by_label("range of the colours").select_option("full")
    # k3 of a gap of 3 is e^-3 - 1 + 3; one of 9 would reach 8.
    expect(view.locator(".tv-ticks span").last).to_have_text("2.05")
    expect(view.locator('[data-top="five"].tv-tok')).to_have_count(5)
    expect(token(view, " two")).to_have_attribute("data-top", "five")
    assert "gradient" in str(token(view, " two").evaluate("node => getComputedStyle(node).backgroundImage"))
    expect(view.locator(".tv-masked[data-top]")).to_have_count(0)
    expect(view.page.locator("body")).to_contain_text("in the text those of the KL have a filled corner")


@pytest.mark.parametrize("view", [agent_row()], indirect=True, ids=["agent"])
def test_the_colour_stands_for_a_word_a_sentence_a_segment(view: Locator, page: Page) -> None:
    """Tokens of one unit share their mean's colour, the card keeps the token's own number, and the link keeps the granularity."""
    assert fill(view, " then") != fill(view, " two")
    granularity = view.get_by_label("what one colour stands for")
    granularity.select_option("word")
    expect(view.locator(".tv-legend")).to_contain_text("mean of each word")
    assert fill(view, " 3") == fill(view, "14")
    assert fill(view, " then") != fill(view, " two")
    granularity.select_option("sentence")
    expect(view.locator(".tv-legend")).to_contain_text("mean of each sentence")
    assert fill(view, " then") == fill(view, " two") != fill(view, " six")
    granularity.select_option("segment")
    expect(page).to_have_url(re.compile("granularity=segment"))
    assert fill(view, " two") == fill(view, " six") != fill(view, " answer")
    view.locator(".tv-text").focus()
    page.keyboard.press("n")
    expect(view.locator("[data-focus]")).to_have_text("<think>")
    token(view, " two").hover()
    expect(view.locator('.tv-tip [data-metric="kl"]')).to_contain_text("2.05")
    address = urlsplit(page.url)
    page.goto(f"{address.scheme}://{address.netloc}/?{address.query}")
    tab(page, "Tokens").click()
    expect(view.locator(".tv-legend")).to_contain_text("mean of each segment")


@pytest.mark.parametrize("view", [hard_row()], indirect=True, ids=["hard"])
def test_a_token_reorders_no_neighbour_and_a_family_stays_whole(view: Locator, page: Page) -> None:
    """An override of the direction ends with its token; an emoji of four tokens is drawn whole; spaces are marked when asked for."""
    lefts = [box["x"] for text in ("abc", " def", " ghi") if (box := token(view, text).bounding_box())]
    assert lefts == sorted(lefts)
    assert len(lefts) == 3
    glyphs = view.locator(".tv-glyph")
    expect(glyphs).to_have_count(4)
    expect(glyphs.first).to_have_text(FAMILY)
    assert {glyphs.nth(i).get_attribute("data-glyph") for i in (1, 2, 3)} == {FAMILY}
    assert view.locator(".tv-text").inner_text().count(FAMILY) == 1
    before = view.locator(".tv-over").count()
    view.get_by_role("button", name="mark every space").click()
    assert view.locator(".tv-over").count() == before + 3
    page.keyboard.press("Escape")


LINES = """text => {
  const box = text.getBoundingClientRect();
  const lines = new Map();
  for (const token of text.querySelectorAll('.tv-tok')) {
    for (const piece of token.getClientRects()) {
      const line = lines.get(Math.round(piece.top)) ?? { left: Infinity, right: -Infinity };
      lines.set(Math.round(piece.top), { left: Math.min(line.left, piece.left), right: Math.max(line.right, piece.right) });
    }
  }
  const inside = [...lines].filter(([top]) => top > box.top && top < box.bottom).map(([, line]) => line);
  return { lines: inside.length, gap: Math.max(...inside.map(({ right }) => box.right - right)),
    indent: Math.max(...inside.map(({ left }) => left - box.left)) };
}"""


@pytest.mark.parametrize("view", [line_row()], indirect=True, ids=["one line"])
def test_a_response_of_one_line_is_broken_only_at_its_edge(view: Locator, page: Page) -> None:
    """33,000 tokens without a line end: wherever one looks, every line is filled to the edge, and none is indented."""
    text = view.locator(".tv-text")
    blocks = view.locator(".tv-chunk[data-goes-on]")
    expect(blocks.first).to_be_attached()
    for share in (0, 0.02, 0.5):
        text.evaluate("(text, share) => { text.scrollTop = share * text.scrollHeight; }", share)
        page.wait_for_function("text => text.querySelectorAll('.tv-tok').length > 300", arg=text.element_handle())
        for _ in range(8):
            text.evaluate(
                "text => new Promise(done => { text.scrollTop += 150; requestAnimationFrame(() => requestAnimationFrame(done)); })"
            )
            seen: dict[str, Any] = text.evaluate(LINES)
            assert seen["lines"] > 10
            assert seen["gap"] < 120, seen
            assert seen["indent"] < 12, seen
