"""Faults that are there from the first step on: small runs that show one each, and their sound twins, in which nothing is said of it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import opened

from board.findings import scan
from board.findings.contract import Finding

Rows = list[dict[str, Any]]
STEPS, PROMPTS, SAMPLES = 12, 4, 4
COUNT = STEPS * PROMPTS * SAMPLES
END = "<|im_end|>"
WORDS = ["so", "now", "we", "take", "this", "and", "add", "that", "which", "makes", "one", "more", "than", "before", "then", "see"]  # fmt: skip


def sound(samples: int = SAMPLES, right: float = 0.5) -> Rows:
    """A run of sums by GRPO whose engine and trainer agree, in which nothing is wrong."""
    dice = np.random.default_rng(5)
    rows: Rows = []
    for step in range(STEPS):
        for prompt in range(PROMPTS):
            good = dice.random(samples) < right
            for member in range(samples):
                rows.append(_row(dice, step, prompt, bool(good[member])))
                rows[-1]["advantage"] = float((good[member] - good.mean()) / (good.std() + 1e-6))
    return rows


def _row(dice: np.random.Generator, step: int, prompt: int, good: bool) -> dict[str, Any]:
    answer = 10 + prompt if good else int(dice.integers(20, 90))
    words = [f" {WORDS[at]}" for at in dice.integers(0, len(WORDS), int(dice.integers(8, 20)))]
    tokens = [*words, " Answer:", f" \\boxed{{{answer}}}", END]
    engine = -dice.gamma(1.0, 0.8, len(tokens))
    return {
        "step": step,
        "prompt": f"What is 10 + {prompt}?",
        "prompt_id": f"p{prompt}",
        "group_id": f"{step}-{prompt}",
        "response": "".join(tokens[:-1]).strip(),
        "response_tokens": tokens,
        "logprobs": np.minimum(engine + dice.normal(0, 0.004, len(tokens)), 0).tolist(),
        "rollout_logprobs": engine.tolist(),
        "ground_truth": str(10 + prompt),
        "finish_reason": "stop",
        "reward": float(good),
        "format_reward": float(dice.random() < 0.5),
    }


Edit = Callable[[dict[str, Any]], dict[str, Any]]


def _unfilled(row: dict[str, Any]) -> dict[str, Any]:
    if row["group_id"] != "3-1":
        return {}
    return {"logprobs": [-8.0, *row["logprobs"][1:]], "rollout_logprobs": [0.0, *row["rollout_logprobs"][1:]]}


def _divided(row: dict[str, Any], temperature: float) -> dict[str, Any]:
    return {"logprobs": [one / temperature for one in row["logprobs"]]}


def _paid(row: dict[str, Any]) -> dict[str, Any]:
    return {"reward": 1.0} if row["prompt_id"] == "p2" else {}


def _empty(row: dict[str, Any]) -> dict[str, Any]:
    if row["reward"] or row["prompt_id"] != "p1":
        return {}
    numbers = {name: row[name][-1:] for name in ("logprobs", "rollout_logprobs")}
    return {"response": " ", "response_tokens": [END], "finish_reason": "abort", **numbers}


NO_GROUPS = {"group_id": None, "prompt": None, "prompt_id": None}
TURN = "<|im_start|>user\n"
CUT = {"reward": 0.0, "finish_reason": "length"}


@pytest.mark.parametrize(
    ("kind", "edit", "severity", "measured", "told"),
    [
        ("no_signal", lambda row: {"reward": 0.0}, "warning", 1, "no group of 48 has two different rewards in the whole run (the reward is 0"),
        ("no_signal", lambda row: CUT, "warning", 1, "100 % of their responses are cut off at the limit of length, which is the likely cause"),
        ("no_signal", lambda row: {"reward": 0.0, **NO_GROUPS}, "warning", 1, "no step of 12 has two different"),
        ("no_signal", lambda row: {"reward": float(row["prompt_id"] > "p1")}, "warning", 1, "no group of 48 has two different rewards"),
        ("no_signal", lambda row: {} if row["prompt_id"] == "p0" else {"reward": 0.0}, "warning", None, "with 4 samples and a success rate of"),
        ("constant_part", lambda row: {"format_reward": 0.0}, "warning", 1, "format_reward is 0 in all 192 rollouts"),
        ("constant_part", lambda row: {"format_reward": 1.0}, "note", 1, "format_reward is 1 in all 192 rollouts"),
        ("constant_part", lambda row: {"length_penalty": 0.0}, "note", 1, "length_penalty is 0"),
        ("constant_part", lambda row: {"advantage": 0.0}, "warning", 1, "advantage is 0 in all 192 rollouts: nothing is learned"),
        ("constant_part", lambda row: {"ref_logprobs": row["logprobs"]}, "note", 1, "kl_k3_mean is 0 in all 192 rollouts: the policy is"),
        ("constant_part", lambda row: {"values": [0.0] * len(row["logprobs"])}, "note", 1, "value_mean is 0 in all 192 rollouts: the critic"),
        ("paid_whatever", _paid, "warning", 1, "1 prompt of 4 are paid whatever is answered: p2 (48 rollouts, "),
        ("logprobs_unfilled", _unfilled, "error", 4, "in 4 rollouts have rollout_logprobs of exactly 0 where logprobs is -8 on average"),
        ("train_inference_mismatch", lambda row: _divided(row, 0.7), "warning", None, "a temperature of about 0.70"),
        ("train_inference_mismatch", lambda row: _divided(row, 1.7), "warning", None, "a temperature of about 1.7"),
        ("prompt_doubled", lambda row: {"prompt": f"<s><s>{row['prompt']}"}, "warning", 1, "100 % of the prompts begin with the token"),
        ("prompt_doubled", lambda row: {"prompt": f"{TURN}{TURN}{row['prompt']}"}, "warning", 1, "hold the chat template twice"),
        ("prompt_doubled", lambda row: {"prompt": 2 * row["prompt"]}, "warning", 1, "hold the chat template twice"),
        ("empty_responses", _empty, "warning", None, "their mean reward is 0, that of the others"),
        ("empty_thoughts", lambda row: {"response": f"<think>\n\n</think>{row['response']}"}, "warning", 1, "100 % of the responses with"),
        ("empty_thoughts", lambda row: {"prompt": "<think>", "response": f"</think>{row['response']}"}, "warning", 1, "(192) leave it"),
    ],
)  # fmt: skip
def test_a_level_is_found(tmp_path: Path, kind: str, edit: Edit, severity: str, measured: float | None, told: str) -> None:
    """From the first step to the last, by its number, in words; in the sound run it is not."""
    (one,) = found(tmp_path, [row | edit(row) for row in sound()], kind)

    assert one.severity == severity
    assert told in one.effect
    if kind != "logprobs_unfilled":
        assert (one.first_step, one.last_step) == (0, STEPS - 1)
    if measured is not None:
        assert one.measured == measured


@pytest.mark.parametrize(
    ("kind", "edit", "told"),
    [
        ("prompt_doubled", lambda row: {"prompt": f"<s><s>{row['prompt']}"}, "of the prompts begin"),
        ("empty_thoughts", lambda row: {"response": row["response"].replace("why", "")}, "of the responses with a thought (176)"),
        ("empty_responses", lambda row: _empty(row | {"reward": 0.0, "prompt_id": "p1"}), "of the responses (176) are empty"),
    ],
)
def test_a_share_is_of_the_steps_since_it_began(tmp_path: Path, kind: str, edit: Edit, told: str) -> None:
    """It is not that of the whole run."""
    rows = [row | {"response": f"<think>why</think>{row['response']}"} for row in sound()]
    (one,) = found(tmp_path, [row | (edit(row) if row["step"] else {}) for row in rows], kind)

    assert one.effect.startswith(f"from step 1 on 100 % {told}")


@pytest.mark.parametrize(
    ("over", "told"),
    [
        ("step", "centred over each step instead"),
        ("data_source", "over each data source of a step"),
        ("run", "over the whole run"),
    ],
)
def test_advantages_that_are_centred_over_other_rows(tmp_path: Path, over: str, told: str) -> None:
    """It is said over which, and that groups of equal rewards have advantages."""
    rows = [row | {"run": 0, "data_source": "even" if row["prompt_id"] in ("p0", "p2") else "odd"} for row in sound()]
    for row in rows:
        like = [one["reward"] for one in rows if one[over] == row[over] and (over == "run" or one["step"] == row["step"])]
        row["advantage"] = (row["reward"] - np.mean(like)) / (np.std(like) + 1e-6)

    (one,) = found(tmp_path, rows, "advantages_not_centred")

    assert (one.severity, one.first_step, one.last_step) == ("warning", 0, STEPS - 1)
    assert told in one.effect
    assert "groups with equal rewards have an advantage other than 0" in one.effect


def test_advantages_of_rows_that_are_no_group(tmp_path: Path) -> None:
    """A trainer that takes rows one after the other for a group, while they are of several prompts: it is said over which it centres."""
    of_step = [[row for row in sound() if row["step"] == step] for step in range(STEPS)]
    rows = [row for some in of_step for at in range(SAMPLES) for row in some[at::SAMPLES]]
    for at in range(0, len(rows), SAMPLES):
        rewards = [row["reward"] for row in rows[at : at + SAMPLES]]
        for row in rows[at : at + SAMPLES]:
            row["advantage"] = row["reward"] - np.mean(rewards)

    (one,) = found(tmp_path, rows, "advantages_not_centred")
    assert f"they are centred over each {SAMPLES} rows of a step that were written one after the other" in one.effect


def test_advantages_that_are_off_since_a_step(tmp_path: Path) -> None:
    """What was centred before dates it."""
    half = STEPS // 2
    rows = [row | {"advantage": 2 * row["reward"] - 1} for row in sound()]
    for row in rows:
        like = [one["reward"] for one in rows if (one["step"], one["prompt_id"]) == (row["step"], row["prompt_id"])]
        row["advantage"] = row["reward"] - float(np.mean(like)) + 0.5 * (row["step"] >= half)

    (one,) = found(tmp_path, rows, "advantages_not_centred")
    assert (one.first_step, one.last_step) == (half, STEPS - 1)
    assert f"from step {half} on the mean advantage" in one.effect


def test_advantages_of_every_group_that_are_off(tmp_path: Path) -> None:
    """Whitened in each group and moved by one number they are centred over no rows; where one is missing in a group nothing is known."""
    rows = [row | {"advantage": 2 * row["reward"] - 0.2 + 0.1 * (row["step"] % 3)} for row in sound()]
    (one,) = found(tmp_path / "off", rows, "advantages_not_centred")
    assert "centred over no rows" in one.effect
    less = [row | {"advantage": None if at % 2 else row["advantage"]} for at, row in enumerate(rows)]
    assert found(tmp_path / "less", less, "advantages_not_centred") == []


@pytest.mark.parametrize("logged", [True, False], ids=["with its values", "without"])
def test_advantages_of_a_critic_are_centred_over_a_batch(tmp_path: Path, logged: bool) -> None:
    """Nothing is said of groups where values are there, or where advantages do not follow the rewards in a line."""
    dice = np.random.default_rng(1)
    rows = [row | {"advantage": row["reward"] - 0.5 + float(dice.normal(0, 0.02 if logged else 0.5))} for row in sound()]
    rows = [row | {"values": [0.4] * len(row["logprobs"])} for row in rows] if logged else rows

    assert found(tmp_path, rows, "advantages_not_centred") == []


def test_zeros_of_a_policy_that_is_as_sure_of_others(tmp_path: Path) -> None:
    """A probability that is rounded to 1 beside such as nearly are is no placeholder."""
    sure = {"logprobs": [-8.0, -8.0], "rollout_logprobs": [0.0, -1e-4]}
    rows = [row | {name: [*those, *row[name][2:]] for name, those in sure.items() if row["group_id"] == "3-1"} for row in sound()]
    assert not found(tmp_path, rows, "logprobs_unfilled")


def test_a_sound_run(tmp_path: Path) -> None:
    """Nothing is wrong in it."""
    assert scan.find_all(opened(tmp_path, sound())).findings == ()


@pytest.mark.parametrize(
    ("samples", "right", "severity"), [(2, 0.1, "note"), (2, 0.5, None), (8, 0.5, None)], ids=["few and hard", "few", "many"]
)
def test_equal_groups_that_chance_explains(tmp_path: Path, samples: int, right: float, severity: str | None) -> None:
    """Two samples of a prompt that is solved seldom are equal more often than not: worth a note with that number, and no warning."""
    some = found(tmp_path, sound(samples, right), "no_signal")

    assert [one.severity for one in some] == [severity] * (severity is not None)
    assert all("with 2 samples and a success rate of" in one.effect for one in some)


def test_equal_groups_from_the_first_steps_on_but_for_one(tmp_path: Path) -> None:
    """Of the few groups of the first steps fewer may be equal by chance."""
    kept = {("p0", step) for step in range(12)} | {("p1", 0), ("p2", 0)}
    rows = [row if (row["prompt_id"], row["step"]) in kept else row | {"reward": 0.0} for row in sound(8)]
    (one,) = found(tmp_path, rows, "no_signal")
    assert (one.severity, round(one.measured or 0, 2)) == ("warning", 0.71)


def _by_source(row: dict[str, Any], reward: float) -> dict[str, Any]:
    return {"data_source": "odd" if row["prompt_id"] == "p3" else "even"} | (
        {"reward": reward} if row["prompt_id"] == "p3" else {}
    )


@pytest.mark.parametrize(
    ("edit", "last", "told"),
    [
        (
            lambda row: {"reward": 0.0} if row["step"] < 3 else {},
            2,
            "the reward is 0 in all 48 rollouts before step 3, where at once",
        ),
        (lambda row: _by_source(row, 0.0), STEPS - 1, "the reward is 0 in all 48 rollouts of `odd`, and differs in others; 2"),
        (lambda row: _by_source(row, 1.0), STEPS - 1, "of them have no answer"),
        (lambda row: {"rank": 1, "reward": 1.0} if row["step"] % 2 else {"rank": 0}, STEPS - 1, "in all 96 rollouts of rank 1"),
    ],
    ids=["the first steps", "a source that is never paid", "a source that is always paid", "a rank"],
)
def test_equal_rewards_of_a_part_of_the_run(tmp_path: Path, edit: Edit, last: int, told: str) -> None:
    """They are a fault where the steps after them, the ground truth, or chance say that they should differ."""
    (one,) = found(tmp_path, [row | edit(row) for row in sound()], "no_signal")

    assert told in one.effect
    assert (one.severity, one.last_step) == ("warning", last)


def test_a_source_that_is_solved_is_no_fault(tmp_path: Path) -> None:
    """Where all of its responses have the answer."""
    rows = [
        row | _by_source(row, 1.0) | ({"response": row["ground_truth"]} if row["prompt_id"] == "p3" else {}) for row in sound()
    ]
    assert not found(tmp_path, rows, "no_signal")


def test_equal_groups_whose_responses_are_cut_off(tmp_path: Path) -> None:
    """Chance explains that few are right, and not why: where nearly all are cut at one length that is said, and is a warning."""
    arrays = ("response_tokens", "logprobs", "rollout_logprobs")
    rows = [row | {name: row[name][:8] for name in arrays} | {"finish_reason": "length"} for row in sound(2, 0.1)]
    (one,) = found(tmp_path, rows, "no_signal")
    assert one.severity == "warning"
    assert "100 % of their responses are cut off at 8 tokens" in one.effect


def test_prompts_that_are_paid_whatever_is_answered_since_a_step(tmp_path: Path) -> None:
    """What the verifier does from the middle on is dated there, by prompts; one that is answered rightly from then on is learned."""
    paid = found(tmp_path / "paid", [row | (_paid(row) if row["step"] > 5 else {}) for row in sound()], "paid_whatever")
    answer = {"response": "So it is \\boxed{12}", "reward": 1.0}
    learned = [row | (answer if row["step"] > 5 and row["prompt_id"] == "p2" else {}) for row in sound()]

    assert [(one.first_step, one.last_step) for one in paid] == [(6, 11)]
    assert "from step 6 on 1 prompt of 4 are paid whatever is answered: p2" in paid[0].effect
    assert found(tmp_path / "learned", learned, "paid_whatever") == []


@pytest.mark.parametrize(
    ("thought", "rest"), [("", 0), ("so", 0), ("", 2)], ids=["none are opened", "all are thought", "half are"]
)
def test_thoughts_that_are_no_fault(tmp_path: Path, thought: str, rest: int) -> None:
    """Responses without tags, with thoughts, and of a model that thinks of every other one."""
    said = {0: f"<think>{thought}</think>" if thought or rest else "", 1: "<think>so it is</think>"}
    rows = [row | {"response": said[at % rest if rest else 0] + row["response"]} for at, row in enumerate(sound())]

    assert found(tmp_path, rows, "empty_thoughts") == []


def test_prompts_that_are_paid_whatever_is_answered_are_told_apart(tmp_path: Path) -> None:
    """By what follows the system prompt that all begin with; the data source that they are, and that is paid, is named first."""
    asked = {"p0": "Add 1 and 1", "p1": "Add 2 and 2", "p2": "Take 1 from 3", "p3": "Halve 8"}
    rows = [
        row | {"prompt": f"<|im_start|>system\nBe good.<|im_end|>{asked[row['prompt_id']]}"}
        | {"data_source": asked[row["prompt_id"]][:4]} | _paid(row) for row in sound()
    ]  # fmt: skip
    (one,) = found(tmp_path, [row | {"prompt_id": None} for row in rows], "paid_whatever")

    assert one.effect.startswith("100 % of the 48 rollouts of the data source Take earn the better reward: ")
    assert "whatever is answered: Take 1 from 3 (48 rollouts" in one.effect


def test_an_answer_written_in_another_way_is_paid_rightly(tmp_path: Path) -> None:
    """A prompt whose rollouts all give one answer that is not the ground truth's wording is no prompt that is paid whatever is answered."""
    rows = [row | ({"response": "So it is \\boxed{0.5}", "reward": 1.0} if row["prompt_id"] == "p2" else {}) for row in sound()]

    assert found(tmp_path, rows, "paid_whatever") == []


