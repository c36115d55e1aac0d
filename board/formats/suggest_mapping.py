"""The best guess at a mapping, from the keys and values of a few records that no format knows.

Knows what trainers call things and of which type they are. The reader of the guess has the last word.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from board.formats.aliases import PER_TOKEN, PROMPT_TOKENS, SCALARS, in_english
from board.formats.chat import is_chat, is_sampled, turns
from board.formats.filename_hints import step_in, step_said
from board.formats.mapping import FILE, SAID, Constant, FromPath, HandMapping, Key, Source
from board.formats.mapping_file import quoted, write
from board.formats.reward_key import is_number, is_reward, is_verdict, perhaps_reward, rewards_in, scores_of_others
from board.formats.row_reader import as_alternatives, as_array
from board.formats.sampled_key import (
    Columns,
    Sampled,
    Values,
    as_long,
    columns_of,
    differs,
    every,
    find,
    holds_text,
    is_input,
    is_reference,
    lengths_of,
    parts_of,
    spread,
)
from board.formats.token_names import IDS as RESPONSE_IDS
from board.formats.token_names import PROMPT_IDS
from board.schema import ALTERNATIVES, TOKEN_METRICS, TOKENS
from board.sources.json_record import Record
from board.text.counting import plural

_SPLITS: Final = ("train", "val", "eval", "test")


def guess(records: Sequence[Record], name: str = "", around: Mapping[str, Source] = MappingProxyType({})) -> str:
    """The text of a mapping for records like these, from a file of that path, fit for `board.formats.mapping_file.parse`; empty where
    nothing looks like what the policy sampled. `around` says where fields are from that the records lack. Says at the end what is unused."""
    columns: Columns = columns_of(records)
    said = find(columns)
    of_prompt: Columns = {}
    if said:  # what comes without a response, as in the line of sums above a file's rows, is of no rollout
        rows = [at for at, value in enumerate(columns[said.path]) if value is not None]
        columns = {path: [values[at] for at in rows] for path, values in columns.items()}
    if said and said.each:
        lengths = lengths_of(columns[said.path])
        of_prompt = {path: values for path, values in columns.items() if not as_long(values, lengths)}
        columns = spread(columns, said.path)
    of_prompt = {**of_prompt, **{path: columns[path] for path in (scores_of_others(columns, said.path) if said else ())}}
    arrays, whole_sequence = _arrays({path: values for path, values in columns.items() if said is None or path != said.path})
    if said is None and not any(ours in arrays for ours in SAID):
        return ""
    fields = {
        **_scalars(columns, name, {*arrays.values()}, said, of_prompt),
        **{ours: Key(path) for ours, path in arrays.items()},
    }
    fields |= {ours: source for ours, source in around.items() if fields.get(ours) in (None, Constant(0))}
    nearest = sorted(columns, key=lambda path: said is None or path.rpartition(".")[0] != said.path.rpartition(".")[0])
    left = {path: columns[path] for path in nearest if Key(path) not in fields.values() and path not in of_prompt}
    rewards = [] if "reward" in fields else rewards_in(left)
    parts = tuple((path, 1.0) for path in rewards) if len(rewards) > 1 else ()
    fields.update({"reward": Key(rewards[0])} if len(rewards) == 1 else {})
    mapping = HandMapping(fields, parts, whole_sequence, each="response" if said and said.each else "")
    used = {source.path for source in fields.values() if isinstance(source, Key)} | {path for path, _ in parts}
    return "\n".join(
        [
            *_head(mapping, len(records), said, [] if rewards or "reward" in fields else perhaps_reward(left)),
            write(mapping).rstrip("\n"),
            *_tail(path for path in columns if path not in used),
        ]
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or is_chat(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_whole, value))


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "step": lambda value: _is_whole(value) or (isinstance(value, str) and step_said(value) is not None),
    "prompt": _is_text,
    "ref_response": _is_text,
    **dict.fromkeys(("reward", "ref_reward"), is_reward),
    "ground_truth": lambda value: not isinstance(value, dict | bool),
    "split": lambda value: isinstance(value, str) and value.startswith(_SPLITS),
    TOKENS: lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    RESPONSE_IDS: _is_ids,
    PROMPT_IDS: _is_ids,
    ALTERNATIVES: lambda value: isinstance(value, list) and any(as_alternatives(item) is not None for item in value),
    **dict.fromkeys(
        ("group_id", "prompt_id", "sample_id", "data_source", "rank"), lambda value: isinstance(value, str) or _is_whole(value)
    ),
    **dict.fromkeys(TOKEN_METRICS, lambda value: as_array(value) is not None),
}


def _stands_at_end(path: str, alias: str) -> bool:
    return f".{path}".endswith((f".{alias}", f".{alias}.text", f".{alias}.content", f".{alias}.raw"))


def _spelled(path: str) -> str:
    """A path as most trainers would write it: `Total Reward` and `totalReward` are `total_reward`, and `a/b` is `a.b`."""
    return re.sub("[ _-]+|(?<=[a-z0-9])(?=[A-Z])", "_", in_english(path)).lower().replace("/", ".")


_PLACES: Final[tuple[Callable[[str, str], bool], ...]] = (
    lambda path, alias: path == alias,
    _stands_at_end,
    lambda path, alias: _spelled(path) == alias,
    lambda path, alias: _stands_at_end(_spelled(path), alias),
)
"""Where an alias may stand, the likeliest first: the key itself, the end of a path or the object that a text lies in; then spelled otherwise."""


def _choose(ours: str, aliases: Sequence[str], columns: Columns) -> str | None:
    """The likeliest path for one of our names, among those whose values are of its type."""
    paths = [path for path, values in columns.items() if every(values, _FITS[ours])]
    found = (path for stands in _PLACES for alias in aliases for path in paths if stands(path, alias))
    return next(found, None)


def _scalars(columns: Columns, name: str, taken: set[str], said: Sampled | None, of_prompt: Columns) -> dict[str, Source]:
    """What has one value per rollout; each key is used once. What is of the prompt alone, or of another text, is no reward."""
    apart = taken | ({said.path, *(path for path in columns if _is_form(path, said.path))} if said else set())
    left = {
        path: values
        for path, values in columns.items()
        if path not in apart and any(value not in ("", [], "None") for value in values)
    }
    fields: dict[str, Source] = {}
    prompts: Values = [is_chat(value) and turns(value)[0] for value in columns[said.path]] if said and said.has_prompt else []
    for ours, aliases in (*SCALARS.items(), (PROMPT_IDS, PROMPT_TOKENS)):
        if ours == "response":
            fields.update({"response": Key(said.path)} if said else {})
            continue
        if ours == "ref_reward" and "ref_response" not in fields:
            continue  # `base_score` alone may be the reward
        if said and ((ours == "prompt" and said.has_prompt) or (ours == "group_id" and said.each)):
            continue  # the conversation has it, or the row is the group
        may = {path: values for path, values in left.items() if ours != "reward" or path not in of_prompt}
        if ours in ("group_id", "prompt_id") and _repeat(prompts):  # what no two rows share names a row
            may = {path: values for path, values in may.items() if _repeat(values)}
        # a key that says so itself comes before one of which only what is around it does, as `meta.src`
        by_words = sorted(may, key=lambda one: not is_input(" ".join(parts_of(one)[-1])))
        fitting = [one for one in by_words if _may_be(ours, one, may[one])]
        path = _choose(ours, aliases, may) or next(iter(fitting), None)
        path = path and _rather(ours, path, may, fitting)
        if ours == "ground_truth" and said and said.each:
            path = path or _choose(ours, ("final_answer",), of_prompt)  # of several samples it is none's
        if ours == "prompt_id" and path is None:
            one = _choose(ours, _IDS, left)
            path = one if one and _come_again(left[one], prompts) else None
        if path is not None:
            fields[ours] = Key(path)
            prompts = left[path] if ours == "prompt" else prompts
            del left[path]
    if "step" not in fields:
        fields = {"step": Constant(0) if step_in(name) is None else FromPath(), **fields}
    return fields


_IDS: Final = ("id", "idx", "index")
"""Keys that name a sample, or its prompt."""


def _rather(ours: str, path: str, may: Columns, fitting: Sequence[str]) -> str:
    """The key that says more than the chosen one: inputs that differ below one instruction, `gold_answer` next to `answer`."""
    if ours == "prompt" and len({*map(str, may[path])}) == 1:
        return next((one for one in may if _asks(one, may[one]) and len({*map(str, may[one])}) > 1), path)
    if ours == "ground_truth":
        return next((one for one in fitting if parts_of(one)[-1][-1:] == parts_of(path)[-1][-1:]), path)
    return path


def _repeat(values: Values) -> bool:
    return len({*map(str, values)}) < len(values)


def _come_again(ids: Values, prompts: Values) -> bool:
    """Whether ids come more than once, each with one prompt: they name the prompts."""
    return len({*ids}) < len(prompts) and not differs(prompts, ids)


def _may_be(ours: str, path: str, values: Values) -> bool:
    """Whether a key that no alias names is one of ours by its words: the prompt, or the data set's own solution."""
    if ours == "prompt":
        ends_asking = every(values, lambda value: is_chat(value) and not is_sampled(value[-1]))
        is_text = holds_text(path, values) and ("*" not in path or every(values, _is_text))
        return (is_input(path) or ends_asking) and not is_reference(path) and is_text
    if ours != "ground_truth" or is_input(path) or is_verdict(path, values):
        return False
    last = parts_of(path)[-1]
    states = holds_text(" ".join(last), values) or (last[-1:] == ["answer"] and every(values, is_number))
    return is_reference(path) and "rejected" not in last and states


