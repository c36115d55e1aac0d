"""lm-evaluation-harness' samples (`samples_<task>_<date>.jsonl`, by `--log_samples`): a row per example and filter.

Of multiple choice nothing is sampled: each choice has a log-probability. Knows these keys and the name of the file.
"""

import re
from typing import Any, Final

from board.formats.benchmarks import NOTE, likeliest, sampled
from board.formats.common_fields import given, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.renaming import need
from board.formats.row_reader import number_in
from board.formats.validation import checked_list
from board.sources.json_record import Record, as_text

NAME: Final = "lm-evaluation-harness"
FAMILY: Final = NAME

_KEYS: Final = {"doc_id", "doc", "arguments", "resps", "filtered_resps"}
_OTHERS: Final = {"doc_hash", "prompt_hash", "target_hash", "target", "metrics", "filter"}
_FILE: Final = re.compile(r"(?:^|.*/)samples_(.+?)(?:_[0-9]{4}-[0-9]{2}-[0-9]{2}T[^/]*)?\.jsonl?(?:\.[a-z0-9]+)?")
_NO_FILTER: Final = (None, "none")


def recognise(head: Head) -> bool:
    """Whether every record is an example with its requests and their responses, raw and filtered."""
    return head.all_have(_KEYS)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The samples of an example. Raises RowRefused when its requests or responses are not as the harness writes them."""
    need(record, "doc_id", "arguments")
    requests, responses = _arguments(record), checked_list(record, "resps", list)
    said = checked_list(record, "metrics", str) if "metrics" in record else [*record]
    metrics = {name: record[name] for name in said if name in record and name not in _KEYS | _OTHERS}
    named = _FILE.fullmatch(place.name)
    task, kind = named[1] if named else "", record.get("filter")
    prompt_id = "/".join(filter(None, (task, as_text(record["doc_id"]))))
    filtered = kind not in _NO_FILTER
    shared = {
        **{key: value for key, value in record.items() if key not in {*_KEYS - {"doc"}, *_OTHERS - {"filter"}, *metrics}},
        **step_and_split(place.name.rpartition("/")[0]),
        **given(ground_truth=record.get("target"), prompt=requests[0][0] if requests and requests[0] else None),
        **given(
            answer=_only(record.get("filtered_resps")), data_source=f"{task} ({kind})" if task and filtered else task or None
        ),
        **{"prompt_id": prompt_id, "group_id": f"{prompt_id}/{kind}" if filtered else prompt_id},
    }
    if requests and all(len(one) == 1 for one in requests):  # the likelihood of a text, of which nothing was sampled
        return sampled([""], metrics, {**shared, "logprob_sum": _logprob(responses[0]) if responses else None})
    if not requests or not all(len(one) > 1 and isinstance(one[1], str) for one in requests):
        return sampled([text for one in responses for text in one] or [""], metrics, shared)
    choices, logprobs = [one[1] for one in requests], [_logprob(one) for one in responses]
    chosen = likeliest(choices, logprobs)
    right = {str(at): choice for at, choice in enumerate(choices)}.get(str(record.get("target")))
    chose = {**shared, **given(ground_truth=right), "choices": choices, "choice_logprobs": logprobs}
    return sampled([chosen or ""], metrics, chose)


def note(head: Head) -> str:
    """What a row is, and what a mean over rows is then."""
    mixed = "An example has a row for each filter, with the same response: means mix them, unless one data_source is chosen."
    filtered = any(record.get("filter") not in _NO_FILTER for record in head.records)
    return " ".join(filter(None, (NOTE, mixed if filtered else "", step_note(head.name.rpartition("/")[0]))))


def _arguments(record: Record) -> list[list[Any]]:
    """The arguments of every request: lists, or objects with `arg_0`, `arg_1`, ... since 0.4."""
    value = record["arguments"]
    requests = list(value.values()) if isinstance(value, dict) else checked_list(record, "arguments")
    return [list(one.values()) if isinstance(one, dict) else one for one in requests if isinstance(one, (dict, list)) and one]


def _logprob(response: list[Any]) -> float | None:
    """A choice's log-probability, which stands first of a pair, as text."""
    first = response[0] if response else None
    value = first[0] if isinstance(first, list) and first else first
    return number_in(str(value))


def _only(filtered: Any) -> Any:
    """What a filter made of the only response; of several all."""
    value = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
    return value if value not in ("", []) else None
