"""NeMo Gym's rollouts (`output_jsonl_fpath`): the request and the response of the Responses API, and what the verifier found.

A message that the policy sampled may have its token ids and log-probabilities. Attempts that failed are in a file of their own, one row an
attempt, and count in no mean. No step is stored.
"""

from collections.abc import Iterable
from typing import Any, Final

from board.errors import RowRefused
from board.formats.chat import chat, is_chat, response
from board.formats.common_fields import given, other_fields, step_and_split
from board.formats.contract import Head, Place
from board.formats.evaluations.verifiers_results import stitched
from board.formats.filename_hints import step_note
from board.formats.row_reader import as_number, shown
from board.formats.validation import nested, objects
from board.schema import CUT_SHORT, DISCARDED
from board.sources.json_record import Record, as_text

NAME: Final = "NeMo Gym"
FAMILY: Final = "NeMo Gym"

_FAILED: Final = "_ng_failure_class"
_NAMES: Final = {"reward": "reward", "expected_answer": "ground_truth"}
_PLACED: Final = frozenset({"responses_create_params", "response", "agent_ref", "_ng_task_index", "_ng_rollout_index", *_NAMES})
_PARTS: Final = ("reward", "score")
"""How the keys end under which verifiers keep parts of the reward."""

_TOKENS: Final = {
    "prompt_token_ids": "prompt_ids",
    "generation_token_ids": "completion_ids",
    "generation_log_probs": "completion_logprobs",
}


def recognise(head: Head) -> bool:
    """Whether a record has the request of a rollout and what was sampled, or how it failed."""
    return any(
        isinstance(record.get("responses_create_params"), dict) and (_FAILED in record or _is_response(record.get("response")))
        for record in head.records
    )


def _is_response(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("output"), list)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout on a line. Raises RowRefused when the request or the response is not as the API has it."""
    request, answered, failed = nested(record, "responses_create_params"), nested(record, "response"), record.get(_FAILED)
    if not _is_response(answered) and failed is None:
        raise RowRefused(f"`response` is {shown(record.get('response'))}, not a response with a list `output`")
    output, task = objects(answered, "output"), record.get("_ng_task_index")
    left = {f"reward.{key}" if _is_part(key, value) else key: value for key, value in other_fields(record, _PLACED).items()}
    return [
        {
            **left,
            **given(**{ours: record.get(theirs) for theirs, ours in _NAMES.items()}),
            **step_and_split(place.name, split=None if failed is None else DISCARDED),
            **given(group_id=task, prompt_id=task, sample_id=record.get("_ng_rollout_index")),
            **given(data_source=nested(record, "agent_ref").get("name"), model=answered.get("model")),
            **{f"usage.{key}": value for key, value in nested(answered, "usage").items() if as_number(value) is not None},
            **_ended(answered),
            "prompt": _prompt(request),
            "response": response(_messages(output)) if output else "",
            **_tokens(output),
        }
    ]


def note(head: Head) -> str:
    """Where the step is from, and that the means know nothing of attempts that ended without a row."""
    lost = "Attempts that failed are in the file that ends in `_failures` and count as discarded; those that were killed have no row."
    return f"{step_note(head.name)} {lost}"


def _is_part(key: str, value: Any) -> bool:
    return key.endswith(_PARTS) and as_number(value) is not None


def _prompt(params: Record) -> str:
    """The instructions and the input, which is a text or a list of messages and items."""
    content, instructions = params.get("input"), params.get("instructions")
    system = [{"role": "system", "content": instructions}] if instructions else []
    if isinstance(content, list):
        return chat([*system, *_messages(objects(params, "input"))])
    return chat([*system, {"role": "user", "content": content}]) if system else as_text(content or "")


def _messages(items: Iterable[Record]) -> list[Record]:
    """The items as messages: one of an unknown kind is the assistant's, and named by its kind."""
    return [item if is_chat([item]) else {"role": "assistant", "content": [item]} for item in items]


def _ended(answered: Record) -> Record:
    """How the response ended; one that was cut at its limit as all others say it."""
    cut = nested(answered, "incomplete_details").get("reason") == "max_output_tokens"
    return given(status=answered.get("status"), finish_reason=CUT_SHORT if cut else None)


def _tokens(output: list[Record]) -> Record:
    """Ids and log-probabilities of all turns as one sequence; where the turns make none, each turn's as they are."""
    sampled = [{ours: item.get(theirs) for theirs, ours in _TOKENS.items()} for item in output if "generation_token_ids" in item]
    return stitched([{"tokens": one} for one in sampled]) or given(turn_tokens=sampled or None)
