"""board.formats.trainers.slime: rollout and train dumps of slime, miles and Relax, alone and joined."""

import contextlib
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from damages import damaged
from golden_runs import read_all
from hypothesis import given
from hypothesis import strategies as st
from rows import plain

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import slime

GOLDEN = Path(__file__).parents[2] / "formats" / "golden" / "slime"
PLACE = Place("rollout_data/12.pt", 1)
USER = {"role": "user", "content": "2+2?"}
read = partial(read_all, slime, name=PLACE.name)


def sample(index: int | None, answer: list[int], **fields: Any) -> dict[str, Any]:
    """A sample as it was rolled out: two tokens of prompt, and the answer."""
    return {
        "group_index": 96,
        "index": index,
        "rollout_id": None,
        "prompt": [USER],
        "tokens": [1, 17, *answer],
        "response": "4<|im_end|>",
        "response_length": len(answer),
        "label": "4",
        "reward": 1.0,
        "loss_mask": [1] * len(answer),
        "rollout_log_probs": [-0.25] * len(answer),
        "weight_versions": ["12"],
        "status": "completed",
        "metadata": {},
        **fields,
    }


def trained(index: int | None, answer: list[int], **fields: Any) -> dict[str, Any]:
    """The same sample as it was trained on."""
    return {
        "data_parallel_rank": 0,
        "sample_index": index,
        "tokens": [1, 17, *answer],
        "response_lengths": len(answer),
        "total_lengths": len(answer) + 2,
        "rewards": 0.5,
        "truncated": 0,
        "loss_masks": [1] * len(answer),
        "log_probs": [-0.5] * len(answer),
        "ref_log_probs": [-0.75] * len(answer),
        "advantages": [0.5] * len(answer),
        **fields,
    }


