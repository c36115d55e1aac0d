"""tau-bench's trajectories, a list of attempts at tasks, and tau2-bench's results: one object with its simulations, or a file for each.

Attempts that ended in an error are written with reward 0 and no conversation. Knows these keys.
"""

from collections.abc import Iterator
from typing import Any, Final

from board.errors import RowRefused
from board.formats.aliases import set_of
from board.formats.chat import parted
from board.formats.common_fields import given, other_fields, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.json_paths import found
from board.formats.validation import nested, objects, spoken, without
from board.schema import DISCARDED, EVALUATION
from board.sources.json_record import Record

NAME: Final = "tau-bench"
FAMILY: Final = NAME

_KEYS: Final = set_of("task_id trial reward traj")
_PATHS: Final = {
    "error": "error",
    "instruction": "task.instruction",
    "ground_truth": "task.actions",
    "user_cost": "user_cost",
    "reward.actions": "reward_info.info.r_actions",
    "reward.outputs": "reward_info.info.r_outputs",
}
"""What `info` tells, under our names."""

_SIMULATED: Final = set_of("task_id trial reward_info messages termination_reason")
"""What a simulation of tau2-bench has."""

_UNCOUNTED: Final = frozenset({"infrastructure_error", "context_window_exceeded"})
"""How simulations end that tau2-bench counts in no number."""


def recognise(head: Head) -> bool:
    """Whether every record is an attempt at a task, or the results that hold them."""
    return all(record.keys() >= _KEYS or record.keys() >= _SIMULATED or _simulations(record) for record in head.records)


def _simulations(record: Record) -> list[Any]:
    held = record.get("simulations")
    return held if isinstance(held, list) and isinstance(record.get("tasks"), list) else []


def rollouts(record: Record, place: Place) -> list[Record | RowRefused]:
    """The attempts. Raises RowRefused when a conversation is none."""
    if _simulations(record):
        tasks = {str(task.get("id")): task for task in objects(record, "tasks")}
        return [*_each_simulated(objects(record, "simulations"), tasks, place)]
    return [_simulated(record, {}, place) if record.keys() >= _SIMULATED else _attempt(record, place)]


def _each_simulated(simulations: list[Record], tasks: dict[str, Record], place: Place) -> Iterator[Record | RowRefused]:
    for at, one in enumerate(simulations, 1):
        try:
            yield _simulated(one, tasks.get(str(one.get("task_id")), {}), place)
        except RowRefused as error:
            yield RowRefused(f"simulation {at:,} {error}")


def _simulated(record: Record, task: Record, place: Place) -> Record:
    """A simulation: what the assistant greets with is written for it, so the response begins behind the user's first turn."""
    messages, info, name = record.get("messages"), nested(record, "reward_info"), record.get("task_id")
    prompt, response = spoken(messages, "messages") if messages != [] else ("", "")
    if isinstance(messages, list) and messages and not prompt:
        user = next((at for at, one in enumerate(messages) if one.get("role") == "user"), -1)
        prompt, response = parted(messages, user + 1)
    split = DISCARDED if record.get("termination_reason") in _UNCOUNTED else EVALUATION
    return {
        **other_fields(record, _SIMULATED),
        **step_and_split(place.name, split=split),
        **given(group_id=name, prompt_id=name, sample_id=record.get("trial"), reward=info.get("reward")),
        **{f"reward.{part}": number for part, number in nested(info, "reward_breakdown").items()},
        **given(
            termination_reason=record.get("termination_reason"), reward_info=without(info, "reward", "reward_breakdown") or None
        ),
        **given(ground_truth=_known(task, "evaluation_criteria.actions"), instruction=_known(task, "user_scenario.instructions")),
        "prompt": prompt,
        "response": response,
    }


def _attempt(record: Record, place: Place) -> Record:
    info, task, said = nested(record, "info"), record.get("task_id"), record.get("traj")
    prompt, response = ("", "") if said == [] else spoken(said, "traj")
    return {
        **other_fields(record, _KEYS),
        **step_and_split(place.name, split=EVALUATION),
        **given(group_id=task, prompt_id=task, sample_id=record.get("trial"), reward=record.get("reward")),
        **given(**{name: _known(info, path) for name, path in _PATHS.items()}),
        "prompt": prompt or _known(info, "task.instruction") or "",
        "response": response,
    }


def note(head: Head) -> str:
    """What is in the mean that is no success or failure of the model."""
    if not head.all_have(_KEYS):
        return f"Simulations that ended in {' or '.join(sorted(_UNCOUNTED))} are in no mean, as in tau2-bench's own. {step_note(head.name)}"
    return f"An attempt that ended in an error is written with reward 0 and counts in the mean; `error` says which. {step_note(head.name)}"


def _known(info: Record, path: str) -> Any:
    value = found(info, path)
    return value if value not in ({}, []) else None
