"""Which tokens are padding, and what is left of texts and tokens without it.

Padding is the trainer's: it stands at the ends of a prompt or a response, and the policy did not sample it. Needs no library, so that the
recorder can ask too.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Final, NamedTuple

COMMON_PADS: Final = frozenset(
    (
        *("<pad>", "<PAD>", "[PAD]", "[pad]", "<|pad|>", "<|PAD|>", "<|padding|>", "<|pad_token|>", "<|PAD_TOKEN|>"),
        *("<｜▁pad▁｜>", "<|finetune_right_pad_id|>", "<|fim_pad|>", "<|vision_pad|>", "<unused_pad>"),
    )
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
"""End tokens that some tokenizers also pad with: the first one ends the response, unless it was cut off; those directly behind it pad it."""

_ENDINGS: Final = (
    *("endoftext", "end▁of▁sentence", "end_of_text", "im_end", "eot_id", "eom_id", "eot", "eos", "eod", "end", "return"),
    *("endofturn", "end_of_turn", "end_of_sentence"),
)
ALL_ENDS: Final = (
    END_TOKENS | {"<EOS>", "<end_of_text>", "[EOS]", "[eos]"} | {f"<{bar}{name}{bar}>" for bar in "|｜" for name in _ENDINGS}
)
"""End tokens of all tokenizers that are known, those that pad nothing, too."""

SPECIAL: Final = re.compile(r"<[|｜][^<>|｜\s]{1,40}[|｜]>")
"""How most tokenizers write tokens that are no text."""
LEAST_ENDS: Final = 3
OFTEN: Final = 0.01
"""So many responses, and such a share of a part's, must end with a token for it to be an end token that no setting names."""

REASONS: Final = ("finish_reason", "stop_reason")
"""Fields of why a response ended."""
CUT_REASONS: Final = frozenset({"length", "max_tokens", "max_length", "max_new_tokens", "truncated", "MAX_TOKENS"})
"""What engines call the limit of length."""


class Fields(NamedTuple):
    """What of a record may be padded, by the keys of its fields."""

    texts: tuple[str, ...]
    prompts: tuple[str, ...]
    """Those of `texts` that the policy was given."""
    response: str
    """The one that it wrote, whose tokens the record may hold."""
    tokens: str
    mask: str
    per_token: frozenset[str]
    """Those that hold an entry for each token, whatever it is; any other list of numbers may, too."""
    prompt_ids: str


class Ends(NamedTuple):
    """What decides whether an end token behind a response is the policy's or pads."""

    mask: Any = None
    is_cut: bool = False
    """Whether the response was cut off."""
    entries: int = -1
    """Length of the longest per-token array other than the tokens; -1 where there is none."""
    are_trained: bool = False
    """Whether the loss mask trains on end tokens somewhere in the run."""

    def trained(self, at: int) -> bool:
        """Whether the token at a place is trained on."""
        is_list = hasattr(self.mask, "__len__") and getattr(self.mask, "ndim", 1) == 1
        return bool(is_list and 0 <= at < len(self.mask) and self.mask[at] != 0)

    def is_own(self, at: int, start: int, size: int) -> bool:
        """Whether the policy wrote the end token at a place, the first of those behind a response that begins at `start`, of `size` tokens."""
        has_no_entry = self.entries == at - start and at + 1 < size
        return self.trained(at) or not (self.is_cut or has_no_entry or (self.are_trained and self.trained(at - 1)))


class Span(NamedTuple):
    """Which of a response's tokens are left without padding, and what follows from them for its text."""

    start: int
    stop: int
    """Behind the last of them."""
    trained: bool = False
    """Whether an end token behind another one stays because it is trained on."""
    may_end: bool = True
    """Whether an end token at the end of the text may be the policy's."""
    first: str = ""
    last: str = ""
    """Their first and their last character, which may be white space; empty where those of the text may differ."""


@lru_cache(maxsize=16)
def token_names(pads: frozenset[str]) -> frozenset[str]:
    """Pads as tokens are called: one that is a number is a token id, which is shown with a space before it."""
    return pads | {f" {pad}" for pad in pads if pad.isdecimal()}


@lru_cache(maxsize=16)
def _ids(pads: frozenset[str]) -> frozenset[int]:
    """Those of the pads that are token ids."""
    return frozenset(int(pad) for pad in pads if pad.isdecimal())


@lru_cache(maxsize=16)
def _in_texts(pads: frozenset[str]) -> tuple[str, ...]:
    """Pads as they stand in a text, longest first: an id does not."""
    return tuple(sorted((pad for pad in pads if not pad.isdecimal()), key=len, reverse=True))


_ENDS: Final = tuple(sorted(END_TOKENS, key=len, reverse=True))

_BLANKS: Final = " \t\n\r\v\fĠĊĉč▁"
"""White space as texts and vocabularies write it."""


