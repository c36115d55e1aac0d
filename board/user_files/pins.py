"""Which metrics the reader pinned. Knows no screen and no metric."""

from typing import Any, Final

from board.user_files.kept_entries import KeptEntries, exactly

KEPT: Final = KeptEntries("pinned_metrics", "pin", lambda _, held: exactly(bool, held))

MOST: Final = 500
"""So many pins are kept; the oldest go first."""


def read() -> tuple[str, ...]:
    """Keys of pinned metrics in the order of pinning; none while there is no file. Raises BoardError for one that cannot be read."""
    return tuple(KEPT.read()[0])


def toggle(key: str) -> tuple[str, ...]:
    """Pin a metric, or take its pin off; the pins there are then. Raises BoardError where that cannot be kept."""

    def changed(held: dict[str, Any]) -> dict[str, Any]:
        return dict.fromkeys([one for one in held if one != key] if key in held else [*held, key][-MOST:], True)

    return tuple(KEPT.change(changed))
