"""rLLM's episodes: a file per episode, of training (`episode_logging.log_episodes`) or of `rllm eval`; every trajectory in it is a rollout.

Knows rLLM's keys and how its steps follow each other.
"""

from typing import Any, Final

from board.errors import RowRefused
from board.formats.chat import is_chat, turns
from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.row_reader import shown
from board.formats.validation import checked_list, listed_or_none, without
from board.sources.json_record import Record, as_text

NAME: Final = "rLLM"
FAMILY: Final = "rLLM"

_SHAPES: Final[tuple[set[str], ...]] = ({"episode_id", "trajectories", "training_step"}, {"eval_idx", "trajectories"})
"""Keys of an episode of training, and of one that `rllm eval` stored."""

_ANSWERS: Final = ("ground_truth", "answer", "final_answer", "solution")
"""Where a task may hold what is expected; it is the data set's own."""

_PER_TOKEN: Final = {"logprobs": "rollout_logprobs", "advantage": "advantages"}
"""What a step holds of its own tokens, theirs → ours."""


def recognise(head: Head) -> bool:
    """By trajectories and an episode's number."""
    return head.has(*_SHAPES)


def rollouts(record: Record, place: Place) -> list[Record]:
    """Every trajectory of an episode. Raises RowRefused when there is none."""
    trajectories = checked_list(record, "trajectories", dict)
    if not trajectories:
        raise RowRefused(f"`trajectories` is empty; the episode ended with {shown(record.get('termination_reason'))}")
    episode = as_text(record.get("episode_id", record.get("id")))
    shared = {
        **without(record, "trajectories", "training_step", "episode_id", "id"),
        **_of_task(record.get("task")),
        **step_and_split(place.name, record.get("training_step"), "evaluation" if "eval_idx" in record else None),
    }
    several = len(trajectories) > 1
    return [
        {**shared, **_rollout(one, episode, record.get("task")), "sample_id": f"{episode}/{at}" if several else episode}
        for at, one in enumerate(trajectories)
    ]


def _of_task(task: Any) -> Record:
    """The expected answer and the data set, where a task says them, itself or in its metadata."""
    if not isinstance(task, dict):
        return {}
    inner = task.get("metadata")
    known = {**(inner if isinstance(inner, dict) else {}), **task}
    found = {"ground_truth": next((known[key] for key in _ANSWERS if known.get(key) is not None), None)}
    return {**found, "data_source": known.get("data_source")}


def _rollout(trajectory: Record, episode: str, task: Any) -> Record:
    """What one agent did in an episode: its turns as prompt and response, its tokens where they are stored."""
    steps = checked_list(trajectory, "steps", dict)
    prompt, response = turns(_conversation(steps))
    task_id, _, _ = episode.rpartition(":")
    name = trajectory.get("name")
    rewards = [step.get("reward") for step in steps]
    return {
        **without(trajectory, "steps", "task"),
        **_tokens(steps),
        "prompt": prompt or task,
        "response": response,
        "group_id": "/".join(as_text(part) for part in (task_id or episode, name) if part is not None),
        "step_rewards": as_text(rewards) if len(rewards) > 1 else None,
    }


def _conversation(steps: list[Record]) -> list[Record]:
    """All turns in order: a step repeats what was said before it, or begins anew."""
    history: list[Record] = []
    for step in steps:
        messages = _messages(step)
        history = messages if messages[: len(history)] == history else history + messages
    return history


def _messages(step: Record) -> list[Record]:
    """A step's chat; without one, what the agent was shown and what it answered."""
    messages = step.get("chat_completions")
    if isinstance(messages, list) and is_chat(messages):
        return messages
    observed = _first(step, "observation", "input")
    answered = _first(step, "model_response", "output", "action")
    said = (("user", observed), ("assistant", answered))
    return [{"role": role, "content": content} for role, content in said if content is not None]


def _first(record: Record, *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) not in (None, "")), None)


def _tokens(steps: list[Record]) -> Record:
    """The tokens from the first response on, those in between (a tool's answer) masked.

    Nothing when a step has none, or when a step's prompt does not begin with all tokens before it: then there is no one sequence.
    """
    sequence: list[Any] = []
    loss_mask: list[int] = []
    arrays: dict[str, list[Any]] = {ours: [] for ours in _PER_TOKEN.values()}
    for step in steps:
        prompt, said = listed_or_none(step, "prompt_ids", int), listed_or_none(step, "response_ids", int)
        if not prompt or not said or prompt[: len(sequence)] != sequence:
            return {}
        between = len(prompt) - len(sequence)
        loss_mask += [0] * between + [1] * len(said)
        for theirs, ours in _PER_TOKEN.items():
            arrays[ours] += [None] * between + _per_token(step, theirs, len(said))
        sequence = prompt + said
    first = loss_mask.index(1) if loss_mask else 0
    known = {name: values[first:] for name, values in arrays.items() if any(value is not None for value in values)}
    ids = {"prompt_token_ids": sequence[:first], "response_token_ids": sequence[first:], "loss_mask": loss_mask[first:]}
    return {**known, **ids} if sequence else {}


def _per_token(step: Record, key: str, count: int) -> list[Any]:
    """A step's numbers for its tokens; one number is every token's, and an empty list is as none."""
    value = step.get(key)
    if isinstance(value, list) and value:
        return checked_list(step, key, object, count)
    return [None if isinstance(value, list) else value] * count


def note(head: Head) -> str:
    """That steps are missing, in an evaluation's episodes."""
    return "" if any("training_step" in record for record in head.records) else step_note(head.name)
