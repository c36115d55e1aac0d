"""A run in numbers: how many rollouts, which steps, how the reward goes, what may be requested. A run in, a reply out."""

import numpy as np
import pandas as pd

from board.analysis.steps.step_metrics import computable, per_step_values
from board.analysis.steps.step_metrics.own_means import made_of
from board.analysis.steps.step_table import REWARD
from board.cli.replies.contract import RewardCourse, StepSpan, SummaryReply
from board.cli.replies.rollouts import askable
from board.metrics.formulas import token_makers
from board.runs import empty_run
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run


def summary(run: Run, name: str) -> SummaryReply:
    """The run of that name in numbers."""
    steps, report = run.steps, run.report
    keys = run.prompt_keys
    courses = _courses(run)
    grouped = run.frame[["step", "group"]].dropna().drop_duplicates() if "group" in run.frame.columns else ()
    return SummaryReply(
        run=name,
        rollouts=run.rollout_count,
        steps=StepSpan(int(steps[0]), int(steps[-1]), len(steps)) if len(steps) else None,
        splits={split: run.of_split(split).rollout_count for split in run.splits},
        prompts=len(np.unique(keys[keys != NO_PROMPT])),
        groups=len(grouped),
        reward=courses.pop(REWARD, None),
        reward_by=courses,
        columns=askable(run),
        texts=list(run.text_columns),
        token_metrics=list(token_makers({metric: np.empty(0, np.float32) for metric in run.token_metrics})),
        shards=report.shards,
        bytes=report.bytes,
        refused=report.refused,
        flagged=report.flagged,
        left_out=report.skipped,
        warnings=[*empty_run.warnings(run.counted.frame), *(note.rstrip(".") for note in report.notes)],
    )


def _courses(run: Run) -> dict[str, RewardCourse]:
    """Of the reward, of each data source and of each part, by key; of those that have a number."""
    there = computable(run)
    keys = [key for key in there if key == REWARD or (made_of(key) or ("column",))[0] != "column"]
    values = per_step_values(run, keys)
    return {key: _course(values[key].dropna()) for key in keys if values[key].notna().any()}


def _course(means: "pd.Series[float]") -> RewardCourse:
    best = int(means.to_numpy().argmax())
    return RewardCourse(float(means.iloc[0]), float(means.iloc[-1]), float(means.iloc[best]), int(means.index[best]))
