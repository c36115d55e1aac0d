"""What is made once for all readers: open runs, and what was computed of them.

The only module that touches st.cache_*. Keyed by the load of a run and small choices, never by data.
"""

import os
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from board.analysis.rollouts.groups import Grouped, with_any
from board.analysis.rollouts.groups import find as find_groups
from board.analysis.steps import logged_curves
from board.analysis.steps.logged_curves import CurveReader, Scalars, find
from board.analysis.steps.step_stats import stats_of
from board.analysis.texts import measured_columns
from board.analysis.tokens.alternatives import Likeliest, likeliest
from board.errors import BoardError, RunNotFound
from board.figures.chart import Chart
from board.figures.theme import ink
from board.findings.background_scan import Watcher
from board.runs.cache.rollout import Rollout
from board.runs.cache.shared_values import LatestValue, OfLatestLoads
from board.runs.library import Library, RunFolder
from board.runs.run import Run
from board.runs.summaries.run_summaries import RunSummaries
from board.serving.home_gate import listing
from board.sources import locations
from board.sources.settings_files import SettingsFile, find_settings
from board.text.path_names import path_of, shown
from board.trackers.nearby import LogSource
from board.ui.state.place import View

_T = TypeVar("_T")


@dataclass(frozen=True)
class DrawnChart:
    """A chart, and the same as it is sent."""

    chart: Chart
    figure: go.Figure


def root() -> Path:
    """The folder whose runs may be read: RL_BOARD_ROOT, else the script's argument, else the bundled samples. Raises RunNotFound."""
    given = os.environ.get("RL_BOARD_ROOT") or next(filter(_is_place, sys.argv[1:2]), None)
    if given and locations.is_address(given):
        return _mounted(given)
    folder = Path(given) if given else Path(__file__).parents[3] / "rollout_samples"
    if not folder.is_dir():
        raise RunNotFound(f"The root {str(folder)!r} is not a folder. Start the board with the folder that holds your runs.")
    return folder.resolve()


def _is_place(argument: str) -> bool:
    return locations.is_address(argument) or Path(argument).is_dir()


@st.cache_resource(show_spinner="Listing")
def _mounted(address: str) -> Path:
    """The folder that stands for an address, listed once: it is listed again as runs are looked for."""
    return locations.folder_of(address)


@st.cache_resource(show_spinner=False)
def library() -> Library:
    """The runs this server has open, shared by all browser sessions; read with RL_BOARD_TOKENIZER and RL_BOARD_MAPPING, if given."""
    tokenizer, mapping = (os.environ.get(f"RL_BOARD_{name}") for name in ("TOKENIZER", "MAPPING"))
    return Library(Path(tokenizer) if tokenizer else None, Path(mapping) if mapping else None)


@st.cache_resource(show_spinner=False)
def findings_watcher() -> Watcher:
    """The findings of the runs this server has open; runs are scanned in the background unless RL_BOARD_FINDINGS is "off"."""
    return Watcher(by_itself=os.environ.get("RL_BOARD_FINDINGS", "").lower() not in ("off", "0", "no", "false"))


@st.cache_resource(show_spinner=False)
def run_summaries() -> RunSummaries:
    """Short summaries of the runs under the root, made in the background; read as `library` reads them."""
    return RunSummaries(*(os.environ.get(f"RL_BOARD_{name}", "") for name in ("TOKENIZER", "MAPPING")))


def run_folders(root: Path, requested: str | None = None) -> list[RunFolder]:
    """The runs under a root as they were a moment ago; listed again if `requested` is none of them. Raises RunNotFound and OSError."""
    return listing().folders(root, requested)


def cached(name: str, make: Callable[[], _T], run: Run, *choices: Hashable, other: Run | None = None, keep: int = 32) -> _T:
    """What `make` makes of a run, and of a second run `other`, once for all readers.

    Cached for the latest load and the last `keep` choices of that name. Keyed by load and small choices, never by data; not to be changed.
    """
    made: _T = _cache(name, keep).get(_key(run, other, choices), _loads(run, other), make)
    return made


def cached_before(name: str, run: Run, *choices: Hashable, keep: int = 32) -> Any:
    """The result of `cached` with these arguments if it was made already, else None."""
    return _cache(name, keep).there(_key(run, None, choices), run.load_id)


@st.cache_resource(show_spinner=False)
def _cache(name: str, _keep: int) -> OfLatestLoads[Any]:
    """By keys of our own rather than as a cached function of Streamlit's, which takes as long to find a chart as to send it."""
    return OfLatestLoads(_keep)


def _key(run: Run, other: Run | None, choices: tuple[Hashable, ...]) -> Hashable:
    return (*((one.address, one.selection) for one in (run, other) if one), choices)


def _loads(run: Run, other: Run | None) -> str:
    return f"{run.load_id} {other.load_id}" if other else run.load_id


def step_stats(run: Run, column: str) -> pd.DataFrame:
    """Per-step aggregates of a column, computed once per load."""
    return cached("per_step", lambda: stats_of(run, column), run, column, keep=256)


def at_step(run: Run, step: int) -> Run:
    """A run that is larger than memory with all rollouts of a step, and of the one before; any other as it is. The last few are cached."""
    return run if run.slice is None else measured(cached("at_step", lambda: run.at_step(step), run, step, keep=6))


