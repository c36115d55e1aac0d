"""Conditions in SQL for the rollouts like a given one: of its prompt, group, source."""

import pandas as pd

from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run
from board.schema import IDS, heading
from board.sql.identifiers import column, literal


def conditions(run: Run, key: int) -> dict[str, str]:
    """What the rollout with that key shares with others → the condition in SQL that they satisfy; the words are the board's own.

    The rollout is one of the run's frame. What it lacks, or no other rollout could share, is left out.
    """
    row = run.frame.loc[[key]]
    prompt = int(run.prompt_keys[run.frame.index.get_loc(key)])
    step = f"step = {int(row['step'].iloc[0])}"
    found = {"its step": step}
    if prompt != NO_PROMPT:
        found["its prompt"] = f"prompt_key = {prompt}"
    if "group" in row.columns and pd.notna(row["group"].iloc[0]):
        found["its group"] = f"{step} AND {column('group')} = {int(row['group'].iloc[0])}"
    for name in (name for name in IDS if name in row.columns and pd.notna(row[name].iloc[0])):
        found[f"its {heading(name)}"] = f"{column(name)} = {literal(str(row[name].iloc[0]))}"
    return found
