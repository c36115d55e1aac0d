"""Tests of whose a connection is that nothing can be read of."""

import pytest

from board.serving.front import machine_of

SAME: dict[str, tuple[str, str]] = {
    "one address": ("10.0.0.7", "10.0.0.7"),
    "both kinds of an address": ("10.0.0.7", "::ffff:10.0.0.7"),
    "this machine": ("127.0.0.1", "::1"),
    "this machine by the longer way": ("::ffff:127.0.0.1", "127.0.0.2"),
    "an interface named beside it": ("fe80::1%eth0", "fe80::1"),
    "no address": ("", ""),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_one_machine_is_one_reader(pair: tuple[str, str]) -> None:
    """Whichever kind of address its browser takes for a connection."""
    assert machine_of(pair[0]) == machine_of(pair[1])


def test_other_machines_are_other_readers() -> None:
    """Of whichever kind their addresses are."""
    assert len({machine_of(one) for one in ("10.0.0.7", "10.0.0.8", "fe80::1", "fe80::2", "::1", "what")}) == 6