def with_step(view: View) -> View:
    """The view with all rollouts of its step, where its run is a sample."""
    if view.run.slice is None and view.whole_unfiltered.slice is None:
        return view
    return replace(
        view,
        run=at_step(view.run, view.step),
        whole=at_step(view.whole, view.step),
        unfiltered=at_step(view.unfiltered, view.step),
        whole_unfiltered=at_step(view.whole_unfiltered, view.step),
    )


def holding(run: Run, source: str) -> Run:
    """A run that is larger than memory with the step of the rollout that a link names; any other as it is."""
    if run.slice is None or run.key_of(source) is not None:
        return run
    step = cached("step_of_link", lambda: run.step_of(source), run, source)
    return run if step is None else at_step(run, step)


def measured(run: Run) -> Run:
    """The run with its text metrics as further columns, once they are computed for all of it; until then the run as it is."""
    if run.frame.empty:
        return run
    if cached_before("measured", run) is None and (run.reading or not measured_columns.are_cached(run)):
        return run
    return cached("measured", lambda: measured_columns.with_measures(run), run)


def groups(run: Run, unfiltered: Run) -> Grouped:
    """The groups that have a rollout of a run, whole as they are without the filter, found once. Raises FieldMissing without any."""
    every = cached("groups found", lambda: find_groups(unfiltered.frame), unfiltered, keep=4)
    if run is unfiltered:
        return every
    return cached("groups found", lambda: with_any(every, run.frame.index.to_numpy()), run, keep=4)


def chart(name: str, draw: Callable[[], Chart], run: Run, *small: str | float | tuple[str, ...] | None) -> DrawnChart:
    """A chart of a run in the page's colours, drawn once for all readers. Keyed by the load, the page's theme and small choices."""
    theme: Literal["light", "dark"] = "dark" if st.context.theme.type == "dark" else "light"

    def drawn() -> DrawnChart:
        made = draw()
        return DrawnChart(made, go.Figure(ink(made.spec, theme)))

    return cached(f"chart {name}", drawn, run, *small, theme)


def scalars(run: Run) -> Scalars:
    """What trackers logged near the run."""
    return _scalars_of(run.location)


def _scalars_of(location: Path) -> Scalars:
    """What trackers logged near a run's folder, or where RL_BOARD_SCALARS says; files that did not change are not read again."""
    try:
        return _scalar_reader().read(
            _scalar_sources(shown(location), shown(os.environ.get("RL_BOARD_SCALARS", "")), shown(root()))
        )
    except BoardError as error:
        return Scalars(problems=(str(error),))


@st.cache_data(ttl=30, show_spinner=False, max_entries=16)
def _scalar_sources(location: str, given: str, within: str) -> list[LogSource]:
    """Looked up at most twice a minute: a run's folder may hold many files. Those that are found are looked at each time.

    Paths are given as they are shown: Streamlit caches nothing under a text that UTF-8 cannot encode.
    """
    return find(Path(path_of(location)), Path(path_of(given)) if given else None, Path(path_of(within)))


def settings_of(location: Path) -> tuple[SettingsFile, ...]:
    """The settings files next to a run, looked up at most twice a minute; then the settings that it logged to trackers."""
    return _settings_of(shown(location), shown(root())) + logged_curves.settings(_scalars_of(location))


@st.cache_resource(ttl=30, show_spinner=False, max_entries=64)
def _settings_of(location: str, within: str) -> tuple[SettingsFile, ...]:
    return find_settings(Path(path_of(location)), Path(path_of(within)))


@st.cache_resource(show_spinner=False)
def _scalar_reader() -> CurveReader:
    return CurveReader()


@st.cache_resource(show_spinner=False, max_entries=8)
def latest(name: str, location: str) -> LatestValue[Any]:
    """The latest value of that name made of the run at a location, shared by all readers."""
    return LatestValue()


def latest_answer(location: str, query: str, *, anew: bool) -> LatestValue[Any]:
    """The latest answer to a query over the run at a location, shared by all readers; `anew` forgets the one there is."""
    if anew:
        _latest_answer.clear(location, query)
    return _latest_answer(location, query)


@st.cache_resource(show_spinner=False, max_entries=16)
def _latest_answer(location: str, query: str) -> LatestValue[Any]:
    return LatestValue()


def stage(run: Run) -> str:
    """The part of a cache key that separates results of a run that is being read from those of the whole run."""
    return "part" if run.reading else "whole"


def likeliest_alternatives(run: Run, rollout: Rollout, rows: NDArray[np.int64]) -> Likeliest | None:
    """Alternatives of the tokens at `rows` (rising positions), cached while they are on a screen; None where the row has none."""
    if rollout.alternatives is None or rollout.tokens is None or not len(rows):
        return None
    return _likeliest(run.load_id, rollout.key, (int(rows[0]), int(rows[-1]), len(rows)), rollout, rows)


@st.cache_resource(show_spinner=False, max_entries=8)
def _likeliest(load_id: str, key: int, place: tuple[int, int, int], _rollout: Rollout, _rows: NDArray[np.int64]) -> Likeliest:
    """Rows with the same ends and as many of them are the same: only padding is ever left out."""
    assert _rollout.alternatives is not None
    assert _rollout.tokens is not None
    return likeliest(_rollout.alternatives.lists, _rollout.tokens, _rows)
