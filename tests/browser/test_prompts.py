"""A prompt over training in a browser: its visits by key, and two of its rollouts compared."""

import re

from playwright.sync_api import Page, expect
from settling import settled

from board.runs.prompt_keys import prompt_key

PROMPT = "The baker's dog went dancing brave and bold,\n"
"""Sampled at three steps of the run."""


def test_visits_by_key_and_a_rollout_compared(board_server: str, page: Page) -> None:
    """J and K go through the visits and tell each, Enter compares the one that is marked, a click another; the link holds both."""
    page.goto(f"{board_server}prompts?run=tiny_ppo_hacked&prompt={prompt_key(PROMPT)}")
    settled(page)
    told, rings = page.locator(".timeline-told"), page.locator(".timeline-ring:not(.looked)")
    expect(rings).to_have_text(["A", "B"])

    page.keyboard.press("j")
    expect(told).to_contain_text("step 0, 2 rollouts")
    page.keyboard.press("j")
    expect(told).to_contain_text(re.compile(r"step \d+, 2 rollouts · reward .*mean.* · KL k3 .* · tokens \d+"))
    page.keyboard.press("k")
    expect(told).to_contain_text("step 0, 2 rollouts")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"first=rank_.*second=rank_"))
    settled(page)
    before = page.url

    page.locator(".timeline-plot canvas").click(position={"x": 104, "y": 195})
    expect(page).not_to_have_url(before)
    expect(page.locator(".diff")).to_be_visible()


def test_all_cohorts_are_in_sight_in_a_narrow_window(board_server: str, page: Page) -> None:
    """Those that have no room in a line stand in the next: none has to be scrolled to."""
    page.set_viewport_size({"width": 480, "height": 900})
    page.goto(f"{board_server}prompts?run=tiny_ppo_eval&right_from=0")
    settled(page)

    choices = page.get_by_role("radiogroup", name="Prompts").get_by_role("radio")

    expect(choices).to_have_text(["All", "Learned", "Forgotten", "Flipping", "Always solved", "Never solved", "Losing"])
    for choice in choices.all():
        expect(choice).to_be_in_viewport(ratio=1)
