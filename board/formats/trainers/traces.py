"""The traces of verifiers, which prime-rl writes too: an episode a line, or in older versions one agent's trace a line.

An episode is one attempt at a task, with a trace for every agent in it. Knows their fields; the messages and tokens of a trace are
`message_graph`'s, and what is written of a trace later `trace_updates`'.
"""

from collections.abc import Iterable
from typing import Any, Final

from board.errors import RowRefused
from board.formats import trace_updates
from board.formats.aliases import set_of
from board.formats.common_fields import given, other_fields, step_and_split
from board.formats.contract import Head, Place
from board.formats.evaluations.verifiers_results import stepped
from board.formats.filename_hints import step_in, step_note
from board.formats.json_paths import found
from board.formats.message_graph import branches
from board.formats.row_reader import as_number, shown
from board.formats.validation import nested, objects
from board.schema import DISCARDED, EVALUATION
from board.sources.json_record import COMPANIONS, Record

NAME: Final = "verifiers traces"
FAMILY: Final = "verifiers"

_SPLITS: Final = {"train": "train", "eval": EVALUATION}

_BATCHES: Final = {"effective": True, "all": False}
"""Folders of prime-rl: what was sent to the trainer, and what was sampled."""

_PLACED: Final = set_of(
    "id version verifiers task agent tools nodes calls rewards metrics timing extra_usage kind env_name group_id"
    " eval_step mm_token_type_id_map request_rewrites response_rewrites"
)
"""Fields of a trace that are mapped, or describe the run rather than the rollout; the others are passed on."""


def batches(names: Iterable[str]) -> dict[str, bool]:
    """Of files by their paths within a run: True for prime-rl's `effective`, False for `all` where `effective` is next to it, in which the
    rollouts that were trained on are once more.
    """
    known = frozenset(names)
    return {name: True for name in known if "/effective/" in f"/{name}"} | {
        name: False for name in known if (batch := _batch_path(name)) != name and batch in known
    }


_OF_BATCHES: Final = (
    "of the rollouts under `all`, those that `effective`, where the trainer's batch is, does not have were discarded"
)
_OF_STREAM: Final = (
    "a rollout is discarded that failed, or that came back before the newest batch was sent and was in none; step is the one that requested "
    "it, batch_step the one that was trained on it"
)


def _batch_path(name: str) -> str:
    """Where the batch lies that what a file of `all` holds was sampled for; the path of any other file."""
    return f"/{name}".replace("/all/", "/effective/")[1:]


def recognise(head: Head) -> bool:
    """Whether every record is an episode or a trace: a task, and traces or a graph of messages."""
    return all(_is_episode(record) or _is_trace(record) for record in head.records)


def _is_episode(record: Record) -> bool:
    traces = record.get("traces")
    return isinstance(record.get("task"), dict) and isinstance(traces, list) and all(map(_is_trace, traces))


def _is_trace(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("nodes"), list) and isinstance(value.get("rewards"), dict)


def rollouts(record: Record, place: Place) -> list[Record]:
    """One rollout per branch of every trace. Raises RowRefused naming the field that is not as it should be."""
    episode = trace_updates.updated(record) if COMPANIONS in record else _episode(record)
    traces = objects(episode, "traces") or [{}]  # a task that failed before any agent began is an attempt all the same
    shared = _shared(episode, place)
    agents = {str(_agent(trace)) for trace in traces}
    mapped = []
    for trace in traces:
        names = {name: _of_agent(shared.get(name), trace, agents) for name in ("group_id", "prompt_id")}
        own = {**_trace(trace), **given(**names), **(_cohort(episode, trace) if trace_updates.is_stream(place.name) else {})}
        graph = branches(objects(trace, "nodes")) or [
            {"response": "", **given(prompt=nested(_task(episode), "data").get("prompt"))}
        ]
        for number, branch in enumerate(graph):
            branched = given(sample_id=_sample(trace, number, len(graph)))
            mapped.append({**shared, **own, **branched, **branch})
    return mapped


def note(head: Head) -> str:
    """How the reward came about, that a batch may be written twice, and where the step is from if not from the episode."""
    dispatched = any(found(record, "run.work.step") is not None for record in head.records)
    discarded = _OF_STREAM if trace_updates.is_stream(head.name) else _OF_BATCHES
    said = f"reward is the sum of the rewards that were scored, each times its weight; {discarded}."
    return said if dispatched else f"{said} {step_note(_stepped(head.name))}"


def _episode(record: Record) -> Record:
    """The episode; of a trace that stands alone, as older versions wrote it, the one it would be in today."""
    return record if "traces" in record else _as_episode(record)