def found(folder: Path, rows: Rows, kind: str) -> list[Finding]:
    """The findings of a kind in a run of these rows, those that are signs of others included."""
    report = scan.find_all(opened(folder, rows))
    return [one for finding in report.findings for one in (finding, *finding.signs) if one.kind == kind]


def _of_rank(step: int, rank: int, at: int) -> dict[str, Any]:
    return {"step": step, "rank": rank, "prompt": f"{step} {at}", "response": "ok", "reward": float((step + rank + at) % 3)}


@pytest.mark.parametrize(("stops", "expected"), [(10, (10, 18)), (99, None)], ids=["from step 10 on", "never"])
def test_dates_are_those_of_all_places(tmp_path: Path, stops: int, expected: tuple[int, int] | None) -> None:
    """A check lists five places, and its finding begins and ends with all of them."""
    rows = [_of_rank(step, rank, at) for step in range(20) for rank in range(3) for at in range(4) if step < stops or rank == 1]

    some = scan.find_all(opened(tmp_path, rows)).findings

    assert [(one.first_step, one.last_step) for one in some if one.kind == "missing-ranks"] == ([expected] if expected else [])
    assert "small-groups" not in {one.kind for one in some}, "a group of all ranks is small where one is missing: its sign"


def test_dates_of_lines(tmp_path: Path) -> None:
    """Where a check names lines and no rollouts, these have steps as well."""
    rows = [_of_rank(step, 0, 0) | ({"valid_reward": "?"} if 3 <= step < 12 else {}) for step in range(20)]

    assert [(one.first_step, one.last_step) for one in found(tmp_path, rows, "odd-values")] == [(3, 11)]


