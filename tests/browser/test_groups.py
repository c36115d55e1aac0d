"""From a group to the token that decided it, in a browser: strips, best against worst in one colour scale, the tree, the token."""

import re
from pathlib import Path
from typing import Any

import pytest
from late_browser import LateBrowser
from playwright.sync_api import Page, expect
from servers import Written
from settling import settled, tab

from board import open_run

HACKED = Path(__file__).parents[2] / "rollout_samples" / "tiny_ppo_hacked"
HOSTILE = "![](http://127.0.0.1:9/x.png) <img src=http://127.0.0.1:9/y.png onerror=alert(1)>"


def rollout(prompt: str, token: str, reward: float, size: float) -> dict[str, Any]:
    """Four tokens, of which the third tells right from wrong; `size` is that of its log-ratio."""
    tokens = ["The", " answer", token, HOSTILE]
    logprobs = [-0.5] * 4
    return {
        "step": 0,
        "prompt": prompt,
        "response": "".join(tokens),
        "response_tokens": tokens,
        "logprobs": logprobs,
        "ref_logprobs": [-0.5, -0.6, -0.5 - size, -0.7],
        "entropies": [0.1, 0.9, 0.4, 0.2],
        "reward": reward,
    }


MIXED = [rollout("mixed", token, float(token == " yes"), 1.0 if token == " yes" else 0.2) for token in (" yes", " yes", " no")]


@pytest.mark.journey
def test_from_a_group_to_the_token_that_decided_it(written: Written, page: Page) -> None:
    """A click on a strip opens the group; both token views begin where they part, coloured alike; a click in the tree goes to the token."""
    page.goto(written([*(rollout("flat", " yes", 1.0, 0.5) for _ in range(2)), *MIXED], "groups").link)
    settled(page)

    strips = page.locator(".gs-row")
    expect(strips).to_have_count(2)
    expect(strips.nth(1)).to_have_attribute("data-grey", "true")
    expect(strips.first.locator("circle")).to_have_count(3)
    strips.first.focus()
    page.keyboard.press("ArrowDown")
    expect(strips.nth(1)).to_be_focused()
    strips.first.click()
    expect(page).to_have_url(re.compile("group=2(&|$)"))
    settled(page)

    first, second = page.locator(".st-key-pair_first"), page.locator(".st-key-pair_second")
    for view in (first, second):
        expect(view.locator(".tv-ramp").first).to_have_attribute("aria-label", re.compile("log_ratio.*−?1"))
    ticks = [view.locator(".tv-ticks").first.inner_text() for view in (first, second)]
    assert [re.sub("[≤≥]", "", one) for one in ticks] == [re.sub("[≤≥]", "", ticks[0])] * 2
    second.get_by_role("radio", name="entropy", exact=True).click()
    expect(first.get_by_role("radio", name="entropy", exact=True)).to_have_attribute("aria-checked", "true")

    page.get_by_role("radio", name="Where they part").click()
    tree = page.get_by_role("treeitem")
    expect(tree).to_have_count(3)
    expect(tree.first).to_have_attribute("data-marked", "true")
    tree.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/tokens\?.*token=2(&|$)"))
    settled(page)
    expect(page.locator(".st-key-token_view")).to_contain_text("yes")


def test_a_page_that_the_browser_hears_of_late_is_drawn(written: Written, page: Page) -> None:
    """Of the page before a late browser asks for new rows when the next is drawn already: Streamlit takes that out, and it comes back."""
    late = LateBrowser(page)
    page.goto(f"{written(MIXED, 'groups').link}&group=1&aspect=Where+they+part")
    settled(page)

    late.hold()
    page.get_by_role("treeitem").nth(1).click()
    page.wait_for_timeout(4_000)
    late.release()

    expect(page).to_have_url(re.compile("/tokens"))
    settled(page)
    expect(page.locator(".st-key-token_view")).to_contain_text("yes")


def best_of(step: int, group: int) -> tuple[float, float]:
    """Reward and validation reward of the best rewarded rollout of a group of the bundled run whose reward is exploited."""
    frame = open_run(HACKED).frame
    best = frame[(frame["step"] == step) & (frame["group"] == group)].nlargest(1, "reward")
    return float(best["reward"].iloc[0]), float(best["valid_reward"].iloc[0])


def test_from_the_rewards_to_a_group_whose_best_response_is_a_hack(board_server: str, page: Page) -> None:
    """Three clicks from the page Rewards: to the step where the validation reward breaks, to the groups, to the first of them.

    Three rhymes are a third each: a reward above 1 is for lines that nobody asked for, which the validation reward does not pay.
    """
    page.add_init_script(
        "window.boardClicks = 0; addEventListener('click', (event) => event.isTrusted && window.boardClicks++, true)"
    )
    page.goto(f"{board_server}?run=tiny_ppo_hacked")
    settled(page)

    page.get_by_text("Step 18", exact=True).click()
    expect(page).to_have_url(re.compile(r"step=18(&|$)"))
    settled(page)
    tab(page, "Groups").click()
    settled(page)
    page.locator(".gs-row").first.click()
    expect(page).to_have_url(re.compile(r"group=\d+"))
    settled(page)

    expect(page.get_by_text("only in the best, underlined")).to_be_visible()
    found = re.search(r"group=(\d+)", page.url)
    assert found is not None
    reward, valid_reward = best_of(18, int(found[1]))
    assert reward > 1
    assert valid_reward < 0.5
    assert page.evaluate("window.boardClicks") == 3


HIT = """
(milliseconds) => addEventListener("keydown", () => setTimeout(() => {
    const within = (root) => [...root.querySelectorAll("*")].flatMap((one) => (one.shadowRoot ? [one, ...within(one.shadowRoot)] : [one]));
    const pane = document.querySelector("[class*=st-key-group_strips]");
    const strips = pane ? within(pane).filter((one) => one.matches("[role=button], button")) : [];
    window.boardHit = strips[1]?.innerText ?? "";
    strips[1]?.click();
}, milliseconds), { once: true, capture: true })
"""


@pytest.mark.parametrize("milliseconds", [0, 60, 150, 300])
def test_a_click_while_the_next_step_is_drawn_opens_what_it_hit(board_server: str, page: Page, milliseconds: int) -> None:
    """Before the next step is in sight a group is hit: that very group opens and stays, or none opens; the step is never undone."""
    late = LateBrowser(page)
    page.goto(f"{board_server}groups?run=tiny_ppo_hacked&step=40")
    settled(page)
    page.evaluate(HIT, milliseconds)

    late.hold()
    page.keyboard.press("l")
    page.wait_for_function("() => window.boardHit !== undefined")
    late.answered()
    late.release()
    settled(page)
    there = re.findall(r"(?:step|group)=\d+", page.url)
    page.wait_for_timeout(3_500)  # by then the list of steps may have asked once more for a step that it was not led to
    settled(page)
    assert re.findall(r"(?:step|group)=\d+", page.url) == there

    hit = page.evaluate("() => window.boardHit")
    if opened := re.search(r"group=(\d+)", page.url):
        number, told = hit.split(maxsplit=1)
        assert opened[1] == number
        expect(page.get_by_text(re.compile(rf"group {number} · .* {re.escape(told)}"))).to_be_visible()
    else:
        expect(page).to_have_url(re.compile("step=41"))
