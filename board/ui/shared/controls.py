"""Controls of several pages, which return the choices as frozen dataclasses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

import numpy as np
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from board.analysis.rollouts import token_aggregates
from board.analysis.rollouts.selection import Order, Side
from board.analysis.texts.measured_columns import is_measured
from board.errors import BoardError
from board.metrics.formulas import DEFAULT_ESTIMATOR, ESTIMATORS
from board.runs.run import Run, Split
from board.schema import DISCARDED, heading, is_trainers
from board.settings import run_choices
from board.text.display import PREVIEW_CHARS, preview
from board.text.system_prompts import Hiding, without_system_prompt
from board.ui.components import curves
from board.ui.components.curves import CurvesPayload
from board.ui.shared import list_order, table_views
from board.ui.shared.list_order import ListOrder
from board.ui.shared.messages import in_line, notice
from board.ui.state import filter_chips, linked, place

Band = Literal["none", "std", "quantiles", "min-max"]

BANDS: Final[dict[str, str]] = {"none": "No band", "std": "± std", "quantiles": "10–90 %", "min-max": "Min–max"}
ALL_STEPS: Final = "All steps"
THIS_STEP: Final = "This step"
DEFAULT_COLUMNS: Final = ("group", "reward", "reward_gap", "valid_reward", "advantage_mean", "kl_k3_mean", "response_length")
MOST_PARTS: Final = 6
"""So many of the trainer's own numbers, such as the parts of a reward, are in the table by default."""


@dataclass(frozen=True)
class CurveChoices:
    """How the curves over steps are drawn."""

    band: Band
    band_scale: float
    """Factor on the band's distance from the mean."""
    smoothing: float
    """Weight of the exponential moving average, 0 (none) to below 1."""
    zero_shift: bool
    estimator: str
    extra: tuple[str, ...]
    """Further numeric columns to draw a curve of."""


def step_curves(
    payload: CurvesPayload,
    key: str,
    steps: NDArray[np.int64],
    clicked: Callable[[], None] | None = None,
    **also: Callable[[], None],
) -> None:
    """Curves over these steps: a click goes to a step, unless it is `clicked`, a drag zooms, and what it spans may become a filter."""
    zoomed, kept = place.zoomed(key), filter_chips.steps_filtered(key)
    curves.show(payload, key=key, on_click=clicked or place.step_clicked(key, steps), on_zoom=zoomed, on_keep=kept, **also)


def curve_choices(numeric: Sequence[str], *, bands: bool = True) -> CurveChoices:
    """Draw the curve settings, folded, and return them: panels say what they are drawn with. Without `bands` no band is offered."""
    with st.container(width="content", key="curve_choices"), st.popover("Chart options"):
        smoothing = st.slider("Smoothing", **linked.number("smoothing", 0.0, 0.0, 0.95), step=0.05, width=320)
        band = _band_choice() if bands else "none"
        scale = st.number_input("Band scale", **linked.number("band_scale", 1.0, 0.1, 3.0), step=0.1, width=320) if bands else 1.0
        estimator = estimator_choice()
        shift = st.toggle(
            "Shift to zero", **linked.flag("zero_shift"), help="Start every reward curve at zero, to compare gains."
        )
        extra = st.multiselect(
            "More curves", **linked.choices("curves", list(numeric), label=heading), placeholder="Any numeric column", width=320
        )
    return CurveChoices(cast(Band, band), float(scale), float(smoothing), bool(shift), estimator, tuple(extra))


def _band_choice() -> str:
    chosen = st.segmented_control("Band", **linked.choice("band", list(BANDS), "std", label=BANDS.__getitem__), required=True)
    return chosen or "std"


def estimator_choice() -> str:
    """Draw the choice of KL estimator, the same on every page, and return its name."""
    chosen = st.segmented_control(
        "KL estimator", **linked.choice("estimator", list(ESTIMATORS), DEFAULT_ESTIMATOR), required=True, help=_estimator_help()
    )
    return chosen or DEFAULT_ESTIMATOR


