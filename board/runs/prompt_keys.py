"""Keys by which rollouts of the same prompt are found without their texts.

A prompt is the trainer's id of it where a rollout has one, else its text with white space folded, else its tokens.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Final
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.formats.token_names import PROMPT_IDS
from board.schema import EVALUATION

_ID: Final = "prompt_id"
_SOURCE: Final = "data_source"
"""Ids count anew in every data set, and in evaluations."""

_BETWEEN: Final = "\x1f"
_SPACES: Final = bytes.maketrans(b"\t\n\v\f\r\x1c\x1d\x1e\x1f", b" " * 9)
"""What `str.split` takes for white space, in ASCII."""


def _folded(text: str) -> bytes:
    """The text in UTF-8 with one space for any white space, none at its ends, and its letters composed (NFC)."""
    if not text.isascii():
        return " ".join(normalize("NFC", text).split()).encode()
    spaced = text.encode().translate(_SPACES).strip(b" ")
    while b"  " in spaced:
        spaced = spaced.replace(b"  ", b" ")
    return spaced


def _hash(name: bytes, kind: str) -> int:
    return int.from_bytes(blake2b(name, digest_size=8, person=kind.encode()).digest(), "little", signed=True)


def prompt_key(prompt: str) -> int:
    """Equal for prompts that differ in white space or in how Unicode composes their letters alone, as good as never for others: 64 bits, signed.

    Chat prompts come as `board.formats.chat` writes them: by roles and contents, whatever else their messages hold.
    """
    return _hash(_folded(prompt), "text")


NO_PROMPT: Final = prompt_key("")
"""The key of rollouts whose prompt is empty, or not known."""


def prompt_keys(texts: Mapping[str, pa.Array], ids: Mapping[str, pa.Array], count: int) -> NDArray[np.int64]:
    """The keys of the prompts of so many rollouts, whose texts and ids are given by field, null where one is missing. Shape (count,).

    A prompt is hashed once, however many rollouts have it.
    """
    keys = _keys(texts["prompt"].fill_null(""), prompt_key) if "prompt" in texts else np.full(count, NO_PROMPT)
    if PROMPT_IDS in texts and (keys == NO_PROMPT).any():
        keys = np.where(keys == NO_PROMPT, _keys(texts[PROMPT_IDS].fill_null(""), prompt_key), keys)
    if _ID not in ids:
        return keys
    named = ids[_ID].is_valid().to_numpy(zero_copy_only=False)
    return np.where(named, _keys(_within(ids), lambda name: _hash(name.encode(), "id")), keys)


def _within(ids: Mapping[str, pa.Array]) -> pa.Array:
    """The trainer's ids of prompts, with the data set that each is of."""
    parts = [ids[name].fill_null("") if name in ids else "" for name in (_ID, _SOURCE)]
    # what was discarded was sampled for the prompts that are trained on
    evaluated = pc.if_else(pc.equal(ids["split"], EVALUATION).fill_null(False), EVALUATION, "") if "split" in ids else ""
    return pc.binary_join_element_wise(*parts, evaluated, _BETWEEN)


def _keys(names: pa.Array, key: Callable[[str], int]) -> NDArray[np.int64]:
    once = names.dictionary_encode()
    keys = np.array([key(name) for name in once.dictionary.to_pylist()], np.int64)
    found: NDArray[np.int64] = keys[once.indices.to_numpy()]
    return found
