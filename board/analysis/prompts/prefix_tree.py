"""Prefix tree of a group's responses, with statistics of rewards at every fork.

A response is compared token by token, some tokens at a time, and no further than it shares its tokens with another: what is read grows with
what is shared, not with the square of the group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.stats.text_diff import words
from board.metrics.formulas import Float64Array
from board.text.token_decoding import Codec, bytes_of, codec_of_several

BLOCK: Final = 128
"""This many tokens of each response are compared at once."""
CODEC_RESPONSES: Final = 8
CODEC_TOKENS: Final = 4_000
"""At most this many responses, and this many tokens of each, are read to find the codec."""
_ENDED: Final = -1
"""Stands for a token after the last."""


@dataclass(frozen=True)
class Node:
    """Members that begin alike: the tokens from `start` to `stop` are common to them, then they part, or one is left, or they are the same.

    Members are places in the list of sequences.
    """

    parent: int
    """Its place in the tree; -1 of the root."""
    start: int
    stop: int
    members: NDArray[np.int64]
    """(n,) rising."""
    mean: float
    """Mean reward of the members; NaN where none has one."""
    gap: float
    """At a fork: largest less smallest mean of its branches; NaN where fewer than two have one."""
    share: float
    """At a fork: how much of the whole group's variance of rewards its branches explain, less what so many branches would by chance.

    ε² of a one-way analysis of variance, times the fork's share of the group's sum of squares; NaN where branches have one member each.
    """
    fork: bool
    ends: int
    """How many members end where the node does, while others go on."""


def build(sequences: Sequence[pa.Array], rewards: Float64Array, block: int = BLOCK) -> list[Node]:
    """The tree of the sequences, parents before their branches, larger branches first; empty without sequences.

    `sequences` are arrays of text, without nulls; `rewards` (n,) theirs, NaN where missing.
    """
    if not len(sequences):
        return []
    order, common = _ordered(sequences, block)
    lengths = np.array([len(one) for one in sequences], np.int64)
    return _nodes(order, common, lengths, rewards)


def _ordered(sequences: Sequence[pa.Array], block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Members so that those that begin alike stand together, and how many tokens each neighbours have in common, (n,) and (n − 1,)."""
    count = len(sequences)
    order, common = np.arange(count), np.full(max(0, count - 1), -1, np.int64)
    run = np.zeros(count, np.int64)  # members with the same number are the same so far
    at = 0
    while (common < 0).any():
        alike = np.concatenate([[False], common < 0]) | np.concatenate([common < 0, [False]])
        rows = np.flatnonzero(alike)
        codes = _codes([sequences[member] for member in order[rows]], at, block)
        keyed = np.column_stack([run[rows], codes]) + 1
        sorted_rows = _argsort(keyed)
        order[rows], keyed = order[rows][sorted_rows], keyed[sorted_rows]
        differ = keyed[1:, 1:] != keyed[:-1, 1:]
        first = np.where(differ.any(axis=1), differ.argmax(axis=1), block)
        ended = (keyed[1:, 1:] == _ENDED + 1).any(axis=1) & (first == block)
        lasting = np.where(ended, (keyed[1:, 1:] != _ENDED + 1).sum(axis=1), first)
        inside = (keyed[1:, 0] == keyed[:-1, 0]) & (np.diff(rows) == 1)
        settled = inside & ((first < block) | ended)
        common[rows[:-1][settled]] = at + lasting[settled]
        run = np.concatenate([[0], np.cumsum(common >= 0)])
        at += block
    return order, common


def _codes(sequences: Sequence[pa.Array], at: int, block: int) -> NDArray[np.int64]:
    """Equal numbers for equal tokens from `at` on, _ENDED after the last. Shape (n, block)."""
    pieces = [one.slice(min(at, len(one)), block) for one in sequences]
    flat = pa.concat_arrays([piece.cast(pa.large_string()) for piece in pieces]).dictionary_encode().indices.to_numpy()
    codes = np.full((len(pieces), block), _ENDED, np.int64)
    sizes = np.array([len(piece) for piece in pieces])
    codes[np.arange(block) < sizes[:, None]] = flat
    return codes


