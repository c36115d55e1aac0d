"""Digests are equal for what is equal, and for nothing else."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from looked_at import opened
from rows import token_row

from board.analysis.rollouts.digests import measure, of_numbers


@given(st.lists(st.lists(st.sampled_from([0.0, -1.0, -2.5]), max_size=4), max_size=12))
def test_arrays_have_one_digest_exactly_if_they_are_equal(lists: list[list[float]]) -> None:
    """Every pair of lists compared, wherever they lie in the flat array."""
    offsets = np.cumsum([0, *map(len, lists)])
    found = of_numbers(np.array([one for some in lists for one in some], np.float32), offsets)
    for at, one in enumerate(lists):
        assert np.isnan(found[at]) == (not one)
        for to, other in enumerate(lists):
            assert not one or (found[at] == found[to]) == (one == other)


def test_a_rollout_has_a_digest_of_what_it_has(tmp_path: Path) -> None:
    """Texts but for white space at their ends; answers where they are marked; the engine's logprobs before the trainer's."""
    rows = [
        token_row(response="so a \\boxed{4}", rollout_logprobs=[-1.0, -2.0]),
        token_row(response="so a \\boxed{4} ", logprobs=[-9.0, -9.0], rollout_logprobs=[-1.0, -2.0]),
        token_row(response="then \\boxed{ 4 }"),
        {"step": 0, "response_tokens": ["a", "b"], "prompt": "p"},
    ]
    (part,) = opened(tmp_path, rows).parts
    found = measure(part)
    response, answer, array = found["response_digest"], found["answer_digest"], found["array_digest"]
    assert response[0] == response[1] != response[2]
    assert answer[0] == answer[1] == answer[2]
    assert array[0] == array[1] == array[2]  # the third has its own logprobs, which are the engine's of the others
    assert np.isnan([answer[3], array[3]]).all()
