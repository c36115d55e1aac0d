"""The panels of curves of the page Rewards: the columns of each.

Also builds what is sent to the browser where several runs are overlaid. Draws nothing.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from board.analysis.steps.step_stats import finite_values
from board.errors import FieldMissing
from board.figures.curves import CurvePanel
from board.figures.of_run import REWARDS
from board.metrics.formulas import ESTIMATORS, Float64Array, kl_column
from board.runs.run import Run
from board.schema import heading, unit
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.frame.overlay import Overlay
from board.ui.shared.controls import CurveChoices

PLOT_HEIGHT: Final = 190
"""Of a curve, in pixels."""

_OF_REWARDS: Final[Mapping[str, str]] = {
    "reward": "Does the reward rise?",
    "valid_reward": "Does the validation reward rise with it?",
    "ref_reward": "What does the reference earn?",
    "ref_valid_reward": "What does the reference earn in validation?",
}
"""A panel each where runs are overlaid: a run has one colour, so no two columns share a panel."""


@dataclass(frozen=True)
class PanelSpec:
    """A panel of curves that the page has, if the run can fill it: what is drawn of which columns, and what those come from."""

    title: str
    unit: str
    needs: str
    lines: Mapping[str, tuple[str, str]]
    """Column → its name on the screen and its colour."""


def panels(run: Run, choices: CurveChoices) -> list[PanelSpec]:
    """The panels of every run, then one for each column that the reader chose."""
    estimator = ESTIMATORS[choices.estimator]
    entropy = "entropy_mean" if "entropy_mean" in run.frame.columns else "entropies"
    length = "response_length" if "response_length" in run.frame.columns else "response_chars"
    return [
        PanelSpec("Does the reward rise?", "reward", "reward", REWARDS),
        PanelSpec(
            "How far is the policy from the reference?",
            f"nats per token, {estimator.name} = {estimator.formula}",
            "logprobs and ref_logprobs",
            {kl_column(choices.estimator): (f"KL {estimator.name}", "kl")},
        ),
        PanelSpec("How long are the responses?", unit(length), "response_tokens", {length: ("length", "length")}),
        PanelSpec(
            "Does it prefer its tokens to the reference?",
            "nats per token",
            "logprobs and ref_logprobs",
            {"log_ratio_mean": ("log-ratio", "kl")},
        ),
        PanelSpec("Does it still explore?", "entropy, nats per token", "entropies", {entropy: ("entropy", "entropy")}),
        *(PanelSpec(heading(name), unit(name), name, {name: (heading(name), "other")}) for name in choices.extra),
    ]


def overlaid(specs: list[PanelSpec], overlay: Overlay, choices: CurveChoices) -> CurvesPayload:
    """What is sent of the panels with all runs in each: keys begin with their places in the list."""
    cards = []
    for key, title, spec, column in _single(specs):
        with suppress(FieldMissing):
            cards.append(Card(key, _panel(overlay, title, spec, column, choices), shows=(column,)))
    with suppress(FieldMissing):
        share = overlay.values("below_zero", _below_zero)
        title = "How many are worse than the reference?"
        cards.append(Card("below_zero", overlay.panel(share, title, unit="% of rollouts", smoothing=choices.smoothing)))
    own = overlay.runs[0].run.steps
    span = overlay.span([int(own[0]), int(own[-1])])
    return build(cards, span=span, height=PLOT_HEIGHT, even=True, axis=overlay.axis)


def _single(specs: list[PanelSpec]) -> Iterator[tuple[str, str, PanelSpec, str]]:
    """Key, title, panel and column of each panel that has one column alone."""
    for at, spec in enumerate(specs):
        for column in spec.lines:
            title = _OF_REWARDS[column] if spec.lines is REWARDS else spec.title
            yield f"{at} {title}", title, spec, column


def _panel(overlay: Overlay, title: str, spec: PanelSpec, column: str, choices: CurveChoices) -> CurvePanel:
    of_reward = spec.lines is REWARDS
    return overlay.panel(
        overlay.columns(column),
        title,
        unit=spec.unit,
        smoothing=choices.smoothing,
        from_first=choices.zero_shift and of_reward,
        notes=[overlay.scale_note(column)] if column == "reward" else [],
    )


def _below_zero(run: Run) -> Float64Array:
    gaps = finite_values(run.frame, "reward_gap")
    return np.where(np.isnan(gaps), np.nan, 100.0 * (gaps < 0))
