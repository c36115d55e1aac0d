"""Faults of groups: advantages that no rule gives, equal answers rewarded differently."""

from typing import Final

import pandas as pd
import streamlit as st

from board.analysis.rollouts import verifier_noise
from board.analysis.rollouts.advantage_audit import Audit, audit
from board.analysis.rollouts.groups import Grouped
from board.analysis.rollouts.verifier_noise import Noise
from board.errors import FieldMissing
from board.figures.step_panels import noise_panel
from board.runs.run import Run
from board.schema import heading
from board.text.counting import plural
from board.text.display import preview
from board.text.format_number import fmt
from board.ui.components import table
from board.ui.components.curves import Card, build
from board.ui.components.table import TableColumn
from board.ui.shared.controls import step_curves
from board.ui.shared.messages import absent
from board.ui.shared.progress_line import progress
from board.ui.state import caches, linked, place

NOISE_CURVES: Final = "noise_curves"
PLOT_HEIGHT: Final = 170
TABLE_HEIGHT: Final = 420

_RULE_HELP: Final = {
    "formula": "with R the reward, μ and σ mean and standard deviation of its group, n its size",
    "rows": "rollouts that have a reward, a group and a logged advantage, and for which the rule is defined",
    "fitting": "share of those within 1 % of what the rule says, or 0.002",
    "largest_error": "largest distance of a logged advantage from the rule's",
    "r_squared": "1 − Σ(logged − rule)² / Σ(logged − mean)²",
}


def advantages(run: Run, grouped: Grouped, *, filtered: bool) -> None:
    """Which rule the logged advantages follow, and where they do not; `grouped` are all groups there are, even where the page is filtered."""
    try:
        with progress(f"Advantages of {plural(len(grouped.keys), 'rollout')} by every rule") as report:
            found = caches.cached("advantage_audit", lambda: audit(run.frame, grouped, report), run)
    except FieldMissing as error:
        st.text(f"Which rule made the advantages? {error}")
        return
    st.text(_verdict(found) + (" Of all rollouts: a rule may need those that the filter leaves out." if filtered else ""))
    rules = found.rules.assign(fitting=found.rules["fitting"] * 100)
    table.show(rules, _rule_columns(), name="rules of advantages", key="advantage_rules", height=TABLE_HEIGHT)
    names = found.rules["rule"].tolist()
    rule = st.selectbox("Rollouts that do not fit", **linked.choice("rule", names), width=260) or names[0]
    _misfits(run, found, rule)


def _verdict(found: Audit) -> str:
    """One sentence on the rule."""
    nearest = found.rules.iloc[0]
    of = f"The logged advantages ({heading(found.column)}) of {plural(int(nearest['rows']), 'rollout')}"
    if found.followed is not None:
        return f"{of} follow {found.followed}: {fmt(float(nearest['fitting']) * 100)} % fit it."
    return (
        f"{of} follow none of these rules; the nearest is {nearest['rule']}, which {fmt(float(nearest['fitting']) * 100)} % fit. "
        "A critic's advantages (PPO) follow none."
    )


def _rule_columns() -> dict[str, TableColumn]:
    called = {"largest_error": "largest error", "r_squared": "R²", "fitting": "fit, %", "rows": "rollouts"}
    return {name: TableColumn(called.get(name), text) for name, text in _RULE_HELP.items()}


def _misfits(run: Run, found: Audit, rule: str) -> None:
    """The rollouts that do not fit a rule; a click opens the group."""
    rows = found.misfits[found.misfits["rule"] == rule]
    if rows.empty:
        st.text("Every rollout fits this rule.")
        return
    shown = rows[["step", "group", "reward", "logged", "expected", "error"]].assign(rollout=run.sources(rows["key"].to_numpy()))
    key = f"misfits_{run.load_id}_{rule}"
    places = [{"step": int(step), "group": int(group)} for step, group in zip(rows["step"], rows["group"], strict=True)]
    st.text(f"{plural(len(rows), 'rollout')}, the largest errors first; a click opens the group.")
    table.show(shown, {}, name="rollouts that do not fit", key=key, on_click=place.row_clicked(key, places), height=TABLE_HEIGHT)


def noise(run: Run, of_filter: Run, grouped: Grouped, step: int) -> None:
    """How often equal responses and equal answers were rewarded differently, by step, and the list of where; `grouped` as the filter leaves."""
    if "response" not in run.text_columns or not grouped.groups["scored"].any():
        absent("Does the verifier contradict itself?", "response", "reward")
        return
    tolerance = st.number_input(
        "Rewards differ by more than",
        **linked.number("noise_tolerance", 0.0, 0.0),
        width=260,
        help="A reward with a part for length or format differs a little between equal answers on purpose.",
    )
    found = _scanned(run, of_filter, grouped, tolerance)
    every = None if of_filter is run else _scanned(run, run, caches.groups(run, run), tolerance)
    st.text(_noise_line(found))
    try:
        payload = build(
            [Card("noise", noise_panel(found, every))],
            span=(int(run.steps[0]), int(run.steps[-1])),
            height=PLOT_HEIGHT,
            columns=2,
        )
    except FieldMissing:
        st.text("No two responses of a group are equal, nor their final answers: nothing can contradict.")
        return
    step_curves(payload, NOISE_CURVES, run.steps)
    _contradictions(run, found.listed, step)


def _scanned(run: Run, of: Run, grouped: Grouped, tolerance: float) -> Noise:
    """The scan of the groups, done once for all readers, with progress while it takes long; cached for the run `of`."""
    with progress(f"Comparing {plural(len(grouped.keys), 'response')}") as report:
        found: Noise = caches.cached("noise", lambda: verifier_noise.scan(run, grouped, tolerance, report), of, tolerance)
    return found


def _noise_line(found: Noise) -> str:
    """What was found, in one line."""
    parts = []
    for what, name in (("response", "equal response"), ("answer", "equal final answer")):
        twins, contradicted = (int(found.by_step[f"{what}_{count}"].sum()) for count in ("twins", "contradicted"))
        share = f" ({fmt(100 * contradicted / twins)} %)" if twins else ""
        parts.append(f"{plural(twins, 'rollout')} with an {name} in their group, {contradicted:,}{share} rewarded otherwise")
    return (
        " · ".join(parts)
        + " · compared without regard to white space and case; an answer is \\boxed{…}, <answer>…</answer> or #### …"
    )


def _contradictions(run: Run, listed: pd.DataFrame, step: int) -> None:
    """The list of contradictions, those of the chosen step first; a click opens the group with the two against each other."""
    if listed.empty:
        st.text("None is contradicted.")
        return
    rows = pd.concat([listed[listed["step"] == step], listed[listed["step"] != step]])
    lows, highs = rows["low"].to_numpy(), rows["high"].to_numpy()
    places: list[dict[str, str | int]] = [
        {"step": int(at), "group": int(group), "first": first, "second": second}
        for at, group, first, second in zip(rows["step"], rows["group"], run.sources(lows), run.sources(highs), strict=True)
    ]
    shown = rows[["step", "group", "what", "equals", "least", "largest"]].reset_index(drop=True)
    shown["response"] = preview(run.texts("response", highs)).to_pandas()
    key = f"contradictions_{run.load_id}_{step}"
    columns = {"equals": TableColumn(help="rollouts of the group that are equal in this")}
    columns |= {name: TableColumn(f"{name} reward") for name in ("least", "largest")}
    table.show(shown, columns, name="contradictions", key=key, on_click=place.row_clicked(key, places), height=TABLE_HEIGHT)
