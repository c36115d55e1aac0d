"""The rows of benchmarks: what a model answered to an example, and the metrics of it, under our names.

An example may have several samples with one value of a metric for all of them. Knows the shapes that harnesses share.
"""

from collections.abc import Sequence
from typing import Any, Final

from board.formats.common_fields import given
from board.formats.row_reader import as_number
from board.schema import EVALUATION
from board.sources.json_record import Record, as_text

NOTE: Final = (
    "The reward is the first metric of a task, whatever it counts. Of multiple choice nothing was sampled: the response is the choice that "
    "the model found likeliest. Where an example has several samples, a metric is one number for all of them: it is a column of each, and "
    "no sample's reward."
)
"""What a reader must know of such rows."""


def sampled(said: Sequence[Any], metrics: Record, shared: Record) -> list[Record]:
    """A rollout per sample of an example; where there is one, the first metric is its reward, and every one a part where there are more."""
    numbers = {name: value for name, value in metrics.items() if as_number(value) is not None}
    others = {name: value for name, value in metrics.items() if name not in numbers and value is not None}
    if len(said) == 1:
        parts = {f"reward.{name}": value for name, value in numbers.items()} if len(numbers) > 1 else {}
        scored = given(reward=next(iter(numbers.values()), None)) | parts
    else:
        scored = {f"metrics.{name}": value for name, value in numbers.items()}
    common = {**{f"metrics.{name}": value for name, value in others.items()}, **shared, **scored, "split": EVALUATION}
    return [{**common, "response": one if isinstance(one, str) else as_text(one), "sample_id": at} for at, one in enumerate(said)]


def likeliest(choices: Sequence[Any], logprobs: Sequence[Any]) -> Any:
    """The choice with the largest log-probability; None where not each has one."""
    numbers = [as_number(one) for one in logprobs]
    if len(numbers) != len(choices) or not numbers or None in numbers:
        return None
    return choices[max(range(len(choices)), key=lambda at: numbers[at] or 0.0)]
