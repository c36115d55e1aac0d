"""`python -m board.cli.worker`: one of the processes of `serve --workers`. Standard input is a socket: what to serve, then connections.

Knows no option: it is told all by the process that started it.
"""

import json
import os
import socket
from threading import Thread
from typing import Final

from board.cli.commands.serve import import_pages

_LONGEST_ORDER: Final = 200_000


def main() -> None:
    """Serve until nobody is left who hands connections on."""
    front = _taken_from_standard_input()
    order = json.loads(front.recv(_LONGEST_ORDER))
    from board.serving import lean_start

    with lean_start.without_plotly(), lean_start.without_collecting():
        from board.serving import app, worker

    worker.handed_by(front)
    app.serve_as_worker(order, Thread(target=import_pages, daemon=True).start)


def _taken_from_standard_input() -> socket.socket:
    """The socket, as our own; processes that this one starts find nothing there."""
    front = socket.socket(fileno=os.dup(0))
    front.setblocking(False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return front


if __name__ == "__main__":
    main()
