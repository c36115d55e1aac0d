"""board.formats.evaluations.verifiers_results: evaluations of old verifiers and prime-rl's rollouts until v0.6."""

from functools import partial
from typing import Any

import pytest
from golden_runs import golden, golden_records, mapped_one
from hypothesis import given
from hypothesis import strategies as st

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.evaluations import verifiers_results

RESULTS = "outputs/evals/gsm8k--m-step-3/12345678/results.jsonl"
TRAINED = "rollouts/step_2/train_rollouts.jsonl"
EVALUATED = "rollouts/step_2/eval_rollouts.jsonl"
read, records = partial(golden, verifiers_results), partial(golden_records, verifiers_results)
mapped = partial(mapped_one, verifiers_results, name=RESULTS)


def turn(prompt: list[int], sampled: list[int], **fields: Any) -> dict[str, Any]:
    """One step of a trajectory."""
    return {"tokens": {"prompt_ids": prompt, "completion_ids": sampled, "completion_logprobs": [-0.5] * len(sampled), **fields}}


def test_a_result() -> None:
    """Texts of the messages, the example as group, each metric once, and times and counts as numbers."""
    row = read(RESULTS)[0]

    assert row.step == 0
    assert row.ids == {"group_id": "7", "prompt_id": "7", "split": "evaluation"}
    assert row.texts["prompt"] == "user:\n2+2?"
    assert row.texts["response"] == "4"
    assert row.texts["ground_truth"] == "4"
    assert row.texts["stop_condition"] == "max_turns_reached"
    assert row.numbers == {
        "reward": 1.0,
        "correct_answer": 1.0,
        "is_completed": 1.0,
        "is_truncated": 0.0,
        "timing.total_ms": 12.5,
        "token_usage.input_tokens": 4.0,
        "token_usage.output_tokens": 2.0,
    }


def test_metrics_that_are_nowhere_else() -> None:
    """A metric that has no key of its own is kept beside the others."""
    found = mapped({**records(RESULTS)[0], "metrics": {"correct_answer": 1.0, "length": 3.0}})

    assert (found["metrics.length"], "metrics.correct_answer" in found) == (3.0, False)


def test_turns_become_one_sequence() -> None:
    """What a tool said stands between the turns, masked; a masked token's logprob is no number."""
    found = mapped(records(RESULTS)[2])

    assert found["response"] == 'assistant:\n→ add({"a": 2})\n\ntool:\n4\n\nassistant:\n4 ✓'
    assert found["prompt_token_ids"] == [1, 17, 5]
    assert found["response_token_ids"] == [30, 31, 6, 19, 5, 19, 2]
    assert found["loss_mask"] == [1, 1, 0, 0, 0, 1, 0]
    assert found["rollout_logprobs"] == [-0.5, -0.25, None, None, None, -0.125, None]
    assert found["advantages"] == [0.5, 0.5, None, None, None, 0.25, 0.25]
    assert found["step_rewards"] == [0.0, 1.0]
    assert "trajectory" not in found


def test_a_failed_rollout() -> None:
    """The model never spoke: the response is empty, and the error is kept."""
    row = read(RESULTS)[3]

    assert row.texts["response"] == ""
    assert row.texts["error_chain"] == "ModelError -> timeout"


def test_rollouts_of_prime_rl() -> None:
    """The step is the folder's, and the file's name tells training from evaluation."""
    first, second = read(TRAINED)
    (evaluated,) = read(EVALUATED)

    assert (first.step, first.ids) == (2, {"group_id": "0", "prompt_id": "0"})
    assert second.numbers["reward"] != second.numbers["reward"]
    assert (evaluated.step, evaluated.ids["split"]) == (2, "evaluation")


def test_notes() -> None:
    """Said is where there is no step; a model's name and a hash of digits are none."""
    assert "it is 0 for all" in verifiers_results.note(Head(RESULTS, tuple(records(RESULTS))))
    assert "from the names" in verifiers_results.note(Head(TRAINED, tuple(records(TRAINED))))
    assert mapped(records(RESULTS)[0], name=f"step_40/{RESULTS}")["step"] == 40


