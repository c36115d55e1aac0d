"""Headers of Parquet's pages, whatever their bytes are."""

import io

from hypothesis import given
from hypothesis import strategies as st

from board.sources.packed_sizes import of_pages


def test_a_page_whose_number_of_values_is_no_number_claims_nothing() -> None:
    """A damaged header, here with a truth where the number of values stands, ends what is told of the column."""
    header = bytes([0x15, 0x00, 0x15, 0x02, 0x15, 0x02, 0x2C, 0x11, 0x00, 0x00])

    assert [*of_pages(io.BytesIO(header), 0, len(header))] == []


@given(st.binary(max_size=60))
def test_any_bytes_are_read_to_an_end(data: bytes) -> None:
    """Claims are whole numbers, and there are no more of them than bytes."""
    claims = [*of_pages(io.BytesIO(data), 0, len(data))]

    assert len(claims) <= len(data)
    assert all(isinstance(one.values, int) for one in claims)
