"""Tests of the checks of a run: each with a run that has the fault and one that has not, real folders both."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bounded import run_bounded
from rows import row, write_run

from board import open_run
from board.checks.all_checks import CHECKS, NAMED_PLACES, run_checks
from board.checks.contract import CheckReport, ReportedFault
from board.checks.texts import CLOSELY
from board.runs.load_report import KEPT_PROBLEMS

REPOSITORY = Path(__file__).parents[2]
ODD_RUNS = Path(__file__).parents[1] / "odd_runs"
STEPS, GROUPS, MEMBERS, TOKENS = 7, 2, 4, 12
BETA = 0.1

Rows = list[dict[str, Any]]


def sound_row(step: int, group: int, member: int, dice: np.random.Generator) -> dict[str, Any]:
    """A rollout as a sound trainer writes it: at step 0 the policy is the reference, token rewards are the reward less β times KL k1."""
    tokens = [f" w{dice.integers(100)}" for _ in range(TOKENS)]
    reference = -dice.gamma(1.0, 1.0, TOKENS)
    policy = np.minimum(reference + step * dice.normal(0, 0.05, TOKENS), 0)
    reward = float(dice.normal())
    penalties = -BETA * (policy - reference)
    penalties[-1] += reward
    return {
        "step": step,
        "prompt": f"prompt {step} {group}",
        "response": "".join(tokens),
        "response_tokens": tokens,
        "logprobs": policy.tolist(),
        "ref_logprobs": reference.tolist(),
        "rollout_logprobs": policy.tolist(),
        "token_rewards": penalties.tolist(),
        "loss_mask": [1] * TOKENS,
        "reward": reward,
        "sample_id": f"{step}-{group}-{member}",
        "rank": group,
        "timestamp": 1000.0 + 10 * step,
    }


def sound() -> Rows:
    """A run in which no check finds anything, and every check but those of masks can tell."""
    dice = np.random.default_rng(0)
    return [sound_row(step, group, member, dice) for step in range(STEPS) for group in range(GROUPS) for member in range(MEMBERS)]


def examined(folder: Path, rows: Rows) -> CheckReport:
    """The checked of a run of these rows in one shard."""
    return run_checks(open_run(write_run(folder, {"data.jsonl": rows})))


def found(checked: CheckReport, check: str) -> ReportedFault:
    """The finding of one check."""
    return next(finding for finding in checked.findings if finding.check.name == check)


def names(checked: CheckReport) -> list[str]:
    """Which checks found something."""
    return [finding.check.name for finding in checked.findings]


def edited(edit: Callable[[dict[str, Any]], dict[str, Any]], *at: int) -> Callable[[Rows], Rows]:
    """A fault that changes the rows at those places, or all of them."""
    return lambda rows: [one | edit(one) if not at or i in at else one for i, one in enumerate(rows)]


def without(wanted: Callable[[dict[str, Any]], bool]) -> Callable[[Rows], Rows]:
    """A fault that leaves rows out."""
    return lambda rows: [one for one in rows if not wanted(one)]


def renamed(field: str, value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A field that is something else."""
    return lambda _: {field: value}


