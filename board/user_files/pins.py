"""Which metrics the reader pinned, kept in a file of the settings. Knows no screen and no metric.

A board that runs beside this one may pin too: each change is made to what the file says then.
"""

import json
import threading
from pathlib import Path
from typing import Final

from board.errors import BoardError
from board.user_files import folders, user_folders

NAME: Final = "pinned_metrics.json"

MOST: Final = 500
"""So many pins are kept; the oldest go first."""

_CHANGING: Final = threading.Lock()


def path() -> Path:
    """Where they are kept."""
    return user_folders.settings() / NAME


def read() -> tuple[str, ...]:
    """Keys of pinned metrics in the order of pinning; none while there is no file. Raises BoardError for one that cannot be read."""
    try:
        text = path().read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise BoardError(f"The pins in {path()} cannot be read: {error}.") from error
    try:
        pinned = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BoardError(f"The pins in {path()} are no JSON: {error}.") from error
    if not isinstance(pinned, list) or not all(isinstance(key, str) for key in pinned):
        raise BoardError(f"The pins in {path()} are no list of names.")
    return tuple(dict.fromkeys(pinned))


def toggle(key: str) -> tuple[str, ...]:
    """Pin a metric, or take its pin off; the pins there are then. A damaged file is set aside, not written over. Raises BoardError."""
    with _CHANGING:
        try:
            before = read()
        except BoardError:
            folders.set_aside(path())
            before = ()
        after = tuple(one for one in before if one != key) if key in before else (*before, key)[-MOST:]
        folders.write(path(), json.dumps(after, indent=1).encode())
        return after
