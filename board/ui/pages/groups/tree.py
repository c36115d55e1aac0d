"""The responses of a group as a tree of common beginnings: where they part."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from board.analysis.prompts import prefix_tree as trees
from board.analysis.prompts.prefix_tree import Node
from board.metrics.formulas import Float64Array
from board.runs.run import Run
from board.text.counting import plural
from board.text.format_number import fmt
from board.ui.components import prefix_tree
from board.ui.components.prefix_tree import TreeRow
from board.ui.state import caches, place

MOST_MEMBERS: Final = 1_000
"""So many responses are compared: of more, the best and the worst."""
MOST_WORDS: Final = 30_000
HEIGHT: Final = 560
TOKENS_PAGE: Final = "board/ui/pages/tokens/tokens.py"
TEXT_CHARS: Final = 240
"""Letters of a row's text."""


@dataclass(frozen=True)
class Tree:
    """A group's tree, ready to be drawn."""

    rows: list[TreeRow]
    by_token: bool
    first: list[tuple[int, int]]
    """For each row the key of one of its members, and the position of its first token there."""
    forks: int
    members: int


def draw(run: Run, keys: NDArray[np.int64], rewards: Float64Array) -> None:
    """Draw the tree of the members with these keys, the best first; a click on a row goes to its token on the Tokens page."""
    members = keys if len(keys) <= MOST_MEMBERS else np.concatenate([keys[: MOST_MEMBERS // 2], keys[-MOST_MEMBERS // 2 :]])
    own = rewards if len(keys) <= MOST_MEMBERS else np.concatenate([rewards[: MOST_MEMBERS // 2], rewards[-MOST_MEMBERS // 2 :]])
    with st.spinner(f"Comparing {plural(len(members), 'response')}", show_time=True):
        tree = caches.cached("prefix_tree", lambda: grown(run, members, own), run, int(keys[0]), len(keys))
    if tree is None:
        st.text("The tree needs response_tokens or response, which this group does not have.")
        return
    if len(members) < len(keys):
        st.text(f"The best and the worst {MOST_MEMBERS // 2:,} of {len(keys):,} responses are compared.")
    st.text(_summary(tree))
    key = place.key_of("prefix_tree", [{"key": key, "first": position} for key, position in tree.first])
    prefix_tree.show(tree.rows, key=key, height=HEIGHT, on_click=_clicked(key, run, tree))


def _summary(tree: Tree) -> str:
    unit = "tokens" if tree.by_token else "words, as the rows have no response_tokens"
    marked = "; where reward differs most is marked" if any(row.marked for row in tree.rows) else ""
    return (
        f"{plural(tree.members, 'response')} compared by {unit}: {plural(tree.forks, 'fork')}{marked}. A click goes to the token."
    )


@place.callback
def _clicked(tree_key: str, run: Run, tree: Tree) -> None:
    """What a click on a row does: the next run of the page leads to the Tokens page."""
    at = place.reported(tree_key, "clicked")
    if not isinstance(at, int) or not 0 <= at < len(tree.first):
        return
    key, position = tree.first[at]
    (rollout,) = run.sources(np.array([key]))
    step = int(run.frame["step"].loc[[key]].iloc[0])
    place.remember(look=(TOKENS_PAGE, {"step": step, "rollout": rollout, **({"token": position} if tree.by_token else {})}))


def grown(run: Run, keys: NDArray[np.int64], rewards: Float64Array) -> Tree | None:
    """The tree of the responses with these keys; None where they have neither tokens nor text."""
    members, sequences, by_token = _sequences(run, keys)
    if not sequences:
        return None
    nodes = trees.build(sequences, rewards[members])
    kind, numbers = _uncertainty(run, keys[members]) if by_token else ("", [None] * len(members))
    at_forks = trees.at_forks(nodes, numbers)
    marked = set(trees.marked(nodes))
    known = rewards[np.isfinite(rewards)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    unit = "token" if by_token else "word"
    codec = trees.codec_in(sequences) if by_token else "plain"
    rows = [
        TreeRow(
            node.parent,
            trees.read(sequences[int(node.members[0])], node.start, node.stop, codec)[:TEXT_CHARS],
            plural(node.stop - node.start, unit),
            plural(len(node.members), "response"),
            fmt(node.mean) if np.isfinite(node.mean) else "",
            _place(node.mean, low, high),
            _fork(node, kind, float(at_forks[at])),
            at in marked,
        )
        for at, node in enumerate(nodes)
    ]
    first = [(int(keys[members[node.members[0]]]), _position(node, sequences)) for node in nodes]
    return Tree(rows, by_token, first, sum(node.fork for node in nodes), len(members))


def _position(node: Node, sequences: list[pa.Array]) -> int:
    """The position of a node's first token; the last of a response that has ended before it."""
    return max(0, min(node.start, len(sequences[int(node.members[0])]) - 1))


def _sequences(run: Run, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[pa.Array], bool]:
    """Which of the members can be compared, by their tokens where any has them, else by their words."""
    tokens = [run.tokens_of(int(key)) for key in keys]
    held = np.flatnonzero([one is not None for one in tokens])
    if len(held):
        return held, [one for one in tokens if one is not None], True
    if "response" not in run.text_columns:
        return held, [], False
    texts = run.texts("response", keys)
    there = np.flatnonzero(texts.is_valid().to_numpy())
    return there, trees.as_words([text for text in texts.to_pylist() if text is not None], MOST_WORDS), False


def _uncertainty(run: Run, keys: NDArray[np.int64]) -> tuple[str, list[NDArray[np.float32] | None]]:
    """The policy's entropy at each token of the members; where none has it −logprob, which is called a proxy."""
    entropies = [run.numbers_of(int(key), "entropies") for key in keys]
    if any(one is not None for one in entropies):
        return "entropy", entropies
    logprobs = [run.numbers_of(int(key), "logprobs") for key in keys]
    return "−logprob, a proxy of entropy,", [None if one is None else -one for one in logprobs]


def _place(mean: float, low: float, high: float) -> float | None:
    if not np.isfinite(mean):
        return None
    return 0.5 if low == high else round((mean / 2 - low / 2) / (high / 2 - low / 2), 4)


def _fork(node: Node, kind: str, value: float) -> str:
    """What is said of a fork: how much of the reward's variance it explains, how far its branches are apart, how sure the policy was."""
    if not node.fork:
        return ""
    parts = [
        f"explains {fmt(100 * node.share, 2)} % of the reward's variance" if node.share >= 0.005 else "",
        f"branches {fmt(node.gap)} apart" if node.gap > 0 else "",
        f"{kind} {fmt(value)} at the fork" if np.isfinite(value) else "",
        f"{node.ends:,} end here" if node.ends else "",
    ]
    return " · ".join(part for part in parts if part)
