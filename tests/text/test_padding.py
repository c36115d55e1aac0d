"""Tests of which tokens are padding, and of what is left of texts, tokens and records without it."""

from typing import Any

import pytest

from board.schema import PADDED
from board.text.padding import COMMON_PADS, END_TOKENS, marks, span, stripped, unpadded

LEFT: dict[str, tuple[list[str], list[str]]] = {
    "none": (["a", "b"], ["a", "b"]),
    "empty": ([], []),
    "right": (["a", "<pad>", "<pad>"], ["a"]),
    "left": (["<|pad|>", "a"], ["a"]),
    "both": (["<PAD>", "a", "<PAD>"], ["a"]),
    "pads alone": (["<pad>", "[PAD]"], []),
    "in the middle": (["a", "[PAD]", "b"], ["a", "[PAD]", "b"]),
    "one end token ends": (["a", "</s>"], ["a", "</s>"]),
    "repeated end tokens pad, but for the first": (["a", "</s>", "</s>", "</s>"], ["a", "</s>"]),
    "end tokens alone": (["<|im_end|>"] * 3, ["<|im_end|>"]),
    "end tokens within": (["</s>", "</s>", "a"], ["</s>", "</s>", "a"]),
    "an end token behind another": (["a", "<|im_end|>", "<|endoftext|>"], ["a", "<|im_end|>"]),
    "end then pads": (["a", "<EOD>", "<PAD>"], ["a", "<EOD>"]),
    "pads then end": (["a", "<PAD>", "<EOD>"], ["a", "<PAD>", "<EOD>"]),
    "a word repeated is no padding": (["ha"] * 4, ["ha"] * 4),
}


@pytest.mark.parametrize(("tokens", "expected"), LEFT.values(), ids=LEFT)
def test_padding_is_taken_off_tokens_and_text_alike(tokens: list[str], expected: list[str]) -> None:
    """Pads at both ends, and the end tokens directly behind an end token; what stands between stays."""
    kept = span(tokens, COMMON_PADS)

    assert tokens[kept.start : kept.stop] == expected
    assert stripped("".join(tokens), COMMON_PADS) == "".join(expected)


@pytest.mark.parametrize("pad", sorted(COMMON_PADS))
def test_every_common_pad_pads(pad: str) -> None:
    """Each token of the list, which shares none with those that end a response."""
    assert marks(["a", pad], COMMON_PADS) == [False, True]
    assert stripped(f"{pad}a{pad}", COMMON_PADS) == "a"
    assert pad not in END_TOKENS


TEXTS: dict[str, tuple[str, bool, str]] = {
    "white space that joins pads goes with them, beside the text, too": ("<pad> <pad>  a\n<pad>\n<pad>\n", False, " a"),
    "a space beside pads that spaces join is the tokenizer's": ("<pad> <pad> a <pad> <pad>", False, "a"),
    "any other is the text's": ("<pad><pad> a <pad><pad>", False, " a "),
    "so is one beside a single pad": ("<pad> a\n<pad>", False, " a\n"),
    "so is one before an end token": ("a </s> <pad> <pad>", False, "a </s>"),
    "white space of the text stays": ("\n<pad>\n a\n", False, "\n a\n"),
    "white space behind the only end token stays": ("a</s>\n", False, "a</s>\n"),
    "end tokens in front of a prompt pad": ("<|endoftext|><|endoftext|>Q", True, "Q"),
    "end tokens in front of a response do not": ("<|im_end|>\nmore", False, "<|im_end|>\nmore"),
    "nothing but padding": ("<PAD><PAD>", True, ""),
    "a number is no pad of a text": ("is 7", False, "is 7"),
}


@pytest.mark.parametrize(("text", "prompt", "expected"), TEXTS.values(), ids=TEXTS)
def test_texts_keep_what_is_theirs(text: str, prompt: bool, expected: str) -> None:
    """Nothing but pads, and white space between them, is taken off."""
    assert stripped(text, COMMON_PADS | {"7"}, prompt=prompt) == expected


RECORDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "what stands beside a token goes with it": (
        {"response_tokens": ["<pad>", "a", "b", "<pad>"], "logprobs": [0, -1, -2, 0], "own": [9, 1, 2, 9], "prompt": "<pad>p"},
        {"response_tokens": ["a", "b"], "logprobs": [-1, -2], "own": [1, 2], "prompt": "p"},
    ),
    "arrays without the padding stay": (
        {"response_tokens": ["<pad>", "a", "b", "<pad>"], "logprobs": [-1, -2]},
        {"response_tokens": ["a", "b"], "logprobs": [-1, -2]},
    ),
    "arrays with some of the padding behind": (
        {"response_tokens": ["a", "<pad>", "<pad>"], "logprobs": [-1, 0]},
        {"response_tokens": ["a"], "logprobs": [-1]},
    ),
    "a list of another length is none of the tokens": (
        {"response_tokens": ["a", "<pad>"], "logprobs": [], "own": [1, 2, 3], "tags": ["x", "y"]},
        {"response_tokens": ["a"], "logprobs": [], "own": [1, 2, 3], "tags": ["x", "y"]},
    ),
    "an end token that is trained on is the policy's": (
        {"response": "a<|im_end|></s></s>", "response_tokens": ["a", "<|im_end|>", "</s>", "</s>"], "loss_mask": [1, 1, 1, 0]},
        {"response": "a<|im_end|></s>", "response_tokens": ["a", "<|im_end|>", "</s>"], "loss_mask": [1, 1, 1]},
    ),
    "a text that the tokens show alone to be padded": (
        {"response": "ab 8 </s> </s>", "response_tokens": ["a", "b", " 8"]},
        {"response": "ab 8", "response_tokens": ["a", "b", " 8"]},
    ),
    "white space beside pads that no token has": (
        {"response": "<pad>\n a \n<pad><pad>", "response_tokens": ["<pad>", "a", "<pad>", "<pad>"]},
        {"response": "a", "response_tokens": ["a"]},
    ),
    "white space beside a pad that is a token's": (
        {"response": "<pad> a\n <pad>", "response_tokens": ["<pad>", "Ġa", "Ċ", "Ġ", "<pad>"]},
        {"response": " a\n ", "response_tokens": ["Ġa", "Ċ", "Ġ"]},
    ),
    "a text alone that was cut off, and another's": (
        {"response": "ab </s> </s>", "ref_response": "c</s></s>", "stop_reason": "max_tokens"},
        {"response": "ab", "ref_response": "c</s>", "stop_reason": "max_tokens"},
    ),
    "ids": (
        {"response_tokens": [7, 5, 7], "prompt_token_ids": [7, 7, 3], "response": "5 is 7"},
        {"response_tokens": [5], "prompt_token_ids": [3], "response": "5 is 7"},
    ),
}


@pytest.mark.parametrize(("record", "expected"), RECORDS.values(), ids=RECORDS)
def test_records_lose_their_padding(record: dict[str, Any], expected: dict[str, Any]) -> None:
    """Texts, tokens and what has an entry for each token are cut in the same places."""
    pads = COMMON_PADS | {"7"}

    assert unpadded(record, pads, PADDED) == expected
    assert unpadded(expected, pads, PADDED) is expected


ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "nothing says that the first is not the policy's": ({}, "ab</s>"),
    "the response was cut off": ({"truncated": True}, "ab"),
    "it was, as its reason says": ({"stop_reason": "max_tokens"}, "ab"),
    "it was not, whatever the reason": ({"truncated": 0, "finish_reason": "length"}, "ab</s>"),
    "the first is trained on": ({"truncated": 1, "loss_mask": [1, 1, 1, 0]}, "ab</s>"),
    "no array has an entry for it": ({"logprobs": [-1, -2]}, "ab"),
    "one array has": ({"logprobs": [-1, -2], "values": [0, 0, 0]}, "ab</s>"),
}


@pytest.mark.parametrize(("fields", "expected"), ENDS.values(), ids=ENDS)
def test_an_end_token_that_the_policy_did_not_write_pads(fields: dict[str, Any], expected: str) -> None:
    """Where a record says that the response did not end by itself, none of the end tokens behind it is its own."""
    record = {"response": "ab </s></s>", "response_tokens": ["a", "b", "</s>", "</s>"], "ref_response": "c</s></s>"} | fields
    left = unpadded(record, COMMON_PADS, PADDED)

    assert "".join(left["response_tokens"]) == expected
    assert (left["response"].replace(" ", ""), left["ref_response"]) == (expected, "c</s>")
