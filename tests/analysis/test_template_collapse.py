"""Responses told by their prompt: against plain definitions with dictionaries in the place of arrays."""

import math
from collections import Counter
from functools import cache

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from board.analysis.texts import template_collapse
from board.analysis.texts.text_health.texts import code_units, shingles

WORDS = ("apple tree ", "banana boat ", "red cherry ", "威武雄壮的 ", "so ", "x")
_TEXTS = st.lists(st.tuples(st.integers(0, 2), st.lists(st.sampled_from(WORDS), max_size=5).map("".join)), min_size=1, max_size=8)


def _grams(text: str) -> Counter[int]:
    """4-grams by the number they are hashed to."""
    return Counter(_hashed(text[at : at + 4]) for at in range(len(text) - 3))


@cache
def _hashed(gram: str) -> int:
    return int(template_collapse.bags([gram]).argmax())


def _cosine(one: dict[int, float], other: dict[int, float]) -> float:
    lengths = [math.sqrt(sum(value**2 for value in each.values())) for each in (one, other)]
    return sum(value * other.get(name, 0.0) for name, value in one.items()) / math.prod(lengths) if all(lengths) else 0.0


@given(_TEXTS)
@settings(max_examples=25, deadline=None)
def test_retrieval(drawn: list[tuple[int, str]]) -> None:
    """Nearest by TF-IDF; equally near ones share the hit; what chance gives is taken off."""
    bags = [_grams(text) for _, text in drawn]
    held = Counter(name for bag in bags for name in bag)
    inverse = {name: math.log((1 + len(bags)) / (1 + count)) + 1 for name, count in held.items()}
    weights = [{name: (1 + math.log(count)) * inverse[name] for name, count in bag.items()} for bag in bags]
    prompts = [prompt for prompt, _ in drawn]
    found = template_collapse.retrieved(template_collapse.bags([text for _, text in drawn]), np.array(prompts))
    for at, value in enumerate(found):
        others = [other for other in range(len(drawn)) if other != at]
        same = [other for other in others if prompts[other] == prompts[at]]
        if not same or len(same) == len(others) or not bags[at]:
            assert math.isnan(value)
            continue
        near = {other: _cosine(weights[at], weights[other]) for other in others}
        nearest = [other for other in others if near[other] > max(near.values()) - 1e-6]
        hit = len(set(nearest) & set(same)) / len(nearest)
        chance = len(same) / len(others)
        np.testing.assert_allclose(value, (hit - chance) / (1 - chance), atol=1e-9)


@given(_TEXTS)
@settings(max_examples=25, deadline=None)
def test_likeness(drawn: list[tuple[int, str]]) -> None:
    """Cosines of roots of counts: to other prompts' responses, and within groups; and the share of different 4-grams of a group."""
    texts = [text for _, text in drawn]
    prompts = np.array([prompt for prompt, _ in drawn])
    roots = [{name: math.sqrt(count) for name, count in _grams(text).items()} for text in texts]
    counts = template_collapse.bags(texts)
    alike, groups = template_collapse.alike_to_others(counts, prompts), template_collapse.self_similarity(counts, prompts)
    for at, value in enumerate(alike):
        others = [_cosine(roots[at], roots[other]) for other in range(len(texts)) if prompts[other] != prompts[at]]
        np.testing.assert_allclose(value, np.mean(others) if others else math.nan, atol=1e-5)
    distinct = template_collapse.distinct_share(shingles(code_units(_arrow(texts))), prompts)
    for group, value in enumerate(groups):
        members = [at for at in range(len(texts)) if prompts[at] == group]
        pairs = [_cosine(roots[a], roots[b]) for a in members for b in members if a < b]
        np.testing.assert_allclose(value, np.mean(pairs) if pairs else math.nan, atol=1e-5)
        every = [texts[at][first : first + 4] for at in members for first in range(len(texts[at]) - 3)]
        np.testing.assert_allclose(distinct[group], len(set(every)) / len(every) if every else math.nan)


def _arrow(texts: list[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def test_own_prompt() -> None:
    """A response that quotes its prompt finds it; one that says nothing of any does not; all of one prompt tell nothing."""
    asked = ["how many apples", "where is the boat", "who sang that song"]
    bags = template_collapse.bags(["many apples are", "the boat is there", "zzzzzz"])
    found = template_collapse.of_own_prompt(bags, template_collapse.bags(asked), np.arange(3))
    np.testing.assert_allclose(found, [1, 1, 0], atol=1e-6)
    alone = template_collapse.of_own_prompt(bags[:1], template_collapse.bags(asked[:1]), np.zeros(1, np.int64))
    assert np.isnan(alone).all()


def test_missing_texts() -> None:
    """Nothing to compare."""
    bags = template_collapse.bags([None, "", "a text"])
    assert np.isnan(template_collapse.retrieved(bags, np.array([0, 0, 1]))).all()
