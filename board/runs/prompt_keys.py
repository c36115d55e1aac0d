"""Keys by which rollouts of the same prompt are found without their texts. Knows neither rows nor groups."""

from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def prompt_key(prompt: str) -> int:
    """Equal for equal prompts, and as good as never for others: 64 bits, signed."""
    return int.from_bytes(blake2b(prompt.encode(), digest_size=8).digest(), "little", signed=True)


def prompt_keys(prompts: pa.Array | None, count: int) -> NDArray[np.int64]:
    """The keys of so many prompts, (count,); a missing one counts as empty. A text is hashed once, however many rollouts have it."""
    if prompts is None:
        return np.full(count, prompt_key(""))
    texts = prompts.fill_null("").dictionary_encode()
    keys = np.array([prompt_key(text) for text in texts.dictionary.to_pylist()], np.int64)
    found: NDArray[np.int64] = keys[texts.indices.to_numpy()]
    return found
