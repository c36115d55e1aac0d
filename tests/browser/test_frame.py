"""The board as a user meets it: the real server, a real browser, clicks and keys."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest
from browsing import click_middle, click_row, go_back, go_to_page, panel
from playwright.sync_api import Page, expect
from rows import add_run
from servers import Serve, Written
from settling import settled

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> <s> ![](http://127.0.0.1:9/x.png) $5 and $6"


def hostile_row(step: int) -> dict[str, object]:
    """A row whose every text tries to be more than text."""
    pieces = re.findall(r"<[^>]*>|[^<]+", HOSTILE)
    numbers = [-0.1 * (i + 1) for i in range(len(pieces))]
    return {
        "step": step,
        "prompt": HOSTILE,
        "response": HOSTILE,
        "ref_response": HOSTILE,
        "ground_truth": HOSTILE,
        "response_tokens": pieces,
        "logprobs": numbers,
        "ref_logprobs": [number - 0.5 for number in numbers],
        "reward": 1.0,
        f"note {HOSTILE}": HOSTILE,
    }


@pytest.mark.journey
def test_from_the_curve_to_the_token(board_server: str, page: Page) -> None:
    """Rewards, a click on a curve point, Responses, a click on a row, its tokens: run, step, rollout and token end up in the URL."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=3")
    settled(page)
    expect(page.get_by_text("Does the reward rise?")).to_be_visible()

    click_middle(panel(page, "Does the reward rise?"))
    expect(page).not_to_have_url(re.compile(r"step=3(&|$)"))
    step = re.search(r"step=(\d+)", page.url)
    assert step is not None

    go_to_page(page, "Responses")
    expect(page.get_by_text(re.compile(rf"rollouts of step {step[1]} "))).to_be_visible()
    expect(page).to_have_url(re.compile(r"rollout="))
    settled(page)
    first = page.url
    click_row(page, 1)
    expect(page).not_to_have_url(first)
    settled(page)
    place = page.get_by_text(re.compile(rf"^step {step[1]} · rank_")).inner_text()

    page.get_by_role("link", name="Open its tokens").click()
    settled(page)
    expect(page.get_by_text(place)).to_be_visible()
    tokens = page.locator(".tv-text")
    expect(tokens).to_be_visible()
    assert len(tokens.inner_text()) > 20

    click_row(page, 0)
    expect(page).to_have_url(re.compile(r"token=\d+"))
    expect(page.locator(".tv-text [data-pinned]")).to_have_count(1)


def test_step_keys_and_buttons(board_server: str, page: Page) -> None:
    """H and L go to the steps before and after; J and K to the next and previous rollout."""
    page.goto(f"{board_server}?run=tiny_ppo_rhyme&step=5")
    settled(page)

    page.keyboard.press("l")
    expect(page).to_have_url(re.compile(r"step=6"))
    settled(page)
    page.keyboard.press("h")
    expect(page).to_have_url(re.compile(r"step=5"))

    go_to_page(page, "Responses")
    expect(page).to_have_url(re.compile(r"rollout="))
    settled(page)
    first = page.url
    page.keyboard.press("j")
    expect(page).not_to_have_url(first)
    settled(page)
    page.keyboard.press("k")
    expect(page).to_have_url(first)


@pytest.mark.journey
def test_hostile_text_is_shown_and_not_run(serve: Serve, page: Page, tmp_path: Path) -> None:
    """Model text, keys and folder names that try to be code or pictures are letters on every page; nothing runs and nothing is fetched."""
    name = '75_<b>name & "quotes" $x$ ![](http:)'
    add_run(tmp_path, name, [hostile_row(step) for step in range(3)])
    page.goto(serve(tmp_path))
    settled(page)
    expect(page.get_by_role("combobox", name="Run")).to_have_value(name)
    page.get_by_role("combobox", name="Run").click()
    expect(page.get_by_role("option", name=name, exact=True)).to_be_visible()
    page.keyboard.press("Escape")

    go_to_page(page, "Responses")
    expect(page.locator(".verbatim").filter(has_text=HOSTILE)).to_have_count(5)
    go_to_page(page, "Tokens")
    expect(page.locator(".tv-text")).to_contain_text("<script>")
    expect(page.locator(".tv-text")).to_contain_text("<img src=x onerror=")

    assert page.title() != "owned"
    assert page.locator(".tv-text img, .tv-text script").count() == 0