def test_recognised_by_keys() -> None:
    """An example with prompt, completion and reward; without the example it is another's."""
    assert verifiers_results.recognise(Head("x.jsonl", tuple(records(RESULTS))))
    assert not verifiers_results.recognise(Head(RESULTS, ({"prompt": [], "completion": [], "reward": 1.0},)))
    assert not verifiers_results.recognise(Head(RESULTS, ({"example_id": "a", "reward": 1.0, "metrics": {}},)))


COMPLETIONS: dict[str, tuple[Any, str]] = {
    "text": ("4", "4"),
    "one message": ([{"role": "assistant", "content": "4"}], "4"),
    "none": ([], ""),
    "null": (None, ""),
    "no messages": ([1, 2], "[1, 2]"),
}


@pytest.mark.parametrize(("completion", "response"), COMPLETIONS.values(), ids=COMPLETIONS)
def test_completions(completion: Any, response: str) -> None:
    """Messages or text; what is neither is shown as it stands."""
    assert mapped({**records(RESULTS)[0], "completion": completion})["response"] == response


UNSTITCHED: dict[str, list[dict[str, Any]]] = {
    "a history that was cut": [turn([1, 2], [3]), turn([1, 3], [4])],
    "a turn without tokens": [turn([1, 2], [3]), {"tokens": None}],
}


@pytest.mark.parametrize("steps", UNSTITCHED.values(), ids=UNSTITCHED)
def test_turns_that_are_no_sequence(steps: list[dict[str, Any]]) -> None:
    """Turns that do not continue each other are kept as they are, and no token is put where it was not."""
    found = mapped({**records(RESULTS)[0], "trajectory": steps})

    assert found["trajectory"] == steps
    assert not {"response_token_ids", "rollout_logprobs", "loss_mask"} & found.keys()


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "metrics that are none": ({"metrics": 3}, "`metrics` is 3, not an object"),
    "a trajectory that is none": ({"trajectory": "x"}, '`trajectory` is "x", not a list'),
    "a step that is none": ({"trajectory": ["x"]}, r"`trajectory` holds \"x\" at position 0, not an object"),
    "a mask of another length": (
        {"trajectory": [turn([1], [2], completion_mask=[1, 1])]},
        "completion_mask` has 2 numbers for 1 token",
    ),
    "too few logprobs": (
        {"trajectory": [turn([1], [2, 3], completion_logprobs=[-1])]},
        "completion_logprobs` has 1 number for 2 tokens",
    ),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damage_is_named(fields: dict[str, Any], reason: str) -> None:
    """A row that is not as it should be is refused with the field and what stands there."""
    with pytest.raises(RowRefused, match=reason):
        mapped({**records(RESULTS)[0], **fields})


def test_a_row_without_completion() -> None:
    """A row that lacks the response altogether is refused, not shown as an empty one."""
    record = {key: value for key, value in records(RESULTS)[0].items() if key != "completion"}

    with pytest.raises(RowRefused, match="has no `completion`"):
        mapped(record)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=5))
def test_every_turn_is_in_the_sequence(turns: list[tuple[int, int]]) -> None:
    """Over any conversation whose turns continue each other: all ids in order, and as many trained as were sampled."""
    steps: list[dict[str, Any]] = []
    ids: list[int] = []
    for between, count in turns:
        ids = [*ids, *range(len(ids), len(ids) + between)]
        sampled = list(range(len(ids), len(ids) + count))
        steps.append(turn(ids, sampled))
        ids = [*ids, *sampled]

    found = mapped({**records(RESULTS)[0], "trajectory": steps})

    assert found["prompt_token_ids"] + found["response_token_ids"] == ids
    assert len(found["prompt_token_ids"]) == turns[0][0]
    assert sum(found["loss_mask"]) == sum(count for _, count in turns)
    assert [one is not None for one in found["rollout_logprobs"]] == [bool(one) for one in found["loss_mask"]]
