"""Parts → the one dataframe of all pages: a row per rollout, merged by step."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.pandas_compat  # Arrow imports both with its first array otherwise, in each process that parses
import pyarrow.vendored.version

from board.metrics.prompt_groups import group_numbers
from board.runs.cache.columns import as_table
from board.runs.cache.parts import Part
from board.runs.cache.parts_by_key import PartsByKey
from board.runs.parsing.discarded import mark_discarded
from board.runs.prompt_keys import NO_PROMPT
from board.schema import IDS, NUMBERS
from board.text.natural_order import natural_key

SORTED_IDS: Final = 10_000
"""So many ids are put in natural order; more stay in the order they came, as sorting them would hold up every load."""

_INTERNAL: Final = ["offset", "nth", "prompt_key"]


def scalars(built: Sequence[Part]) -> pd.DataFrame:
    """The scalars of all parts, a row each, in the order of reading."""
    tables = [as_table(part.scalars) for part in built]
    if not tables:
        return pd.DataFrame(columns=["step", "shard", "line", *_INTERNAL])
    frame: pd.DataFrame = pa.concat_tables(tables, promote_options="default").to_pandas()
    return frame


def merged(
    built: Sequence[Part],
    rows: pd.DataFrame,
    shard_names: list[str],
    batches: Mapping[str, bool],
    flags: Sequence[str] | None = None,
    *,
    some: bool = False,
) -> pd.DataFrame:
    """`rows`, the scalars of all parts, ordered by (step, shard in natural order, line); the index is the order of reading.

    Rows whose line is not known stand by their place in the shard's bytes, as the others do. `batches` and `flags` as of
    `discarded.mark_discarded`: what a trainer wrote twice has one row. `some` as of `in_order`.
    """
    texts = PartsByKey(built).texts
    once = mark_discarded(rows, batches, lambda keys: texts("response", keys).to_pylist(), flags)
    frame = in_order(once, shard_names, some=some)
    for name in (name for name in IDS if name in frame.columns):
        frame[name] = pd.Categorical(frame[name], categories=natural_order(list(frame[name].dropna().unique())))
    return frame


def in_reading_order(rows: pd.DataFrame, shard_names: Sequence[str]) -> pd.DataFrame:
    """Scalars in the order of reading, whatever order they are in: of their shards, and within these of their places."""
    shards = rows["shard"].map({name: at for at, name in enumerate(shard_names)}).to_numpy(np.float64)
    return rows.iloc[np.lexsort([*(rows[name].to_numpy() for name in ("nth", "line", "offset")), shards])]


def in_order(whole: pd.DataFrame, shard_names: list[str], *, some: bool = False) -> pd.DataFrame:
    """Scalars in the order of reading, indexed by their keys, as rows of a run's frame, with their groups.

    Columns without any value are left out. Ids are as they were read. `some` says that these are whole steps of a run that has others.
    """
    steps, lines, prompts = (whole[name].to_numpy(np.int64) for name in ("step", "line", "prompt_key"))
    shards = pd.Categorical(whole["shard"], categories=sorted(shard_names, key=natural_key))
    numbers = group_numbers(steps, whole.get("group_id"), prompts, NO_PROMPT, whole.get("split"), of_one=some)
    frame = whole.assign(shard=shards, group=numbers)
    filled = frame.columns[frame.notna().any().to_numpy()]
    order = np.lexsort([lines, whole["offset"].to_numpy(), shards.codes, steps])
    frame = frame[columns_in_order(name for name in filled if name not in _INTERNAL)].take(order)
    others = {name: "int64" for name in ("step", "line") if frame[name].dtype != "int64"}  # where there are no rows
    return (frame.astype(others) if others else frame).rename_axis(index="rollout")


def natural_order(values: Sequence[str]) -> list[str]:
    """Ids in natural order; so many that sorting would hold up a load stay as they are."""
    return sorted(values, key=natural_key) if len(values) <= SORTED_IDS else list(values)


def columns_in_order(names: Iterable[str]) -> list[str]:
    """Those of a frame, the declared ones first."""
    there = dict.fromkeys(names)
    first = dict.fromkeys(["step", "shard", "line", *(name for name in (*IDS, *NUMBERS) if name in there)])
    return [*first, *(name for name in there if name not in first)]
