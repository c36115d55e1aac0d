"""What shows a finding: its rollouts, its tokens in context, and the one that is open.

Texts of the run are shown as text, letter for letter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.texts.text_health.stretches import TextStretch
from board.findings.checks.contract import EvidencePlace
from board.findings.contract import Finding, TokenPlace
from board.runs.run import Run
from board.schema import heading
from board.text.counting import plural
from board.text.display import on_one_line, preview
from board.text.format_number import fmt
from board.ui.components import concordance, table
from board.ui.components.concordance import OccurrenceRow
from board.ui.components.table import TableColumn
from board.ui.shared import rollout_detail
from board.ui.shared.messages import in_line
from board.ui.state import caches, place
from board.ui.state.link_texts import mark_text
from board.ui.state.place import View

ROLLOUTS: Final = "finding_rollouts"
TOKENS: Final = "finding_tokens"

MOST_HEIGHT: Final = 260
"""In pixels; longer tables scroll."""
QUOTED: Final = 200
"""Characters of a stretch that are shown in the table."""
_STRETCH: Final = "shown by"
_WIDTHS: Final = {"response": 320, _STRETCH: 240}

NUMBERS: Final = ("reward", "valid_reward", "response_length")
FEW_TOKENS: Final = 8
"""More of them scroll, so that the rollout that is open stands near."""

CONTEXT: Final = 16
"""Tokens shown to either side of one."""


@dataclass(frozen=True)
class ShownEvidence:
    """Of the places that a finding names those that the page's run has."""

    rollouts: pd.DataFrame
    """Index: the rollouts' keys; `step`, `rollout` (as links call it), NUMBERS, and what of a text shows it, else how the response begins."""
    marked: Mapping[int, dict[str, str | int]]
    """By key the parts of the place that mark what shows it: a stretch of a text, and the token at which it begins."""
    tokens: tuple[tuple[int, TokenPlace], ...]
    """With the keys of their rollouts."""
    others: tuple[EvidencePlace, ...]
    """Lines and shards that are no rollout."""
    elsewhere: int
    """Rollouts that are not among those that the filter and the split leave."""


def of(finding: Finding, run: Run) -> ShownEvidence:
    """The evidence as far as it is in the run, looked up once for all readers."""
    return caches.cached("evidence", lambda: _found(finding, run), run, finding.id, hash(finding))


def draw(found: ShownEvidence, view: View) -> None:
    """The lists; a click on a row opens its rollout, which is drawn by `opened`."""
    if len(found.rollouts):
        st.text(f"{plural(len(found.rollouts), 'rollout')} that show it, the clearest first")
        _table(found)
    if found.tokens and not found.marked:
        st.text(f"{plural(len(found.tokens), 'token')} that show it, the clearest first")
        with st.container(height=MOST_HEIGHT if len(found.tokens) > FEW_TOKENS else "content", border=False):
            _tokens(found, view.run)
    if found.others:
        st.text("Where: " + ", ".join(one.source for one in found.others))
    if found.elsewhere:
        with in_line():
            st.text(
                f"{plural(found.elsewhere, 'more rollout')} not among those that filter and split leave.",
                width="content",
            )
            if place.part("filter"):
                st.button("Show all rollouts", key="finding_all", on_click=place.go, kwargs={"filter": None})


def opened(found: ShownEvidence, view: View) -> None:
    """The rollout of the evidence that the link names, with the ways to its texts and tokens."""
    keys = list(dict.fromkeys([*found.rollouts.index.tolist(), *(key for key, _ in found.tokens)]))
    key = place.linked_rollout(view.run)
    if key is None or key not in keys:
        if keys:
            st.text("Click a row to open its rollout here.")
        return
    if key in found.marked and place.part("mark") is None:
        place.fill_in(**found.marked[key])
    at = keys.index(key)
    rollout_detail.draw(view, key, (keys[at - 1] if at else None, keys[at + 1] if at + 1 < len(keys) else None))


