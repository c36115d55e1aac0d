"""Token ids → tokens and text, by a tokenizer file that the user gave; ids as digits where there is none.

Knows rollouts under our names; the library `tokenizers` is needed only where a file is given.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol, cast

from board.errors import ArgumentRefused, pip_install
from board.schema import PADDED, TOKENS
from board.sources import run_files
from board.sources.json_record import Record

IDS: Final = "response_token_ids"
PROMPT_IDS: Final = PADDED.prompt_ids

_MOST_BYTES: Final = 512_000_000
"""Of a tokenizer file; those of the largest vocabularies have some 40 MB."""


class Tokenizer(Protocol):
    """What the board needs of a tokenizer."""

    def id_to_token(self, id: int) -> str | None:  # the library's own name
        """The token's name in the vocabulary; None for an id it does not have."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of tokens."""


def load(path: str) -> Tokenizer:
    """The tokenizer in a `tokenizer.json`. Raises ArgumentRefused when the file is none, or the library is missing."""
    try:
        return _load(path, run_files.check(Path(path)).st_mtime_ns)
    except OSError as error:
        raise ArgumentRefused(f"The tokenizer file {path} cannot be read: {error.strerror}.") from error


@lru_cache(maxsize=4)
def _load(path: str, mtime_ns: int) -> Tokenizer:
    """Load a tokenizer once for as long as its file is the same."""
    try:
        from tokenizers import Tokenizer as Library
    except ImportError as error:
        raise ArgumentRefused(f"Token ids are named by the library tokenizers: {pip_install('tokenizers')}") from error
    try:
        return cast(Tokenizer, Library.from_str(tokenizer_bytes(path).decode()))
    except OSError:
        raise
    except Exception as error:  # the library raises bare Exception for a file it cannot read
        raise ArgumentRefused(f"{path} is not a tokenizer.json: {error}") from error


def tokenizer_bytes(path: str) -> bytes:
    """What stands in the file. Raises OSError."""
    return run_files.whole(Path(path), most=_MOST_BYTES)


def named(rollout: Record, tokenizer: Tokenizer | None) -> Record:
    """A rollout with tokens, response and prompt as text where it has only their ids. What is there already stays."""
    added: dict[str, Any] = {}
    if rollout.get(TOKENS) is None and (ids := _ids(rollout.get(IDS))) is not None:
        added[TOKENS] = [_name(one, tokenizer) for one in ids]
        if tokenizer and rollout.get("response") is None:
            added["response"] = tokenizer.decode(ids, skip_special_tokens=False)
    if tokenizer and rollout.get("prompt") is None and (ids := _ids(rollout.get(PROMPT_IDS))) is not None:
        added["prompt"] = tokenizer.decode(ids, skip_special_tokens=False)
    return rollout | added if added else rollout


def namer(path: str) -> Callable[[Record], Record]:
    """`named` with the tokenizer at a path; empty for none. Raises ArgumentRefused."""
    tokenizer = load(path) if path else None
    return lambda rollout: named(rollout, tokenizer)


def _ids(value: Any) -> list[int] | None:
    whole = isinstance(value, list) and all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in value)
    return value if whole else None


def _name(token: int, tokenizer: Tokenizer | None) -> str:
    """The token's name, byte-level names as they are, since the view reads them; the id where it is unknown, a space before it as in text."""
    return (tokenizer.id_to_token(token) if tokenizer and token < 2**32 else None) or f" {token}"