def dump(samples: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A file of step 12."""
    return {"rollout_id": 12, "samples": samples, **fields}


def columns(samples: list[dict[str, Any]], rank: int = 0, **more: Any) -> dict[str, Any]:
    """A rank's train dump as older versions and miles write it: a list per field."""
    names = {"sample_index": "sample_indices", "rollout_position": "partition"}
    lists = {names.get(key, key): [one[key] for one in samples] for key in samples[0] if key != "data_parallel_rank"}
    return {"rollout_id": 12, "rank": rank, "rollout_data": {**lists, **more}}


TOOL = [30, 6, 19, 2]
SAMPLES = [
    sample(768, TOOL, loss_mask=[1, 0, 1, 1], rollout_log_probs=[-0.5, 0.0, -0.125, -0.25], response="→ add(2, 2)\n4\n4 ✓"),
    sample(769, [20, 2], reward={"score": 0.25, "format": 1.0}, response="<b>5</b>", status="truncated"),
    sample(770, [19, 2], reward=math.nan),
]
TRAINED = [
    trained(
        768,
        TOOL,
        rollout_position=0,
        loss_masks=[1, 0, 1, 1],
        log_probs=[-0.5, -4.0, -0.25, -0.375],
        values=[0.0, 0.5, 0.75, 1.0],
    ),
    trained(769, [20, 2], rollout_position=1, entropy=[0.5, 0.25], kl=[0.0, 0.125], returns=[1.0, 0.5]),
    trained(770, [19, 2], rollout_position=2),
]
TRAIN = dump(TRAINED, format_version=2, rank=0, dp_shards=[{"rank": 0, "data_parallel_rank": 0}], raw_reward=[1.0, 0.25, 0.75])
RUN = {
    "rollout_data/12.pt": dump(SAMPLES),
    "rollout_data/eval_12.pt": dump([sample(0, [19], label=None, loss_mask=None, rollout_log_probs=None)]),
    "train_data/12.pt": TRAIN,
    "rollout_data/13.pt": {**dump([sample(771, [19, 2]), sample(772, [20, 2])], metadata={"by": "miles"}), "rollout_id": 13},
    "train_data/13_0.pt": {**columns([trained(771, [19, 2])], raw_reward=[1.0, 0.0], cp_size=1), "rollout_id": 13},
    "train_data/13_1.pt": {**columns([trained(772, [20, 2])], rank=1, raw_reward=[1.0, 0.0], cp_size=1), "rollout_id": 13},
}
"""What the golden run holds."""


def write(folder: Path) -> None:
    """The golden run as trainers write it: token arrays of train dumps as tensors."""
    torch = pytest.importorskip("torch")
    for name, record in RUN.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        torch.save(tensors(record, torch) if name.startswith("train_data") else record, target)


def tensors(value: Any, torch: Any) -> Any:
    """The value with a float32 tensor for each list of floats."""
    if isinstance(value, list) and value and all(isinstance(one, float) for one in value):
        return torch.tensor(value)
    if isinstance(value, dict):
        return {key: tensors(one, torch) for key, one in value.items()}
    return [tensors(one, torch) for one in value] if isinstance(value, list) else value


def test_golden_files_hold_what_stands_here(tmp_path: Path) -> None:
    """They can be written again by `write`, and are read without leave to execute anything."""
    torch = pytest.importorskip("torch")
    write(tmp_path)

    for name, record in RUN.items():
        for folder in (GOLDEN, tmp_path):
            assert json.dumps(plain(torch.load(folder / name, weights_only=True))) == json.dumps(record)


@pytest.mark.parametrize(("name", "record"), RUN.items(), ids=RUN)
def test_dumps_are_recognised(name: str, record: dict[str, Any]) -> None:
    """Rollout and train dumps in both layouts, whatever they are called."""
    assert slime.recognise(Head(name, (record,)))
    assert slime.recognise(Head("x.pt", (record,)))


UNKNOWN: dict[str, dict[str, Any]] = {
    "no rollout id": {"samples": [sample(0, [19])]},
    "no samples": {"rollout_id": 12},
    "samples without tokens": dump([{"index": 0}]),
    "samples that are none": {"rollout_id": 12, "samples": 3},
    "a sample that is none": {"rollout_id": 12, "samples": ["x"]},
    "columns without tokens": {"rollout_id": 12, "rollout_data": {"rewards": [1.0]}},
}


@pytest.mark.parametrize("record", UNKNOWN.values(), ids=UNKNOWN)
def test_others_are_not_recognised(record: dict[str, Any]) -> None:
    """A name alone is not enough, nor is half of what a dump holds."""
    assert not slime.recognise(Head(PLACE.name, (record,)))


def test_a_rolled_out_sample() -> None:
    """Every field under our name, the ids cut at the response, and a tool's token without a logprob."""
    row = read(dump(SAMPLES[:1]))[0]
    rollout = slime.rollouts(dump(SAMPLES[:1]), PLACE)[0]

    assert row.step == 12
    assert row.ids == {"group_id": "96", "sample_id": "768"}
    assert row.numbers["reward"] == 1.0
    assert row.texts["prompt"] == "user:\n2+2?"
    assert row.texts["response"] == "→ add(2, 2)\n4\n4 ✓"
    assert row.texts["ground_truth"] == "4"
    assert row.texts["status"] == "completed"
    assert row.texts["weight_versions"] == '["12"]'
    assert (rollout["prompt_token_ids"], rollout["response_token_ids"]) == ([1, 17], TOOL)
    assert rollout["rollout_logprobs"] == [-0.5, None, -0.125, -0.25]
    assert rollout["loss_mask"] == [1, 0, 1, 1]
    assert "response_tokens" not in rollout


REWARDS: dict[str, tuple[Any, dict[str, float]]] = {
    "a number": (0.5, {"reward": 0.5}),
    "a dict with a score": ({"score": 0.25, "format": 1.0}, {"reward": 0.25, "reward.score": 0.25, "reward.format": 1.0}),
    "a dict with a reward": ({"reward": 0.5, "acc": 0}, {"reward": 0.5, "reward.reward": 0.5, "reward.acc": 0.0}),
    "a dict of one number": ({"acc": 1.0, "none": None}, {"reward": 1.0, "reward.acc": 1.0}),
    "a dict without a total": ({"acc": 1.0, "format": 0.0}, {"reward.acc": 1.0, "reward.format": 0.0}),
    "a dict whose score is no number": ({"score": "high", "reward": 1}, {"reward": 1.0, "reward.reward": 1.0}),
    "nothing": (None, {}),
}


@pytest.mark.parametrize(("reward", "numbers"), REWARDS.values(), ids=REWARDS)
def test_rewards(reward: Any, numbers: dict[str, float]) -> None:
    """A number is the reward; a dict keeps its parts, its total is what is called so, and no total is made up."""
    found = read(dump([sample(0, [19], reward=reward)]))[0].numbers

    assert {name: value for name, value in found.items() if name.startswith("reward")} == numbers


def test_splits() -> None:
    """An evaluation is told by the name of its file."""
    assert "split" not in slime.rollouts(dump(SAMPLES), PLACE)[0]
    assert slime.rollouts(dump(SAMPLES), Place("rollout_data/eval_12.pt", 1))[0]["split"] == "evaluation"


def test_decoded_tokens() -> None:
    """Relax's texts of the tokens are cut like their ids; texts of another length belong to no token."""
    texts = ["<s>", "2+2?", "4", "<end>"]

    assert slime.rollouts(dump([sample(0, [19, 2], decoded_tokens=texts)]), PLACE)[0]["response_tokens"] == ["4", "<end>"]
    assert "response_tokens" not in slime.rollouts(dump([sample(0, [19, 2], decoded_tokens=texts[:3])]), PLACE)[0]


def test_a_train_dump_alone() -> None:
    """Arrays under our names, the reward as it was before it was normalised, and no text."""
    rollout = slime.rollouts(TRAIN, Place("train_data/12.pt", 1))[1]

    assert rollout["step"] == 12
    assert rollout["sample_id"] == 769
    assert (rollout["reward"], rollout["reward_used"]) == (0.25, 0.5)
    assert (rollout["prompt_token_ids"], rollout["response_token_ids"]) == ([1, 17], [20, 2])
    assert rollout["logprobs"] == [-0.5, -0.5]
    assert rollout["ref_logprobs"] == [-0.75, -0.75]
    assert rollout["entropies"] == [0.5, 0.25]
    assert rollout["advantages"] == [0.5, 0.5]
    assert rollout["returns"] == [1.0, 0.5]
    assert rollout["kl"] == [0.0, 0.125]
    assert rollout["loss_mask"] == [1, 1]
    assert "values" not in rollout
    assert "response" not in rollout
    assert "train dump alone" in slime.note(Head("train_data/12.pt", (TRAIN,)))


def test_both_layouts_say_the_same() -> None:
    """A list per field is the same samples as a dict per sample."""
    same = [{key: one[key] for key in TRAINED[2] if key != "data_parallel_rank"} for one in TRAINED]
    old = columns(same, raw_reward=[1.0, 0.25, 0.75])

    assert slime.rollouts(old, PLACE) == slime.rollouts(dump(same, raw_reward=[1.0, 0.25, 0.75]), PLACE)


def test_columns_without_positions_keep_the_reward_used() -> None:
    """Whose raw reward is whose is not guessed."""
    rollouts = slime.rollouts(RUN["train_data/13_1.pt"], PLACE)

    assert [(one["reward"], one["sample_id"]) for one in rollouts] == [(0.5, 772)]


def test_slices_are_kept_aside() -> None:
    """An array shorter than the response has no known place in it and lies beside no token."""
    rollout = slime.rollouts(dump([trained(0, TOOL, log_probs=[-0.5, -0.25])]), PLACE)[0]

    assert rollout["logprobs (slice)"] == [-0.5, -0.25]
    assert "logprobs" not in rollout
    assert len(rollout["ref_logprobs"]) == 4


def test_joined() -> None:
    """A sample has its text and reward of the rollout dump and its arrays of the train dump."""
    rows = read(slime.join(dump(SAMPLES), [TRAIN]))

    assert [row.texts["response"] for row in rows] == [one["response"] for one in SAMPLES]
    assert [row.numbers["reward_used"] for row in rows] == [0.5, 0.5, 0.5]
    assert [row.numbers.get("reward") for row in rows[:2]] == [1.0, 0.25]
    assert math.isnan(rows[2].numbers["reward"])
    assert rows[0].arrays["logprobs"].tolist() == [-0.5, -4.0, -0.25, -0.375]
    assert rows[0].arrays["values"].tolist() == [0.0, 0.5, 0.75, 1.0]
    assert math.isnan(rows[0].arrays["rollout_logprobs"][1])
    assert rows[1].arrays["entropies"].tolist() == [0.5, 0.25]


def test_joined_rewards_without_a_total() -> None:
    """Where the rollout has only parts of a reward, the total is the trainer's raw one."""
    record = slime.join(dump([sample(768, TOOL, reward={"acc": 1.0}), *SAMPLES[1:]]), [TRAIN])

    assert slime.rollouts(record, PLACE)[0]["reward"] == 1.0
    assert slime.rollouts(record, PLACE)[0]["reward.acc"] == 1.0


def test_joined_by_rank() -> None:
    """Dumps of several ranks are put together, each sample once."""
    ranks = [RUN["train_data/13_0.pt"], RUN["train_data/13_1.pt"]]

    joined = slime.join(RUN["rollout_data/13.pt"], ranks)

    assert [(one["sample_id"], one["logprobs"]) for one in slime.rollouts(joined, PLACE)] == [
        (771, [-0.5, -0.5]),
        (772, [-0.5, -0.5]),
    ]


def test_join_changes_nothing_it_was_given() -> None:
    """A dump may be joined again when another rank's file has come."""
    before = json.dumps([SAMPLES, TRAIN])
    slime.join(dump(SAMPLES), [TRAIN])

    assert json.dumps([SAMPLES, TRAIN]) == before


def test_samples_that_only_the_trainer_knows() -> None:
    """They come after the others, and other tokens at the same place are another sample."""
    joined = slime.rollouts(slime.join(dump(SAMPLES[:1]), [dump([trained(768, [99], rollout_position=0)])]), PLACE)

    assert [one.get("response") for one in joined] == [SAMPLES[0]["response"], None]
    assert "logprobs" not in joined[0]
    assert (joined[1]["response_token_ids"], joined[1]["logprobs"]) == ([99], [-0.5])


TWINS: dict[str, list[dict[str, Any]]] = {
    "by place": [{"rollout_position": 1, "sample_index": None}, {"rollout_position": 0, "sample_index": None}],
    "by index": [{"sample_index": 8}, {"sample_index": 7}],
}


@pytest.mark.parametrize("places", TWINS.values(), ids=TWINS)
def test_twins_are_told_apart(places: list[dict[str, Any]]) -> None:
    """Samples of the same tokens are joined by the trainer's numbering, in whatever order they come."""
    trains = [trained(None, [19], log_probs=[-float(number)], **place) for number, place in enumerate(places)]

    joined = slime.join(dump([sample(7, [19]), sample(8, [19])]), [dump(trains)])

    assert [one["logprobs"] for one in slime.rollouts(joined, PLACE)] == [[-1.0], [0.0]]


def test_twins_without_numbers() -> None:
    """Samples of the same tokens that nothing tells apart are joined in their order, each once."""
    trains = [trained(None, [19], log_probs=[-float(number)]) for number in range(3)]

    joined = slime.rollouts(slime.join(dump([sample(7, [19]), sample(8, [19])]), [dump(trains)]), PLACE)

    assert [(one.get("sample_id"), one["logprobs"]) for one in joined] == [(7, [0.0]), (8, [-1.0]), (None, [-2.0])]


@given(order=st.permutations(range(6)), ranks=st.integers(1, 3), kept=st.integers(0, 6))
def test_every_sample_is_joined_once(order: list[int], ranks: int, kept: int) -> None:
    """However samples are spread over ranks, each gets its own arrays, and none is lost or doubled."""
    samples = [sample(number, [number // 2]) for number in range(6)]
    trains = [trained(number, [number // 2], log_probs=[-float(number)]) for number in order[:kept]]
    parts = [dump(trains[rank::ranks]) for rank in range(ranks)]

    joined = slime.rollouts(slime.join(dump(samples), parts), PLACE)

    assert [one["sample_id"] for one in joined] == list(range(6))
    for number, one in enumerate(joined):
        assert one.get("logprobs") == ([-float(number)] if number in order[:kept] else None)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "samples are no list": ({"rollout_id": 12, "samples": 3}, "`samples` is 3, not a list"),
    "a sample is no object": (dump(["x"]), r"`samples` holds \"x\" at position 0, not an object"),  # type: ignore[list-item]
    "tokens are no list": (dump([sample(0, [19], tokens="abc")]), '`tokens` is "abc", not a list'),
    "fewer tokens than the response": (dump([sample(0, [19], tokens=[])]), "`tokens` has 0 of at least 1 tokens"),
    "a length that is none": (dump([sample(0, [19], response_length="1")]), '`response_length` is "1", not a whole number'),
    "a negative length": (dump([sample(0, [19], response_length=-1)]), "`response_length` is -1, not a whole number"),
    "no length": (dump([{"tokens": [1]}]), "has no `response_lengths`"),
    "a mask that is no list": (dump([sample(0, [19], loss_mask=1)]), "`loss_mask` is 1, not a list"),
    "arrays that are no list": (dump([trained(0, [19], log_probs=0.5)]), "`log_probs` is 0.5, not a list"),
}


@pytest.mark.parametrize(("record", "reason"), REFUSED.values(), ids=REFUSED)
def test_damage_is_named(record: dict[str, Any], reason: str) -> None:
    """A dump that is not as it should be is refused with the field and what stands there."""
    with pytest.raises(RowRefused, match=reason):
        slime.rollouts(record, PLACE)


def test_tokens_that_are_no_ids_are_not_compared() -> None:
    """A join compares ids, and refuses what is none by name."""
    with pytest.raises(RowRefused, match="`tokens` holds something that is no token id"):
        slime.join(dump([sample(0, [19], tokens=[[1], [2]])]), [TRAIN])


@pytest.mark.parametrize("at", range(3))
def test_joining_damaged_dumps(at: int) -> None:
    """Whatever stands at one place of either dump, they are joined or refused with a reason; never another error."""
    pair = [dump(SAMPLES), RUN["train_data/13_0.pt"], TRAIN]
    for one in damaged(pair[at]):
        dumps = [*pair[:at], one, *pair[at + 1 :]]
        with contextlib.suppress(RowRefused):
            assert isinstance(slime.join(dumps[0], dumps[1:])["samples"], list)


def test_lengths_that_differ_are_flagged_not_lost() -> None:
    """Numbers of the response that are too few keep their places from its first token on."""
    rollout = slime.rollouts(dump([sample(0, [19, 2], rollout_log_probs=[-0.5], loss_mask=[0])]), PLACE)[0]

    assert (rollout["rollout_logprobs"], rollout["loss_mask"]) == ([None], [0])


def test_notes() -> None:
    """Said is where a total comes from when rewards are dicts, and nothing where there is nothing to say."""
    assert "the first of its entries score, reward, total" in slime.note(Head(PLACE.name, (dump(SAMPLES),)))
    assert slime.note(Head(PLACE.name, (dump(SAMPLES[:1]),))) == ""
