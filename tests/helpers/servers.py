"""The real server, as tests ask for it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Serve = Callable[..., str]
"""Called with a root folder and options, gives the address the server printed; `first` is Python that its process runs before all else.

`cached` names runs that are in its cache before it starts."""


class WrittenRun(NamedTuple):
    """A run among others on one server."""

    link: str
    """To a page of it; what else the link says goes behind it."""
    folder: Path


Written = Callable[..., WrittenRun]
"""Called with rows and the address of a page."""
