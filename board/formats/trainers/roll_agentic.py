"""ROLL's rollout dump of agents, `rollout_dump_data.step_{N}.jsonl`: one line whose values are columns of JSON texts. No token arrays."""

from typing import Final

from board.formats.common_fields import given
from board.formats.contract import Head, Place
from board.formats.filename_hints import split_in
from board.formats.renaming import need, renamed, rows, unpacked
from board.formats.validation import nested, spoken
from board.sources.json_record import Record, as_text

NAME: Final = "ROLL agentic"
FAMILY: Final = "ROLL"

_NAMES: Final = {"global_step": "step", "trajectory_id": "sample_id"}
_SHOWN: Final = ("messages", "reward_info")
"""What a trajectory holds that becomes something else here."""
_MADE: Final = ("prompt", "response", "reward", "group_id", "data_source", "split")


def recognise(head: Head) -> bool:
    """Whether a record is columns of trajectories."""
    return any("global_step" in record and isinstance(record.get("trajectory_data"), list) for record in head.records)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollouts of a step. Raises RowRefused when it has no step or no trajectories, or texts that are not JSON."""
    need(record, "global_step", "trajectory_data")
    return [_rollout(row, split_in(place.name)) for row in rows(record, "trajectory_data")]


def note(head: Head) -> str:
    """Which reward this is."""
    return "The reward is that of the whole episode."


def _rollout(row: Record, split: str | None) -> Record:
    trajectory = nested({"trajectory_data": unpacked(row, "trajectory_data")}, "trajectory_data")
    env, rewards = (nested(trajectory, key) for key in ("env_info", "reward_info"))
    prompt, response = spoken(unpacked({"messages": trajectory.get("messages"), **row}, "messages"), "messages")
    made = {
        "prompt": prompt,
        "response": response,
        "reward": rewards.get("episode_reward"),
        "group_id": _group(env),
        "data_source": env.get("tag"),
        "split": "evaluation" if env.get("mode") in ("val", "eval") else split,
    }
    parts = {f"reward.{key}": value for key, value in rewards.items() if key != "episode_reward"}
    rest = {key: value for key, value in row.items() if key not in ("trajectory_data", "messages")}
    rest |= {f"trajectory.{key}" if key in rest else key: value for key, value in trajectory.items() if key not in _SHOWN}
    return renamed(rest, _NAMES, _MADE) | parts | given(**made)


def _group(env: Record) -> str | None:
    """Episodes of one group begin alike; groups are counted within a tag."""
    if env.get("group_id") is None:
        return None
    return "/".join(as_text(env[key]) for key in ("tag", "group_id", "episode_id") if env.get(key) is not None)
