"""board.runs.prompt_keys: equal prompts have equal keys, and no others have."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from board.runs.prompt_keys import prompt_key, prompt_keys


@given(st.lists(st.none() | st.sampled_from(["", "a", "b", "威仪"])))
def test_the_keys_of_many_prompts_are_those_of_each(prompts: list[str | None]) -> None:
    """A missing prompt counts as an empty one, in every place."""
    found = prompt_keys(pa.array(prompts, pa.large_string()), len(prompts))

    assert found.tolist() == [prompt_key(prompt or "") for prompt in prompts]
    assert prompt_keys(None, len(prompts)).tolist() == [prompt_key("")] * len(prompts)


def test_other_prompts_have_other_keys() -> None:
    """Of a thousand prompts no two share a key, and each fits 64 bits with a sign."""
    keys = {prompt_key(str(number)) for number in range(1_000)}

    assert len(keys) == 1_000
    assert all(-(2**63) <= key < 2**63 for key in keys)