def _asks(path: str, values: Values) -> bool:
    """Whether the last word of a key is one for a prompt, and texts stand there."""
    return parts_of(path)[-1][-1:] in [[word] for word in SCALARS["prompt"]] and holds_text(path, values)


def _is_form(path: str, said: str) -> bool:
    """Whether a key is that of the response but for a word of its form: `solution` next to `raw_solution` is the policy's, too."""
    ours, other = parts_of(said)[-1], parts_of(path)[-1]
    return {*other} < {*ours} and {*ours} - {*other} <= {"raw", "full"}


def _arrays(columns: Columns) -> tuple[dict[str, str], bool]:
    """Our names of per-token lists → paths, of the length that most of them have; and whether they cover the prompt too."""
    lists = {path: values for path, values in columns.items() if every(values, lambda value: isinstance(value, list))}
    known = {ours: path for ours, aliases in PER_TOKEN.items() if (path := _choose(ours, aliases, lists)) is not None}
    lengths = Counter(tuple(lengths_of(lists[path])) for path in dict.fromkeys(known.values()))
    if not lengths:
        return {}, False
    common = lengths.most_common(1)[0][0]
    alike = {path: values for path, values in lists.items() if _agree(lengths_of(values), common)}
    chosen: dict[str, str] = {}
    for ours, aliases in PER_TOKEN.items():
        path = _choose(ours, aliases, {path: values for path, values in alike.items() if path not in chosen.values()})
        chosen.update({} if path is None else {ours: path})
    masks = lists[chosen["loss_mask"]] if "loss_mask" in chosen else []
    return chosen, any(mask and not mask[0] for mask in masks)


