"""Replies as JSON: a version first, and no number that JSON does not have."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.cli.replies.contract import VERSION, QueryReply, document, plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_what_is_not_finite_is_null(value: object) -> None:
    """Everything else stays, and a strict reader takes the result."""
    told = plain(value)

    assert json.loads(json.dumps(told, allow_nan=False)) == told
    if isinstance(value, float):
        assert told == (value if math.isfinite(value) else None)


def test_a_document_begins_with_its_version() -> None:
    """Then the fields as they are declared."""
    told = document(QueryReply(["x"], [[math.nan], [1]], cut=False))

    assert [*told.items()] == [("version", VERSION), ("columns", ["x"]), ("rows", [[None], [1]]), ("cut", False)]


def test_the_version_is_one() -> None:
    """Scripts ask for it: whoever raises it says so in docs/scripts.md and the change log."""
    assert pytest.approx(1) == VERSION
