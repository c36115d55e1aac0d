"""All tokens: how is a metric spread, where is it high, which tokens are extreme?"""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.tokens import position_profile, token_histogram, token_list
from board.analysis.tokens.color_ranges import ends_of
from board.analysis.tokens.token_histogram import Bars, TokenHistogram, bars, count_tokens
from board.analysis.tokens.token_list import Listed, TokenFilter
from board.metrics.formulas import COVARIANCE
from board.metrics.token_summaries import MOST
from board.runs.run import Run
from board.schema import BY_TITLE
from board.text.counting import of_steps, plural
from board.text.format_number import fmt
from board.ui.components import count_bars, heat_map, table
from board.ui.components.table import TableColumn
from board.ui.pages.all_tokens.controls import TokenChoices, part_choice, token_choices, token_filter_choices
from board.ui.shared import token_tour
from board.ui.shared.messages import in_line
from board.ui.shared.progress_line import progress
from board.ui.state import caches, place

PANEL_WIDTH = 440
"""Spread and picture stand side by side while each has so many pixels."""
BARS = "token_bars"
KL_COV = 0.002
"""The share of the tokens, those of the largest covariance, that KL-Cov penalises (arXiv 2505.22617, of the 7B model)."""
CLIP_COV = (1.0, 5.0)
"""Between which covariances Clip-Cov draws the tokens whose gradient it drops (the same)."""
PICTURE = "token_picture"

view = place.view()
run = view.run
here = caches.at_step(run, view.step)
"""The same with all rollouts of the step."""


def counted(of: Run, choices: TokenChoices) -> TokenHistogram:
    """All tokens of some rollouts by the chosen metric, counted once for all readers."""

    def make() -> TokenHistogram:
        with progress(f"Counting {choices.metric} of {plural(len(of.frame), 'rollout')}") as report:
            return count_tokens(of, choices.metric, choices.estimator, report)

    return caches.cached("token_histogram", make, of, choices.metric, choices.estimator, keep=8)


def forget_bar() -> None:
    """To be called when another metric or scope is chosen: its bars are others."""
    place.go(bar=None)


def pair(name: str, count: int) -> list[int] | None:
    """A part of the link that is so many whole numbers; None where it is not."""
    numbers = re.fullmatch("-".join([r"(m?\d{1,19})"] * count), str(place.part("bar" if name == "bar" else "cell") or ""))
    return [int(one.replace("m", "-")) for one in numbers.groups()] if numbers else None


def spread(of: TokenHistogram, choices: TokenChoices) -> tuple[int, int] | None:
    """Bars of how many tokens have which numbers; the stretch of fine bins that the chosen one stands for."""
    found, where = bars(of.in_bins), "all steps" if choices.all_steps else f"step {view.step}"
    st.subheader("How is it spread?", anchor=False)
    if not len(found.counts):
        st.text(f"No token of {where} has a finite {choices.metric}.")
        return None
    chosen = chosen_bar(found)
    unit = BY_TITLE[choices.metric].unit if choices.metric in BY_TITLE else ""
    count_bars.show(
        found.edges.tolist(),
        found.counts.tolist(),
        chosen=chosen,
        label=f"Tokens by {choices.metric}, counts on a logarithmic scale",
        unit=unit,
        key=BARS,
        on_click=bar_clicked(found, chosen),
    )
    infinite = f" · {plural(found.infinite, 'token')} of infinite {choices.metric} in no bar" if found.infinite else ""
    st.text(f"{choices.metric} of the tokens of {where}, counts on a logarithmic scale{infinite}")
    if choices.all_steps:
        tell_sample()
    if choices.metric == COVARIANCE:
        of_covariance(of)
    return None if chosen is None else (int(found.codes[chosen]), int(found.codes[chosen + 1]))


