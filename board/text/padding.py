"""Which tokens of a response are padding. Knows nothing of rows, files or frames; needs numpy alone, so that the recorder can ask too."""

from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
from numpy.typing import NDArray

COMMON_PADS: Final = frozenset(
    {
        "<pad>",
        "<PAD>",
        "[PAD]",
        "<|pad|>",
        "<|PAD|>",
        "<|padding|>",
        "<|PAD_TOKEN|>",
        "<｜▁pad▁｜>",
        "<|finetune_right_pad_id|>",
        "<unused_pad>",
    }
)
"""Tokens that only ever pad: T5/Llama, BERT, Phi, DeepSeek, Llama 3 and their like."""

END_TOKENS: Final = frozenset({"<|endoftext|>", "<|im_end|>", "</s>", "<eos>", "<|eot_id|>", "<EOD>"})
"""End tokens that some tokenizers also pad with: the first one ends the response, an unbroken repetition of it at the end pads it."""


def pad_mask(tokens: list[str], pads: AbstractSet[str] = COMMON_PADS) -> NDArray[np.bool_]:
    """True where a token is padding: a pad token anywhere, or a repetition of the end token at the end. Shape (T,)."""
    mask = np.zeros(len(tokens), bool)
    if not pads.isdisjoint(tokens):
        mask[:] = [token in pads for token in tokens]
    if len(tokens) > 1 and tokens[-1] in END_TOKENS:
        end = len(tokens)
        while end > 1 and tokens[end - 2] == tokens[-1]:
            end -= 1
        mask[end:] = True
    return mask
