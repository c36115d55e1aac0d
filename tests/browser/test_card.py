"""A token's card, pins side by side, and the table of the numbers, as a reader meets them in a real browser."""

import re
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect
from servers import Written
from settling import settled

HOSTILE = "<img src=x onerror=alert(1)>"
LINES = 450
SPLIT = ["The", "Ġcat", "Ġ", "ä", "»", "Ĭ", "æĹ¥", "Ċ", "Ġend"]
OTHERS = [["Ġdog", -2.0], ["Ġcat", -0.25], [HOSTILE, -1.0], ["a", -3.0], ["b", -4.0], ["c", -5.0]]


def row(tokens: list[str], **fields: object) -> dict[str, object]:
    """One rollout as a trainer writes it; its logprobs fall with every token."""
    numbers = {"logprobs": [-0.1 * (i + 1) for i in range(len(tokens))], "values": [0.5] * len(tokens)}
    return {"step": 0, "prompt": "p", "response": "r", "response_tokens": tokens, "reward": 1.0, **numbers, **fields}


def split_row() -> dict[str, object]:
    """Byte-level tokens with ids; 今 is spread over three; two of them say what else could have been sampled."""
    others = [None, OTHERS, *[None] * 6, [["Ġstop", -0.5]]]
    return row(SPLIT, top_logprobs=others, response_token_ids=list(range(100, 100 + len(SPLIT))))


def lines_row() -> dict[str, object]:
    """450 plain tokens; the second would like to be markup, the third is masked."""
    tokens = ["a", HOSTILE, *(f" w{i}" for i in range(2, LINES))]
    return row(tokens, loss_mask=[int(i != 2) for i in range(LINES)])


def opened(page: Page, address: str) -> Locator:
    """The token view of a link's place."""
    page.goto(address)
    expect(page.locator(".tv-tok").first).to_be_visible()
    settled(page)
    return page.locator(".tv")


@pytest.fixture
def view(written: Written, page: Page, request: pytest.FixtureRequest) -> Locator:
    """The token view of the row that the test asks for, coloured by logprob."""
    return opened(page, f"{written([request.param], 'tokens').link}&metric=logprob")


@pytest.mark.parametrize("view", [split_row()], indirect=True, ids=["byte-level"])
def test_the_card_says_what_a_token_is_and_could_have_been(view: Locator) -> None:
    """Rank within the response, bytes, id, and the likeliest alternatives, of which a hostile one is letters."""
    card = view.locator(".tv-tip")
    ranks = card.locator('[data-metric="logprob"] .tv-rank')
    view.locator(".tv-tok").nth(1).hover()
    expect(ranks).to_have_text("8th of 9")
    expect(card.locator('[data-metric="value"] .tv-rank')).to_have_text("1st of 9")
    expect(card.locator(".tv-tip-where")).to_have_text("token 2 of 9 · index 1 · id 101")
    expect(card).to_contain_text("bytes 20 63 61 74")
    expect(card.locator(".tv-other")).to_have_text(['" cat"', f'"{HOSTILE}"', '" dog"', '"a"', '"b"'])
    expect(card.locator(".tv-others .tv-chosen")).to_contain_text("sampled")
    expect(card.locator(".tv-others .tv-num").first).to_have_text("0.779")
    expect(card).to_contain_text("the likeliest 5 of 6 listed; sampled: the 1st of 6")
    assert card.locator("img").count() == 0
    view.locator(".tv-tok").nth(8).hover()
    expect(ranks).to_have_text("1st of 9")
    expect(card).to_contain_text("sampled: not among the 1 listed")
    view.locator(".tv-tok").nth(4).hover()
    expect(card).to_contain_text("bytes BB")
    expect(card).to_contain_text("no alternatives listed here")


@pytest.mark.parametrize("view", [lines_row()], indirect=True, ids=["plain"])
def test_pins_stand_side_by_side_and_in_the_link(view: Locator, page: Page) -> None:
    """Shift adds a pin, by mouse and keyboard; a link opens them all; each can be gone to and closed; Escape clears."""
    text, tokens = view.locator(".tv-text"), view.locator(".tv-tok")
    compare, columns = view.locator(".tv-compare"), view.locator(".tv-compare .tv-go")
    tokens.nth(1).click()
    expect(compare).to_be_hidden()
    tokens.nth(5).click(modifiers=["Shift"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    expect(columns).to_have_text(["token 2", "token 6", "token 7"])
    expect(compare.locator(".tv-compare-text")).to_have_text([f'"{HOSTILE}"', '" w5"', '" w6"'])
    expect(compare.locator('[data-metric="logprob"] td')).to_have_text(["−0.200", "−0.600−0.400", "−0.700−0.500"])
    assert compare.locator("img").count() == 0
    expect(page).to_have_url(re.compile("token=6"))
    place = parse_qs(urlparse(page.url).query)
    assert (place["token"], place["compare"]) == (["6"], ["1,5"])

    opened(page, page.url)
    expect(columns).to_have_text(["token 2", "token 6", "token 7"])
    expect(view.locator(".tv-tok[data-pinned]")).to_have_count(3)
    columns.nth(1).click()
    expect(view.locator("[data-focus]")).to_have_text(" w5")
    view.get_by_role("button", name="unpin token 7").click()
    expect(columns).to_have_text(["token 2", "token 6"])
    expect(page).to_have_url(re.compile("token=5"))
    page.keyboard.press("Escape")
    expect(compare).to_be_hidden()
    expect(text).to_be_focused()
    expect(view.locator(".tv-tok[data-pinned]")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("token=|compare="))


@pytest.mark.parametrize("view", [lines_row()], indirect=True, ids=["plain"])
def test_the_numbers_are_a_table_for_the_keyboard(view: Locator, page: Page) -> None:
    """`t` opens a page of tokens with names for rows and columns; keys turn it, Enter goes to the token, Escape closes."""
    text, focused = view.locator(".tv-text"), view.locator(".tv-row-name:focus")
    table = view.get_by_role("table", name=re.compile("^tokens 1–200 of 450"))
    text.focus()
    page.keyboard.press("t")
    expect(table.get_by_role("columnheader")).to_have_text(
        ["token", "text", "value" + "reward", "logprob" + "nats", "prob" + "0 to 1"]
    )
    expect(table.get_by_role("row")).to_have_count(201)
    expect(focused).to_have_text("1")
    second, third = table.get_by_role("row").nth(2), table.get_by_role("row").nth(3)
    expect(second.get_by_role("rowheader")).to_have_text("2")
    expect(second).to_contain_text(HOSTILE)
    expect(third).to_contain_text("(masked)")
    assert table.locator("img").count() == 0
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_text("402")
    expect(view.get_by_role("table", name=re.compile("^tokens 401–450 of 450"))).to_be_visible()
    page.keyboard.press("Enter")
    expect(view.locator("[data-focus]")).to_have_text(" w401")
    expect(text).to_be_focused()
    page.keyboard.press("t")
    expect(view.locator(".tv-table")).to_have_count(0)