def at_token(field: str, position: int, value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """An array with one number changed."""
    return lambda one: {field: [*one[field][:position], value, *one[field][position + 1 :]]}


@dataclass(frozen=True)
class Fault:
    """What is done to a sound run, and what must be found then."""

    check: str
    do: Callable[[Rows], Rows]
    first: str
    rollouts: int | None
    says: str
    tokens: int | None = None
    beside: tuple[str, ...] = ()
    """Other checks that the same fault sets off, rightly."""


NAN = float("nan")
HALF_MASKED = {"loss_mask": [1] * 6 + [0] * 6, "token_rewards": [0.0] * TOKENS}
CERTAIN = {
    "response_tokens": [" a"] * 20,
    "response": " a" * 20,
    "loss_mask": None,
    "token_rewards": None,
} | {name: [0.0] * 20 for name in ("logprobs", "ref_logprobs", "rollout_logprobs")}

ARRAYS = ("logprobs", "ref_logprobs", "rollout_logprobs", "token_rewards", "loss_mask")

FAULTS: dict[str, Fault] = {
    "array too short": Fault(
        "array-lengths",
        edited(lambda one: {"rollout_logprobs": one["rollout_logprobs"][:5]}, 9),
        "data.jsonl:10",
        None,
        "rollout_logprobs has 5 numbers for 12 tokens",
    ),
    "NaN": Fault("missing-numbers", edited(at_token("logprobs", 3, NAN), 9), "data.jsonl:10", 1, "1 token in 1 rollout", 1),
    "infinity": Fault(
        "missing-numbers", edited(at_token("ref_logprobs", 0, float("-inf")), 9, 11), "data.jsonl:10", 2, "2 tokens in 2", 2
    ),
    "positive logprob": Fault(
        "positive-logprobs", edited(at_token("rollout_logprobs", 2, 0.5), 20), "data.jsonl:21", 1, "rollout_logprob: 1", 1
    ),
    "reference a token late": Fault(
        "off-by-one",
        edited(lambda one: {"ref_logprobs": [-0.7, *one["ref_logprobs"][:-1]], "token_rewards": None}),
        "data.jsonl:1",
        STEPS * GROUPS * MEMBERS,
        "ref_logprob agrees with logprob best when read a token late",
        beside=("first-step",),
    ),
    "engine a token early in one step": Fault(
        "off-by-one",
        edited(lambda one: {"rollout_logprobs": [*one["rollout_logprobs"][1:], -0.7]}, *range(8, 16)),
        "data.jsonl:9",
        8,
        "rollout_logprob agrees with logprob best when read a token early",
    ),
    "reward changed after the fact": Fault(
        "reward-sum", edited(renamed("reward", 5.0), 30), "data.jsonl:31", 1, "sum to the reward less a share of KL k1 in 98.2 %"
    ),
    "policy apart from its reference at the start": Fault(
        "first-step",
        edited(lambda one: {"ref_logprobs": [p - 0.2 for p in one["ref_logprobs"]], "token_rewards": None}, *range(8)),
        "data.jsonl:1",
        8,
        "logprob and ref_logprob differ by 0.200 nats per token on average in step 0",
        tokens=96,
    ),
    "placeholders under the mask": Fault(
        "masked-tokens",
        edited(lambda one: HALF_MASKED | {"logprobs": one["logprobs"][:6] + [0.0] * 6}, 12),
        "data.jsonl:13",
        1,
        "6 tokens masked in 1 rollout",
        tokens=6,
        beside=("reward-sum",),
    ),
    "placeholders without a mask": Fault(
        "unmasked-tokens", edited(lambda _: CERTAIN, 12), "data.jsonl:13", 1, "20 tokens in 1 rollout without a loss_mask", 20
    ),
    "weights for a mask": Fault("mask-values", edited(at_token("loss_mask", 1, 0.5), 4), "data.jsonl:5", 1, "1 token", 1),
    "another rollout's tokens": Fault(
        "text",
        edited(renamed("response_tokens", [" x"] * TOKENS), 17),
        "data.jsonl:18",
        1,
        "1 rollout with tokens that read as another text than the response, of 56 compared",
    ),
    "row written twice": Fault(
        "same-row", lambda rows: [*rows, rows[-1]], "data.jsonl:57", 1, "1 rollout equal to an earlier one of the step"
    ),
    "every rank writes the batch": Fault(
        "same-row",
        lambda rows: [*rows, *({**one, "rank": 1 - one["rank"]} for one in rows if one["step"] == 6)],
        "data.jsonl:57",
        8,
        "8 rollouts equal",
        beside=("resumed",),
    ),
    "same response in a group": Fault(
        "same-response",
        lambda rows: [
            *rows[:-1],
            rows[-1] | {name: rows[-2][name] for name in ("response", "response_tokens")},
        ],
        "data.jsonl:56",
        1,
        "1 rollout (1.8 %)",
    ),
    "step written again": Fault(
        "resumed",
        lambda rows: [*rows, *({**one, "reward": 1.5, "token_rewards": None} for one in rows if one["step"] == 2)],
        "data.jsonl:57",
        None,
        "step 2 is written 2 times",
        beside=("same-response", "small-steps"),
    ),
    "clock that runs back": Fault(
        "clock",
        lambda rows: [one | {"timestamp": one["timestamp"] + 1000 * (one["step"] < 3)} for one in rows],
        "data.jsonl:25",
        4,
        "4 steps with a timestamp before that of an earlier step: 3, 4, 5, 6",
    ),
    "step lost": Fault(
        "missing-steps", without(lambda one: one["step"] == 3), "data.jsonl:25", 1, "1 of 7 steps without a rollout: 3"
    ),
    "rank lost in a step": Fault(
        "missing-ranks",
        without(lambda one: one["step"] == 3 and one["rank"] == 1),
        "data.jsonl:25",
        1,
        "1 step without rows of rank 1: 3",
        beside=("small-steps",),
    ),
    "rank lost altogether": Fault(
        "missing-ranks", edited(lambda one: {"rank": 2 * one["rank"]}), "data.jsonl:1", 1, "No rank has the number 1, of 0 to 2"
    ),
    "member of a group lost": Fault(
        "small-groups",
        without(lambda one: one["sample_id"] == "3-1-2"),
        "data.jsonl:29",
        1,
        "1 group of fewer than the usual 4 rollouts, of 12 groups",
        beside=("small-steps",),
    ),
    "batch cut short": Fault(
        "small-steps",
        without(lambda one: one["step"] == 3 and one["sample_id"].split("-")[1] == "0"),
        "data.jsonl:25",
        1,
        "1 step with fewer rollouts than the usual 8, 4 in all: 3",
        beside=("missing-ranks",),
    ),
    "reward missing": Fault("missing-rewards", edited(renamed("reward", None), 5), "data.jsonl:6", 1, "1 rollout without"),
    "reward NaN": Fault("missing-rewards", edited(renamed("reward", NAN), 5), "data.jsonl:6", 1, "1 rollout without"),
    "arrays left out": Fault(
        "left-out",
        edited(lambda one: dict.fromkeys(ARRAYS) | {"token_arrays_left_out": 1, "token_reward_sum": one["reward"]}, 2, 3),
        "data.jsonl:3",
        2,
        "2 rollouts without token arrays",
        beside=("reward-sum",),
    ),
    "reward as text": Fault(
        "odd-values",
        edited(lambda one: {"reward": str(one["reward"])}, 5),
        "data.jsonl:6",
        None,
        "1 oddity: reward is the text",
    ),
}


def test_sound_run_gives_no_alarm(tmp_path: Path) -> None:
    """A sound run has no finding, and only the checks that need masked tokens or a recorder's budget cannot tell."""
    checked = examined(tmp_path / "run", sound())

    assert names(checked) == []
    assert [(check.name, reason) for check, reason in checked.unable] == [
        ("masked-tokens", "no token is masked"),
        ("left-out", "no rollout has token_arrays_left_out"),
    ]
    assert len(checked.passed) == len(CHECKS) - 2


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(tmp_path: Path, name: str) -> None:
    """Each fault put into the sound run is found by its check, at its place, and sets off no other that it does not concern."""
    fault = FAULTS[name]

    checked = examined(tmp_path / "run", fault.do(sound()))

    finding = found(checked, fault.check)
    assert finding.where[0].source == fault.first
    assert finding.where[0].step is not None
    assert (finding.rollouts, finding.tokens) == (fault.rollouts, fault.tokens)
    assert fault.says in finding.what
    assert not finding.at_least
    assert set(names(checked)) <= {fault.check, *fault.beside}


def test_every_check_has_a_fault() -> None:
    """No check is without a run that sets it off."""
    assert {check.name for check in CHECKS} == {fault.check for fault in FAULTS.values()} | {
        "refused",
        "unfinished",
        "two-files",
        "lost",
        "noted",
    }


def test_names_of_checks_are_unique() -> None:
    """Scripts tell checks by their name, readers by their title."""
    assert len({check.name for check in CHECKS}) == len({check.title for check in CHECKS}) == len(CHECKS)


def test_step_in_two_files_of_a_rank(tmp_path: Path) -> None:
    """A job resumed into another file is found by the step and rank that both files hold, though each file alone is sound."""
    rows = sound()
    again = [
        one | {"reward": 1.5, "token_rewards": None, "sample_id": f"again {one['sample_id']}"} for one in rows if one["step"] > 4
    ]

    checked = run_checks(open_run(write_run(tmp_path / "run", {"first.jsonl": rows, "second.jsonl": again})))

    assert found(checked, "two-files").what == (
        "2 steps with rows of one rank in several files: 5, 6; the first in first.jsonl, second.jsonl"
    )


def test_step_that_goes_on_in_the_next_file_is_sound(tmp_path: Path) -> None:
    """A writer that begins another file in the middle of a step has written nothing twice."""
    rows = sound()

    checked = run_checks(open_run(write_run(tmp_path / "run", {"data.1.jsonl": rows[:26], "data.2.jsonl": rows[26:]})))

    assert names(checked) == []


def test_evaluation_in_a_file_of_its_own_is_sound(tmp_path: Path) -> None:
    """Training and evaluation of one step and rank may stand in different files."""
    evaluation = [one | {"split": "evaluation", "sample_id": f"e{one['sample_id']}", "prompt": "e"} for one in sound()[8:16]]

    checked = run_checks(open_run(write_run(tmp_path / "run", {"a.jsonl": sound(), "b.jsonl": evaluation})))

    assert "two-files" in [check.name for check in checked.passed]


def test_ranks_in_files_of_their_own_are_sound(tmp_path: Path) -> None:
    """One file per rank, or per rank and step, is how trainers write, and no alarm."""
    rows = sound()
    shards = {
        f"rank_{rank}_{step}.jsonl": [one for one in rows if (one["rank"], one["step"]) == (rank, step)]
        for rank in range(GROUPS)
        for step in range(STEPS)
    }

    assert names(run_checks(open_run(write_run(tmp_path / "run", shards)))) == []


def test_reference_read_late_in_one_rank_alone(tmp_path: Path) -> None:
    """A fault of one file is not outvoted by the others."""
    rows = [one | {"token_rewards": None} for one in sound()]
    late = [one | {"ref_logprobs": [-0.7, *one["ref_logprobs"][:-1]]} for one in rows if one["rank"] == 1]
    folder = write_run(tmp_path / "run", {"rank_0.jsonl": [one for one in rows if one["rank"] == 0], "rank_1.jsonl": late})

    finding = found(run_checks(open_run(folder)), "off-by-one")

    assert finding.rollouts == len(late)
    assert {place.source.partition(":")[0] for place in finding.where} == {"rank_1.jsonl"}


def test_evaluation_is_no_smaller_step_or_group(tmp_path: Path) -> None:
    """Rollouts of evaluation have sizes of their own, and those of training are not measured by them."""
    evaluation = [
        sound_row(step, 9, i, np.random.default_rng(step))
        | {"split": "evaluation", "prompt": f"held out {i}", "rank": 0, "reward": 0.0}
        for step in (2, 4, 7)
        for i in range(2)
    ]
    rows = [one | {"token_rewards": None} for one in [*sound(), *evaluation]]

    assert names(examined(tmp_path / "run", sorted(rows, key=lambda one: one["step"]))) == []


PARTLY: dict[str, Callable[[dict[str, Any]], bool]] = {
    "of evaluations": lambda one: one["split"] == "evaluation",
    "of training": lambda one: one["split"] == "train",
    "of some steps": lambda one: one["step"] % 2 == 0,
    "of some members": lambda one: one["sample_id"].endswith("-0"),
}


@pytest.mark.parametrize("field", ["group_id", *sound_row(0, 0, 0, np.random.default_rng(0))])
@pytest.mark.parametrize("which", PARTLY)
def test_field_that_some_rows_lack(tmp_path: Path, which: str, field: str) -> None:
    """Every check answers where a field is in some rows only, whichever these are; what a row lacks puts it in no group of its own."""
    rows = [
        one | {"split": split, "group_id": one["rank"]}
        for step in range(STEPS)
        for group in range(GROUPS)
        for member in range(2)
        for split in ("train", "evaluation")
        for one in [sound_row(step, group, member, np.random.default_rng(step))]
    ]
    lacking = [one if PARTLY[which](one) else {key: value for key, value in one.items() if key != field} for one in rows]

    checked = examined(tmp_path / "run", lacking)

    assert checked.rollouts == (sum(map(PARTLY[which], rows)) if field == "step" else len(rows))
    if field in ("group_id", "prompt"):
        assert "small-groups" not in names(checked)


RANKS: dict[str, tuple[str | int, str]] = {
    "of billions": (3_000_000_000, "No rank has the number 1, 2, 3, 4, 5 and 2,999,999,994 more, of 0 to 3000000000"),
    "of 18 digits": (10**18 - 1, "and 999,999,999,999,999,993 more"),
    "beyond 64 bits": (2**64, ""),
    "below 0": (-1, ""),
    "of 5,000 digits": ("9" * 5_000, ""),
    "of other digits": ("\u0663", ""),
    "raised": ("\u00b2", ""),
}


def test_ranks_of_any_size(tmp_path: Path) -> None:
    """A rank is a name; what its number would be is neither counted up to nor made of more digits than a number has."""
    folders = [
        write_run(tmp_path / str(at), {"data.jsonl": [one | {"rank": one["rank"] and rank} for one in sound()]})
        for at, (rank, _) in enumerate(RANKS.values())
    ]

    told = run_bounded(
        "import json, sys; from board import open_run; from board.checks.all_checks import run_checks\n"
        "print(json.dumps([[one.what for one in run_checks(open_run(run)).findings] for run in sys.argv[1:]]))",
        *folders,
    )

    for (_, says), findings in zip(RANKS.values(), json.loads(told), strict=True):
        assert says in "\n".join(findings)
        assert bool(says) == ("No rank has the number" in "\n".join(findings))


FAR_STEPS: dict[str, tuple[list[int], str]] = {
    "far apart": (
        [0, 1, 2, 3, 4, 5, 10**18],
        "999,999,999,999,999,994 of 1,000,000,000,000,000,001 steps without a rollout: 6, 7, 8",
    ),
    "at both ends": ([-(2**63), *range(12), 2**63 - 1], "18,446,744,073,709,551,602 of 18,446,744,073,709,551,616 steps"),
    "below 0": ([-6, -5, -4, -3, -2, 0], "1 of 7 steps without a rollout: -1"),
}


@pytest.mark.parametrize("case", FAR_STEPS)
def test_steps_far_apart(tmp_path: Path, case: str) -> None:
    """Steps that are missing are counted exactly, and the first are named, however many there are."""
    steps, says = FAR_STEPS[case]

    assert says in found(examined(tmp_path / "run", [row(step) for step in steps]), "missing-steps").what


def byte_level(text: str) -> list[str]:
    """A text as byte-level BPE names its bytes, a token per byte; written out for the bytes that Chinese needs."""
    moved = {0xAD: 0x143} | {byte: 0x121 + byte - 0x7F for byte in range(0x7F, 0xA1)}
    return [chr(moved.get(byte, byte)) for byte in text.encode()]


def test_chinese_of_byte_level_tokens_is_compared_in_full(tmp_path: Path) -> None:
    """Every rollout is compared, however many need decoding, and the one that reads otherwise is found."""
    rows = [
        row(0, prompt=str(i), response=text, response_tokens=byte_level(text))
        for i, text in enumerate(f"{chr(0x4E00 + i)}天气很好" for i in range(2 * CLOSELY))
    ]
    rows[77]["response"] = "今天下雨"

    finding = found(examined(tmp_path / "run", rows), "text")

    assert (finding.rollouts, finding.where[0].source, finding.at_least) == (1, "data.jsonl:78", False)
    assert f"of {2 * CLOSELY} compared" in finding.what


def test_of_many_that_differ_some_are_looked_at(tmp_path: Path) -> None:
    """Where very many rollouts need to be decoded token by token, a finding says that there may be more."""
    rows = [row(0, prompt=str(i), response="no", response_tokens=["yes"]) for i in range(CLOSELY + 1)]

    finding = found(examined(tmp_path / "run", rows), "text")

    assert (finding.rollouts, finding.at_least) == (CLOSELY, True)


def test_refused_lines_are_an_error(tmp_path: Path) -> None:
    """What was not loaded is named by line and reason, beside the rest of the run."""
    folder = write_run(tmp_path / "run", {"data.jsonl": [row(0), b"not json", row(1)]})

    finding = found(run_checks(open_run(folder)), "refused")

    assert (finding.check.severity, finding.where[0].source, finding.where[0].step) == ("error", "data.jsonl:2", None)
    assert "1 line or file not loaded: is not JSON" in finding.what


def test_notes_are_as_many_as_on_the_screen(tmp_path: Path) -> None:
    """What loading noted, and what was not tracked or recorded in full, are as many notes here as in the top line."""
    folder = write_run(tmp_path / "run", {"data.jsonl": [row(0)], "more.jsonl": [row(1, token_arrays_left_out=1)]})
    (folder / "data.jsonl.account.json").write_text(json.dumps({"lost": {"tracker": 3, "queue": 1}, "token_arrays_left_out": 1}))
    run = open_run(folder)
    run.report.notes["The step is taken from the file's name"] = 2

    checked = run_checks(run)

    noted = [one.what for one in checked.findings if one.check.name == "noted"]
    assert noted == ["The step is taken from the file's name", "While tracking, 3 handovers to the tracker failed"]
    assert checked.count("note") == len(run.report.noted) == 3
    assert checked.count("warning") == len(run.report.lost) == 1


def test_what_the_recorder_lost_is_a_warning(tmp_path: Path) -> None:
    """The recorder's own account of what it could not write is a finding; without one there is none."""
    folder = write_run(tmp_path / "run", {"data.jsonl": [row(0)]})
    assert names(run_checks(open_run(folder))) == []

    (folder / "data.jsonl.account.json").write_text(json.dumps({"lost": {"queue": 3}, "token_arrays_left_out": 2}))

    finding = found(run_checks(open_run(folder)), "lost")
    assert finding.what == "While recording, 3 rollouts were dropped because the disk was slower than training"
    assert (finding.check.severity, finding.where) == ("warning", ())


def test_line_still_being_written_is_a_note(tmp_path: Path) -> None:
    """A shard that ends within a line is no error while a job may be writing it."""
    folder = write_run(tmp_path / "run", {"data.jsonl": json.dumps(row(0)).encode() + b'\n{"step": 1, "resp'})

    finding = found(run_checks(open_run(folder)), "unfinished")

    assert (finding.check.severity, finding.places) == ("note", 1)


def test_run_without_rows_can_tell_little(tmp_path: Path) -> None:
    """An empty run passes no check that looks at rollouts."""
    checked = run_checks(open_run(write_run(tmp_path / "run", {"data.jsonl": b""})))

    assert (checked.findings, checked.rollouts) == ((), 0)
    assert {check.name for check in checked.passed} == {"refused", "unfinished", "odd-values", "lost", "noted"}


def test_missing_field_is_not_a_pass(tmp_path: Path) -> None:
    """A check whose fields no rollout has says which, and does not pass."""
    checked = examined(tmp_path / "run", [row(step, reward=1.0) for step in range(6)])

    reasons = {check.name: reason for check, reason in checked.unable}
    assert reasons["off-by-one"] == "no rollout has logprobs"
    assert reasons["text"] == "no rollout has response_tokens"
    assert reasons["small-groups"] == "no rollout has prompt"


UNUSUAL: dict[str, dict[str, Any]] = {
    "arrays and rewards that are texts": {"logprobs": "x", "token_rewards": "y", "reward": "good", "rank": None, "prompt": 3},
    "all masked": {"loss_mask": [0] * TOKENS},
    "empty responses": {"response": "", "response_tokens": [], "logprobs": [], "ref_logprobs": [], "loss_mask": []},
    "no texts": {"response": None, "prompt": None},
    "ids for tokens": {"response_tokens": list(range(TOKENS))},
    "nothing but step and response": dict.fromkeys(sound()[0].keys() - {"step", "response"}),
    "numbers where ids are": {"group_id": 3.5, "sample_id": {"a": 1}, "timestamp": "noon"},
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_every_run_that_opens_can_be_examined(tmp_path: Path, name: str) -> None:
    """Whatever fields are missing, empty or of another kind, each check answers or says that it cannot tell."""
    checked = examined(tmp_path / "run", [{k: v for k, v in (one | UNUSUAL[name]).items() if v is not None} for one in sound()])

    told = [*names(checked), *(check.name for check in checked.passed), *(check.name for check, _ in checked.unable)]
    assert sorted(told) == sorted(check.name for check in CHECKS)


def test_array_kept_as_text_is_no_array(tmp_path: Path) -> None:
    """A check of numbers does not pass on a field that was kept as text."""
    checked = examined(tmp_path / "run", [one | {"logprobs": "x", "reward": "good"} for one in sound()])

    unable = {check.name: reason for check, reason in checked.unable}
    assert unable["off-by-one"] == "no rollout has logprobs"
    assert unable["missing-rewards"] == "no rollout has reward"


def test_findings_come_worst_first(tmp_path: Path) -> None:
    """Errors stand before warnings and those before notes, whatever the table's order."""
    rows = sound()
    rows[3]["reward"] = None
    rows[4]["logprobs"][2] = NAN
    rows[-1] |= {name: rows[-2][name] for name in ("response", "response_tokens")}

    checked = examined(tmp_path / "run", rows)

    assert [finding.check.severity for finding in checked.findings] == ["error", "warning", "note"]
    assert checked.reaches("error")
    assert (checked.count("warning"), checked.count("note")) == (1, 1)


def test_a_few_places_are_named(tmp_path: Path) -> None:
    """A finding names at most so many rollouts and counts all."""
    rows = [one | {"reward": None} for one in sound()[:20]] + sound()[20:]

    finding = found(examined(tmp_path / "run", rows), "missing-rewards")

    assert (len(finding.where), finding.places) == (NAMED_PLACES, 20)


def test_more_problems_than_are_kept_are_at_least(tmp_path: Path) -> None:
    """Where loading stopped listing, a finding says that there are at least so many."""
    rows = [row(0, response_tokens=["ok"], logprobs=[-1.0, -2.0], prompt=str(i)) for i in range(KEPT_PROBLEMS + 1)]

    finding = found(examined(tmp_path / "run", rows), "array-lengths")

    assert finding.at_least
    assert finding.places == KEPT_PROBLEMS


@pytest.mark.parametrize("name", ["tiny_ppo_eval", "tiny_ppo_hacked", "tiny_ppo_rhyme"])
def test_bundled_runs_give_no_alarm(name: str) -> None:
    """What a sound trainer really wrote has no finding, collapse and drift included."""
    assert names(run_checks(open_run(REPOSITORY / "rollout_samples" / name))) == []


ODD = {
    "04_row_without_logprobs": [],
    "06_row_without_tokens": ["text"],
    "09_reward_only": ["same-response"],
    "10_step_without_reward": ["missing-rewards"],
    "12_nan_logprob": ["missing-numbers"],
    "14_null_logprob": ["missing-numbers"],
    "15_nan_reward": ["missing-rewards"],
    "17_string_reward": ["odd-values"],
    "21_logprobs_shorter": ["array-lengths"],
    "22_logprobs_longer": ["array-lengths"],
    "25_logp_ref_differ": ["array-lengths"],
    "27_empty_response": [],
    "28_padded_tokens": [],
    "35_whitespace_tokens": [],
    "38_token_ids_not_strings": [],
    "48_steps_multiple_of_gap": [],
    "50_step_types": ["refused"],
    "54_step_duplicated_by_resume": ["resumed", "same-response"],
    "55_batch_size_changes": [],
    "56_kl_zero_first_step": [],
    "58_kl_outlier_token": [],
    "64_half_written_last_line": ["unfinished"],
    "66_garbage_lines": ["refused"],
    "00_control": [],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_runs(name: str) -> None:
    """Of each odd run exactly what is odd about it is found."""
    assert names(run_checks(open_run(ODD_RUNS / name))) == ODD[name]
