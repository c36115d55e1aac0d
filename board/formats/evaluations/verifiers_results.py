"""The results of verifiers before its traces: one rollout a line, its conversation as messages; prime-rl wrote the same until v0.6.

Knows these rows, and the trajectory in them where it was requested.
"""

import re
from typing import Any, Final

from board.errors import RowRefused
from board.formats.aliases import set_of
from board.formats.chat import is_chat, response
from board.formats.common_fields import given, hidden, other_fields, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.renaming import list_or_none
from board.formats.validation import as_long, nested, objects
from board.sources.json_record import Record, as_text

NAME: Final = "verifiers results"
FAMILY: Final = "verifiers"

_EVALUATIONS: Final = "results.jsonl"
"""What an evaluation calls its file; prime-rl says in the name of its own whether they are of training."""

_EVALUATION_FOLDERS: Final = re.compile(r"[^/]*--[^/]*/[0-9a-f]{8}/")
"""Named by environment, model and hash, of which the last two may look like a step."""

_PLACED: Final = set_of("example_id prompt completion answer reward metrics trajectory")


def recognise(head: Head) -> bool:
    """Whether every record has an example with a prompt, a completion and a reward."""
    return head.all_have({"example_id", "prompt", "completion", "reward"})


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout in a row. Raises RowRefused when there is no completion, or its parts are not as they should be."""
    if "completion" not in record:
        raise RowRefused("has no `completion`")
    split = "evaluation" if place.name.rpartition("/")[2].startswith(_EVALUATIONS) else None
    steps = objects(record, "trajectory")
    tokens = stitched(steps)
    left = {} if tokens else given(trajectory=steps or None)
    return [
        {
            **other_fields(record, _PLACED),
            **{f"metrics.{name}": value for name, value in nested(record, "metrics").items() if name not in record},
            **step_and_split(stepped(place.name), split=split),
            **given(group_id=record.get("example_id"), prompt_id=record.get("example_id"), prompt=record.get("prompt")),
            **given(ground_truth=record.get("answer"), reward=record.get("reward")),
            "response": _said(record["completion"]),
            **tokens,
            **left,
        }
    ]


def note(head: Head) -> str:
    """Where the step is from; an evaluation by itself knows none."""
    return step_note(stepped(head.name))


def stepped(name: str) -> str:
    """The part of a path that may say a step: without the folders of an evaluation."""
    return _EVALUATION_FOLDERS.sub("", name)


def _said(completion: Any) -> str:
    """A completion as text; nothing when the model never came to speak."""
    if completion in (None, []):
        return ""
    return response(completion) if is_chat(completion) else as_text(completion)


def stitched(steps: list[Record]) -> Record:
    """The tokens of all turns as one sequence, what came between two turns masked; {} without tokens.

    {} also when a turn does not begin with all that was before, as when a long history was cut: then no one sequence was sampled.
    """
    ids: list[Any] = []
    arrays: Record = {"loss_mask": [], "rollout_logprobs": [], "advantages": []}
    begins = None
    for number, step in enumerate(steps):
        turn = _turn(step, number)
        if turn is None or turn["prompt"][: len(ids)] != ids:
            return {}
        between = len(turn["prompt"]) - len(ids)
        begins = between if begins is None else begins
        ids = [*turn["prompt"], *turn["sampled"]]
        arrays = {
            name: [*values, *[0 if name == "loss_mask" else None] * between, *turn[name]] for name, values in arrays.items()
        }
    if begins is None:
        return {}
    known = {name: values[begins:] for name, values in arrays.items() if any(value is not None for value in values[begins:])}
    rewards = [step.get("reward") for step in steps]
    said = given(step_rewards=rewards if len(steps) > 1 and any(one is not None for one in rewards) else None)
    return {"prompt_token_ids": ids[:begins], "response_token_ids": ids[begins:], **known, **said}


def _turn(step: Record, number: int) -> Record | None:
    """One turn's prompt and sampled ids with a number per sampled token; None when it has no tokens."""
    tokens = nested(step, "tokens")
    prompt, sampled = list_or_none(tokens, "prompt_ids"), list_or_none(tokens, "completion_ids")
    if prompt is None or sampled is None:
        return None
    count = len(sampled)
    mask = list_or_none(tokens, "completion_mask") or [1] * count
    logprobs = list_or_none(tokens, "completion_logprobs") or [None] * count
    for key, values in {"completion_mask": mask, "completion_logprobs": logprobs}.items():
        as_long(values, count, f"trajectory[{number}].tokens.{key}")
    return {
        "prompt": list(prompt),
        "sampled": list(sampled),
        "loss_mask": [int(bool(one)) for one in mask],
        "rollout_logprobs": hidden(logprobs, mask),
        "advantages": [step.get("advantage")] * count,
    }
