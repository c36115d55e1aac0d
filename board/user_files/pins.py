"""Which metrics the reader pinned. Knows no screen and no metric."""

from typing import Final

from board.user_files.kept_entries import KeptEntries, exactly

KEPT: Final = KeptEntries("pinned_metrics", "pin", lambda held: exactly(bool, held))

MOST: Final = 500
"""So many pins are kept; the oldest go first."""


def toggle(key: str) -> tuple[str, ...]:
    """Pin a metric, or take its pin off; the pins there are then. Raises BoardError where that cannot be kept."""

    def changed(held: dict[str, bool]) -> dict[str, bool]:
        return dict.fromkeys([one for one in held if one != key] if key in held else [*held, key][-MOST:], True)

    return tuple(KEPT.change(changed))
