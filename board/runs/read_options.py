"""How the shards of a run are read: pads, mapping, tokenizer of token ids.

Small enough to be sent to another process, and to name what was read with it.
"""

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

from board.formats.token_names import tokenizer_bytes
from board.sources.lines import LONGEST, longest_line
from board.text.padding import COMMON_PADS


@dataclass(frozen=True)
class ReadOptions:
    """The choices that change what is read."""

    pads: tuple[str, ...] = ()
    """Tokens that pad in addition to the common ones."""
    tokenizer: str = ""
    """Path of a `tokenizer.json` that makes text of token ids; empty for none."""
    mapping: str = ""
    """Text of the file that maps a run's keys to our names; empty for none."""
    family: str = ""
    """The trainer whose dump alone is read, of a folder that holds a recording too; empty for the recording."""
    trains_ends: bool = field(default=False, compare=False)
    """Whether the loss mask trains on end tokens somewhere in the run: no choice, but known once that was read."""

    @property
    def all_pads(self) -> frozenset[str]:
        """The common pads and the given ones."""
        return COMMON_PADS | set(self.pads)

    @property
    def key(self) -> str:
        """Another one for another choice, another tokenizer under the same name or another longest line; empty when nothing is chosen.

        Raises OSError.
        """
        if self == ReadOptions() and longest_line() == LONGEST:
            return ""
        names = blake2b(tokenizer_bytes(self.tokenizer), digest_size=12).hexdigest() if self.tokenizer else ""
        return json.dumps([sorted(set(self.pads) - COMMON_PADS), names, self.mapping, longest_line(), self.family])

    def written(self) -> dict[str, Any]:
        """As JSON holds it; `Reading(**…)` of it is the same."""
        return asdict(self)
