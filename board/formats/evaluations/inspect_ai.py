"""The logs of inspect_ai, `.json` and `.eval`: an evaluation's samples with their messages and scores.

Knows these keys and grades; the archive of an `.eval` is `json_archive`'s.
"""

from collections.abc import Iterator
from typing import Any, Final

from board.errors import RowRefused
from board.formats.aliases import set_of
from board.formats.common_fields import given, rewarded, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.row_reader import number_in
from board.formats.validation import nested, objects, spoken
from board.sources.json_record import Record, as_text

NAME: Final = "inspect_ai"
FAMILY: Final = "inspect_ai"

_GRADES: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partly correct, and no answer."""

_PLACED: Final = set_of(
    "id epoch input target messages output scores metadata events attachments store choices events_data model_usage"
    " role_usage error uuid files setup sandbox timelines"
)
"""Fields of a sample that are mapped one by one, or tell of each event once more."""

_ATTACHED: Final = "attachment://"
_MOST_ATTACHED: Final = 64_000_000
"""Characters of attachments that are put in their places in one sample."""


def recognise(head: Head) -> bool:
    """Whether a record says of which task an evaluation is, and how it ended or that it began."""
    return any(
        isinstance(record.get("eval"), dict) and "task" in record["eval"] and ("status" in record or "plan" in record)
        for record in head.records
    )


def rollouts(record: Record, place: Place) -> Iterator[Record | RowRefused]:
    """Every sample of a log; for one that is not as it should be the reason."""
    return _rollouts(objects(record, "samples"), nested(record, "eval"), place)


def _rollouts(samples: list[Record], about: Record, place: Place) -> Iterator[Record | RowRefused]:
    for at, sample in enumerate(samples, 1):
        try:
            yield _rollout(sample, about, place)
        except RowRefused as error:
            yield RowRefused(f"sample {at:,}: {error}")


def _rollout(sample: Record, about: Record, place: Place) -> Record:
    messages, question = (_Attachments(sample).placed(sample.get(key)) for key in ("messages", "input"))
    output = nested(sample, "output")
    said = spoken(messages, "messages") if messages else (question, output.get("completion") or "")
    name = f"{as_text(about.get('task'))}/{as_text(sample.get('id'))}"
    target, error = sample.get("target"), nested(sample, "error")
    return {
        **given(**{key: value for key, value in sample.items() if key not in _PLACED and value not in ({}, [])}),
        **{f"metadata.{key}": value for key, value in nested(sample, "metadata").items() if value is not None},
        **_scored(nested(sample, "scores")),
        **step_and_split(place.name, split="evaluation"),
        **given(group_id=name, prompt_id=name, sample_id=sample.get("epoch"), data_source=about.get("task")),
        **given(model=about.get("model"), error=error.get("message"), stop_reason=_stop_reason(output)),
        **given(ground_truth=target[0] if isinstance(target, list) and len(target) == 1 else target),
        **{f"usage.{key}": value for key, value in nested(output, "usage").items() if value is not None},
        "prompt": said[0],
        "response": said[1],
    }


def _stop_reason(output: Record) -> Any:
    return next((choice.get("stop_reason") for choice in objects(output, "choices")), None)


def _scored(scores: Record) -> Record:
    """The first scorer's value as the reward, every scorer's as a part where there are several; grades as numbers."""
    values = {name: _graded(score.get("value") if isinstance(score, dict) else score) for name, score in scores.items()}
    first = rewarded(next(iter(values.values()), None))
    parts = {
        f"reward.{name}.{key}": one for name, value in values.items() if isinstance(value, dict) for key, one in value.items()
    }
    parts |= {
        f"reward.{name}": value for name, value in values.items() if len(values) > 1 and not isinstance(value, (dict, list))
    }
    said = {
        f"{key}.{name}" if len(scores) > 1 else key: score[key]
        for name, score in scores.items()
        for key in ("answer", "explanation")
        if isinstance(score, dict) and score.get(key) is not None
    }
    return {**said, **given(reward=first.get("reward")), **parts}


def _graded(value: Any) -> Any:
    """A grade, or each in an object or a list, as a number; any other text as it is."""
    if isinstance(value, dict):
        return {key: _graded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [*map(_graded, value)]
    number = _GRADES.get(value, number_in(value)) if isinstance(value, str) else None
    return value if number is None else number


class _Attachments:
    """The long texts and images of a sample, which its messages refer to."""

    def __init__(self, sample: Record) -> None:
        self._by_name, self._left = nested(sample, "attachments"), _MOST_ATTACHED

    def placed(self, value: Any) -> Any:
        """The value with each reference replaced by what it stands for, as far as that is not too much."""
        if not self._by_name:
            return value
        if isinstance(value, list):
            return [*map(self.placed, value)]
        if isinstance(value, dict):
            return {key: self.placed(one) for key, one in value.items()}
        text = (
            self._by_name.get(value.removeprefix(_ATTACHED)) if isinstance(value, str) and value.startswith(_ATTACHED) else None
        )
        if not isinstance(text, str) or len(text) > self._left:
            return value
        self._left -= len(text)
        return text


def note(head: Head) -> str:
    """Which reward this is, and where the step is from."""
    return f"The reward is the first scorer's: C counts as 1, P as 0.5, I and N as 0. {step_note(head.name)}".strip()
