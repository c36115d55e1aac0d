"""The groups of a step as a table: a click on a row opens its group, on a head sorts."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.rollouts.groups import Grouped
from board.runs.run import Run
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.pages.groups.controls import OF_RIGHT, ORDERS, PREFIX, GroupChoices
from board.ui.shared import list_order
from board.ui.shared.controls import prompt_previews
from board.ui.state import place

HEAD_HEIGHT: Final = 35
ROW_HEIGHT: Final = 35
MOST_HEIGHT: Final = 620
"""In pixels; longer tables scroll."""
PROMPT_WIDTH: Final = 150

_HELP: Final = {
    "group": "number of the group within its step",
    "rollouts": "responses sampled for the prompt",
    "discarded": "responses that were sampled for the prompt and discarded by the trainer: they are in no other number here",
    "mean": "mean reward of those that have one",
    "std": "standard deviation of the rewards, of the population",
    "best": "largest reward of the group",
    "gap": "largest reward minus the mean: what picking the best would gain",
    "right": "responses with at least the chosen reward",
    "pass_at_k": "chance that one of k responses is right",
    "kind": "whether all responses are right, none, or some",
    "gradient": "none where all rewards are equal: every advantage within the group is zero",
    "best_valid": "validation reward of the response with the largest reward: a small one under a large reward is a hack",
}


def height(rows: int) -> int:
    """Height of the panel next to the table, in pixels."""
    return min(MOST_HEIGHT, HEAD_HEIGHT + ROW_HEIGHT * rows + 3)


def draw(
    run: Run, grouped: Grouped, shown: pd.DataFrame, step: int, discarded: Sequence[int], choices: GroupChoices, key: str
) -> None:
    """Draw the groups of the step in their order, rows of `groups.judged`; `discarded` says how many more were sampled for each."""
    frame = columns(run, grouped, shown, discarded, choices)
    table.show(
        frame,
        {str(name): _column(str(name), choices) for name in frame.columns},
        name="groups",
        key=key,
        on_click=place.row_clicked(
            key,
            [{"step": step, "group": int(number)} for number in shown["group"]],
            **{name: partial(list_order.turn, PREFIX, name, choices.order) for name in frame.columns if name in ORDERS},
        ),
        chosen=next((at for at, number in enumerate(shown["group"]) if number == place.part("group")), None),
        height=MOST_HEIGHT,
    )


def columns(run: Run, grouped: Grouped, shown: pd.DataFrame, discarded: Sequence[int], choices: GroupChoices) -> pd.DataFrame:
    """The table's columns: numbers of the groups, whether they teach, the best response's validation reward, and the prompt's beginning."""
    numbers = ["group", "mean", "std", "best", "gap", "right", "pass_at_k"]
    frame = shown[numbers].reset_index(drop=True)
    frame["kind"] = shown["kind"].astype(str).to_numpy()
    frame["gradient"] = ["none" if flat else "" for flat in shown["flat"]]
    frame["rollouts"] = shown["rollouts"].to_numpy()
    if any(discarded):
        frame["discarded"] = list(discarded)
    if not shown["scored"].any():
        frame = frame.drop(columns=[*numbers[1:], "kind", "gradient"])
    elif "valid_reward" in run.frame.columns:
        best = [best_of(grouped, at) for at in shown.index.tolist()]
        frame.insert(4, "best_valid", run.frame["valid_reward"].loc[best].to_numpy())
    if np.isnan(choices.threshold):
        frame = frame.drop(columns=[*OF_RIGHT], errors="ignore")
    if "prompt" in run.text_columns:
        first = [int(grouped.keys[grouped.starts[at]]) for at in shown.index.tolist()]
        frame.insert(1, "prompt", prompt_previews(run.texts("prompt", first)).to_pandas())
    return frame


def best_of(grouped: Grouped, at: int) -> int:
    """The key of a group's response with the largest reward, the first of several; its first member where none has a reward."""
    rewards = grouped.rewards[grouped.starts[at] : grouped.starts[at + 1]]
    return int(grouped.members(at)[pd.Series(rewards).fillna(-float("inf")).to_numpy().argmax()])


def _column(name: str, choices: GroupChoices) -> TableColumn:
    """How the table shows a column."""
    if name == "prompt":
        return TableColumn(width=PROMPT_WIDTH)
    called = {"pass_at_k": f"pass@{choices.k}", "gap": "best − mean", "best_valid": "best's valid_reward"}.get(name, name)
    return TableColumn(called, _HELP[name], pinned=name == "group", sorts=name in ORDERS)
