"""Printing for the commands, and how often they report progress."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import click

from board.text.terminal import printable

TICK_SECONDS: Final = 2.0
"""How often progress is said."""


def say(text: str, *, err: bool = False) -> None:
    """Print; whatever a run is named, or says, cannot command the terminal."""
    click.echo(printable(text), err=err)


def stream(pieces: Iterable[str]) -> None:
    """Print JSON piece by piece: it is ASCII, and commands no terminal."""
    for piece in pieces:
        click.echo(piece, nl=False)


class Ticker:
    """Says on standard error how far something is, but not more often than it can be read."""

    def __init__(self, say: Callable[[], str]) -> None:
        self._say = say
        self._next = time.monotonic() + TICK_SECONDS

    def __call__(self) -> None:
        """Say it, if it is time."""
        if time.monotonic() >= self._next:
            say(self._say(), err=True)
            self._next = time.monotonic() + TICK_SECONDS


def listed(address: str) -> Path:
    """The folder that stands for an address; where listing takes long it is said how many objects there are so far. Raises BoardError."""
    from board.sources import locations

    so_far = [0]
    ticker = Ticker(lambda: f"Listing {address}: {so_far[0]:,} objects so far.")

    def tell(count: int) -> None:
        so_far[0] = count
        ticker()

    return locations.folder_of(address, tell)
