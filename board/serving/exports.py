"""Files that readers asked for, each under a ticket that is good for one download, and how far each is. Knows neither pages nor HTTP.

The page asks for a file and gets a ticket; whoever brings the ticket within a minute gets the file, once.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from board.errors import BoardError

if TYPE_CHECKING:  # the server listens before it loads what reads runs
    from board.runs.export import ExportPiece

MOST_AT_ONCE: Final = 3
"""So many files are written at a time, for all readers."""

MOST_TICKETS: Final = 50
TICKET_SECONDS: Final = 60.0

State = Literal["asked for", "running", "done", "ended", "failed"]
"""`ended` is one whose reader went away."""


@dataclass
class Export:
    """A file that was asked for. Changed by whoever sends it, read by the page."""

    name: str
    """The file's."""
    media: str
    """What HTTP calls its format."""
    rows: int
    """How many rollouts it will hold."""
    pieces: "Callable[[], Iterator[ExportPiece]]"
    state: State = "asked for"
    rows_sent: int = 0
    bytes_sent: int = 0
    reason: str = ""
    """Why it failed."""
    asked_at: float = field(default_factory=time.monotonic)
    began_at: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether there is something to wait for."""
        return self.state == "running" or (self.state == "asked for" and time.monotonic() - self.asked_at < TICKET_SECONDS)

    @property
    def share(self) -> float:
        """How much of it was sent, from 0 to 1."""
        return self.rows_sent / self.rows if self.rows else 0.0

    @property
    def seconds_left(self) -> float | None:
        """As long as the rest takes at the rate so far; None while nobody knows."""
        passed = time.monotonic() - self.began_at
        if self.state != "running" or not self.rows_sent or passed < 1:
            return None
        return passed * (self.rows - self.rows_sent) / self.rows_sent

    def sent(self, piece: "ExportPiece") -> None:
        """A piece is with the reader."""
        self.rows_sent += piece.rows
        self.bytes_sent += len(piece.data)


class Exports:
    """The tickets that are out, and the files that are being sent."""

    def __init__(self) -> None:
        self.served = False
        """Whether this process has an address where tickets are taken: a server other than the board's own has none."""
        self._turn = threading.Lock()
        self._out: dict[str, Export] = {}
        self._running: list[Export] = []

    def ask(self, export: Export) -> str:
        """A ticket for a file. Raises BoardError while too many are being sent."""
        with self._turn:
            self._refuse_more()
            fresh = {ticket: one for ticket, one in self._out.items() if one.is_open}
            self._out = dict([*fresh.items()][-MOST_TICKETS + 1 :])
            ticket = secrets.token_urlsafe(24)
            self._out[ticket] = export
            return ticket

    def begin(self, ticket: str) -> Export | None:
        """The file of a ticket, which is used up by it; None where there is none. Raises BoardError while too many are being sent."""
        with self._turn:
            if ticket in self._out:
                self._refuse_more()
            export = self._out.pop(ticket, None)
            if export is None or not export.is_open:
                return None
            export.state, export.began_at = "running", time.monotonic()
            self._running.append(export)
            return export

    def end(self, export: Export, state: State, reason: str = "") -> None:
        """It is no longer being sent."""
        with self._turn:
            export.state, export.reason = state, reason
            export.pieces = _nothing  # and with it goes the run
            self._running = [one for one in self._running if one is not export]

    def _refuse_more(self) -> None:
        if len(self._running) >= MOST_AT_ONCE:
            raise BoardError(f"{MOST_AT_ONCE} exports are being written by this server already: wait until one is done.")


def _nothing() -> "Iterator[ExportPiece]":
    return iter(())


EXPORTS: Final = Exports()
"""Those of this process."""
