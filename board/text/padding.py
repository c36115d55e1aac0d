"""Which tokens are padding, and what is left of texts and tokens without it. Knows neither rows nor files.

Padding is the trainer's: it stands at the ends of a prompt or a response, and the policy did not sample it. Needs no library, so that the
recorder can ask too.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Final, NamedTuple

COMMON_PADS: Final = frozenset(
    {
        "<pad>",
        "<PAD>",
        "[PAD]",
        "[pad]",
        "<|pad|>",
        "<|PAD|>",
        "<|padding|>",
        "<|pad_token|>",
        "<|PAD_TOKEN|>",
        "<｜▁pad▁｜>",
        "<|finetune_right_pad_id|>",
        "<|fim_pad|>",
        "<|vision_pad|>",
        "<unused_pad>",
    }
)
"""Tokens that only ever pad: T5/Llama, BERT, Phi, DeepSeek, Llama 3, Qwen as Unsloth trains it, and their like."""

END_TOKENS: Final = frozenset(
    {
        "<|endoftext|>",
        "<|im_end|>",
        "</s>",
        "<eos>",
        "<|eot_id|>",
        "<EOD>",
        "<|end_of_text|>",
        "<end_of_turn>",
        "<｜end▁of▁sentence｜>",
    }
)
"""End tokens that some tokenizers also pad with: the first one ends the response, those directly behind it pad it."""

_ENDINGS: Final = (
    *("endoftext", "end▁of▁sentence", "end_of_text", "im_end", "eot_id", "eom_id", "eot", "eos", "eod", "end", "return"),
    *("endofturn", "end_of_turn", "end_of_sentence"),
)
ALL_ENDS: Final = (
    END_TOKENS | {"<EOS>", "<end_of_text>", "[EOS]", "[eos]"} | {f"<{bar}{name}{bar}>" for bar in "|｜" for name in _ENDINGS}
)
"""End tokens of all tokenizers that are known, those that pad nothing, too."""


class Fields(NamedTuple):
    """What of a record may be padded, by the keys of its fields."""

    texts: tuple[str, ...]
    prompts: tuple[str, ...]
    """Those of `texts` that the policy was given."""
    tokens: str
    mask: str
    per_token: frozenset[str]
    """Those that hold an entry for each token, whatever it is; any other list of numbers may, too."""
    prompt_ids: str


class Span(NamedTuple):
    """Which of a response's tokens are left without padding."""

    start: int
    stop: int
    """Behind the last of them."""
    trained: bool
    """Whether an end token behind another one was kept because it is trained on."""


@lru_cache(maxsize=16)
def token_names(pads: frozenset[str]) -> frozenset[str]:
    """Pads as tokens are called: one that is a number is a token id, which is shown with a space before it."""
    return pads | {f" {pad}" for pad in pads if pad.isdecimal()}


@lru_cache(maxsize=16)
def _in_texts(pads: frozenset[str]) -> tuple[str, ...]:
    """Pads as they stand in a text, longest first: an id does not."""
    return tuple(sorted((pad for pad in pads if not pad.isdecimal()), key=len, reverse=True))


_ENDS: Final = tuple(sorted(END_TOKENS, key=len, reverse=True))