def test_strip_takes_a_click_above_a_low_bar(board_server: str, page: Page) -> None:
    """The whole column of a step is a target, and the line it stands in is in sight wherever the page is scrolled to."""
    page.set_viewport_size({"width": 1400, "height": 800})
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=70")
    settled(page)
    strip = page.locator(".st-key-strip .strip-plot")
    page.mouse.move(700, 700)
    page.mouse.wheel(0, 1_500)
    expect(page.get_by_text("Does the reward rise?")).not_to_be_in_viewport()
    expect(strip).to_be_in_viewport()
    box = strip.bounding_box()
    assert box is not None

    strip.hover(position={"x": box["width"] * 0.05, "y": 4})
    page.wait_for_timeout(300)
    strip.click(position={"x": box["width"] * 0.05, "y": 4})

    expect(page).to_have_url(re.compile(r"step=[3-5](&|$)"))


@pytest.mark.journey
def test_back_returns_to_the_place_before(board_server: str, page: Page) -> None:
    """Each choice is one stop of the browser's Back button."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=5")
    settled(page)
    go_to_page(page, "Responses")
    expect(page).to_have_url(re.compile("rollout="))
    settled(page)
    first = page.url
    stops = page.evaluate("history.length")
    for row in (2, 3):
        before = page.url
        click_row(page, row)
        expect(page).not_to_have_url(before)
        settled(page)
    assert page.evaluate("history.length") == stops + 2

    go_back(page)
    settled(page)
    go_back(page)

    expect(page).to_have_url(first)


def test_back_a_second_after_a_click_goes_back(board_server: str, page: Page) -> None:
    """Back is heard a second after a click, and needs no other event between: the link it brings is no leftover of the click."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=5")
    settled(page)
    page.get_by_role("button", name="step after").click()
    expect(page).to_have_url(re.compile(r"step=6(&|$)"))

    go_back(page)
    settled(page)

    expect(page).to_have_url(re.compile(r"step=5(&|$)"))
    expect(page.get_by_role("combobox", name="Step")).to_have_value("5")


def test_running_job_is_followed(written: Written, page: Page) -> None:
    """While a job writes, new steps appear without a click and the reader stays where they are; a half-written line is waited for."""
    link, folder = written(hostile_row(step) for step in range(3))
    page.goto(f"{link}&step=1")
    settled(page)
    expect(page.get_by_text("3 rows · nothing refused")).to_be_visible()
    line = json.dumps(hostile_row(3)) + "\n"

    with (folder / "rank_0.jsonl").open("a", encoding="utf-8") as shard:
        shard.write(line[:100])
        shard.flush()
        page.wait_for_timeout(3_000)
        expect(page.get_by_text("3 rows · nothing refused")).to_be_visible()
        shard.write(line[100:])

    expect(page.get_by_text("4 rows · nothing refused")).to_be_visible()
    expect(page.get_by_text("Step (of 4)")).to_be_visible()
    expect(page).to_have_url(re.compile(r"step=1(&|$)"))


def test_tokens_beside_the_table(board_server: str, page: Page) -> None:
    """The Responses page colours the chosen response by token when asked to, and what is pinned there is pinned on the Tokens page."""
    page.goto(f"{board_server}?run=tiny_ppo_hacked&step=20")
    settled(page)
    go_to_page(page, "Responses")
    page.get_by_text("By token", exact=True).click()
    page.locator(".tv-text .tv-tok").nth(3).click()
    expect(page).to_have_url(re.compile(r"token=3(&|$)"))
    settled(page)

    link = page.get_by_role("link", name="Open its tokens")
    expect(link).to_have_attribute("href", re.compile(r"token=3(&|$)"))
    link.click()

    expect(page).to_have_url(re.compile(r"/tokens\?.*token=3(&|$)"))
    expect(page.locator(".tv-text .tv-tok").nth(3)).to_have_attribute("data-pinned", "")


