"""A format made by hand: which of a run's keys are which of our names, for runs that no module knows.

Knows how to put what stands at a key under our names.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from board.errors import RowRefused
from board.formats.chat import as_messages, chat, is_chat, items_in, turns, with_thought
from board.formats.common_fields import given, rewarded
from board.formats.contract import Head, Place
from board.formats.filename_hints import split_in, step_in, step_said
from board.formats.json_paths import found, pruned, rows_at, rows_within
from board.formats.masking import cut, hide, response_span
from board.formats.renaming import mask, of_sample, renamed, total
from board.formats.row_reader import as_number, number_in, shown
from board.formats.token_names import IDS as RESPONSE_IDS
from board.formats.token_names import PROMPT_IDS
from board.formats.validation import split_at
from board.schema import ALTERNATIVES, NATIVE, TOKEN_METRICS, TOKENS
from board.sources.candidates import MAPPING
from board.sources.json_record import Record
from board.text.counting import plural

FILE: Final = MAPPING

NAMES: Final = (*(column.name for column in NATIVE), RESPONSE_IDS, PROMPT_IDS)
"""What may be mapped to."""

SAID: Final = ("response", TOKENS, RESPONSE_IDS)
"""Under one of these stands what the policy sampled."""

_STEP_KEY: Final = re.compile("(?:[^0-9.]*[^0-9.-]-?)?([0-9]{1,18})")
"""A key that is a step, or ends in one: neither a fraction, nor a negative number, nor the end of a longer one."""

_LOGPROBS: Final = ("logprobs", "ref_logprobs", "rollout_logprobs")
_PER_TOKEN: Final = (*TOKEN_METRICS, TOKENS, RESPONSE_IDS, ALTERNATIVES)


@dataclass(frozen=True)
class Key:
    """A value that stands in the record, at a path of keys with dots between them."""

    path: str


@dataclass(frozen=True)
class Constant:
    """A value that is the same in every row."""

    value: str | int | float


@dataclass(frozen=True)
class FromPath:
    """What the path of the file says: the step, or the split."""


Source = Key | Constant | FromPath


@dataclass
class HandMapping:
    """A format as `board.formats.contract` has it, whose fields the user declared."""

    fields: Mapping[str, Source]
    """Our name → where its value is from. `step` and one of `SAID` are there; nothing is where the file names pads alone."""
    reward_parts: tuple[tuple[str, float], ...] = ()
    """Paths of numbers and their weights; their sum is the reward."""
    whole_sequence: bool = False
    """Whether arrays cover prompt and response; then `loss_mask` says where the response is."""
    pads: tuple[str, ...] = ()
    """Tokens that pad in addition to the common ones, whatever the format."""
    rows: str = ""
    """Where the rows stand in a record that holds many; empty where it is one."""
    reward_values: Mapping[str, float] = field(default_factory=dict)
    """Rewards that are texts → the numbers they stand for."""
    each: str = ""
    """One of `SAID` whose list has an item per sample: each is a rollout, and the record is their group; empty where a record is one."""
    NAME: str = "mapping by hand"
    FAMILY: str = "mapping by hand"

    def recognise(self, head: Head) -> bool:
        """Whether a record has what the policy sampled where the mapping says it is."""
        paths = self._paths()
        rows = [row for record in head.records for row in self._rows(record)]
        return any(found(row, paths[name]) is not None for row in rows for name in SAID if name in paths)

    def rollouts(self, record: Record, place: Place) -> Iterable[Record | RowRefused]:
        """The rollouts in a record, for a row that is none the reason. Raises RowRefused naming the key as the run calls it."""
        return self._of_rows(record, place) if self.rows else self._rollouts(record, place)

    def _of_rows(self, record: Record, place: Place) -> Iterator[Record | RowRefused]:
        at = 0
        for at, row in enumerate(self._rows(record), 1):
            try:
                yield from self._rollouts(row, place, f":{at}")
            except RowRefused as error:
                yield RowRefused(f"row {at:,} of `{self.rows}` {error}")
        if not at:
            raise RowRefused(f"has no rows at `{self.rows}`; its keys are: {', '.join(key[:40] for key in list(record)[:12])}")

    def _rows(self, record: Record) -> Iterator[Record]:
        """The rows of a record; what is mapped, but not what was sampled, is from the objects around a row where it has none."""
        if not self.rows:
            yield record
            return
        paths = [path for name, path in self._paths().items() if name not in SAID] + [path for path, _ in self.reward_parts]
        for row, *around in rows_at(record, self.rows):
            outer = {path: value for path in paths for one in reversed(around) if (value := found(one, path)) is not None}
            yield {**{path: value for path, value in outer.items() if found(row, path) is None}, **row}

    def _rollouts(self, record: Record, place: Place, row: str = "") -> list[Record]:
        """The rollouts in a row: one, or one for each sample; `row` tags its position in its record. Where prompts are dealt out, too, they
        are the groups, or each has a list of samples."""
        if not self.each:
            return [self._rollout(record, place)]
        path = self._paths()[self.each]
        samples = found(record, path)
        if samples is None or (isinstance(samples, list) and samples and all(one is None for one in samples)):
            raise RowRefused(f"has no `{path}`")
        if not isinstance(samples, list) or not samples:
            raise RowRefused(f"`{path}` is {shown(samples)}, not a list of samples")
        prompts = found(record, self._paths().get("prompt", ""))
        by_prompt = isinstance(prompts, list) and len(prompts) == len(samples) and not is_chat(prompts)
        if by_prompt and self._are_lists(record, samples):
            dealt = (of_sample(record, at, len(samples)) for at in range(len(samples)))
            return [one for at, inner in enumerate(dealt, 1) for one in self._rollouts(inner, place, f"{row}:{at}")]
        named = "group_id" in self.fields or (by_prompt and any(one != prompts[0] for one in prompts))
        group = {} if named else {"group_id": f"{place.name}:{place.number}{row}"}
        return [
            {**group, **self._rollout(record, place, partial(of_sample, at=at, count=len(samples)), {self.each: sample})}
            for at, sample in enumerate(samples)
            if sample is not None
        ]

    def _are_lists(self, record: Record, samples: list[Any]) -> bool:
        """Whether what stands for each prompt is a list of samples: a list that has one reward holds the turns of one."""
        paths = [self._paths().get("reward", ""), *(path for path, _ in self.reward_parts)]
        rewards = [one for path in paths if isinstance(listed := found(record, path), list) for one in listed]
        return not any(as_number(one) is not None for one in rewards) and all(
            isinstance(one, list) and not is_chat(one) for one in samples
        )

    def _rollout(self, record: Record, place: Place, of: Callable[[Any], Any] = lambda value: value, said: Record = {}) -> Record:  # noqa: B006
        """The rollout in a record; `of` gives of a value what is one sample's, `said` is what was sampled where it is one of a list."""
        paths = self._paths()
        rollout = given(split=split_in(place.name)) | {name: self._value(name, record, place, of) for name in self.fields} | said
        self._check(rollout)
        if self.reward_parts:
            rewards = (self._part(of(found(record, path)), path, weight) for path, weight in self.reward_parts)
            rollout["reward"] = total(rewards)
        elif isinstance(self.fields.get("reward"), Key):
            tokens = rollout.get(TOKENS) or rollout.get(RESPONSE_IDS)
            rollout = {**rewarded(self._number(rollout.pop("reward")), tokens), **rollout}
        rollout.update(_conversation(rollout, paths))
        holder, _, key = paths.get("response", "").rpartition(".")
        around = of(found(record, holder.removesuffix(".*")) if holder else record)
        if isinstance(around, dict) and isinstance(rollout.get("response"), str) and not any(map(rollout.get, SAID[1:])):
            rollout["response"] = with_thought(around, key, rollout["response"])
        others = renamed(of(pruned(record, paths.values())), {}, NAMES)  # what is ours, the mapping says
        return {**others, **_trimmed(rollout, self.whole_sequence)}

    def note(self, head: Head) -> str:
        """Which mapped keys the first records lack, as a typing error would look, and that the reward is a sum."""
        paths = {**self._paths(), **{f"reward part {at}": path for at, (path, _) in enumerate(self.reward_parts, 1)}}
        rows = [row for record in head.records for row in self._rows(record)]
        lacking = [f"`{path}` ({name})" for name, path in paths.items() if all(found(one, path) is None for one in rows)]
        total = (
            f"The reward is the weighted sum of {', '.join(path for path, _ in self.reward_parts)}." if self.reward_parts else ""
        )
        missing = f"The first records have no {', no '.join(lacking)}." if lacking else ""
        texts = "reward" in paths and any(isinstance(found(one, paths["reward"]), str) for one in rows)
        listed = (
            ", ".join(f"{text} {number:g}" for text, number in self.reward_values.items()) or "true and yes 1, false and no 0"
        )
        read = f"The reward is a text, read as a number: {listed}." if texts else ""
        return " ".join(filter(None, (total, read, missing, self._unread(head), self.one_step())))

    def _unread(self, head: Head) -> str:
        """Which other lists of objects there are next to the rows."""
        if not self.rows or "*" in self.rows:
            return ""
        around = {path for record in head.records for path, _ in rows_within(record) if "*" not in path}
        unread = sorted(
            path for path in around if not f"{path}.".startswith(f"{self.rows}.") and not self.rows.startswith(f"{path}.")
        )
        return f"Lists that are not read: {', '.join(f'`{path}`' for path in unread[:8])}." if unread else ""

    def one_step(self) -> str:
        """What it means for groups that the step is the same in every file."""
        if not isinstance(self.fields.get("step"), Constant) or "group_id" in self.fields or self.each:
            return ""
        return "The mapping gives all rows one step: those of one prompt are a group, whichever files they are in."

    def _number(self, value: Any) -> Any:
        """A reward or a part of it as a number, where it is a text that stands for one; in an object or a list each for itself."""
        if isinstance(value, dict):
            return {key: self._number(one) for key, one in value.items()}
        if isinstance(value, list):
            return [*map(self._number, value)]
        if isinstance(value, str):
            number = self.reward_values.get(value.strip(), number_in(value))
            return value if number is None else number
        return self.reward_values.get(str(value).lower(), value) if isinstance(value, bool) else value

    def _part(self, value: Any, path: str, weight: float) -> float | None:
        value = self._number(value)
        number = as_number(value)
        if number is None and value is not None:
            raise RowRefused(f"`{path}` is {shown(value)}, not a number to sum")
        return None if number is None else weight * number

    def _paths(self) -> dict[str, str]:
        """Our names → paths, of those that are from the record."""
        return {name: source.path for name, source in self.fields.items() if isinstance(source, Key)}

    def _value(self, name: str, record: Record, place: Place, of: Callable[[Any], Any]) -> Any:
        source = self.fields[name]
        value: Any = step_in(place.name) if isinstance(source, FromPath) and name == "step" else None
        if isinstance(source, Key):
            value = of(found(record, source.path))
            if name == "step" and source.path == "*":  # a key of the object that holds the rows, such as "12" or "step_12"
                digits = _STEP_KEY.fullmatch(str(value))
                value = int(digits[1]) if digits else None
            elif name == "step" and isinstance(value, str) and (step := step_said(value)) is not None:
                value = step
        elif isinstance(source, Constant):
            value = source.value
        return _split(value, source, place) if name == "split" else value

    def _check(self, rollout: Record) -> None:
        """Raise RowRefused when there is no step or nothing was sampled."""
        if rollout["step"] is None:
            source = self.fields["step"]
            raise RowRefused(f"has no `{source.path}`, its step" if isinstance(source, Key) else "has a path that says no step")
        if all(rollout.get(name) is None for name in SAID):
            paths = self._paths()
            raise RowRefused(f"has no {' and no '.join(f'`{paths[name]}`' for name in SAID if name in paths)}, its response")