def _agree(some: Sequence[int | None], others: Sequence[int | None]) -> bool:
    """Whether two lists have the same length in every record that has both."""
    return all(one == other or None in (one, other) for one, other in zip(some, others, strict=True))


def _head(mapping: HandMapping, count: int, said: Sampled | None, perhaps: Sequence[str]) -> list[str]:
    """What the reader of the guess must know first."""
    lines = [f"# A guess from {plural(count, 'record')}: check it, then save it next to the run as {FILE}."]
    if said is not None and said.why:
        lines.append(f"# No key is called as a response is: it is taken from {said.why}.")
    if mapping.each:
        lines.append("# A row holds a list of samples: each is a rollout, and the row is their group if they share a prompt.")
    if mapping.fields["step"] == Constant(0):
        lines.append(
            '# Nothing looks like a step, as no date does, and no number of a file of one row: write step = "<key>" if there is one.'
        )
        lines += [f"# {sentence}" for sentence in [mapping.one_step()] if sentence]
    lines += [f"# No key is called as a reward is: write reward = {quoted(path)} if that is one." for path in perhaps]
    if mapping.reward_parts:
        lines.append("# No key holds the whole reward: it is the sum of its parts, whose weights may have to be set.")
    return lines


def _tail(unused: Iterator[str]) -> list[str]:
    """The keys that keep their own names."""
    names = [quoted(path) for path in unused]
    return ["", f"# Read under their own names: {', '.join(names)}", ""] if names else [""]
