"""board.analysis.prompts.prefix_tree: against a slow trie, and what each fork is told to decide."""

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.prompts.prefix_tree import Node, as_words, at_forks, build, codec_in, marked, read

NAN = math.nan


def tree(texts: list[str], rewards: list[float] | None = None, block: int = 3) -> list[Node]:
    """The tree of texts whose letters are tokens."""
    given_ = np.array(rewards if rewards is not None else [NAN] * len(texts), np.float64)
    return build([pa.array(list(text), pa.large_string()) for text in texts], given_, block)


def slow(texts: list[str]) -> list[tuple[int, int, tuple[int, ...], bool]]:
    """Every maximal edge of the trie: where it starts and stops, whose it is, and whether it forks; in no order."""
    found = []

    def walk(members: list[int], start: int) -> None:
        stop = start
        while True:
            branches = defaultdict(list)
            for member in members:
                branches[texts[member][stop : stop + 1]].append(member)
            if len(branches) > 1 or "" in branches:
                break
            stop += 1
        found.append((start, stop, tuple(members), len(branches) > 1))
        if len(branches) > 1:
            for token, branch in branches.items():
                if token:
                    walk(branch, stop)

    walk(list(range(len(texts))), 0)
    return found


@given(st.lists(st.text("ab", max_size=9), min_size=1, max_size=12), st.integers(1, 5))
def test_tree_is_that_of_a_slow_trie(texts: list[str], block: int) -> None:
    """Every fork and every branch, however many tokens are compared at once; parents stand before their branches and begin where they stop."""
    nodes = tree(texts, block=block)
    found = [(node.start, node.stop, tuple(node.members.tolist()), node.fork) for node in nodes]
    assert sorted(found) == sorted(slow(texts))
    for at, node in enumerate(nodes):
        assert node.parent < at
        if node.parent >= 0:
            parent = nodes[node.parent]
            assert parent.fork
            assert node.start == parent.stop
            assert set(node.members.tolist()) <= set(parent.members.tolist())
    for node in nodes:
        assert node.ends == (sum(len(texts[member]) == node.stop for member in node.members) if node.fork else 0)


@given(
    st.lists(st.tuples(st.text("ab", max_size=6), st.sampled_from([NAN, 0.0, 1.0, 3.0])), min_size=1, max_size=12),
)
def test_forks_tell_means_gaps_and_shares(drawn: list[tuple[str, float]]) -> None:
    """Mean reward of a node, gap between its branches' means, and the share of the variance they explain, by their definitions."""
    texts, rewards = [text for text, _ in drawn], [reward for _, reward in drawn]
    every = [one for one in rewards if not math.isnan(one)]
    total = sum((one - sum(every) / len(every)) ** 2 for one in every) if every else 0
    for node in tree(texts, rewards):
        own = [rewards[member] for member in node.members if not math.isnan(rewards[member])]
        assert node.mean == pytest.approx(sum(own) / len(own) if own else NAN, nan_ok=True)
        branches = defaultdict(list)
        for member in node.members.tolist():
            if node.fork and not math.isnan(rewards[member]):
                branches[texts[member][node.stop : node.stop + 1]].append(rewards[member])
        means = {token: sum(branch) / len(branch) for token, branch in branches.items()}
        gap = max(means.values()) - min(means.values()) if len(means) > 1 else NAN
        assert node.gap == pytest.approx(gap, nan_ok=True)
        free = len(own) - len(means)
        if len(means) < 2 or not free or not total:
            assert math.isnan(node.share)
            continue
        within = sum((one - means[token]) ** 2 for token, branch in branches.items() for one in branch)
        between = sum(len(branch) * (means[token] - node.mean) ** 2 for token, branch in branches.items())
        assert node.share == pytest.approx(max(0, between - (len(means) - 1) * within / free) / total, abs=1e-12)


def test_the_fork_that_decides_is_marked() -> None:
    """Of two forks the one whose branches differ in reward is marked, with all of the variance; one that decides nothing is not."""
    texts = ["xab", "xac", "xbb", "xbc"] * 2
    nodes = tree(texts, [1.0, 1.0, 0.0, 0.0] * 2)
    (at,) = marked(nodes)
    assert (nodes[at].stop, nodes[at].gap) == (1, 1.0)
    assert nodes[at].share == pytest.approx(1.0)
    assert [node.share for node in nodes if node.fork and node.stop == 2] == [0.0, 0.0]


def test_in_a_group_of_two_the_gap_is_marked() -> None:
    """Where each branch is one member nothing can be judged, and the fork of the largest gap is marked; with equal rewards none is."""
    assert marked(tree(["ab", "ac"], [1.0, 0.0])) == [0]
    assert marked(tree(["ab", "ac"], [1.0, 1.0])) == []
    assert marked(tree(["ab"], [1.0])) == []


EMPTY: dict[str, tuple[list[str], int]] = {"nobody": ([], 0), "an empty one": ([""], 1), "all empty": (["", ""], 1)}


@pytest.mark.parametrize(("texts", "nodes"), EMPTY.values(), ids=EMPTY)
def test_empty_responses(texts: list[str], nodes: int) -> None:
    """Without tokens there is one node, without members none."""
    assert len(tree(texts)) == nodes


def test_a_thousand_equal_responses() -> None:
    """They are one node, found a block at a time."""
    one = pa.array([str(at % 7) for at in range(3_000)], pa.large_string())
    (node,) = build([one] * 1_000, np.zeros(1_000))
    assert (node.start, node.stop, len(node.members), node.fork) == (0, 3_000, 1_000, False)


def test_numbers_at_forks() -> None:
    """The mean of the members' numbers at the token where they part; a member without them or that has ended has no say."""
    values: list[Any] = [np.array([0.5, 2.0]), None, np.array([0.5, 4.0]), np.array([9.0])]
    found = at_forks(tree(["ab", "ac", "ad", "a"]), values)
    assert found[0] == 3.0
    assert np.isnan(found[1:]).all()


READ: dict[str, tuple[list[str], str]] = {
    "plain": (["The", " answer"], "The answer"),
    "byte-level": (["The", "Ġanswer", "Ġis", "ĠÃ", "¼", "Ċ"], "The answer is ü\n"),
    "long": ([str(at % 10) for at in range(100)], "".join(str(at % 10) for at in range(45)) + " … 567890123456789"),
}


@pytest.mark.parametrize(("tokens", "text"), READ.values(), ids=READ)
def test_edges_are_read_as_text(tokens: list[str], text: str) -> None:
    """By the bytes their names stand for; of long ones beginning and end."""
    sequence = pa.array(tokens, pa.large_string())

    assert read(sequence, 0, len(tokens), codec_in([sequence])) == text


def test_a_short_edge_is_read_as_the_others() -> None:
    """Where its own tokens do not tell how they name their bytes, those of the other responses do."""
    short, telling = (pa.array(tokens, pa.large_string()) for tokens in (["Ã¼"], ["The", "Ġanswer", "Ġis"]))

    assert read(short, 0, 1, codec_in([short, telling])) == "ü"
    assert read(short, 0, 1, codec_in([short])) == "Ã¼"


def test_words_where_there_are_no_tokens() -> None:
    """A text's words with the white space before them, no more than asked for."""
    assert [one.to_pylist() for one in as_words(["a  b\nc", ""], 2)] == [["a", "  b"], []]