def _as_episode(trace: Record) -> Record:
    work = given(type=trace.get("kind"), step=trace.get("eval_step"))
    group = given(id=trace.get("group_id"))
    return {
        "traces": [trace],
        "task": trace.get("task"),
        "env": given(name=trace.get("env_name")),
        "group": group,
        "run": {"work": work},
    }


def _shared(episode: Record, place: Place) -> Record:
    """What all rollouts of an episode have in common."""
    run, env, task = nested(episode, "run"), nested(episode, "env"), _task(episode)
    work = nested(run, "work")
    policy, data = nested(work, "policy"), nested(task, "data")
    errors, task_id = episode.get("errors"), _first(task.get("key"), data.get("idx"))
    return step_and_split(_stepped(place.name), work.get("step"), _SPLITS.get(str(work.get("type", run.get("type"))))) | given(
        group_id=_first(nested(episode, "group").get("id"), task_id),
        prompt_id=task_id,
        data_source=_first(env.get("name"), env.get("id")),
        ground_truth=data.get("answer"),
        episode_id=episode.get("id"),
        effective=next((_BATCHES[part] for part in place.name.split("/") if part in _BATCHES), None),
        batch_step=step_in(_stepped(place.name)),
        policy_start=policy.get("start"),
        policy_end=policy.get("end"),
        episode_errors=errors or None,
    )


def _stepped(name: str) -> str:
    """The part of a path that may say a step: nothing of a stream, whose chunks are numbered."""
    return "" if trace_updates.is_stream(name) else stepped(name)


def _cohort(episode: Record, trace: Record) -> Record:
    """Whether a trace of a stream was sent to the trainer, and in which batch; nothing where that is not decided yet."""
    info, last = nested(trace, "info"), nested(episode, COMPANIONS).get("last_batch")
    if info.get("effective"):
        return given(effective=True, batch_step=nested(info, "ship").get("step"))
    run = nested(episode, "run")
    kind = _first(nested(run, "work").get("type"), run.get("type"), info.get("kind"))
    arrived = as_number(nested(info, "arrival").get("step"))
    failed = episode.get("ok") is False or bool(episode.get("errors"))
    if kind != "train" or not (failed or (last is not None and (arrived is None or arrived <= last))):
        return {}
    return {"split": DISCARDED, "effective": False}


def _task(episode: Record) -> Record:
    """The task; older traces hold its data without a wrapping."""
    task = nested(episode, "task")
    return task if "data" in task else {"data": task}


def _trace(trace: Record) -> Record:
    """A trace's rewards, metrics and what else it says of itself."""
    agent = nested(trace, "agent")
    metrics = {f"metrics.{name}": value for name, value in nested(trace, "metrics").items() if value is not None}
    return {
        **other_fields(trace, _PLACED),
        **given(agent=agent.get("name"), trainable=agent.get("trainable")),
        **metrics,
        **_rewards(trace),
    }


def _rewards(trace: Record) -> Record:
    """Each reward's score, its weight where that is not 1, and their weighted sum; a reward that was not scored is missing."""
    scored = {name: _scored(name, value) for name, value in nested(trace, "rewards").items() if value is not None}
    parts = {f"reward.{name}": score for name, (score, _) in scored.items()}
    weights = {f"reward_weight.{name}": weight for name, (_, weight) in scored.items() if weight != 1}
    return given(reward=sum(score * weight for score, weight in scored.values()) if scored else None) | parts | weights


def _scored(name: str, value: Any) -> tuple[float, float]:
    """(score, weight) of a reward, which is an object of both or the score alone. Raises RowRefused."""
    score, weight = (value.get("score"), value.get("weight", 1.0)) if isinstance(value, dict) else (value, 1.0)
    numbers = as_number(score), as_number(weight)
    if numbers[0] is None or numbers[1] is None:
        raise RowRefused(f"`rewards.{name}` is {shown(value)}, which is no score with a weight")
    return numbers[0], numbers[1]


def _agent(trace: Record) -> Any:
    return nested(trace, "agent").get("name")


def _of_agent(name: Any, trace: Record, agents: set[str]) -> Any:
    """An episode's group, or the name of its task; where several agents take part, each has its own prompts and so its own groups."""
    return name if name is None or len(agents) == 1 else f"{name}/{_agent(trace)}"


def _sample(trace: Record, number: int, count: int) -> Any:
    """The trace's id, with the branch's number where there are several."""
    name = trace.get("id")
    return name if name is None or count == 1 else f"{name}/{number}"


def _first(*values: Any) -> Any:
    """The first value that is there."""
    return next((value for value in values if value is not None), None)