def _found(finding: Finding, run: Run) -> ShownEvidence:
    sources = dict.fromkeys([one.source for one in finding.rollouts] + [one.rollout.source for one in finding.tokens])
    keys = {source: run.key_of(source) for source in sources}
    named = [(one, keys[one.source]) for one in finding.rollouts]
    there = [key for _, key in named if key is not None]
    stretches = {key: one.stretch for one, key in named if key is not None and one.stretch is not None}
    missing = [one for one, key in named if key is None]
    tokens = [(key, one) for one in finding.tokens if (key := keys[one.rollout.source]) is not None]
    of_tokens = {key: one.position for key, one in reversed(tokens)}
    return ShownEvidence(
        _rows(list(dict.fromkeys(there)), run, stretches),
        {
            key: {"mark": mark_text(*stretch), **({"token": of_tokens[key]} if key in of_tokens else {})}
            for key, stretch in stretches.items()
        },
        tuple(tokens),
        tuple(one for one in missing if one.step is None),
        sum(one.step is not None for one in missing)
        + len({one.rollout.source for one in finding.tokens if keys[one.rollout.source] is None}),
    )


def _rows(keys: Sequence[int], run: Run, stretches: Mapping[int, TextStretch]) -> pd.DataFrame:
    rows = run.frame.loc[list(keys)]
    array = np.array(keys, np.int64)
    shown = pd.DataFrame({"step": rows["step"], "rollout": run.sources(array) if len(keys) else []}, index=rows.index)
    for name in NUMBERS:
        if name in rows.columns and pd.api.types.is_numeric_dtype(rows[name].dtype):
            shown[name] = rows[name].to_numpy(np.float64, na_value=np.nan)
    if stretches:
        shown.insert(2, _STRETCH, [_quoted(key, stretches[key], run) if key in stretches else "" for key in keys])
    elif "response" in run.text_columns and len(keys):
        shown["response"] = preview(run.texts("response", array)).to_pandas().to_numpy()
    return shown


def _quoted(key: int, stretch: TextStretch, run: Run) -> str:
    text = str(run.texts(stretch.text, np.array([key]))[0])[stretch.start : stretch.stop]
    return on_one_line(text if len(text) <= QUOTED else f"{text[:QUOTED]}…")


def _table(found: ShownEvidence) -> None:
    rows = found.rollouts
    places: list[dict[str, str | int]] = [
        {"step": int(step), "rollout": str(source), **found.marked.get(key, {})}
        for key, step, source in zip(rows.index.tolist(), rows["step"], rows["rollout"], strict=True)
    ]
    linked, key = place.part("rollout"), place.key_of(ROLLOUTS, places)
    table.show(
        rows,
        {str(name): _column(str(name)) for name in rows.columns},
        name="rollouts of the finding",
        key=key,
        on_click=place.row_clicked(key, places),
        chosen=next((at for at, one in enumerate(places) if one["rollout"] == linked), None),
        height=MOST_HEIGHT,
    )


def _column(name: str) -> TableColumn:
    if name in NUMBERS:
        return TableColumn(label=heading(name))
    return TableColumn(width=_WIDTHS.get(name))


def _tokens(found: ShownEvidence, run: Run) -> None:
    rows = [_in_context(key, one, run) for key, one in found.tokens]
    linked, token = place.part("rollout"), place.part("token")
    key = place.key_of(TOKENS, [{"rollout": one.rollout.source, "token": one.position} for _, one in found.tokens])
    marked = (at for at, (_, one) in enumerate(found.tokens) if one.rollout.source == linked and one.position == token)
    concordance.show(
        rows,
        ["step", "token", "rollout"],
        opened=next(marked, None),
        key=key,
        on_open=lambda: _go_to(key, [one for _, one in found.tokens]),
    )


def _in_context(key: int, place_: TokenPlace, run: Run) -> OccurrenceRow:
    """The token with those around it; where the row has no texts of tokens its position stands alone."""
    texts = run.tokens_of(key)
    at = place_.position
    facts = (f"{place_.rollout.step:,}" if place_.rollout.step is not None else fmt(np.nan), f"{at:,}", place_.rollout.source)
    if texts is None or not 0 <= at < len(texts):
        return OccurrenceRow("", "", "", facts, "response")
    around = [str(one or "") for one in texts.slice(max(0, at - CONTEXT), CONTEXT + min(at, CONTEXT)).to_pylist()]
    before = min(at, CONTEXT)
    left, token, right = ("".join(part) for part in (around[:before], around[before : before + 1], around[before + 1 :]))
    return OccurrenceRow(on_one_line(left), on_one_line(token), on_one_line(right), facts, "response")


def _go_to(key: str, shown: Sequence[TokenPlace]) -> None:
    """To be called when a token is clicked: its rollout becomes the reader's, with that token chosen there."""
    at = place.reported(key, "opened")
    if isinstance(at, int) and 0 <= at < len(shown):
        place.go(step=shown[at].rollout.step, rollout=shown[at].rollout.source)
        place.fill_in(token=shown[at].position)
