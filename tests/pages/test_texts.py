"""Texts of a rollout by AppTest: shown letter for letter, without padding, beside the reference's."""

import json
from pathlib import Path

import pytest
from opened_pages import TEXT_ALONE, opened, opening_links, panes, table, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board import open_run


def test_text_without_tokens_is_not_called_empty(root: Path) -> None:
    """A row with a response but no tokens has no token view, and the page says which field it lacks."""
    add_run(root, "run", [whole_row(0, response_tokens=..., logprobs=..., ref_logprobs=..., values=..., token_rewards=...)])

    test = opened("tokens")

    assert "The token view needs response_tokens, which this rollout does not have." in texts(test)
    assert not any("token_view" in element.proto.component_name for element in test.get("bidi_component"))


def test_without_tokens_there_is_the_text(root: Path) -> None:
    """A rollout without tokens shows its response and one line on what is missing; the link that leads there promises no tokens."""
    add_run(root, "run", [TEXT_ALONE])

    from_responses, shown = opened("responses"), opened("tokens")

    assert [link.label for link in opening_links(from_responses)] == ["Open its response"]
    assert panes(shown) == ["The answer is 42"]
    assert [said for said in texts(shown).splitlines() if "does not have" in said or "has no" in said] == [
        "The token view needs response_tokens, which this rollout does not have."
    ]
    assert [heading.value for heading in shown.subheader if heading.value == "Most extreme tokens"] == []
    assert [link.label for link in opening_links(shown)] == ["Open its texts"]


def test_response_that_is_all_think_has_a_segment(root: Path) -> None:
    """A response that is one segment is not said to have no tags."""
    add_run(root, "run", [whole_row(0, response_tokens=["<think>", "42", " so", "</think>"])])

    said = texts(opened("tokens"))

    assert "has no tags" not in said


