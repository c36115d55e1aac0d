"""The process that answers a query says how far it is, and is gone once it is not waited for."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from board.errors import BoardError
from board.sql.sandbox_client import Limits, answered
from board.sql.sandbox_table import IN_TURN

ROWS = 200_000
TABLE = pa.table({"rollout": np.arange(ROWS), "reward": np.linspace(0, 1, ROWS)})
SLOW = "length(repeat('x', 30000 + rollout % 2)) > 1"


def kept(condition: str, show: Callable[[float], None], limits: Limits | None = None) -> int:
    """How many rows the condition leaves."""
    query = f'SELECT rollout FROM "{IN_TURN}" AS rollouts WHERE {condition}'
    return len(answered(TABLE, query, limits or Limits(rows=ROWS), show=show))


def test_says_how_far_it_is() -> None:
    """Shares rise, all of them below one, and the answer is whole; a subquery sees all rows."""
    shares: list[float] = []

    count = kept("reward > (SELECT avg(reward) FROM rollouts)", shares.append)

    assert count == ROWS / 2
    assert shares
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] < 1


class Gone(BaseException):
    """A reader who went away."""


def test_ends_with_its_reader() -> None:
    """What `show` raises comes out, and nobody goes on answering: as Streamlit stops a script whose reader has clicked on."""

    def show(share: float) -> None:
        raise Gone

    with pytest.raises(Gone):
        kept(SLOW, show)


def test_ends_in_time() -> None:
    """A query that takes longer than it may is stopped, however far it is."""
    with pytest.raises(BoardError, match="longer than 1 second"):
        kept(SLOW, lambda share: None, Limits(seconds=1))
