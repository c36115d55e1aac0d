"""What the name of a file says of its rollouts: the step, and whether they are of training or of an evaluation.

Knows path patterns that trainers use.
"""

import re
from typing import Final

from board.formats.aliases import set_of

_NAMED: Final = re.compile(
    r"""
      (?:global_)? step [_-]? ([0-9]+)            # also train_data_step12, rollout_dump_data.step_12, _step_12_epoch_0
    | (?: iteration | (?<![a-z]) (?: iter | checkpoint | ckpt ) ) [ _-]? ([0-9]+)
    | completions_ ([0-9]+)
    | (?:train|eval) _rollout_ ([0-9]+)
    | (?:rollout_idx|eval) _ ([0-9]+) _trajectory
    | rollout_ (?: eval_ )? ([0-9]+) (?= [._] )
    """,
    re.VERBOSE,
)

_BARE: Final = re.compile(
    r"""
      (?: ^ | / ) (?: eval_ )? (0*[0-9]{1,7}) (?: _[0-9]{6}_[0-9]{6} )?
        (?= \. (?:jsonl|json|pt|parquet|arrow|feather|csv) (?: \.gz | \.zst | \.xz | \.bz2 )? $ )
    | (?: ^ | / ) (0*[0-9]{1,7}) (?= / )
    """,
    re.VERBOSE,
)
"""A number without a word; longer ones are dates or times."""

_EPOCH: Final = re.compile("(?<![a-z])epoch[ _-]?([0-9]{1,7})(?![0-9])")

_EVALUATION: Final = re.compile(r"(?:^|[/_.-])(?:val|valid|validation|eval|evals|evaluation|test)(?=[/_.-]|[0-9]|$)")

_HELD_OUT: Final = frozenset({"dev", "heldout", "held_out", "held-out"})

_PART: Final = re.compile(r"[0-9]*(?:step_?|global_step_|rank_?|iter(?:ation)?_|(?:checkpoint|ckpt|epoch)[_-])?[0-9]*")

_DUMPS: Final = set_of(
    "monitors completions chat_completions trajectory trajectories episodes capture train eval val rollout_data train_data "
    "rollout_result rollouts rollout eval-rollout validation validation_data train_rollout eval_rollout dumped_evals "
    "dumped_data token_exports dashboard_columns"
)
"""Folders that trainers make within one run for its rollouts, or for some of them."""


def is_part(folder: str) -> bool:
    """Whether a folder's name says that it holds no run of its own but a step, a rank, or a trainer's dump of the run above it."""
    return folder in _DUMPS or _PART.fullmatch(folder) is not None


def step_in(name: str, *, bare: bool = True) -> int | None:
    """The step that a path says, the last number counting; None when it says none.

    A number with a word for steps comes first, then a `bare` one, if that is to count, then an epoch.
    """
    kinds = (_NAMED, _BARE, _EPOCH) if bare else (_NAMED, _EPOCH)
    found = next(filter(None, ([*filter(None, match.groups())] for kind in kinds for match in [*kind.finditer(name)][-1:])), [])
    return int(found[0]) if found and len(found[0]) < 19 else None


def step_said(text: str) -> int | None:
    """The step that a text is, as `12`, or names, as `step_12` and `checkpoint-12` do; None for any other."""
    return int(text) if text.isdecimal() and len(text) < 19 else step_in(text, bare=False)


def split_in(name: str) -> str | None:
    """`evaluation` when a path says so, as `eval/3.jsonl` and `val_data_step3.jsonl` do; None when it does not."""
    return "evaluation" if _EVALUATION.search(name.lower()) else None


def split_named(word: str) -> str:
    """What a rollout says its split is, as we call it: `evaluation` for every word such as `val` or `eval_gsm8k`, but `train_val`."""
    if word.lower().startswith("train"):
        return word
    return "evaluation" if word.lower() in _HELD_OUT else split_in(word) or word


def step_or_zero(name: str) -> int:
    """The step that a path says; 0 when it says none, which `step_note` then reports."""
    return step_in(name) or 0


def step_note(name: str) -> str:
    """What a reader must know where steps are not in the records, as one sentence."""
    if step_in(name) is None:
        return "Neither the records nor the names of the files say the step: it is 0 for all."
    return "Steps are from the names of the files."