def _with_numbers(step: int, at: int, **fields: Any) -> dict[str, Any]:
    logprobs = [-0.5 - 0.1 * at, -1.0, -0.25]
    arrays = {"logprobs": logprobs, "ref_logprobs": logprobs, "odd_scores": logprobs}
    row = {"step": step, "prompt": f"{step} {at // 4}", "response": "a b c", "response_tokens": ["a", " b", " c"]}
    return {**row, **arrays, "reward": at % 2, "advantage": at % 2 - 0.5, "kl": 0.1, "parts": {"style": 0.5}, **fields}


NAN3 = [math.nan] * 3


@pytest.mark.parametrize(
    ("since", "fields", "told"),
    [
        (6, {"advantage": math.nan}, ["advantage is NaN or infinite in 48 rollouts (25 %), steps 6 to 11"]),
        (6, {"parts": {"style": math.inf}}, ["parts.style is NaN or infinite in 48 rollouts (25 %), steps 6 to 11"]),
        (6, {"odd_scores": NAN3}, ["odd_scores is NaN, infinite or missing at 144 tokens in 48 rollouts (25 %), steps 6 to 11"]),
        (0, {"ref_logprobs": NAN3, "kl": math.nan}, ["at 576 tokens in 192 rollouts (100 %), steps 0 to 11: KL metrics", "; kl "]),
        (99, {}, []),
        (0, {"advantage": None}, []),
        (6, {"data_source": "no style", "parts": {"style": math.nan}}, []),
    ],
    ids=["a number of the row", "a part", "an array that is not declared", "an array and a number", "sound", "left out", "of another source"],
)  # fmt: skip
def test_numbers_that_are_not_finite(tmp_path: Path, since: int, fields: dict[str, Any], told: list[str]) -> None:
    """They are named, with their share, since when, and what is not computed for them; a number that is left out is no such."""
    rows = [
        _with_numbers(step, at, **(fields if step >= since and at >= (8 if since else 0) else {}))
        for step in range(12)
        for at in range(16)
    ]

    some = found(tmp_path, rows, "missing-numbers")

    assert [(one.severity, one.first_step, one.last_step) for one in some] == [("error", since, 11)] * bool(told)
    assert [one for one in told if one not in some[0].effect] == []


def test_numbers_that_are_not_finite_are_counted_beyond_the_problems_that_are_kept(tmp_path: Path) -> None:
    """The report of a load keeps a thousand problems; more rollouts than that are counted and dated all the same."""
    rows = [{"step": at // 100, "response": "ok", "kl": math.nan if at >= 300 else 0.1} for at in range(2000)]

    (one,) = found(tmp_path, rows, "missing-numbers")

    assert (one.first_step, one.last_step, one.measured) == (3, 19, 1700)
