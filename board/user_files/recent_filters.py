"""The filters the reader used last, kept in a file of the settings. Knows neither SQL nor runs."""

import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from board.errors import BoardError
from board.user_files import folders, user_folders

NAME: Final = "recent_filters.json"

MOST: Final = 20

_CHANGING: Final = threading.Lock()


def path() -> Path:
    """Where they are kept."""
    return user_folders.settings() / NAME


def read() -> tuple[str, ...]:
    """The filters, the latest first; none while there is no file, or where it is damaged: nothing is lost that could not be typed again."""
    with suppress(OSError, ValueError, RecursionError):
        kept = json.loads(path().read_text(encoding="utf-8"))
        if isinstance(kept, list):
            return tuple(dict.fromkeys(one for one in kept if isinstance(one, str)))[:MOST]
    return ()


def add(text: str) -> None:
    """This filter was used last. Where settings cannot be written it is not kept: a filter must work without."""
    with _CHANGING, suppress(BoardError, UnicodeEncodeError):
        before = read()
        if before[:1] != (text,):
            kept = [text, *(one for one in before if one != text)][:MOST]
            folders.write(path(), json.dumps(kept, indent=1, ensure_ascii=False).encode())
