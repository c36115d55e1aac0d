"""The phrases of a whole run as they are kept beside it: to look for them takes seconds where texts are long. Knows no screen."""

import json
from typing import Final

import numpy as np
import pyarrow as pa

from board.analysis import phrases
from board.analysis.log_odds import Z_LIMIT
from board.analysis.phrases import LEAST, MOST_STRETCHES, Phrases, Told
from board.runs import kept_of_run
from board.runs.kept_of_run import grid_of, lists_of
from board.runs.run import Run

NAME: Final = "run-phrases"
_ABOUT: Final = b"phrases"
_KEYS: Final = b"keys"
_NUMBERS: Final = ("of", "cut", "tested", "by_chance", "chance_z", "within", "truth")


def of_run(run: Run, least: int = LEAST, told: Told = lambda _: None) -> Phrases:
    """`phrases.find` in the run: out of the cache where that was asked of these very rollouts before, else now, and kept if they are all.

    What is kept is of `least` = LEAST.
    """
    if least != LEAST:
        return phrases.find(run, least, Z_LIMIT, told)
    choices = f"{LEAST} {Z_LIMIT} {MOST_STRETCHES}"
    found = kept_of_run.read(run, NAME, choices)
    if found is not None:
        return _read(found)
    made = phrases.find(run, LEAST, Z_LIMIT, told)
    kept_of_run.keep(run, NAME, _table(made), choices)
    return made


def _table(of: Phrases) -> pa.Table:
    """A row for each phrase: the columns of the list, then its course and the rollouts that hold it as lists of one length."""
    about = {name: getattr(of, name) for name in _NUMBERS} | {"firsts": of.firsts.tolist(), "lasts": of.lasts.tolist()}
    table = pa.Table.from_pandas(of.listed, preserve_index=False).replace_schema_metadata(
        {_ABOUT: json.dumps(about), _KEYS: of.keys.astype(np.int64).tobytes()}
    )
    return table.append_column("shares", lists_of(of.shares)).append_column("held", lists_of(of.held))


def _read(table: pa.Table) -> Phrases:
    about = json.loads(table.schema.metadata[_ABOUT])
    listed = table.drop_columns(["shares", "held"]).replace_schema_metadata(None).to_pandas()
    return Phrases(
        listed=listed.astype({"phrase": object}),
        shares=grid_of(table, "shares"),
        firsts=np.array(about["firsts"], np.int64),
        lasts=np.array(about["lasts"], np.int64),
        keys=np.frombuffer(table.schema.metadata[_KEYS], np.int64),
        held=grid_of(table, "held"),
        **{name: about[name] for name in _NUMBERS},
    )