HOSTILE = {
    "script": "<script>document.title='owned'</script>",
    "image": "<img src=x onerror=alert(1)>",
    "end of sequence": "<s> hello </s>",
    "markdown image": "![](http://127.0.0.1:9/x.png) **bold** :red[x]",
    "dollars": "$5 and then $6, ~ and &lt;",
    "heading": "# not a heading\n- not a list",
    "indented code": "    def f(x):\n        return x\n\n",
    "spaces at both ends": "  \t x  ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_model_text_is_shown_letter_for_letter(root: Path, name: str) -> None:
    """Prompt, response, reference and ground truth reach the screen as plain text elements, unchanged."""
    text = HOSTILE[name]
    add_run(root, "run", [whole_row(0, prompt=text, response=text, ref_response=text, ground_truth=text, note=text)])

    test = opened("responses")

    assert panes(test) == [text] * 5
    assert not any(text in str(element.value) for element in [*test.markdown, *test.caption])


def test_padding_is_no_text(root: Path) -> None:
    """Common pad tokens are in no text and no list; the raw record has them."""
    add_run(root, "run", [whole_row(0, response="yes<PAD><PAD>", prompt="<PAD>hm")])
    test = opened("responses")

    assert "Response · 3 characters" in texts(test)
    assert table(test)["response"].tolist() == ["yes"]
    assert "<PAD>" not in texts(test)
    test.session_state["raw"] = True
    assert "yes<PAD><PAD>" in str(test.run().code[0].value)


def test_pad_token_of_the_run_is_kept_for_it(root: Path) -> None:
    """A pad that the reader names is padding in texts and statistics alike, now, in the next session, and for commands."""
    add_run(
        root, "run", [whole_row(0, response_tokens=["The", " answer", " is", "<nothing>"], response="The answer is<nothing>")]
    )
    test = opened("responses")
    assert table(test)["response_length"].tolist() == [4]

    test.session_state["report"] = True
    test.run()
    named = next(one for one in test.text_input if one.label == "Pad tokens of this run")
    named.set_value("<nothing>").run()

    for seen in (test, opened("responses")):
        assert table(seen)["response_length"].tolist() == [3]
        assert "The answer is" in panes(seen)
    assert open_run(root / "run").frame["response_length"].tolist() == [3]
    named.set_value("").run()
    assert table(test)["response_length"].tolist() == [4]


def test_a_typed_end_of_the_system_prompt(root: Path) -> None:
    """What the reader types ends it, where no template does."""
    add_run(root, "run", [whole_row(0, prompt="be brief ### hi")])
    test = opened("responses")
    test.toggle(key="hide_system").set_value(True).run()
    assert "be brief ### hi" in texts(test)

    test.text_input(key="system_end").set_value("###").run()

    assert "be brief" not in texts(test)


def test_what_all_prompts_begin_with_is_hidden(root: Path) -> None:
    """A run whose prompts all begin alike has its system prompt there."""
    add_run(root, "run", [whole_row(0, prompt=f"You are a careful assistant.\n\nWhat is {one}?") for one in range(3)])
    test = opened("responses", rollout="rank_0.jsonl:1")

    test.toggle(key="hide_system").set_value(True).run()

    assert "Prompt · system prompt hidden · 10 characters" in texts(test)


@pytest.mark.parametrize("page", ["responses", "prompts", "groups"])
def test_lists_of_prompts_show_what_follows_a_hidden_system_prompt(root: Path, page: str) -> None:
    """A cell has room for the beginning of a text alone, which would be the same in every row."""
    rows = [whole_row(0, prompt=f"<|im_start|>system\nBe brief.<|im_end|>\nWhat is {one}?") for one in (0, 0, 1, 1)]
    add_run(root, "run", rows)

    test = opened(page, hide_system="true")

    assert {*table(test)["prompt"]} == {"What is 0?", "What is 1?"}


def test_system_prompt_is_hidden_on_request(root: Path) -> None:
    """With the switch on, the prompt starts after the text that ends the system prompt."""
    add_run(root, "run", [whole_row(0, prompt="be brief<endofsystem>hi")])
    test = opened("responses")
    assert "be brief<endofsystem>hi" in texts(test)

    test.toggle(key="hide_system").set_value(True).run()

    assert "be brief" not in texts(test)
    assert "Prompt · system prompt hidden · 2 characters" in texts(test)


def compared(test: AppTest) -> list[tuple[str, str]]:
    """The runs of the comparison with the reference as they are handed to the browser: side and text, folded ones in brackets."""
    data = next(
        json.loads(element.proto.json)
        for element in test.get("bidi_component")
        if element.proto.component_name.endswith("diff_view")
    )
    return [(run["side"], f"[{run['fold']}]" if run["fold"] else run["text"]) for run in data["runs"]]


@pytest.mark.parametrize("page", ["tokens", "responses"])
def test_response_is_compared_with_the_reference(root: Path, page: str) -> None:
    """When opened, the panel shows word by word what only one of the two says, with the rewards; before, nothing is computed."""
    add_run(root, "run", [whole_row(0, ref_response="The answer is 41, maybe<PAD>")])
    test = opened(page)
    assert "in both" not in texts(test)

    test.session_state["against"] = True
    test.run()

    assert compared(test) == [("both", "The answer is"), ("old", " 41, maybe"), ("new", " 42")]
    assert (
        "1 word only here, underlined · 3 only in the reference's, struck through · 3 in both · reward 1 against 0.250"
        in texts(test)
    )


def test_equal_parts_of_a_comparison_are_folded(root: Path) -> None:
    """Two equal responses are one folded run, and the page says that they are the same."""
    text = " ".join(["word"] * 100)
    add_run(root, "run", [whole_row(0, response=text, ref_response=text, ref_reward=...)])
    test = opened("tokens")

    test.session_state["against"] = True
    test.run()

    assert compared(test) == [("both", "[100 words the same]")]
    assert "The two are the same: 100 words" in texts(test)


@pytest.mark.parametrize("page", ["tokens", "responses"])
def test_nothing_is_compared_without_a_reference(root: Path, page: str) -> None:
    """A row without ref_response has no such panel."""
    add_run(root, "run", [whole_row(0, ref_response=...)])

    assert "Against the reference's response" not in [one.label for one in opened(page).expander]
