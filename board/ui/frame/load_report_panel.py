"""The load report on the screen: files, notes on their numbers, every problem."""

from pathlib import Path
from typing import Final

import streamlit as st

from board.formats.mapping import FILE as MAPPING_FILE
from board.runs import library
from board.runs.load_report import MOST_PROBLEMS, LoadReport
from board.runs.loading.nothing_read import shards_of, why_nothing
from board.runs.parsing.format_detection import first_rows
from board.runs.run import Run
from board.settings import run_choices
from board.text.counting import plural
from board.text.format_number import size
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.shared.controls import pad_choice
from board.ui.shared.messages import notice
from board.ui.state import caches, place

MOST_EMPTY: Final = 20
"""So many shards without rows are named."""

MOST_PREVIEWED: Final = 3
"""So many rollouts are shown as a suggested mapping reads them."""
LONGEST_PREVIEW: Final = 300
"""Characters of a text there."""

_LIST_WIDTH: Final = 720
_LIST_HEIGHT: Final = 400
"""Of the list of problems, in pixels."""


def draw(run: Run) -> None:
    """What loading found, as a count; the details, and what padding is, when opened."""
    report = run.report
    problems = report.counts.total()
    rows = plural(report.rows, "row") + (" so far" if run.reads_on else "")
    label = f"{rows} · {plural(problems, 'problem') if problems else 'nothing refused'}"
    for count, noun in ((int(bool(report.lost)), "warning"), (len(report.noted), "note")):  # as `check` counts them
        if count:
            label = f"{label} · {plural(count, noun)}"
    with st.popover(label, key="report", on_change=place.moved) as popover:
        if popover.open:
            _details(run)
            pad_choice(run)


def _details(run: Run) -> None:
    report = run.report
    rate = size(report.bytes / report.seconds) if report.seconds else "–"
    st.text(
        f"{plural(report.rows, 'row')} from {plural(report.shards, 'shard')}, {size(report.bytes)} in {report.seconds:.1f} s ({rate}/s)"
    )
    for line in (*_lines(report), *_empty(run)):
        st.text(line)
    for family, folder in report.aside.items():
        dump = library.dump_name(str(place.part("run")), family, folder)
        st.page_link("board/ui/pages/rewards/rewards.py", label=f"Open what {family} wrote", query_params={"run": dump})
    _problems(report, whole=run.reading is None)


def _lines(report: LoadReport) -> list[str]:
    """All that is no problem, a sentence each."""
    formats = ", ".join(f"{name} ({plural(count, 'shard')})" for name, count in report.formats.items())
    return [
        *([f"Format: {formats}."] if formats else []),
        *(f"Note: {note}" for note in report.notes),
        *report.recording,
        *report.damage,
        *(f"Left out: {name} {reason}." for name, reason in report.skipped.items()),
        *(f"{shard}: the last line is still being written; it is read at the next load." for shard in report.unfinished),
        *([f"Not all of it could be cached, so the next load reads it again: {report.cache_note}"] if report.cache_note else []),
    ]


def _problems(report: LoadReport, *, whole: bool) -> None:
    if not report.problems:
        st.text(f"{'Every line was read' if whole else 'A part of the lines was read'}, and nothing about it is odd.")
        return
    st.text(f"Not loaded, line or shard: {report.refused:,}. Loaded, but flagged: {report.flagged:,}.")
    with st.container(width=_LIST_WIDTH):
        table.show(report.to_frame(), {"reason": TableColumn(width=360)}, name="problems", key="problems", height=_LIST_HEIGHT)
    if report.left_out:
        st.text(f"{report.left_out:,} more are counted but not listed: the list keeps the first {MOST_PROBLEMS:,} of each kind.")


def _empty(run: Run) -> list[str]:
    """The shards without rows, a line each, with the reason."""
    empty = [f"{shard}: 0 rows, {reason}." for shard, reason in run.without_rows().items()]
    more = len(empty) - MOST_EMPTY
    return [*empty[:MOST_EMPTY], *([f"{more:,} more shards have 0 rows."] if more > 0 else [])]


def nothing_to_show(run: Run, root: Path) -> None:
    """Why the page is empty, in place of the page; if the format is unknown, with a mapping that may read it."""
    report = run.report
    if not report.problems:
        logs = why_nothing(run.location, report)
        notice(str(logs) if logs else "0 rows: nothing was written yet.")
        st.text("\n".join(_empty(run)))
        return
    notice(f"No rows could be read: {plural(report.refused, 'line')} refused. The first reasons:", "warning")
    for problem in report.problems[:5]:
        st.text(str(problem))
    if report.suggested_mapping:
        _suggested(run, root)


def _suggested(run: Run, root: Path) -> None:
    """The guess, three rollouts as it reads them, and the button that takes it."""
    mapping = run.report.suggested_mapping
    st.text(f"The format is unknown. It can be read by this mapping, or by your own in {MAPPING_FILE} next to the rollouts:")
    st.code(mapping, language="toml")
    first = next((one for one in shards_of(run.location, root)[0] if one.name == run.report.problems[0].shard), None)
    for row in first_rows(first, mapping, MOST_PREVIEWED) if first else ():
        said = {**row.texts, **{name: f"{number:g}" for name, number in row.numbers.items()}}
        lines = [f"{name}: {said[name][:LONGEST_PREVIEW]}" for name in ("prompt", "response", "reward") if said.get(name)]
        with st.container(border=True):
            st.text("\n".join(lines))
    if st.button(
        "Read the run by this mapping",
        key="take_mapping",
        type="primary",
        on_click=place.moved,
        help="Saved in your settings; the run is not touched.",
    ):
        run_choices.save_mapping(run.location, mapping)
        caches.library().refresh(run, root)
        st.rerun()
