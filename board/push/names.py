"""What a metric is called where it is pushed to. Knows the catalogue's dialects; knows no run and no tracker."""

from collections.abc import Iterable
from typing import Final

from board.metrics import OWN_PREFIX
from board.metrics.declared import DIALECTS

NAMES: Final = tuple(DIALECTS)


def renamed(keys: Iterable[str], names: str) -> dict[str, list[str]]:
    """Each key's names in a dialect, every one it has there; else, and in the board's own, its key after "board/".

    Raises KeyError for a dialect that is none of NAMES.
    """
    by_key: dict[str, list[str]] = {}
    for name, key in DIALECTS[names].names.items():
        by_key.setdefault(key, []).append(name)
    own = names == "board"
    return {key: [OWN_PREFIX + key] if own else by_key.get(key, [OWN_PREFIX + key]) for key in keys}