def estimator() -> str:
    """The KL estimator in force, wherever it is chosen."""
    name = linked.value("estimator", DEFAULT_ESTIMATOR)
    return name if name in ESTIMATORS else DEFAULT_ESTIMATOR


def _estimator_help() -> str:
    """The formulas in use: our own words, no text of a run."""
    lines = [f"- {name}: {estimator.formula}. {estimator.reading}" for name, estimator in ESTIMATORS.items()]
    return "With d = logprob − ref_logprob:\n" + "\n".join(lines)


@dataclass(frozen=True)
class TableChoices:
    """Which rollouts the table lists, and how."""

    all_steps: bool
    order: ListOrder
    """By nothing: in the order of step, shard and line."""
    query: str
    columns: tuple[str, ...]
    """In the order of the table: first what it is sorted by, whatever the reader chose."""
    per_step: int
    """At most so many rollouts of a step, drawn at random; 0 for all."""
    text_width: int
    """Of columns of text, in pixels."""


def table_choices(
    numeric: Sequence[str], available: Sequence[str], aggregates: Sequence[str], on_sort: Callable[[], None]
) -> TableChoices:
    """Draw scope, sorting, text filter and column choice in one row and return them; `on_sort` is called when another order is chosen.

    `aggregates` are what tokens add up to: columns when chosen by name.
    """
    parts = [name for name in numeric if is_trainers(name) and not is_measured(name)][:MOST_PARTS]
    defaults = [name for name in (*DEFAULT_COLUMNS[:2], *parts, *DEFAULT_COLUMNS[2:]) if name in available]
    there = frozenset((*available, *aggregates))
    table_views.open_linked(there)
    with st.container(horizontal=True, vertical_alignment="bottom", key="rollout_choices"):
        table_views.choice(there)
        scope = st.segmented_control("Rollouts of", **linked.choice("scope", [THIS_STEP, ALL_STEPS], THIS_STEP), required=True)
        with st.popover("Order"):
            order = list_order.choice("", "Sort by", ["", *numeric, *aggregates], heading=_order_heading, on_change=on_sort)
        query = st.text_input("Text in prompt or response", **linked.text("text"), type="search", width=240)
        every = st.toggle("All numbers", **linked.flag("numbers"), help="Every number of the run as a column.")
        with st.popover("Table"):
            columns = st.multiselect(
                "Columns",
                **linked.choices("columns", [*available, *aggregates], defaults),
                help="Those with a slash are what a rollout's tokens add up to: entropy/max is the largest entropy of a token.",
                width=420,
            )
            limit = st.number_input("Rollouts of a step, at most (0: all)", **linked.number("limit", 0, 0), width=420)
            width = table_views.width_choice()
            table_views.editor(tuple(columns))
    table_views.problems()
    shown = dict.fromkeys([*([order.by] if order.by else []), *columns, *(numeric if every else [])])
    return TableChoices(scope == ALL_STEPS, order, query or "", tuple(shown), int(limit), width)


def _order_heading(name: str) -> str:
    return token_aggregates.heading(name) if name else "order written"


@dataclass(frozen=True)
class ExtremeChoices:
    """Which tokens the list of extremes holds."""

    metric: str
    order: Order
    side: Side
    top: int


_LOUDEST: Final = "loudest"
"""The order that is natural for the metric, until the reader says otherwise."""

_ORDERS: Final[dict[Order, str]] = {"magnitude": "farthest from zero first", "highest": "highest first", "lowest": "lowest first"}