def test_narrow_window_keeps_everything_reachable(board_server: str, page: Page) -> None:
    """At 800 pixels the panels stack and nothing runs off the side of the page."""
    page.set_viewport_size({"width": 800, "height": 900})
    page.goto(f"{board_server}?run=tiny_ppo_hacked")
    settled(page)
    for name in ("Responses", "Tokens"):
        go_to_page(page, name)
        width = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
        assert width <= 800


LABELS: Final = """
[...document.querySelectorAll('[data-testid="stMain"] [data-testid="stWidgetLabel"]')]
  .map((one) => one.getBoundingClientRect())
  .flatMap((box) => (box.height ? [box.top] : []))
"""
"""Where each label stands, in pixels from above."""

ROW: Final = 20
"""Labels less than so many pixels apart are of one row."""


@pytest.mark.parametrize("name", ["groups", "prompts", "responses", "runs", "search", "steps", "words"])
def test_labels_of_a_row_stand_on_one_line(board_server: str, page: Page, name: str) -> None:
    """Whether a field is written in, opened as a list, or has its choices side by side."""
    page.goto(f"{board_server}{name}?run=tiny_ppo_rhyme&step=30")
    settled(page)

    tops = page.evaluate(LABELS)
    apart = [abs(one - other) for one, other in combinations(tops, 2) if abs(one - other) < ROW]

    assert apart
    assert max(apart) < 1


def test_a_button_without_a_frame_looks_like_one(board_server: str, page: Page) -> None:
    """By the line below its words."""
    page.goto(f"{board_server}groups?run=tiny_ppo_hacked&step=20&group=20")
    settled(page)

    for words in ("Filter: this group", "Filter: this prompt"):
        expect(page.get_by_role("button", name=words).locator("p")).to_have_css("text-decoration-line", "underline")


def test_segments_and_comparison(written: Written, page: Page) -> None:
    """A click on a segment goes to its first token; a folded part opens on a click; hostile words are letters in either text."""
    same = "".join(f" word{i}" for i in range(80))
    tokens = ["<think>", HOSTILE, same, "</think>", " answer"]
    row = {
        "step": 0,
        "response": "".join(tokens),
        "response_tokens": tokens,
        "ref_response": f"<think>{same}</think> {HOSTILE}",
        "logprobs": [-0.1] * 5,
    }
    page.goto(written([row]).link)
    settled(page)
    go_to_page(page, "Tokens")

    click_row(page, 1)
    expect(page).to_have_url(re.compile(r"token=4(&|$)"))
    settled(page)
    page.get_by_text("Against the reference's response").click()
    fold = page.locator(".diff > button")
    expect(fold).to_have_text(re.compile(r"^\d+ words the same$"))
    expect(page.locator(".diff > span").filter(has_text="word40")).to_have_count(0)
    fold.click()

    expect(fold).to_have_count(0)
    expect(page.locator(".diff > span").filter(has_text="word40")).to_have_count(1)
    expect(page.locator(".diff")).to_contain_text(HOSTILE)
    assert page.title() != "owned"
    assert page.locator(".diff script, .diff img, .diff s").count() == 0


def test_link_opens_token_metric_and_range(board_server: str, page: Page) -> None:
    """A link to a token by a metric and a colour range shows exactly that."""
    place = "?run=tiny_ppo_hacked&step=20&rollout=rank_0.jsonl.gz%3A481&token=42&metric=log_ratio&scale=log"
    page.goto(board_server + place)
    settled(page)
    go_to_page(page, "Tokens")

    expect(page.locator(".tv-tok[data-pinned]")).to_have_count(1)
    expect(page.locator(".tv-metric[data-metric=log_ratio]")).to_have_attribute("aria-checked", "true")
    expect(page.locator(".tv-range-kind")).to_have_value("log")
    expect(page).to_have_url(re.compile(r"token=42(&|$)"))
