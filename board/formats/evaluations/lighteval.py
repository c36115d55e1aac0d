"""lighteval's details (`details_<task>_<date>.parquet`, by `--save-details`): the example, what was answered, and the metrics.

Of multiple choice nothing is sampled: each choice has a log-probability. Older releases wrote other columns, some of them each value as
Python writes it out. Knows these keys.
"""

import ast
import re
from contextlib import suppress
from typing import Any, Final

from board.formats.aliases import set_of
from board.formats.benchmarks import NOTE, likeliest, sampled
from board.formats.common_fields import given, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.validation import checked_list, listed_or_none, nested
from board.sources.json_record import Record, as_text

NAME: Final = "lighteval"
FAMILY: Final = NAME

_OLDER: Final = set_of("example full_prompt predictions metrics")
"""Columns of the releases before `doc`, `model_response` and `metric`."""

_WRITTEN_OUT: Final = set_of("predictions metrics gold choices gold_index input_tokens cont_tokens specifics")
_TASK: Final = re.compile(r"details_(.+)_[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.-]+\.parquet")

_COUNTS: Final = ("truncated_tokens_count", "padded_tokens_count")


def recognise(head: Head) -> bool:
    """Whether every record is an example, a model's response and metrics."""
    return all(
        record.keys() >= _OLDER
        or (all(isinstance(record.get(key), dict) for key in ("doc", "model_response", "metric")) and "query" in record["doc"])
        for record in head.records
    )


def rollouts(record: Record, place: Place) -> list[Record]:
    """The samples of an example. Raises RowRefused when a part of it is not as lighteval writes it."""
    record = _renewed(record, place) if record.keys() >= _OLDER else record
    doc, answered, metrics = (nested(record, key) for key in ("doc", "model_response", "metric"))
    said, choices = listed_or_none(answered, "text") or [], listed_or_none(doc, "choices") or []
    logprobs = listed_or_none(answered, "logprobs") or []
    task, name = doc.get("task_name"), f"{as_text(doc.get('task_name'))}/{as_text(doc.get('id'))}"
    prompt = answered.get("input")
    shared = {
        **step_and_split(_folder(place.name)),
        **given(prompt=prompt if prompt not in (None, "", []) else doc.get("query"), ground_truth=_gold(doc, choices)),
        **given(prompt_id=name, group_id=name, data_source=task, prompt_token_ids=answered.get("input_tokens") or None),
        **given(**{key: answered.get(key) for key in _COUNTS}, instruction=doc.get("instruction"), specific=doc.get("specific")),
    }
    if not said:
        chosen = likeliest(choices, logprobs[: len(choices)])
        return sampled([chosen or ""], metrics, {**shared, "choices": choices, "choice_logprobs": logprobs})
    found = sampled(said, metrics, shared)
    for field, key in (("response_token_ids", "output_tokens"), ("answer", "text_post_processed"), ("reasoning", "reasonings")):
        values = listed_or_none(answered, key) or []
        for one, value in zip(found, values if len(values) == len(found) else (), strict=False):
            one.update(given(**{field: value or None}))
    return found


def _renewed(record: Record, place: Place) -> Record:
    """A row of an older release with the columns of today's."""
    parsed = {key: _parsed(record.get(key)) for key in _WRITTEN_OUT}
    said = [one for value in checked_list(parsed, "predictions") for one in (value if isinstance(value, list) else [value])]
    texts = [one for one in said if isinstance(one, str)]
    gold = parsed["gold"] if isinstance(parsed["gold"], list) else [parsed["gold"]]
    task = _TASK.fullmatch(place.name.rpartition("/")[2])
    doc = {"query": record["example"], "instruction": record.get("instruction"), "specific": parsed["specifics"]}
    right = {"choices": parsed["choices"], "gold_index": parsed["gold_index"]} if parsed["choices"] else {"choices": gold}
    named = {"task_name": task[1] if task else place.name, "id": place.number}
    inside = _flat(parsed["input_tokens"])
    answered = {"input": record["full_prompt"], "text": texts, "input_tokens": inside, "output_tokens": parsed["cont_tokens"]}
    chances = [one[0] if isinstance(one, tuple) and one else one for one in said]
    return {
        "doc": {"gold_index": [*range(len(gold))], **doc, **right, **named},
        "model_response": answered | ({} if texts else {"logprobs": chances}),
        "metric": parsed["metrics"],
    }


def _parsed(value: Any) -> Any:
    """What Python wrote out, or the value itself."""
    if isinstance(value, str) and value[:1] in ("[", "{", "("):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(value)
    return value


def _flat(tokens: Any) -> Any:
    """The tokens of a prompt, of which there is one list for each answer."""
    return tokens[0] if isinstance(tokens, list) and tokens and isinstance(tokens[0], list) else tokens


def note(head: Head) -> str:
    """Which metric the reward is, and what it is not."""
    return f"{NOTE} {step_note(_folder(head.name))}"


def _folder(name: str) -> str:
    """The part of a path that may say a step: file and folder are named by date."""
    return name.rpartition("/")[0].rpartition("/")[0]


def _gold(doc: Record, choices: list[Any]) -> Any:
    """The right choices, as text where it is one."""
    index = doc.get("gold_index")
    places = [at for at in (index if isinstance(index, list) else [index]) if isinstance(at, int)]
    right = [choices[at] for at in places if 0 <= at < len(choices)]
    return right[0] if len(right) == 1 else right or None