def _split(value: Any, source: Source, place: Place) -> str | None:
    if value is not None and not isinstance(value, str):
        raise RowRefused(
            f"`{source.path if isinstance(source, Key) else 'split'}` is {shown(value)}, not a word such as train or val"
        )
    return split_at(place, value)


def _conversation(rollout: Record, paths: Mapping[str, str]) -> Record:
    """Prompt and response out of messages: those before the policy's first are the prompt, unless the mapping has another. Of texts that are
    pieces of one response that response."""
    said = rollout.get("response")
    if (messages := as_messages(said)) is None:
        pieces = [*items_in([said])]
        return {"response": "\n\n".join(pieces)} if pieces and all(isinstance(one, str) for one in pieces) else {}
    prompt, response = turns(messages)
    if paths.get("prompt", paths["response"]) == paths["response"]:
        return {"prompt": prompt, "response": response}
    return {"response": chat(messages) if prompt else response}


def _trimmed(rollout: Record, whole_sequence: bool) -> Record:
    """A rollout whose arrays begin with the response, and whose masked tokens have no logprob."""
    if rollout.get("loss_mask") is None:
        return rollout
    sampled = mask(rollout, "loss_mask")
    arrays = {name: rollout[name] for name in _PER_TOKEN if isinstance(rollout.get(name), (list, np.ndarray))}
    odd = next((name for name, values in arrays.items() if whole_sequence and len(values) != len(sampled)), None)
    if odd is not None:
        raise RowRefused(
            f"`{odd}` has {plural(len(arrays[odd]), 'item')} and `loss_mask` {len(sampled):,}: it is unknown where the response is"
        )
    arrays |= {name: hide(arrays[name], sampled) for name in _LOGPROBS if name in arrays and len(arrays[name]) == len(sampled)}
    if not whole_sequence:
        return {**rollout, **arrays}
    first, stop = response_span(sampled)
    before = {PROMPT_IDS: arrays[RESPONSE_IDS][:first]} if RESPONSE_IDS in arrays else {}
    return {**before, **rollout, **cut(arrays, first, stop)}