@lru_cache(maxsize=16)
def _edges(pads: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """What pads and end tokens begin with, and what they end with: a character each."""
    return frozenset(one[0] for one in (*pads, *_ENDS)), frozenset(one[-1] for one in (*pads, *_ENDS))


def span(tokens: Sequence[object], pads: frozenset[str], ends: Ends = Ends()) -> Span:  # noqa: B008
    """What is left of a response's tokens: all but the pads at both ends, and but the end tokens behind the policy's own, if it has one.

    An end token of another kind behind an end token is no padding where it is trained on.
    """
    names = token_names(pads)
    stop = at = len(tokens)
    ending = ""
    limited = False
    while at:
        token = str(tokens[at - 1])
        is_end = token in END_TOKENS
        if is_end and ending not in ("", token) and ends.trained(stop - 1):
            limited = True
            break
        if not is_end and token not in names:
            break
        while at and str(tokens[at - 1]) == token:
            at -= 1
        if is_end:
            stop, ending = at + 1, token
    start = 0
    while start < (stop if ending else at) and str(tokens[start]) in names:
        start += 1
    may_end = ends.is_own(stop - 1, start, len(tokens)) if ending else not ends.is_cut
    stop = stop if ending and may_end else at
    ends_of_text = [str(tokens[place]) for place in (start, stop - 1)] if start < stop else ["", ""]
    are_ids = all(str(one).strip().isdecimal() for one in tokens)
    first, last = ("" if one in END_TOKENS or are_ids else one for one in ends_of_text)
    may_end = may_end and not last  # what the tokens do not end with pads the text
    return Span(start, max(start, stop), limited, may_end, first[:1].replace("▁", "_"), last.replace("<0x0A>", "\n")[-1:])


_UNKNOWN: Final = Span(0, 0)
_CUT: Final = Span(0, 0, may_end=False)


def stripped(text: str, pads: frozenset[str], own: Span = _UNKNOWN, *, prompt: bool = False) -> str:
    """A text without the pads at both ends, as the span `own` of its tokens, and without the white space that is the padding's.

    In front of a `prompt` end tokens pad, too: no prompt begins with one.
    """
    if not _may_be_padded(text, pads):
        return text
    known = _in_texts(pads)
    start = _front(text, (*known, *_ENDS) if prompt else known)
    stop = _back(text, start, known, own)
    if stop - start == len(text):
        return text
    before, behind = _joining(text[:start].strip(), own.first), _joining(text[stop:].strip(), own.last)
    inner = text[start:stop].lstrip() if before is None else text[start:stop].removeprefix(before)
    return inner.rstrip() if behind is None else inner.removesuffix(behind)


def _may_be_padded(text: str, pads: frozenset[str]) -> bool:
    """Whether a text begins or ends, but for white space, as a pad or an end token does: of most one character shows that it does not."""
    firsts, lasts = _edges(_in_texts(pads))
    bare = text.strip()
    return bare[:1] in firsts or bare[-1:] in lasts


def _are_whole(tokens: Sequence[object], mask: Any, pads: frozenset[str]) -> bool:
    """Whether the ends of a response's tokens show that none of them is padding: no pad, and no end token but one that is trained on."""
    names = token_names(pads)
    if not tokens or str(tokens[0]) in names or str(tokens[-1]) in names:
        return not tokens
    if str(tokens[-1]) not in END_TOKENS:
        return True
    alone = len(tokens) == 1 or not (str(tokens[-2]) in END_TOKENS or str(tokens[-2]) in names)
    return alone and Ends(mask).trained(len(tokens) - 1)


def _joining(padding: str, neighbour: str) -> str | None:
    """The white space between padding and the text that is the padding's: what joins pads; None for all, where
    `neighbour`, the character next to it in the tokens, is none."""
    if padding and neighbour not in _BLANKS:
        return None
    between = re.search(r"\s+", padding)
    return between[0] if between else ""


def _front(text: str, pads: tuple[str, ...]) -> int:
    """Where a text begins behind the pads in front of it."""
    return len(text) - len(_leading(pads).sub("", text, 1))


@lru_cache(maxsize=16)
def _leading(pads: tuple[str, ...]) -> re.Pattern[str]:
    """What pads in front of a text are, longest first."""
    return re.compile(rf"(?:\s*+(?:{'|'.join(map(re.escape, pads)) or '(?!)'}))*+")


def _back(text: str, start: int, pads: tuple[str, ...], own: Span) -> int:
    """Where a text that begins at `start` ends before the pads behind it."""
    stop = at = len(text)
    ending = ""
    may_end = own.may_end or _ends_otherwise(text, start, (*pads, *_ENDS), own.last)
    while True:
        end = at
        while end > start and text[end - 1].isspace():
            end -= 1
        is_end = text.endswith(_ENDS, start, end)
        if not is_end and not text.endswith(pads, start, end):
            return stop
        token = next(one for one in (_ENDS if is_end else pads) if text.endswith(one, start, end))
        if is_end and own.trained and ending not in ("", token):
            return stop
        alone = at == len(text)
        at = end - len(token)
        while text.endswith(token, start, at):
            end, at, alone = at, at - len(token), False
        if is_end and may_end:
            stop = stop if alone else end  # white space behind the only end token stays
            ending = token
        elif not ending:
            stop = at


def _ends_otherwise(text: str, start: int, padding: tuple[str, ...], of_tokens: str) -> bool:
    """Whether a text without its padding ends with another character than its tokens do: then the tokens do not show what pads it.

    Of bytes it cannot be seen.
    """
    if not of_tokens.isascii() or not of_tokens.strip():
        return False
    end = len(text)
    while True:
        while end > start and text[end - 1].isspace():
            end -= 1
        token = next((one for one in padding if text.endswith(one, start, end)), "")
        if not token:
            return end > start and text[end - 1].isascii() and text[end - 1] != of_tokens
        end -= len(token)


def marks(tokens: Sequence[object], pads: frozenset[str]) -> list[bool]:
    """Which tokens are pads, wherever they stand."""
    names = token_names(pads)
    return [token in names for token in tokens]


def unpadded(record: dict[str, Any], pads: frozenset[str], fields: Fields, *, trains_ends: bool = False) -> dict[str, Any]:
    """A record without the padding of its texts and tokens; entries of removed tokens go with them. The record itself where nothing pads.

    `trains_ends` is whether the loss mask trains on end tokens somewhere in its run.
    """
    changed: dict[str, Any] = {}
    tokens, response = record.get(fields.tokens), record.get(fields.response)
    listed = tokens if isinstance(tokens, list) else _implied_tokens(response, record.get(fields.mask), pads)
    ids = _ids(pads)
    texts = [(name, text) for name in fields.texts if isinstance(text := record.get(name), str)]
    if not ids and _are_whole(listed, record.get(fields.mask), pads) and not any(_may_be_padded(text, pads) for _, text in texts):
        return record
    has_end = isinstance(response, str) and response[-40:].rstrip().endswith(_ENDS)
    ends = Ends()
    if has_end or (listed and str(listed[-1]) in (token_names(pads) | END_TOKENS)):
        held = (record[name] for name in fields.per_token & record.keys())
        sizes = [len(one) for one in held if hasattr(one, "__len__") and getattr(one, "ndim", 1) == 1]
        ends = Ends(record.get(fields.mask), is_cut(record), max(sizes, default=-1), trains_ends)
    own = span(listed, pads, ends)
    if own.stop - own.start < len(listed):
        changed = {name: cut(name, value, len(listed), own, fields) for name, value in record.items()}
    for name, text in texts:
        changed[name] = stripped(text, pads, own if name == fields.response else _UNKNOWN, prompt=name in fields.prompts)
    if ids and isinstance(prompt_ids := record.get(fields.prompt_ids), list):
        changed[fields.prompt_ids] = _without_ids(prompt_ids, ids)
    return record if all(value is record[name] for name, value in changed.items()) else {**record, **changed}


def _implied_tokens(text: Any, mask: Any, pads: frozenset[str]) -> list[str]:
    """The tokens of a response that came without any, as far as padding needs them: the pads that its text has at its ends, and as many
    nameless ones between them as the loss mask has entries; none where the two disagree on the padding."""
    if not isinstance(text, str) or not hasattr(mask, "__len__") or not _may_be_padded(text, pads):
        return []
    names = (*_in_texts(pads), *_ENDS)
    start = _front(text, names)
    stop = _back(text, start, names, _CUT)
    before, behind = (re.findall("|".join(map(re.escape, names)), part) for part in (text[:start], text[stop:]))
    first, last = len(before), len(mask) - len(behind)
    agree = first < last and mask[first] != 0 and mask[last - 1] != 0 and not any(mask[:first]) and not any(mask[last + 1 :])
    return [*before, *[""] * (last - first), *behind] if agree else []


def is_cut(record: Mapping[str, Any]) -> bool:
    """Whether a record says that its response was cut off: by `truncated`, else by why it ended."""
    truncated = record.get("truncated")
    if not hasattr(truncated, "__len__") and truncated in (0, 1):
        return bool(truncated == 1)
    return any(isinstance(reason := record.get(name), str) and reason in CUT_REASONS for name in REASONS)


def cut(name: str, value: Any, size: int, own: Span, fields: Fields) -> Any:
    """What a record of `size` tokens has under a name, without the entries of padding where it has one for each token.

    A list that has none for the padding, or not for all of it at the end, keeps those of the tokens. What is of another length is left as it is.
    """
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) != 1:
        return value
    if name not in fields.per_token and name != fields.tokens:
        others = isinstance(value, list) and any(isinstance(one, str | list | dict) for one in value[:1])
        if others or len(value) != size or name in (*fields.texts, fields.prompt_ids):
            return value
    return value[own.start : own.stop] if own.stop <= len(value) <= size else value


def _without_ids(ids: list[Any], pads: AbstractSet[int]) -> list[Any]:
    start, stop = 0, len(ids)
    while start < stop and isinstance(ids[start], int) and ids[start] in pads:
        start += 1
    while stop > start and isinstance(ids[stop - 1], int) and ids[stop - 1] in pads:
        stop -= 1
    return ids if stop - start == len(ids) else ids[start:stop]
