"""How probable a token is over training, in a browser: from the token that is pinned on Tokens to its curve on Words."""

import math
import re
from typing import Any

from browsing import click_middle, panel
from playwright.sync_api import Page, expect
from servers import Written
from settling import settled

STEPS = 9
TOKENS = ["so", " so", " then", " ![](x)"]


def rising(step: int, at: int) -> dict[str, Any]:
    """A response whose tokens grow likelier by the same factor each step, the last by more; the reference stays."""
    logprobs = [-1.0] * 3 + [-2.0 + step / 5]
    return {
        "step": step,
        "prompt": f"p{at % 4}",
        "response": "".join(TOKENS),
        "response_tokens": TOKENS,
        "logprobs": logprobs,
        "ref_logprobs": [-0.5] * 4,
        "reward": at / 8 + step,
    }


def test_from_a_pinned_token_to_its_curve(written: Written, page: Page) -> None:
    """The link of the token that is pinned by a click leads to its curve, which says early and late, and opens a step by a click."""
    opened = written((rising(step, at) for step in range(STEPS) for at in range(8)), "tokens").link
    page.goto(f"{opened}&step=4")
    tokens = page.locator(".tv-tok")
    expect(tokens).to_have_count(len(TOKENS))
    settled(page)
    link = page.get_by_role("link", name="The token's probability over training")
    expect(link).to_have_count(0)

    tokens.last.click()
    settled(page)
    link.click()

    card = panel(page, "How probable is it?")
    expect(card).to_be_visible()
    expect(page).to_have_url(re.compile(r"/words\?.*phrase="))
    settled(page)
    early, late = (sum(math.exp(-2 + step / 5) for step in steps) / 3 for steps in (range(3), range(6, 9)))
    told = page.get_by_text(re.compile("^Its probability: "))
    expect(told).to_contain_text(f"policy {early:.3f} → {late:.3f}, reference 0.607 → 0.607")
    expect(page.get_by_text(re.compile(f"^{STEPS * 8} places in {STEPS * 8} of {STEPS * 8} rollouts"))).to_be_visible()
    there = page.url
    click_middle(card)
    expect(page).to_have_url(re.compile("step=4(&|$)"))

    page.goto(there)
    expect(told).to_contain_text(f"policy {early:.3f} → {late:.3f}")
    settled(page)
