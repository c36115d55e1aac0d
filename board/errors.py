"""The errors the board raises on purpose, and what it says of a library that is not installed.

`str(error)` is one sentence fit for the screen: what happened, where, and what to do.

BoardError
├── RunNotFound      the location holds nothing the board can read
│   └── NothingRead  it holds files, and no rollout could be read from them
├── RowRefused       one record cannot become a rollout
├── MappingRefused   a mapping by hand cannot be used as it is written
├── ArgumentRefused  a command cannot run with the arguments it was given
└── FieldMissing     a computation needs a column the run does not have
"""

import shlex
import sys
from importlib.util import find_spec
from typing import Final

from board.text.path_names import encodable

_DISTRIBUTIONS: Final = {"yaml": "pyyaml"}
"""Modules that are not called as what brings them."""


class BoardError(Exception):
    """Base of every error whose message may be shown to the reader as it is."""

    def __str__(self) -> str:
        """The message; a path in it may have bytes that are no text, and they are written out."""
        return encodable(super().__str__())


class RunNotFound(BoardError):
    """The folder does not exist, lies outside the root, or holds no shard."""


class NothingRead(RunNotFound):
    """Files are there, and none of their rows is a rollout: the sentence says how many, why, and which keys were seen."""

    def __init__(self, sentence: str, suggested_mapping: str | None = None) -> None:
        """`suggested_mapping` is the text of a mapping to begin with, None where nothing can be guessed."""
        super().__init__(sentence)
        self.sentence, self.suggested_mapping = encodable(sentence), suggested_mapping

    def __str__(self) -> str:
        """The sentence, and below it the mapping."""
        return f"{self.sentence}\n\n{self.suggested_mapping}" if self.suggested_mapping else self.sentence


class RowRefused(BoardError):
    """A record lacks what a rollout needs; the message is the reason, the caller adds shard and line."""


class MappingRefused(BoardError):
    """The file that maps keys by hand is not TOML, or says what cannot be; the message names the file, the entry and what is allowed."""


class ArgumentRefused(BoardError):
    """What a command was given cannot be used, so that nothing was done; the message says why and what to give instead."""


class FieldMissing(BoardError):
    """A chart or a metric was requested whose column the run does not have."""


def missing_library(error: ModuleNotFoundError, what: str) -> str:
    """What to install so that `what` works. Raises the error itself where it is a module of the board that is missing."""
    module = (error.name or "").partition(".")[0]
    if module in ("", "board"):
        raise error
    name = _DISTRIBUTIONS.get(module, module)
    return (
        f"{what} needs {name}, which is not installed: {pip_install(name)}"
        f" (for all that the board needs: {pip_install('-r', 'requirements.txt')} in its folder)."
    )


def pip_install(*packages: str) -> str:
    """The whole command, for a shell, that installs packages for the Python that runs the board."""
    pip = [sys.executable, "-m", "pip", "install"] if find_spec("pip") else ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*pip, *packages])