def of_covariance(of: TokenHistogram) -> None:
    """How few tokens hold the covariance, and which of them the rules that hold back the fall of entropy would touch."""
    top = token_histogram.largest(of.in_bins, KL_COV)
    if top is None:
        return
    drawn = token_histogram.between(of.in_bins, *CLIP_COV)
    st.text(
        f"The {100 * KL_COV:g} % with the largest covariance ({plural(top.tokens, 'token')}, from {fmt(top.least)} up) make up "
        f"{100 * top.share:.0f} % of the sum of the positive ones. KL-Cov holds such tokens back; Clip-Cov some of those from {CLIP_COV[0]:g} "
        f"to {CLIP_COV[1]:g}, {plural(drawn, 'token')} (arXiv 2505.22617)."
    )


def chosen_bar(found: Bars) -> int | None:
    """Which bar the link names by its middle fine bin; none where that is in no bar now."""
    code = pair("bar", 1)
    if code is None or not found.codes[0] <= code[0] < found.codes[-1]:
        return None
    return int(np.searchsorted(found.codes, code[0], side="right")) - 1


@place.callback
def bar_clicked(found: Bars, chosen: int | None) -> None:
    """A callback for the bars: look into the one that was clicked, or no longer."""
    at = place.reported(BARS, "clicked")
    if isinstance(at, int) and 0 <= at < len(found.counts):
        place.go(bar=None if at == chosen or not found.counts[at] else str(found.codes[at]))


def positions(choices: TokenChoices) -> Callable[[], None]:
    """The metric by position and step as a picture; what draws the rollouts that stand out at the chosen place, below it."""
    st.subheader("Where in the response is it high?", anchor=False)
    part = part_choice()
    of = counted(run, choices)
    tell_sample()
    means = position_profile.position_means(of, part)
    known = means[np.isfinite(means)].astype(np.float32)
    ends = ends_of(known, choices.metric)
    if ends is None:
        st.text(f"No token has a finite {choices.metric}.")
        return lambda: None
    column = BY_TITLE.get(choices.metric)
    diverging = column.scale == "diverging" if column else bool(known.min() < 0 < known.max())
    low, high = (float(known.min()), float(known.max())) if column and column.unit == "0 to 1" else ends
    steps = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in zip(of.first.tolist(), of.last.tolist(), strict=True)]
    cell = chosen_cell(of, part, means.shape[1])
    chosen = int(np.searchsorted(of.last, view.step))
    heat_map.show(
        means,
        columns=steps,
        rows=[position_profile.place_name(part, at) for at in range(means.shape[1])],
        scale="diverging" if diverging else "sequential",
        ends=(low, high),
        chosen=(chosen, None) if cell is None else cell,
        label=f"Mean {choices.metric} by place and step",
        unit=column.unit if column else "",
        key=PICTURE,
        on_click=cell_clicked(of, part),
    )
    return lambda: None if cell is None else standing_out(of, choices, part, cell)


def tell_sample() -> None:
    """The line that says so where a sample stands for the rollouts of all steps."""
    if run.sample is not None:
        st.text(f"{run.sample.share}: their tokens alone are counted.")


def chosen_cell(of: TokenHistogram, part: position_profile.Part, places: int) -> tuple[int, int] | None:
    """Column and row of the picture that the link names; none where the link is of another part, step or place."""
    cell = pair("cell", 3)
    if cell is None or cell[0] != position_profile.PARTS.index(part) or not 0 <= cell[2] < places:
        return None
    at = int(np.searchsorted(of.last, cell[1]))
    return (at, cell[2]) if at < len(of.first) and of.first[at] <= cell[1] else None


@place.callback
def cell_clicked(of: TokenHistogram, part: position_profile.Part) -> None:
    """A callback for the picture: look into the place that was clicked, and go to its step."""
    clicked = re.fullmatch(r"(\d{1,6}),(\d{1,6})", str(place.reported(PICTURE, "clicked")))
    if clicked and int(clicked[1]) < len(of.first):
        step = int(of.first[int(clicked[1])])
        place.go(step=step, cell=f"{position_profile.PARTS.index(part)}-{str(step).replace('-', 'm')}-{clicked[2]}")


