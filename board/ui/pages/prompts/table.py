"""The prompts of a run as a table: a click on a row opens its prompt, on a head sorts."""

from functools import partial
from typing import Final, Literal

import pandas as pd

from board.analysis.prompts.cohorts import COHORTS, LOSING, NONE
from board.analysis.prompts.prompt_list import text_column, trends
from board.figures.step_panels import NAMES
from board.figures.theme import COLORS
from board.runs.run import Run
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.pages.prompts.controls import ORDERS, PREFIX, PromptChoices
from board.ui.shared import list_order
from board.ui.shared.controls import prompt_previews
from board.ui.state import place

MOST_HEIGHT: Final = 620
"""In pixels; longer tables scroll."""
PROMPT_WIDTH: Final = 300
TREND_WIDTH: Final = 145

NUMBERS: Final = ("visits", "rollouts", "reward", "first", "last", "gain", "variance", "length", "wins", "gap", "last_seen")

_HELP: Final = {
    "visits": "steps that sampled the prompt",
    "rollouts": "responses to the prompt, at all steps",
    "reward": "mean reward of all its rollouts",
    "first": "mean reward at its first step",
    "last": "mean reward at its last step",
    "gain": "mean reward at its last step minus that at its first",
    "variance": "variance of the rewards of all its rollouts, of the population",
    "length": "mean length of the responses, in tokens where they are known, else in characters",
    "wins": "share of its rollouts with a reward above the reference's",
    "gap": "mean of reward − ref_reward over its rollouts",
    "last_seen": "last step that sampled it",
    "reward by step": "mean reward at each of its steps, first to last",
    "gap by step": "mean of reward − ref_reward at each of its steps, first to last",
}

_HEADS: Final = {"visits": "steps", "reward": "mean reward", "wins": "wins", "last_seen": "last seen", "gap": "gap"}


def draw(run: Run, visited: pd.DataFrame, shown: pd.DataFrame, choices: PromptChoices, key: str) -> None:
    """Draw the prompts in their order, rows of `prompt_list.listing`."""
    frame = _columns(run, visited, shown, "gap" if choices.cohort == LOSING else "reward")
    table.show(
        frame,
        {str(name): _column(str(name), choices) for name in frame.columns},
        name="prompts",
        key=key,
        on_click=place.row_clicked(
            key,
            [{"prompt": int(prompt)} for prompt in shown.index],
            **{name: partial(list_order.turn, PREFIX, name, choices.order) for name in frame.columns if name in ORDERS},
        ),
        chosen=next((at for at, prompt in enumerate(shown.index) if prompt == place.part("prompt")), None),
        height=MOST_HEIGHT,
    )


def _columns(run: Run, visited: pd.DataFrame, shown: pd.DataFrame, trend: Literal["reward", "gap"]) -> pd.DataFrame:
    """What the table shows of each prompt, with its visits by `trend`; what no prompt of the run has is left out."""
    found = pd.DataFrame(index=shown.index)
    text = text_column(run)
    if text is not None:
        found["prompt"] = prompt_previews(run.texts(text, shown["rollout"].to_numpy())).to_pandas().to_numpy()
    if "prompt_id" in run.frame.columns:
        found["prompt_id"] = run.frame["prompt_id"].loc[pd.Index(shown["rollout"])].to_numpy()
    if (shown["cohort"] != NONE).any():
        names = ("", *(NAMES[name] for name in COHORTS))
        found["cohort"] = [names[number - NONE] for number in shown["cohort"].tolist()]
    if (shown["visits"] > 1).any() and shown["reward"].notna().any():
        found[f"{trend} by step"] = trends(visited, shown, trend)
    ends = () if (shown["visits"] > 1).any() else ("first", "last")
    for name in NUMBERS:
        if name not in ends and shown[name].notna().any():
            found[name] = shown[name].to_numpy() * (100 if name == "wins" else 1)
    return found


def _column(name: str, choices: PromptChoices) -> TableColumn:
    """How the table shows a column."""
    meaning, sorts = _HELP.get(name, ""), name in ORDERS
    if name == "prompt":
        return TableColumn(width=PROMPT_WIDTH)
    if name.endswith(" by step"):
        return TableColumn(drawn="trend", width=TREND_WIDTH, help=meaning, color=COLORS["policy"])
    written = "%.0f %%" if name == "wins" else ""
    return TableColumn(_HEADS.get(name, name), meaning, written, pinned=name == choices.order.by, sorts=sorts)
