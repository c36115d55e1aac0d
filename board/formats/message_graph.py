"""A graph of messages, each with the tokens it adds → its branches: the prompt, what was sampled, and the numbers per token.

A conversation is a path from a root to a leaf; several leaves are several conversations with a common beginning. Knows the nodes that
verifiers writes.
"""

from typing import Any, Final

from board.errors import RowRefused
from board.formats.chat import parted
from board.formats.common_fields import given
from board.formats.masking import cut, response_span, spread
from board.formats.renaming import list_or_none
from board.formats.row_reader import shown
from board.formats.validation import as_long, nested
from board.sources.json_record import Record
from board.text.counting import plural

_PER_SAMPLED: Final = {
    "logprobs": "rollout_logprobs",
    "trainer_logprobs": "logprobs",
    "reference_logprobs": "ref_logprobs",
    "advantages": "advantages",
    "entropies": "entropies",
    "is_masked": "is_masked",
}
"""Fields of a node that hold one number per sampled token, and their names here."""


def branches(nodes: list[Record]) -> list[Record]:
    """What each branch says, under our names: prompt, response and, where there are tokens, ids, mask and arrays of the response.

    Branches in which nothing was sampled count only where there is no other. Raises RowRefused naming the node and its field.
    """
    known = paths(nodes)
    sampled = [path for path in known if any(nodes[at].get("sampled") for at in path)]
    return [{**_said(nodes, path), **_tokens(nodes, path)} for path in sampled or known]


def paths(nodes: list[Record]) -> list[list[int]]:
    """For each leaf, in their order, the nodes from its root to it, by their place in the list."""
    found: list[list[int]] = []
    for at, node in enumerate(nodes):
        parent = node.get("parent")
        if parent is not None and (not isinstance(parent, int) or not 0 <= parent < at):
            raise RowRefused(f"`nodes[{at}].parent` is {shown(parent)}, which is no node before it")
        found.append([at] if parent is None else [*found[parent], at])
    inner = {node.get("parent") for node in nodes}
    return [path for path in found if path[-1] not in inner]


def _said(nodes: list[Record], path: list[int]) -> Record:
    """Prompt and response as text: before the first sampled message, and from it on."""
    messages = [nested(nodes[at], "message") for at in path]
    wordless = next((at for at, message in zip(path, messages, strict=True) if "role" not in message), None)
    if wordless is not None:
        raise RowRefused(f"`nodes[{wordless}].message` has no `role`")
    first = next((turn for turn, at in enumerate(path) if nodes[at].get("sampled")), len(path))
    prompt, response = parted(messages, first)
    return {"prompt": prompt, "response": response}


def _tokens(nodes: list[Record], path: list[int]) -> Record:
    """Ids, mask and arrays of the response, which is what lies between the first and the last sampled token; {} without tokens."""
    masks = {at: _mask(nodes[at], at) for at in path}
    ids = [token for at in path for token in list_or_none(nodes[at], "token_ids") or []]
    if not ids:
        return {}
    mask = [sampled for at in path for sampled in masks[at]]
    first, stop = response_span(mask)
    arrays = {name: _array(nodes, masks, key) for key, name in _PER_SAMPLED.items()}
    aligned = {"response_token_ids": ids, "loss_mask": [int(sampled) for sampled in mask], **arrays, **_weights(nodes, path)}
    return {"prompt_token_ids": ids[:first] if stop else ids, **cut(aligned, first, stop)}


def _mask(node: Record, at: int) -> list[bool]:
    """Which tokens of a node were sampled; none of a node that does not say."""
    ids = list_or_none(node, "token_ids") or []
    mask = list_or_none(node, "mask") or [False] * len(ids)
    as_long(mask, len(ids), f"nodes[{at}].mask")
    return [bool(sampled) for sampled in mask]


def _array(nodes: list[Record], masks: dict[int, list[bool]], key: str) -> list[Any] | None:
    """A field over the whole branch, nothing at tokens that were not sampled; None when no node has it."""
    if not any(nodes[at].get(key) for at in masks):
        return None
    found: list[Any] = []
    for at, mask in masks.items():
        values = list_or_none(nodes[at], key) or [None] * sum(mask)
        placed = spread(list(values), mask)
        if placed is None:
            raise RowRefused(f"`nodes[{at}].{key}` has {plural(len(values), 'number')} for {plural(sum(mask), 'sampled token')}")
        found += placed
    return found


def _weights(nodes: list[Record], path: list[int]) -> Record:
    """The weights of each loss at every token, as `loss_weights.<loss>`."""
    weights = {at: nested(nodes[at], "loss_weights") for at in path}
    lengths = {at: len(list_or_none(nodes[at], "token_ids") or []) for at in path}
    found: Record = {}
    for name in dict.fromkeys(name for one in weights.values() for name in one):
        parts = {at: list_or_none(weights[at], name) or [None] * lengths[at] for at in path}
        for at, part in parts.items():
            as_long(part, lengths[at], f"nodes[{at}].loss_weights.{name}")
        found[f"loss_weights.{name}"] = [value for part in parts.values() for value in part]
    return given(**found)