def standing_out(of: TokenHistogram, choices: TokenChoices, part: position_profile.Part, cell: tuple[int, int]) -> None:
    """The rollouts of the chosen step whose mean at the chosen place is most extreme; a click goes there."""
    first, last = int(of.first[cell[0]]), int(of.last[cell[0]])
    among = here if first == last == view.step else run
    found = caches.cached(
        "rollouts_at",
        lambda: position_profile.rollouts_at(among.of_steps(first, last), choices.metric, choices.estimator, part, cell[1]),
        among,
        choices.metric,
        choices.estimator,
        part,
        first,
        cell[1],
    )
    place_name, sampled = position_profile.place_name(part, cell[1]), ", of the sample" if among.sample and among is run else ""
    st.text(f"Rollouts of {of_steps(first, last)} by their mean {choices.metric} at {place_name}, most extreme first{sampled}")
    listed = pd.DataFrame({f"{choices.metric}, mean": found["mean"], "tokens there": found["tokens"]})
    if "reward" in run.frame.columns:
        listed["reward"] = here.frame["reward"].loc[pd.Index(found["key"])].to_numpy()
    token_table(listed, places_of(found, choices), key=f"rollouts_at_{run.load_id}_{choices.metric}_{part}_{cell}", height=220)


def extreme_tokens(of: TokenHistogram, choices: TokenChoices, within: tuple[int, int] | None) -> None:
    """The most extreme tokens, of the chosen bar or of all, each in its text; a click goes there."""
    st.subheader("Which tokens are the most extreme?", anchor=False)
    query = token_filter_choices(named=run.has_tokens, signed="advantages" in run.token_metrics)
    tokens = of.tokens if within is None else bar_tokens(of, choices, within)
    found = token_list.matching_tokens(here, tokens, query)
    st.text(summary(of, len(tokens), found, query, choices, within))
    if within is not None and choices.all_steps and run.sample is not None:
        st.text("Of this bar those are looked at that are among the most extreme of their step, and those of the sample.")
    if found.tokens.empty:
        return
    shown = token_list.in_context(here, found.tokens) if run.has_tokens else pd.DataFrame(index=found.tokens.index)
    listed = pd.DataFrame({choices.metric: found.tokens["value"].astype(np.float64)}).join(shown)
    listed["position"] = found.tokens["position"] + 1
    listed["step"] = found.tokens["step"]
    if "advantages" in run.token_metrics and choices.metric != "advantage":
        keys, at = (found.tokens[name].to_numpy(np.int64) for name in ("key", "position"))
        listed["advantage"] = here.at_tokens("advantages", keys, at).astype(np.float64)
    places = places_of(found.tokens, choices)
    token_tour.offer(places)
    token_table(listed, places, key=f"extreme_{run.load_id}_{choices}_{within}_{hash(query)}_{view.step}", height=420)


def bar_tokens(of: TokenHistogram, choices: TokenChoices, within: tuple[int, int]) -> pd.DataFrame:
    """The most extreme tokens of the chosen bar, read once where the histogram does not hold them."""
    scope = run if choices.all_steps else here.of_steps(view.step, view.step)

    def read(_: Run) -> pd.DataFrame:
        with progress("Reading the tokens of this bar") as report:
            return token_histogram.tokens_of_bar(scope, of, choices.estimator, *within, report)

    return caches.cached("tokens_of_bar", lambda: read(scope), scope, choices.metric, choices.estimator, *within)