@lru_cache(maxsize=16)
def _edges(pads: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """What pads and end tokens begin with, and what they end with: a character each."""
    return frozenset(one[0] for one in (*pads, *_ENDS)), frozenset(one[-1] for one in (*pads, *_ENDS))


def span(tokens: Sequence[object], pads: frozenset[str], trained: Callable[[int], bool] = lambda at: False) -> Span:
    """What is left of a response's tokens: all but the pads at both ends, and but the end tokens directly behind an end token.

    `trained` tells of a position whether the loss mask is not 0 there: an end token of another kind behind an end token is no padding then.
    """
    names = token_names(pads)
    stop = at = len(tokens)
    ending = ""
    limited = False
    while at:
        token = str(tokens[at - 1])
        is_end = token in END_TOKENS
        if is_end and ending not in ("", token) and trained(stop - 1):
            limited = True
            break
        if not is_end and token not in names:
            break
        at = _run_before(tokens, at)
        if is_end:
            stop, ending = at + 1, token
    if not ending:
        stop = at
    start = 0
    while start < stop and str(tokens[start]) in names:
        start += 1
    return Span(start, stop, limited)


def _run_before(tokens: Sequence[object], at: int) -> int:
    """Where the run of one token begins that ends before `at`."""
    token = tokens[at - 1]
    while at and tokens[at - 1] == token:
        at -= 1
    return at


def stripped(text: str, pads: frozenset[str], *, prompt: bool = False, trained: bool = False) -> str:
    """A text without the pads at both ends, as `span` of its tokens, without white space between pads; where they are joined
    by spaces, without that between them and the text.

    In front of a `prompt` end tokens pad, too: no prompt begins with one. `trained` is that of the tokens' span.
    """
    known = _in_texts(pads)
    firsts, lasts = _edges(known)
    first, last = text[:1], text[-1:]
    if first not in firsts and last not in lasts and not first.isspace() and not last.isspace():
        return text
    start = _front(text, (*known, *_ENDS) if prompt else known)
    return text[start : _back(text, start, known, trained)]


def _front(text: str, pads: tuple[str, ...]) -> int:
    """Where a text begins behind the pads in front of it."""
    start = at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(pads, at):
            return start + (" " in text[:start].strip() and text.startswith(" ", start))
        pad = next(pad for pad in pads if text.startswith(pad, at))
        while text.startswith(pad, at):
            at += len(pad)
        start = at


def _back(text: str, start: int, pads: tuple[str, ...], trained: bool) -> int:
    """Where a text that begins at `start` ends before the pads behind it."""
    stop = at = len(text)
    ending = ""
    while True:
        end = at
        while end > start and text[end - 1].isspace():
            end -= 1
        is_end = text.endswith(_ENDS, start, end)
        if not is_end and not text.endswith(pads, start, end):
            return stop - (" " in text[stop:].strip() and text.endswith(" ", start, stop))
        token = next(one for one in (_ENDS if is_end else pads) if text.endswith(one, start, end))
        if is_end and trained and ending not in ("", token):
            return stop
        alone = at == len(text)
        at = end - len(token)
        while text.endswith(token, start, at):
            end, at, alone = at, at - len(token), False
        if is_end:
            stop = stop if alone else end  # white space behind the only end token stays
            ending = token
        elif not ending:
            stop = at


def marks(tokens: Sequence[object], pads: frozenset[str]) -> list[bool]:
    """Which tokens are pads, wherever they stand."""
    names = token_names(pads)
    return [token in names for token in tokens]


def unpadded(record: dict[str, Any], pads: frozenset[str], fields: Fields) -> dict[str, Any]:
    """A record without the padding of its texts and tokens; what stands beside a token goes with it. The record itself where nothing pads."""
    changed: dict[str, Any] = {}
    trained = False
    tokens = record.get(fields.tokens)
    if isinstance(tokens, list) and tokens:
        kept = span(tokens, pads, trained_at(record.get(fields.mask)))
        trained = kept.trained
        if kept.stop - kept.start < len(tokens):
            changed = {name: cut(name, value, len(tokens), kept, fields) for name, value in record.items()}
    for name in fields.texts:
        if isinstance(text := record.get(name), str):
            asked = name in fields.prompts
            changed[name] = stripped(text, pads, prompt=asked, trained=trained and not asked)
    ids = {int(pad) for pad in pads if pad.isdecimal()}
    if ids and isinstance(asked_ids := record.get(fields.prompt_ids), list):
        changed[fields.prompt_ids] = _without_ids(asked_ids, ids)
    return record if all(value is record[name] for name, value in changed.items()) else {**record, **changed}


def trained_at(mask: Any) -> Callable[[int], bool]:
    """Whether a token is trained on, by its position, as a loss mask has it; none is where there is no mask."""
    is_list = hasattr(mask, "__len__") and getattr(mask, "ndim", 1) == 1
    return lambda at: bool(is_list and at < len(mask) and mask[at] != 0)


def cut(name: str, value: Any, size: int, kept: Span, fields: Fields) -> Any:
    """What a record of `size` tokens has under a name, without the entries of padding where it has one for each token.

    A list that has none for the padding, or not for all of it at the end, keeps those of the tokens. What is of another length is left as it is.
    """
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) != 1:
        return value
    if name not in fields.per_token and name != fields.tokens:
        others = isinstance(value, list) and any(isinstance(one, str | list | dict) for one in value[:1])
        if others or len(value) != size or name in (*fields.texts, fields.prompt_ids):
            return value
    return value[kept.start : kept.stop] if kept.stop <= len(value) <= size else value


def _without_ids(ids: list[Any], pads: AbstractSet[int]) -> list[Any]:
    start, stop = 0, len(ids)
    while start < stop and isinstance(ids[start], int) and ids[start] in pads:
        start += 1
    while stop > start and isinstance(ids[stop - 1], int) and ids[stop - 1] in pads:
        stop -= 1
    return ids if stop - start == len(ids) else ids[start:stop]
