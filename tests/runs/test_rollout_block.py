"""board.runs.cache.rollout_block: blocks put end to end are the block of all their rows, whatever some of them lack."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from board.formats.row import Row
from board.runs.cache.rollout_block import Block, joined
from board.runs.parsing.row_block import RowPlace, block_of_rows
from board.schema import TOKENS

NUMBER = st.sampled_from([0.0, -1.5, 7.25])
ROW = st.fixed_dictionaries(
    {"tokens": st.none() | st.just(["a", "b"])},
    optional={
        "reward": NUMBER,
        "prompt": st.sampled_from(["", "p"]),
        "group_id": st.sampled_from(["1", "2"]),
        "logprobs": st.lists(NUMBER, max_size=3),
        "values": st.lists(NUMBER, max_size=3),
        "top_logprobs": st.lists(st.none() | st.lists(st.tuples(st.sampled_from(["x", "y"]), NUMBER), max_size=2), max_size=3),
    },
)


def row(fields: dict[str, Any]) -> Row:
    """A row of these fields."""
    return Row(
        3,
        texts={name: fields[name] for name in ("prompt",) if name in fields},
        numbers={name: fields[name] for name in ("reward",) if name in fields},
        ids={name: fields[name] for name in ("group_id",) if name in fields},
        tokens=fields["tokens"],
        arrays={name: np.array(fields[name], np.float32) for name in ("logprobs", "values") if name in fields},
        alternatives=fields.get("top_logprobs"),
    )


def block(found: list[dict[str, Any]], first: int) -> Block:
    """A block of rows of these fields, a line each from `first` on."""
    return block_of_rows([row(one) for one in found], [RowPlace(first + at, 10 * at) for at in range(len(found))])


def written(found: Block) -> dict[str, Any]:
    """All that a block holds, as it prints."""
    arrow = {name: column.to_pylist() for name, column in {**found.texts, **found.ids, **found.per_token}.items()}
    numbers = {name: column.tolist() for name, column in found.numbers.items()}
    arrays = {name: (one.values.tolist(), one.present.tolist()) for name, one in found.arrays.items()}
    plain = {name: column.tolist() for name, column in found.sources.items()}
    return {
        "steps": found.steps.tolist(),
        "lengths": found.lengths.tolist(),
        "flags": [*found.flags],
        **{"arrow": arrow, "numbers": str(numbers), "arrays": str(arrays), "sources": plain},
    }


@given(st.lists(st.lists(ROW, min_size=1, max_size=4), min_size=1, max_size=4))
def test_joined_blocks_are_the_block_of_all_rows(rows: list[list[dict[str, Any]]]) -> None:
    """Columns in the order in which they first appear, missing where a block has none; flags at their rows."""
    firsts = [1 + sum(map(len, rows[:at])) for at in range(len(rows))]
    found = joined([block(some, first) for some, first in zip(rows, firsts, strict=True)])
    whole = block([one for some in rows for one in some], 1)

    assert written(found) | {"sources": None} == written(whole) | {"sources": None}
    assert found.sources["line"].tolist() == whole.sources["line"].tolist()
    assert [*found.arrays, *found.texts] == [*whole.arrays, *whole.texts]


def test_columns_keep_their_types_where_a_block_has_none() -> None:
    """A column that is null in a whole block is of the type that it has in the others."""
    found = joined([block([{"tokens": None}], 1), block([{"tokens": ["a"], "prompt": "p", "group_id": "1"}], 2)])

    assert (found.texts["prompt"].type, found.ids["group_id"].type) == (pa.large_string(), pa.string())
    assert found.per_token[TOKENS].to_pylist() == [None, ["a"]]


def test_one_block_is_taken_as_it_is() -> None:
    """Nothing is copied where there is nothing to join."""
    one = block([{"tokens": ["a"]}], 1)

    assert joined([one]) is one
