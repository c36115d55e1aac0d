"""Runs made into indexes for tests, and what an index must share with the run itself."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from board.cli.indexing import building, source_writer, target
from board.cli.indexing.building import IndexResult
from board.cli.indexing.engines import Engine
from board.runs.run import Run
from board.sources import index_file


class HereEngine:
    """Works on orders in this process, the last first. `fails` says of which sources nothing comes but the end of a worker."""

    def __init__(self, fails: Callable[[str], bool] = lambda _: False) -> None:
        self._fails = fails
        self.parsed: list[str] = []
        """The sources that were to be parsed, as often as they were given."""

    def answers(
        self, orders: Sequence[dict[str, Any]], tick: Callable[[int], None]
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """As an engine does."""
        for order in reversed(orders):
            name = order["range"]["shard"]["name"]
            self.parsed.append(name)
            if self._fails(name):
                yield order, {"failed": "a worker ended"}
            else:
                yield order, source_writer.answer(order, lambda _: None)


def indexed(
    run: Path | str, folder: Path | str, engine: Engine | None = None, *, verify: bool = False, **reading: Any
) -> IndexResult:
    """Make a run into an index, or bring one up to date."""
    with target.opened(run, folder, **reading) as goal:
        return building.build(goal, engine or HereEngine(), verify=verify)


def assert_same(index: Run, run: Run) -> None:
    """Row for row and token for token what the run shows: scalars, texts, arrays, moments, problems and what is said of the load."""
    columns = [*run.to_pandas().columns]
    found = index.to_pandas()
    assert {*found.columns} == {*columns}
    pd.testing.assert_frame_equal(found[columns].reset_index(drop=True), run.to_pandas().reset_index(drop=True))
    names = sorted(run.moment_names)
    pd.testing.assert_frame_equal(index.moments(names).reset_index(drop=True), run.moments(names).reset_index(drop=True))
    assert (index.prompt_keys == run.prompt_keys).all()
    assert sorted(map(str, index.report.problems)) == sorted(map(str, run.report.problems))
    for name in ("shards", "rows", "bytes", "formats", "notes", "recording", "skipped", "unfinished", "counts", "aside"):
        assert getattr(index.report, name) == getattr(run.report, name), name
    assert index.sources(index.frame.index.to_numpy()) == run.sources(run.frame.index.to_numpy())


def rows_of(folder: Path) -> set[str]:
    """Names of the files of rows of an index."""
    return {path.name for path in (folder / index_file.ROWS).glob("*.parquet")}
