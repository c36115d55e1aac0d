"""Tests of which page an address asks for."""

import pytest

from board.ui.frame.navigation import requested_page

ADDRESSES = {
    "no address": ("", "", ""),
    "the first page": ("http://localhost:8901/", "", ""),
    "another page": ("http://localhost:8901/responses?run=a", "", "responses"),
    "no page of the board's": ("http://localhost:8901/nothing", "", "nothing"),
    "the first page behind a proxy's path": ("http://localhost:8901/rl", "/rl", ""),
    "the same with a slash": ("http://localhost:8901/boards/rl/", "boards/rl/", ""),
    "another page behind a proxy's path": ("http://localhost:8901/boards/rl/responses", "boards/rl", "responses"),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_requested_page(name: str) -> None:
    """The name is what stands behind the path that all addresses begin with: that path itself names no page."""
    url, base, wanted = ADDRESSES[name]
    assert requested_page(url, base) == wanted
