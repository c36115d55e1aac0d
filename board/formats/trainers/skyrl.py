"""SkyRL's evaluations, `dumped_evals/global_step_{N}_evals/{data set}.jsonl`. Text only; a score may be one number or one per token."""

from typing import Any, Final

from board.formats.common_fields import given, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.renaming import need, renamed, total
from board.formats.row_reader import as_array
from board.sources.json_record import Record

NAME: Final = "SkyRL"
FAMILY: Final = "SkyRL"

_NAMES: Final = {"input_prompt": "prompt", "output_response": "response"}
_MADE: Final = ("step", "split", "reward", "token_rewards", "ground_truth")
_TRUTHS: Final = (
    ("reward_spec", "ground_truth"),
    ("reward_model", "ground_truth"),
    ("extra_info", "answer"),
    ("ground_truth",),
    ("answer",),
)
"""Where data sets keep the expected answer, in `env_extras`."""


def recognise(head: Head) -> bool:
    """Whether a record is a prompt and a response with a score, as SkyRL calls them."""
    return head.has({"input_prompt", "output_response", "score"})


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout on a line, an evaluation. Raises RowRefused when it has no response."""
    need(record, "output_response")
    made = {
        **step_and_split(place.name, split="evaluation"),
        "ground_truth": _truth(record.get("env_extras")),
        **_scores(record.get("score")),
    }
    rollout = renamed({key: value for key, value in record.items() if key != "score"}, _NAMES, _MADE)
    return [rollout | given(**made)]


def note(head: Head) -> str:
    """Where the step is from, and that a reward is the sum of its tokens' where it is."""
    summed = any(isinstance(record.get("score"), list) for record in head.records)
    return f"{step_note(head.name)}{' The reward is the sum of the scores of the tokens.' if summed else ''}"


def _scores(score: Any) -> Record:
    """The reward, and the reward at each token where there is one; a list that holds anything else stays as it is."""
    if not isinstance(score, list):
        return {"reward": score}
    if as_array(score) is None:
        return {"score": score}
    return {"reward": total(score), "token_rewards": score}


def _truth(extras: Any) -> Any:
    """The expected answer, from the first place that has one."""
    return next((found for path in _TRUTHS if (found := _at(extras, path)) is not None), None)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
