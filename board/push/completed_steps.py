"""Which steps of a run are complete, while training may still write: those that no growing shard can add a row to.

Knows shards by what is said of them; knows no tracker and no metric.
"""

import time

import numpy as np
from numpy.typing import NDArray

from board.runs import recorder_account
from board.runs.run import Run
from board.text.path_names import path_of


def settled(run: Run, quiet: float, now: float | None = None) -> NDArray[np.int64]:
    """The steps, rising, that are taken to be complete at a time (`time.time()` unless given).

    A shard may still grow while it was written to within the last `quiet` seconds, unless its recorder says that it has ended. A step is
    complete once every shard that may grow has come to a later one.
    """
    at = time.time() if now is None else now
    growing = {
        name
        for name, _, modified in run.fingerprint
        if abs(at - modified / 1e9) < quiet and not recorder_account.has_ended(run.location / path_of(name))
    }
    last = run.frame.groupby("shard", observed=True)["step"].max()
    ends = [int(step) for name, step in last.items() if name in growing]
    return run.steps[run.steps < min(ends)] if ends else run.steps
