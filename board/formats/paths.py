"""What the name of a file says of its rollouts: the step, and whether they are of training or of an evaluation.

Knows path patterns that trainers use; knows nothing of what stands in the files.
"""

import re
from typing import Final

_STEP: Final = re.compile(
    r"""
      (?:global_)? step [_-]? ([0-9]+)            # also train_data_step12, rollout_dump_data.step_12, _step_12_epoch_0
    | iteration [_-]? ([0-9]+)
    | completions_ ([0-9]+)
    | (?:train|eval) _rollout_ ([0-9]+)
    | rollout_idx_ ([0-9]+) _trajectory
    | rollout_ ([0-9]+) (?= [._] )
    | (?: ^ | / ) (?: eval_ )? ([0-9]+) (?: _[0-9]{6}_[0-9]{6} )? (?= \. (?:jsonl|json|pt|parquet) (?: \.gz | \.zst )? $ )
    | (?: ^ | / ) ([0-9]+) (?= / )
    """,
    re.VERBOSE,
)

_EVALUATION: Final = re.compile(r"(?:^|[/_.-])(?:val|valid|validation|eval|evals|evaluation|test)(?=[/_.-]|[0-9]|$)")


def step_in(name: str) -> int | None:
    """The step that a path says, the last number counting; None when it says none."""
    found = [digits for match in _STEP.finditer(name) for digits in match.groups() if digits]
    return int(found[-1]) if found and len(found[-1]) < 19 else None


def split_in(name: str) -> str | None:
    """`evaluation` when a path says so, as `eval/3.jsonl` and `val_data_step3.jsonl` do; None when it does not."""
    return "evaluation" if _EVALUATION.search(name.lower()) else None
