"""Reading one rollout on the Tokens page: what stands above the text, its toolbar, and the card that must not be in the way."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect
from servers import Written
from settling import settled

HOSTILE: Final = "<img src=x onerror=alert(1)> **bold** $x$"
WORDS: Final = (" word", " longer", " it", " antidisestablishment", ",", " so")
COUNT: Final = 400


def row(line: int) -> dict[str, Any]:
    """A rollout of full lines with alternatives, in a group of two."""
    tokens = [WORDS[i * 7 % len(WORDS)] for i in range(COUNT)]
    gaps = [3.0 if token == "," else -2.0 if i % 5 == 0 else 0.2 for i, token in enumerate(tokens)]
    return {
        "step": 0,
        "prompt": f"{HOSTILE}\n  second line",
        "response_tokens": tokens,
        "reward": float(line),
        "valid_reward": 0.25,
        "ground_truth": HOSTILE,
        "logprobs": [-0.5] * COUNT,
        "ref_logprobs": [-0.5 - gap for gap in gaps],
        "values": [0.1] * COUNT,
        "advantages": [0.5] * COUNT,
        "entropies": [0.5] * COUNT,
        "top_logprobs": [[[token, -0.5], [" other", -1.0], [" third", -2.0]] for token in tokens],
    }


@pytest.fixture(scope="module")
def board(written: Written) -> str:
    """The link to the tokens of two rollouts of one prompt."""
    return written(map(row, (1, 2)), "tokens").link


def opened(page: Page, board: str) -> Locator:
    """The token view of the first rollout."""
    page.goto(board)
    expect(page.locator(".tv-tok").first).to_be_visible()
    settled(page)
    return page.locator(".tv")


def top_of(place: Locator) -> float:
    """Where it begins, in pixels of the page's window."""
    box = place.bounding_box()
    assert box is not None
    return box["y"]


def test_what_is_known_of_the_rollout_stands_above_its_text(page: Page, board: str) -> None:
    """A line each; a click unfolds one, letter for letter, and it stays open for the next rollout and after a reload; KL is in its hover."""
    view = opened(page, board)
    lines, prompt = page.locator(".folded details"), page.locator(".folded details", has_text="prompt")
    expect(page.locator(".folded-name")).to_have_text(["reward", "group", "prompt", "ground truth", "row"])
    expect(lines.locator(".folded-line").first).to_have_text("1 · valid_reward 0.250 · advantage, mean 0.500 · tokens 400")
    expect(lines.locator(".folded-line").nth(1)).to_contain_text("2 rollouts · reward 1 to 2")
    heights = [box["height"] for at in range(5) if (box := lines.nth(at).bounding_box())]
    assert len(heights) == 5
    assert max(heights) < 32
    assert top_of(lines.last) < top_of(view.locator(".tv-text"))
    prompt.locator("summary").click()
    text = prompt.locator(".folded-text")
    expect(text).to_be_visible()
    assert text.inner_text() == f"{HOSTILE}\n  second line"
    page.locator(".st-key-rollout_Next button").click()
    expect(lines.locator(".folded-line").first).to_contain_text("2 · valid_reward")
    expect(prompt).to_have_attribute("open", "")
    assert page.locator(".folded img, .folded strong, .folded .katex").count() == 0

    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("KL estimator")).to_be_hidden()
    expect(main.get_by_text("exp(-d)")).to_be_hidden()
    view.locator(".tv-metric[data-metric=kl]").hover()
    expect(main.get_by_text("k3 = exp(-d) - 1 + d")).to_be_visible()
    view.locator(".tv-estimator").filter(has_text="k2").click()
    expect(page).to_have_url(re.compile("estimator=k2"))
    expect(view.locator(".tv-formula")).to_contain_text("k2 = d² / 2")


