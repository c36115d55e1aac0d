"""open-instruct's `{run}_rollouts_{shard}.jsonl` of `--save_traces`: token ids and the inference engine's logprobs, no text.

Which tokens a tool wrote is not stored; their logprob is a dummy of exactly 0.
"""

from typing import Any, Final

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.masking import hide
from board.formats.renaming import list_or_none, need, renamed
from board.sources.json_record import Record
from board.text.counting import plural

NAME: Final = "open-instruct"
FAMILY: Final = "open-instruct"

_NAMES: Final = {
    "sample_idx": "sample_id",
    "prompt_idx": "group_id",
    "prompt_tokens": "prompt_token_ids",
    "response_tokens": "response_token_ids",
    "logprobs": "rollout_logprobs",
    "dataset": "data_source",
}


def recognise(head: Head) -> bool:
    """Whether a record is a numbered sample of a numbered prompt, both as token ids."""
    return head.has({"sample_idx", "prompt_idx", "prompt_tokens", "response_tokens"})


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout on a line. Raises RowRefused when it has no step or no tokens, or logprobs that do not fit them."""
    need(record, "step", "response_tokens")
    ids, logprobs = list_or_none(record, "response_tokens"), list_or_none(record, "logprobs")
    list_or_none(record, "prompt_tokens")
    if logprobs is not None and len(logprobs) != len(ids):
        raise RowRefused(f"`logprobs` has {plural(len(logprobs), 'number')} against {len(ids):,} in `response_tokens`")
    if logprobs is not None and _called_tools(record):
        logprobs = hide(logprobs, [number != 0 for number in logprobs])
    return [renamed(record | {"logprobs": logprobs}, _NAMES)]


def note(head: Head) -> str:
    """That some logprobs are left out, where tools were called."""
    if not any(map(_called_tools, head.records)):
        return ""
    return "Which tokens a tool wrote is not stored: where tools were called, logprobs of exactly 0 are taken for theirs and left out."


def _called_tools(record: Record) -> bool:
    """Whether anything in the record of requests says that a tool was called."""
    info = record.get("request_info")
    return isinstance(info, dict) and any(_says_something(info.get(key)) for key in ("num_calls", "tool_calleds", "tool_outputs"))


def _says_something(value: Any) -> bool:
    return any(map(bool, value)) if isinstance(value, list) else bool(value)
