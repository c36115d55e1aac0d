"""board.runs.prompt_keys: equal prompts have equal keys, and no others have."""

from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.runs.prompt_keys import NO_PROMPT, prompt_key, prompt_keys

TEXTS = pa.large_string()
TEXT = st.text(alphabet=" \t\n\r\x1c\x1f\x85\u00a0\u2028\u3000aAé\u0301e1威\x00")


def columns(values: dict[str, list[str | None]], kind: pa.DataType = TEXTS) -> dict[str, pa.Array]:
    """Values by field as a part has them."""
    return {name: pa.array(column, kind) for name, column in values.items()}


def alone(rollout: dict[str, Any], names: Iterable[str]) -> dict[str, pa.Array]:
    """The ids of a rollout without the columns that only others have."""
    return columns({name: [rollout[name]] for name in names if name in rollout}, pa.string())


def folded(text: str) -> str:
    """What a prompt is compared by, as its documentation says it."""
    return " ".join(normalize("NFC", text).split())


@given(st.lists(st.none() | st.sampled_from(["", "a", "b", "威仪"])))
def test_the_keys_of_many_prompts_are_those_of_each(prompts: list[str | None]) -> None:
    """A missing prompt counts as an empty one, in every place."""
    found = prompt_keys(columns({"prompt": prompts}), {}, len(prompts))

    assert found.tolist() == [prompt_key(prompt or "") for prompt in prompts]
    assert prompt_keys({}, {}, len(prompts)).tolist() == [NO_PROMPT] * len(prompts)


@given(TEXT, TEXT)
def test_prompts_that_differ_in_white_space_or_composed_letters_alone_are_one(one: str, other: str) -> None:
    """Keys are equal just where the folded texts are, whether a text is ASCII or not."""
    assert (prompt_key(one) == prompt_key(other)) == (folded(one) == folded(other))
    assert prompt_key(one) == prompt_key(folded(one)) == prompt_key(f"\r\n {one} ")


SAME: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "one id, other texts": ({"prompt_id": "7", "prompt": "a"}, {"prompt_id": "7", "prompt": "b"}, True),
    "other ids, one text": ({"prompt_id": "7", "prompt": "a"}, {"prompt_id": "8", "prompt": "a"}, False),
    "one id in two data sets": ({"prompt_id": "7", "data_source": "a"}, {"prompt_id": "7", "data_source": "b"}, False),
    "one id in training and in an evaluation": ({"prompt_id": "7"}, {"prompt_id": "7", "split": "evaluation"}, False),
    "one text in two data sets": ({"prompt": "a", "data_source": "a"}, {"prompt": "a", "data_source": "b"}, True),
    "an id that reads as another's text": ({"prompt_id": "7"}, {"prompt": "7"}, False),
    "an id, and its text alone": ({"prompt_id": "7", "prompt": "a"}, {"prompt": "a"}, False),
    "tokens where there is no text": ({"prompt_token_ids": "[1, 2]"}, {"prompt_token_ids": "[1,  2]"}, True),
    "other tokens": ({"prompt_token_ids": "[1, 2]"}, {"prompt_token_ids": "[1, 3]"}, False),
    "the text before the tokens": ({"prompt": "a", "prompt_token_ids": "[1]"}, {"prompt": "a", "prompt_token_ids": "[2]"}, True),
}


@pytest.mark.parametrize(("one", "other", "same"), SAME.values(), ids=SAME)
def test_a_prompt_is_its_id_else_its_text_else_its_tokens(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    """Ids count anew in every data set and split; texts are the same prompt everywhere."""
    names = dict.fromkeys([*one, *other])
    texts = columns({name: [one.get(name), other.get(name)] for name in names if name in ("prompt", "prompt_token_ids")})
    ids = columns({name: [one.get(name), other.get(name)] for name in names if name not in texts}, pa.string())

    first, second = prompt_keys(texts, ids, 2).tolist()

    assert (first == second) == same
    assert first == prompt_keys(columns({name: [one[name]] for name in texts if name in one}), alone(one, ids), 1)[0]
    assert NO_PROMPT not in (first, second)


def test_other_prompts_have_other_keys() -> None:
    """Of a thousand prompts no two share a key, and each fits 64 bits with a sign."""
    keys = {prompt_key(str(number)) for number in range(1_000)}

    assert len(keys) == 1_000
    assert all(-(2**63) <= key < 2**63 for key in keys)
