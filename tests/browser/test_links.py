"""Links in a real browser: one opens exactly its view, a change of page keeps it whole, and one that leads nowhere says what there is."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect
from servers import Serve
from settling import settled, tab

from board.serving.page_addresses import FORMER, TABS


def parameters(page: Page) -> dict[str, list[str]]:
    """Those of the address."""
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.journey
def test_a_change_of_page_keeps_the_whole_link(board_server: str, page: Page) -> None:
    """What was chosen on Responses and Metrics is in the address of every page, once, and still chosen on the way back: one stop a page."""
    chosen = {
        "text": "the",
        "sort": "reward",
        "order": "ascending",
        "columns": ["reward", "rank"],
        "find": "no such metric",
        "log_axis": "true",
    }
    asked = "&".join(
        f"{name}={quote(one)}" for name, values in chosen.items() for one in ([values] if isinstance(values, str) else values)
    )
    place = "run=tiny_ppo_hacked&step=20&metric=kl&scale=q&granularity=token&rollout=rank_0.jsonl.gz:481"
    page.goto(f"{board_server}metrics?{place}&{asked}")
    settled(page)
    whole = parameters(page)
    assert {name: whole[name] for name in chosen} == {
        name: values if isinstance(values, list) else [values] for name, values in chosen.items()
    }
    stops = page.evaluate("history.length")

    for name in ("Responses", "Tokens", "Metrics", "Responses"):
        tab(page, name).click()
        settled(page)
        assert parameters(page) == whole, name
    assert page.evaluate("history.length") == stops + 4

    search = page.get_by_label("Text in prompt or response")
    expect(search).to_have_value("the")
    search.fill("a")
    search.press("Enter")
    expect(page).to_have_url(re.compile("text=a(&|$)"))
    settled(page)
    tab(page, "Data").click()
    settled(page)
    assert parameters(page)["text"] == ["a"]


DEEP = {tab.path: tab.path for tab in TABS} | {path: tab.path for path, tab in FORMER.items()}
"""Addresses of pages, former names among them → what they are now."""

SEEN = {"responses": "rollouts of step 5 ", "data": "checks passed"}
"""What only this page says."""

WAYS: dict[str, tuple[tuple[str, ...], Iterable[str]]] = {
    "every page": ((), DEEP),
    "token": (("--token",), ["data"]),
    "token and base path": (("--token", "--server.baseUrlPath", "boards/rl"), ["responses"]),
}


@pytest.mark.parametrize(("options", "paths"), WAYS.values(), ids=WAYS)
def test_a_deep_link_opens_without_an_error(serve: Serve, page: Page, options: tuple[str, ...], paths: Iterable[str]) -> None:
    """A page's address, opened by itself, shows that page; no request of the browser's fails, and there is no sidebar to open."""
    address, _, token = serve("rollout_samples", *options).partition("?")
    page.set_viewport_size({"width": 1500, "height": 1000})
    wrongs: list[str] = []
    page.on("response", lambda answer: wrongs.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    for path in paths:
        page.goto(f"{address}{path}?run=tiny_ppo_rhyme&step=5&{token}")
        settled(page)

        expect(page).to_have_url(re.compile(rf"^{re.escape(address + DEEP[path])}\?(?!.*token=).*run=tiny_ppo_rhyme"))
        expect(page.get_by_text(re.compile(SEEN.get(DEEP[path], "Rewards"))).first).to_be_visible()
        expect(page.get_by_test_id("stExpandSidebarButton")).to_have_count(0)
    assert wrongs == []


def test_an_unknown_page_leads_to_pages_and_runs(board_server: str, page: Page) -> None:
    """The name is said, the tabs are there, every run is a link, and a click on one opens it."""
    page.goto(f"{board_server}zzz?run=tiny_ppo_rhyme&step=5")
    settled(page)
    expect(page.get_by_text("There is no page 'zzz'.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(tab(page, "Responses")).to_have_attribute("href", re.compile("responses.*step=5"))

    page.get_by_role("link", name="tiny_ppo_eval").click()

    expect(page).to_have_url(re.compile(r"/\?run=tiny_ppo_eval&step="))
    settled(page)
    expect(page.get_by_role("combobox", name="Run")).to_have_value("tiny_ppo_eval")


def test_an_unknown_run_leads_to_those_there_are(board_server: str, page: Page) -> None:
    """Every run is a link, to the page that was asked for."""
    page.goto(f"{board_server}responses?run=nope")
    settled(page)
    expect(page.get_by_text("There is no run 'nope' under this root.")).to_be_visible()

    page.get_by_role("link", name="tiny_ppo_hacked").click()

    expect(page).to_have_url(re.compile(r"/responses\?run=tiny_ppo_hacked&step=79"))


def test_tabs_stay_in_a_narrow_window(board_server: str, page: Page) -> None:
    """At 480 pixels every tab is in sight and can be clicked, and there is no sidebar to open."""
    page.set_viewport_size({"width": 480, "height": 800})
    page.goto(f"{board_server}?run=tiny_ppo_rhyme&step=5")
    settled(page)

    for one in TABS:
        box = tab(page, one.title).bounding_box()
        assert box is not None, one.title
        assert box["x"] + box["width"] <= 480, one.title
        assert box["y"] + box["height"] <= 64, one.title
    expect(page.get_by_test_id("stExpandSidebarButton")).to_have_count(0)
    tab(page, "Data").click()
    expect(page).to_have_url(re.compile("/data"))


def test_one_list_of_all_keys_on_every_page(board_server: str, page: Page) -> None:
    """`?` opens and closes it, the token view's keys among them; in a field of text it is a question mark."""
    page.goto(f"{board_server}responses?run=tiny_ppo_rhyme&step=5&text=no such text")
    settled(page)
    keys = page.locator(".st-key-key_list dialog")

    page.keyboard.press("?")
    expect(keys).to_be_visible()
    for said in ("step before", "next rollout of the list", "draw the page again", "next, previous extreme token of the metric"):
        expect(keys).to_contain_text(said)
    page.keyboard.press("?")
    expect(keys).not_to_be_visible()

    search = page.get_by_label("Text in prompt or response")
    search.press("?")
    expect(search).to_have_value(re.compile(r"\?"))
    expect(keys).not_to_be_visible()
    page.get_by_role("button", name="keyboard shortcuts").click()
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).not_to_be_visible()


def test_a_tab_clicked_as_soon_as_it_is_there_keeps_the_link(board_server: str, page: Page) -> None:
    """The page that the link opened was not drawn yet: its place is on the next page all the same."""
    place = "run=tiny_ppo_hacked&step=20&rollout=rank_0.jsonl.gz:481&token=3&compare=5&metric=kl"
    page.goto(f"{board_server}?{place}")
    tokens = tab(page, "Tokens")
    tokens.wait_for(state="attached")
    tokens.dispatch_event("click")

    expect(page).to_have_url(re.compile("/tokens.*granularity=token"))
    settled(page)
    assert {name: parameters(page).get(name) for name in parse_qs(place)} == parse_qs(place)