def summary(
    of: TokenHistogram, tokens: int, found: Listed, query: TokenFilter, choices: TokenChoices, within: tuple[int, int] | None
) -> str:
    """One line on which tokens are listed, of so many."""
    order = {"magnitude": "farthest from 0", "highest": "largest", "lowest": "smallest"}[of.order]
    each = "of each step" if choices.all_steps else f"of step {view.step}"
    if len(of.first) and (of.first != of.last).any():
        each = f"of each of {len(of.first):,} stretches of steps"
    where = each if within is None else "of the marked bar"
    all_there = found.matching == tokens < MOST and not choices.all_steps
    parts = [f"{plural(tokens, 'token')} {where}, the {order} first" if all_there else f"The {MOST} {order} {where}"]
    parts += query.options()
    if found.matching < tokens:
        parts.append(f"{found.matching:,} of {plural(tokens, 'token')} match")
    elif tokens < MOST and not all_there:
        parts.append(f"there are {tokens:,}" if tokens != 1 else "there is one")
    if len(found.tokens) < found.matching:
        parts.append(f"{len(found.tokens):,} of {found.matching:,} shown")
    if found.looked_at is not None:
        parts.append(f"segments looked for in the first {found.looked_at:,}")
    if len(found.tokens):
        parts.append("a click chooses one, Enter opens it, ] and [ go on")
    return " · ".join(parts)


def places_of(tokens: pd.DataFrame, choices: TokenChoices) -> list[dict[str, str | int]]:
    """Where the reader is when he looks at some tokens (columns key, step, position)."""
    sources = here.sources(tokens["key"].to_numpy(np.int64))
    return [
        {"step": int(step), "rollout": source, "token": int(at), "metric": choices.metric}
        for step, source, at in zip(tokens["step"], sources, tokens["position"], strict=True)
    ]


def token_table(listed: pd.DataFrame, places: list[dict[str, str | int]], *, key: str, height: int) -> None:
    """A table whose rows are tokens, with the place of each: a click on a row chooses its token."""
    here = (place.part("rollout"), place.part("token"))
    table.show(
        listed,
        {str(name): column_of(str(name)) for name in listed.columns},
        name="extreme tokens",
        key=key,
        on_click=lambda: row_chosen(key, places),
        chosen=next((row for row, one in enumerate(places) if (one["rollout"], one["token"]) == here), None),
        height=height,
    )


def row_chosen(key: str, places: list[dict[str, str | int]]) -> None:
    """Walk through the table's tokens from the one that was clicked."""
    token_tour.offer(places)
    row = place.clicked_row(key)
    if row is not None:
        token_tour.begin(row)


def column_of(name: str) -> TableColumn:
    """How the table shows a column: numbers that share their decimals, the text around a token at some width."""
    if name in ("before", "token", "after"):
        return TableColumn(width={"before": 260, "token": 120, "after": 260}[name], right=name == "before")
    if name in ("step", "position", "tokens there"):
        return TableColumn(format="%,d")
    return TableColumn(format="" if name == "reward" else "%.4g")


def chosen_token() -> None:
    """The token that the reader chose, and the way to it."""
    token, rollout = place.part("token"), place.linked_rollout(run)
    if rollout is None or not isinstance(token, int):
        return
    with in_line():
        st.page_link("board/ui/pages/tokens/tokens.py", label="Open its tokens", query_params=place.link())
        st.text(f"position {token + 1:,} of {place.part('rollout')}, step {view.step} {token_tour.position_in_list()}")


def body(metrics: list[str]) -> None:
    """The page of a run with token metrics."""
    choices = token_choices(metrics, forget_bar)
    scope = run if choices.all_steps else here.of_steps(view.step, view.step)
    of = counted(scope, choices)
    panels = st.grid(2, min_column_width=PANEL_WIDTH, gap="large")
    with panels.cell():
        within = spread(of, choices)
    with panels.cell():
        picture = st.container()
    below = st.container()
    chosen_token()
    extreme_tokens(of, choices, within)
    with picture:  # last: the whole run may take a moment, and the step is there at once
        draw_rollouts = positions(choices)
    with below:
        draw_rollouts()
    token_tour.listen(opening=True)


found_metrics = token_histogram.metrics_of(run)
if found_metrics:
    body(found_metrics)
else:
    st.text(
        f"All tokens needs a list of numbers per token, such as {', '.join(token_histogram.declared_fields())}: this run has none."
    )
