"""The pads of a run beside the common ones, as its readers named them: a file of the settings for each run.

RL_BOARD_PADS names some for all runs. Knows neither what a pad is nor what a run holds.
"""

import os
from hashlib import blake2b
from pathlib import Path
from typing import Final

import orjson

from board.errors import BoardError
from board.text.path_names import shown
from board.user_files import folders, user_folders

VARIABLE: Final = "RL_BOARD_PADS"


def read(location: Path) -> tuple[str, ...]:
    """The pads of the run in a folder, in order, those for all runs among them. Raises BoardError for a file that cannot be read."""
    return tuple(sorted({*for_all(), *own(location)}))


def for_all() -> list[str]:
    """Those for all runs, in the variable with line ends behind them, or else with spaces between."""
    named = os.environ.get(VARIABLE, "")
    return named.splitlines() if "\n" in named else named.split()


def own(location: Path) -> tuple[str, ...]:
    """Those of the run alone. Raises BoardError for a file that cannot be read."""
    path = _path(location)
    try:
        held = orjson.loads(path.read_bytes())
        pads = held["pads"]
        if not isinstance(pads, list) or not all(isinstance(one, str) and one.strip() for one in pads):
            raise ValueError("the pads are no list of texts")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise BoardError(f"The pads in {path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise BoardError(f"The pads in {path} are damaged, mend or remove the file: {error}.") from error
    return tuple(pads)


def save(location: Path, pads: tuple[str, ...]) -> None:
    """Keep the pads of the run in a folder in place of those before; none of them forgets it. Raises BoardError where that cannot be done."""
    path = _path(location)
    if pads:
        folders.write(path, orjson.dumps({"run": shown(location.resolve()), "pads": pads}, option=orjson.OPT_INDENT_2))
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise BoardError(f"{path} cannot be removed: {error.strerror}.") from error


def _path(location: Path) -> Path:
    name = shown(location.resolve()).encode("utf-8", "surrogatepass")
    return user_folders.settings() / "pads" / f"{blake2b(name, digest_size=12).hexdigest()}.json"
