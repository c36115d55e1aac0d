"""Where the board keeps what is the user's: settings, cache and state, each in the folder that this system has for such files.

Knows nothing of what is kept there; asking for a folder makes none.
"""

import os
from pathlib import Path
from typing import Final

import platformdirs

_NAME: Final = "rl-logging-board"


def settings() -> Path:
    """RL_BOARD_SETTINGS, else ours in the user's configuration folder: on Linux `$XDG_CONFIG_HOME` or `~/.config`."""
    return _given("RL_BOARD_SETTINGS") or platformdirs.user_config_path(_NAME, appauthor=False)


def cache() -> Path:
    """RL_BOARD_CACHE, else ours in the user's cache folder: on Linux `$XDG_CACHE_HOME` or `~/.cache`."""
    return _given("RL_BOARD_CACHE") or platformdirs.user_cache_path(_NAME, appauthor=False)


def state() -> Path:
    """RL_BOARD_STATE, else ours in the user's state folder: on Linux `$XDG_STATE_HOME` or `~/.local/state`."""
    return _given("RL_BOARD_STATE") or platformdirs.user_state_path(_NAME, appauthor=False)


def _given(variable: str) -> Path | None:
    """What the variable names; None where it is not set, or set to nothing."""
    given = os.environ.get(variable)
    return Path(given) if given else None