def extreme_choices(
    metrics: Sequence[str], default: str, natural_order: Callable[[str], Order], *, sides: bool
) -> ExtremeChoices:
    """Draw the choices for the list of extreme tokens, folded, and what they come to; return them.

    The list follows the text's metric and what is natural for a metric; `sides` offers the tokens that the policy prefers, or avoids, alone.
    """
    with in_line():
        with st.popover("List options"):
            # The empty choice has one label for all metrics: the browser sends labels back, and one it drew before may be gone by then.
            metric = st.selectbox(
                "Most extreme by", **linked.choice("extreme", ["", *metrics], label=lambda name: name or "as the text"), width=320
            )
            order = st.segmented_control(
                "Extreme means",
                **linked.choice("extreme_order", [_LOUDEST, *_ORDERS], _LOUDEST),
                required=True,
                help="Loudest: far from zero where the metric has two sides, else its telling end, such as a large KL or a small probability.",
            )
            side = _side_choice() if sides else "both"
            top = st.number_input("Tokens", **linked.number("extreme_top", 15, 5, 200), step=5, width=320)
        chosen = str(metric or default)
        meant = natural_order(chosen) if order == _LOUDEST else cast(Order, order)
        st.text(", ".join([f"by {chosen}", _ORDERS[meant], *([side] if side != "both" else [])]), width="content")
    return ExtremeChoices(chosen, meant, side, int(top))


def _side_choice() -> Side:
    sides: list[Side] = list(get_args(Side))
    chosen = st.segmented_control(
        "Side",
        **linked.choice("extreme_side", sides, "both"),
        required=True,
        help="By the sign of the log-ratio: the policy prefers a token that it makes likelier than the reference does. KL k3 tells no "
        "side, and is larger on that of the avoided ones.",
    )
    return chosen or "both"


def split_choice(splits: Sequence[Split]) -> Split:
    """Draw the choice between the rollouts of training, those of evaluations and the discarded ones, and return it."""
    chosen = st.segmented_control(
        "Split",
        **linked.choice("split", splits),
        required=True,
        help="Discarded: sampled for training, and left out by the trainer. They are in no number of training."
        if DISCARDED in splits
        else None,
    )
    return chosen or splits[0]


def hiding() -> Hiding | None:
    """How the reader wants system prompts hidden, as far as the link says, wherever that is drawn; None to show them."""
    if linked.value("hide_system") != "true":
        return None
    return Hiding(linked.value("system_end"))


def prompt_previews(prompts: pa.ChunkedArray, chars: int = PREVIEW_CHARS) -> pa.ChunkedArray:
    """The beginning of each prompt for a table's cell, behind its system prompt where that is hidden."""
    if (how := place.view().hiding) is not None:
        shown = [text and without_system_prompt(text, how)[0] for text in prompts.to_pylist()]
        prompts = pa.chunked_array([pa.array(shown, prompts.type)])
    return preview(prompts, chars)


def pad_choice(run: Run) -> None:
    """Draw the field for further pad tokens of the run, in the load report. They are saved for the run, which is then read again."""
    own, key = run_choices.own_pads(run.location), f"pads {run.address}"

    def changed() -> None:
        try:
            run_choices.save_pads(run.location, tuple(dict.fromkeys(str(place.widget_value(key) or "").split())))
        except BoardError as error:
            place.remember(pads_problem=str(error))

    st.text_input(
        "Pad tokens of this run",
        value=" ".join(own),
        key=key,
        on_change=changed,
        placeholder="<|extra_0|>",
        help="In addition to the common ones (`<pad>`, `[PAD]`, …) and those in rollouts.toml: texts or ids, with spaces between. Saved in your "
        "settings for this run, for pages and commands. Padding is taken off prompts and responses when they are read; the raw record has it.",
    )
    if problem := place.remembered("pads_problem"):
        notice(str(problem), "error")
        place.remember(pads_problem=None)


def hiding_choice() -> None:
    """Draw what to hide of the texts, next to the texts."""
    hidden = st.toggle(
        "Hide system prompt",
        **linked.flag("hide_system"),
        help="As its chat template marks it, else what all prompts of the run begin with.",
    )
    if hidden:
        with st.popover("Its end"):
            st.text_input("Text that ends the system prompt", **linked.text("system_end"), placeholder="by its template")