def test_legend_metrics_and_tools_are_one_toolbar(page: Page, board: str) -> None:
    """All three are in it and nothing else stands between it and the text; the legend says which end is low, colours say the side."""
    view = opened(page, board)
    bar = view.get_by_role("toolbar")
    for part in (".tv-chooser", ".tv-legend", ".tv-range", ".tv-tools", ".tv-extent"):
        expect(bar.locator(part)).to_be_visible()
    box = bar.bounding_box()
    assert box is not None
    assert abs(box["y"] + box["height"] - top_of(view.locator(".tv-text"))) < 2
    expect(view.locator(".tv-metric[aria-checked=true]")).to_have_text("log_ratio")
    poles = view.locator(".tv-pole")
    for metric, ends in {"kl": ["policy avoids", "policy prefers"], "prob": ["low probability", "high probability"]}.items():
        if metric == "prob":
            sides = [view.locator(".tv-tok").nth(at).get_attribute("class") or "" for at in range(COUNT // 8)]
            assert {re.sub(r".*tv-([pn])\d.*", r"\1", side) for side in sides} >= {"p", "n"}
        view.locator(f".tv-metric[data-metric={metric}]").click()
        expect(poles).to_have_text(ends)
    assert (view.locator(".tv-ticks span").first.text_content(), view.locator(".tv-ticks span").last.text_content()) == (
        "0",
        "1.00",
    )


CARD: Final = """view => {
  const tip = view.querySelector('.tv-tip');
  const text = view.querySelector('.tv-text');
  const hovered = [...text.querySelectorAll('.tv-tok[data-hover]')];
  if (hovered.length !== 1) return null;
  const boxes = (span) => [...span.getClientRects()];
  const own = boxes(hovered[0]).at(-1);
  const pane = text.getBoundingClientRect();
  const after = [...text.querySelectorAll('.tv-tok')].filter((span) => span.index >= hovered[0].index).flatMap(boxes);
  const rest = after.filter((box) => Math.abs(box.top - own.top) < 10);
  const below = after.filter((box) => box.top > own.bottom - 2 && box.top < pane.bottom).map((box) => box.top);
  const next = after.filter((box) => Math.abs(box.top - Math.min(...below)) < 6);
  const pinned = [...text.querySelectorAll('[data-pinned]')].flatMap(boxes).filter((box) => box.bottom > pane.top && box.top < pane.bottom);
  const compare = view.querySelector('.tv-compare');
  const kept = [...rest, ...next, ...pinned, ...(compare.hidden ? [] : [compare.getBoundingClientRect()])];
  const card = tip.getBoundingClientRect();
  const across = (box) => card.left < box.right - 1 && box.left < card.right - 1;
  const over = kept.filter((box) => across(box) && card.top < box.bottom - 1 && box.top < card.bottom - 1);
  const inside = card.left >= 0 && card.top >= 0 && card.right <= innerWidth && card.bottom <= innerHeight;
  return { hidden: tip.hidden, over: over.length, inside, next: next.length, density: tip.dataset.density, kept: kept.length };
}"""

EDGES: Final = """text => {
  const pane = text.getBoundingClientRect();
  const lines = new Map();
  for (const span of text.querySelectorAll('.tv-tok')) {
    const box = [...span.getClientRects()].at(-1);
    if (box.top < Math.max(pane.top, 160) || box.bottom > Math.min(pane.bottom, innerHeight)) continue;
    const line = Math.round(box.top / 8);
    lines.set(line, [...(lines.get(line) ?? []), [box.left + box.width / 2, box.top + box.height / 2]]);
  }
  const all = [...lines.keys()].sort((one, other) => one - other).map((line) => lines.get(line));
  const chosen = new Set([0, 1, Math.floor(all.length / 2), all.length - 2, all.length - 1]);
  return all.filter((_, at) => chosen.has(at)).flatMap((line) => [line[0], line[Math.floor(line.length / 2)], line.at(-1)]);
}"""

HOVERED: Final = """([view, x, y]) => [...view.querySelectorAll('.tv-tok[data-hover]')].flatMap((span) => [...span.getClientRects()])
  .some((box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)"""

WINDOWS = {"wide": (1400, 900), "low": (1400, 620), "narrow": (480, 800)}


def test_the_card_covers_neither_what_is_read_next_nor_what_is_compared(page: Page, board: str) -> None:
    """Tokens at every edge of the text, with pins and their table, in wide, low and narrow windows: it is there, whole, and in nobody's way."""
    view = opened(page, board)
    text = view.locator(".tv-text")
    for at in (2, 30, 75):
        view.locator(".tv-tok").nth(at).click(modifiers=["Shift"])
    expect(view.locator(".tv-compare")).to_be_visible()
    settled(page)
    for name, (width, height) in WINDOWS.items():
        page.set_viewport_size({"width": width, "height": height})
        text.evaluate("node => node.scrollIntoView({ block: 'center' })")
        page.wait_for_timeout(300)
        places = text.evaluate(EDGES)
        assert len(places) >= 9, name
        for x, y in places:
            page.mouse.move(x, y)
            page.wait_for_function(HOVERED, arg=[view.element_handle(), x, y])
            expect(view.locator(".tv-tip")).to_be_visible()
            page.wait_for_timeout(40)  # in which it is laid out
            seen = view.evaluate(CARD)
            assert seen is not None, (name, x, y)
            assert seen["over"] == 0, (name, x, y, seen)
            assert seen["inside"], (name, x, y, seen)
