"""Tests of which tokens are padding."""

import pytest

from board.text.padding import COMMON_PADS, END_TOKENS, pad_mask

MASKS = {
    "none": (["a", "b"], [0, 0]),
    "empty": ([], []),
    "right": (["a", "<pad>", "<pad>"], [0, 1, 1]),
    "left": (["<|pad|>", "a"], [1, 0]),
    "in the middle": (["a", "[PAD]", "b"], [0, 1, 0]),
    "one end token ends": (["a", "</s>"], [0, 0]),
    "repeated end tokens pad, but for the first": (["a", "</s>", "</s>", "</s>"], [0, 0, 1, 1]),
    "end tokens alone": (["<|im_end|>"] * 3, [0, 1, 1]),
    "end tokens within": (["</s>", "</s>", "a"], [0, 0, 0]),
    "two kinds of end": (["a", "<|im_end|>", "<|endoftext|>", "<|endoftext|>"], [0, 0, 0, 1]),
    "end then pads": (["a", "<EOD>", "<PAD>"], [0, 0, 1]),
    "a word repeated is no padding": (["ha"] * 4, [0] * 4),
}


@pytest.mark.parametrize(("tokens", "expected"), MASKS.values(), ids=MASKS)
def test_padding(tokens: list[str], expected: list[int]) -> None:
    """A pad token anywhere; of an end token repeated at the end, all but the first."""
    assert pad_mask(tokens).tolist() == [bool(one) for one in expected]


@pytest.mark.parametrize("pad", sorted(COMMON_PADS))
def test_every_common_pad_pads(pad: str) -> None:
    """Each token of the list, which shares none with those that end a response."""
    assert pad_mask(["a", pad]).tolist() == [False, True]
    assert pad not in END_TOKENS


def test_named_pads_replace_the_common_ones() -> None:
    """The caller says which tokens pad."""
    assert pad_mask(["a", "<pad>", "x"], {"x"}).tolist() == [False, False, True]
