"""Tests of tickets: each is good for one download, for a minute, and few files are sent at a time."""

import pytest

from board.errors import BoardError
from board.runs.export import ExportPiece
from board.serving import exports
from board.serving.exports import MOST_AT_ONCE, MOST_TICKETS, Export, Exports


def a_file(rows: int = 10) -> Export:
    """A file of ten rollouts."""
    return Export("a.csv", "text/csv", rows, lambda: iter([ExportPiece(rows, b"x" * rows)]))


def test_a_ticket_is_used_up() -> None:
    """The second to bring it gets nothing, as one who made it up does."""
    out, wanted = Exports(), a_file()
    ticket = out.ask(wanted)
    assert len(ticket) >= 32
    assert [out.begin("guessed"), out.begin(ticket), out.begin(ticket)] == [None, wanted, None]
    assert wanted.state == "running"


def test_a_ticket_is_good_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was not used in time is worth nothing, and there is nothing to wait for any more."""
    out, wanted = Exports(), a_file()
    ticket = out.ask(wanted)
    before = wanted.is_open
    monkeypatch.setattr(exports, "TICKET_SECONDS", 0.0)
    assert (before, wanted.is_open, out.begin(ticket)) == (True, False, None)


def test_few_at_a_time() -> None:
    """While some are sent no other is begun; the ticket stays good, and what has ended makes room and keeps no run in memory."""
    out, late = Exports(), a_file()
    ticket = out.ask(late)
    running = [out.begin(out.ask(a_file())) for _ in range(MOST_AT_ONCE)]
    with pytest.raises(BoardError, match="wait until one is done"):
        out.ask(a_file())
    with pytest.raises(BoardError, match="wait until one is done"):
        out.begin(ticket)
    first = running[0]
    assert first is not None
    out.end(first, "done")
    assert (first.state, list(first.pieces())) == ("done", [])
    assert out.begin(ticket) is late


def test_tickets_are_forgotten() -> None:
    """Of many that nobody used the last are kept."""
    out = Exports()
    tickets = [out.ask(a_file()) for _ in range(MOST_TICKETS + 5)]
    assert out.begin(tickets[0]) is None
    assert out.begin(tickets[5]) is not None


def test_how_far_it_is() -> None:
    """Rows and bytes add up; how long the rest takes is known once it has gone on for a while; an empty file has no share."""
    out, wanted = Exports(), a_file()
    out.begin(out.ask(wanted))
    assert (wanted.share, wanted.seconds_left) == (0.0, None)
    wanted.sent(ExportPiece(4, b"four"))
    wanted.began_at -= 8.0
    assert (wanted.rows_sent, wanted.bytes_sent, wanted.share) == (4, 4, 0.4)
    assert wanted.seconds_left == pytest.approx(12.0, rel=0.1)
    assert a_file(0).share == 0.0