def _argsort(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of rows of numbers from 0 on, by their first column, then the second, and so on."""
    as_bytes = np.ascontiguousarray(rows.astype(">i8")).view(np.dtype((np.void, rows.shape[1] * 8))).ravel()
    return np.argsort(as_bytes, kind="stable")


def _nodes(order: NDArray[np.int64], common: NDArray[np.int64], lengths: NDArray[np.int64], rewards: Float64Array) -> list[Node]:
    known = rewards[np.isfinite(rewards)]
    total = float(np.square(known - known.mean()).sum()) if known.size else 0.0
    nodes: list[Node] = []
    waiting = [(0, len(order), 0, -1)]
    while waiting:
        first, last, start, parent = waiting.pop()
        members = order[first:last]
        inner = common[first : last - 1]
        stop = int(inner.min()) if len(inner) else int(lengths[members[0]])
        same = bool(len(inner)) and stop == int(lengths[members].max())
        fork = len(inner) > 0 and not same
        ends = int((lengths[members] == stop).sum()) if fork else 0  # they stand first
        cuts = [cut for cut in (np.flatnonzero(inner == stop) + first + 1).tolist() if cut >= first + ends] if fork else []
        branches = list(zip([first, *cuts], [*cuts, last], strict=True)) if fork else []
        place = len(nodes)
        gap, share = _reward_gap([rewards[order[a:b]] for a, b in branches], total)
        nodes.append(Node(parent, start, stop, np.sort(members), _mean(rewards[members]), gap, share, fork, ends))
        going_on = branches[1:] if ends else branches
        for a, b in sorted(going_on, key=lambda span: (span[1] - span[0], -span[0])):
            waiting.append((a, b, stop, place))
    return nodes


def _reward_gap(branches: Sequence[Float64Array], total: float) -> tuple[float, float]:
    """The gap between branches' mean rewards, and the share of `total`, a sum of squares, that they explain beyond chance."""
    known = [one[np.isfinite(one)] for one in branches]
    known = [one for one in known if one.size]
    if len(known) < 2:
        return np.nan, np.nan
    means = np.array([one.mean() for one in known])
    sizes = np.array([one.size for one in known])
    gap = float(means.max() - means.min())
    free = int(sizes.sum()) - len(known)
    if not free or total <= 0:
        return gap, np.nan
    within = sum(float(np.square(one - mean).sum()) for one, mean in zip(known, means, strict=True))
    between = float((sizes * np.square(means - np.average(means, weights=sizes))).sum())
    return gap, max(0.0, between - (len(known) - 1) * within / free) / total


def _mean(rewards: Float64Array) -> float:
    known = rewards[np.isfinite(rewards)]
    return float(known.mean()) if known.size else np.nan


def marked(nodes: Sequence[Node], most: int = 3) -> list[int]:
    """Places of the forks where reward differs most: up to `most` that explain at least 5 % of the group's variance.

    Where no fork can be judged so, as in a group of two, those of the largest gap.
    """
    forks = [at for at, node in enumerate(nodes) if node.fork]
    judged = sorted((at for at in forks if nodes[at].share >= 0.05), key=lambda at: -nodes[at].share)
    if any(np.isfinite(nodes[at].share) for at in forks):
        return judged[:most]
    apart = sorted((at for at in forks if nodes[at].gap > 0), key=lambda at: -nodes[at].gap)
    return apart[:1]


def as_words(texts: Sequence[str], cut: int) -> list[pa.Array]:
    """Texts as sequences of words with the white space before them, of each no more than `cut`."""
    return [pa.array(words(text)[:cut], pa.large_string()) for text in texts]


def at_forks(nodes: Sequence[Node], values: Sequence[NDArray[np.floating] | None]) -> Float64Array:
    """The mean of the members' values at the token where a node's branches part, (nodes,); NaN where no member has one, and at no fork.

    `values` are each member's, one per token (entropies, or negative logprobs); None where it has none.
    """
    found = np.full(len(nodes), np.nan)
    for at, node in enumerate(nodes):
        if node.fork:
            held = [values[member] for member in node.members.tolist()]
            here = np.array([one[node.stop] for one in held if one is not None and node.stop < len(one)], np.float64)
            found[at] = _mean(here)
    return found


def codec_in(sequences: Sequence[pa.Array]) -> Codec:
    """How the tokens of responses name their bytes, by the beginnings of a few."""
    return codec_of_several(one.slice(0, CODEC_TOKENS).to_pylist() for one in sequences[:CODEC_RESPONSES])


def read(sequence: pa.Array, start: int, stop: int, codec: Codec, most: int = 60) -> str:
    """The tokens from `start` to `stop` as text; of more than `most` the first and, behind an ellipsis, the last."""
    if stop - start <= most:
        return _text(sequence.slice(start, stop - start).to_pylist(), codec)
    ends = most // 4
    head = _text(sequence.slice(start, most - ends).to_pylist(), codec)
    return f"{head} … {_text(sequence.slice(stop - ends, ends).to_pylist(), codec)}"


def _text(tokens: list[str], codec: Codec) -> str:
    """Tokens joined; by their bytes where they are named so."""
    return "".join(tokens) if codec == "plain" else b"".join(bytes_of(codec, one) for one in tokens).decode(errors="replace")
