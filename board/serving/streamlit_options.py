"""Streamlit's options: the board's own, those of a command line and those of the environment, by dotted name."""

import logging
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import streamlit as st

from board.errors import BoardError

SETTINGS_FILE: Final = Path(__file__).with_name("streamlit.toml")
THEME_HALVES: Final = ("theme.light.", "theme.dark.")

Settings = dict[str, Any]
"""Streamlit's options by dotted name, as `st.get_option` knows them."""

_VARIABLES: Final = "STREAMLIT_"
_TRUE: Final = ("true", "1", "yes", "on")
_FALSE: Final = ("false", "0", "no", "off")


def packaged_settings() -> Settings:
    """The board's own settings and theme."""
    return _dotted(tomllib.loads(SETTINGS_FILE.read_text(encoding="utf-8")))


def one_theme(settings: Settings, options: Settings) -> Settings:
    """Where the options have `theme.base` light or dark, that half of the theme as both: Streamlit follows the browser, and finds the same.

    What the options say of the theme as a whole they say of both halves then.
    """
    base = options.get("theme.base")
    if base not in ("light", "dark"):
        return settings
    half = f"theme.{base}."
    of_both = {name.removeprefix(half): value for name, value in settings.items() if name.startswith(half)}
    return settings | {
        f"{one}{name}": options.get(f"theme.{name}", value) for one in THEME_HALVES for name, value in of_both.items()
    }


def _dotted(table: Mapping[str, Any], prefix: str = "") -> Settings:
    settings: Settings = {}
    for key, value in table.items():
        settings |= _dotted(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return settings


def parsed_options(arguments: Sequence[str]) -> Settings:
    """Those of the environment (STREAMLIT_SERVER_PORT) and of a command line (`--server.port 8902`), which overrule them.

    An option that is a list may be given several times. Raises BoardError for an option Streamlit does not have or a value it does not take.
    """
    # Streamlit reads its options when the first is used, and again as it starts, with ours: that they differ then is no news.
    logging.getLogger("streamlit.config").addFilter(lambda record: "restart streamlit" not in record.getMessage())
    texts = dict(_of_environment())
    given: dict[str, list[str]] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not _is_option(name):
            raise BoardError(f"Streamlit has no option --{name}. `streamlit config show` lists them.")
        given.setdefault(name, []).append(value if equals else next(rest))
    return {name: _value(name, values) for name, values in (texts | given).items()}


def _of_environment() -> Iterator[tuple[str, list[str]]]:
    """Options that variables name: STREAMLIT_THEME_DARK_BASE_RADIUS is theme.dark.baseRadius; a list has spaces between its texts.

    Secrets are left out, as Streamlit itself takes these from the environment, and only from there.
    """
    own = packaged_settings()
    for variable, text in os.environ.items():
        words = variable.removeprefix(_VARIABLES).lower().split("_") if variable.startswith(_VARIABLES) else []
        for cut in range(1, len(words)):
            name = ".".join([*words[:cut], words[cut] + "".join(map(str.capitalize, words[cut + 1 :]))])
            if _is_option(name) and (name in own or st.get_option(name) != text):
                yield name, text.split() if isinstance(st.get_option(name), list) else [text]


def _is_option(name: str) -> bool:
    try:
        st.get_option(name)
    except RuntimeError:
        return False
    return True


def _value(name: str, texts: Sequence[str]) -> Any:
    """The value in the option's type: a list, true or false, a number or a text."""
    known, text = st.get_option(name), texts[-1]
    if isinstance(known, list):
        return [*texts]
    if isinstance(known, bool):
        if text.lower() not in _TRUE + _FALSE:
            raise BoardError(f"--{name} is true or false, not '{text}'.")
        return text.lower() in _TRUE
    if isinstance(known, int | float):
        try:
            return type(known)(text)
        except ValueError:
            raise BoardError(f"--{name} is a number, not '{text}'.") from None
    return int(text) if text.isascii() and text.isdigit() else text
