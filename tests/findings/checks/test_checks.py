"""Tests of the checks of a run where only some rows, steps, ranks or files have the fault, and of what is told."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bounded import run_bounded
from rows import row, write_run
from sound_run import GROUPS, STEPS, TOKENS, examined, found, names, sound, sound_row

from board import open_run
from board.findings.checks.all_checks import CHECKS, NAMED_PLACES, run_checks
from board.findings.checks.contract import reached
from board.findings.checks.texts import CLOSELY
from board.runs.load_report import MOST_PROBLEMS
from board.runs.progress import Progress, Reading

REPOSITORY = Path(__file__).parents[3]
ODD_RUNS = Path(__file__).parents[2] / "odd_runs"


def test_step_in_two_files_of_a_rank(tmp_path: Path) -> None:
    """A job resumed into another file is found by the step and rank that both files hold, though each file alone is sound."""
    rows = sound()
    again = [
        one | {"reward": 1.5, "token_rewards": None, "sample_id": f"again {one['sample_id']}"} for one in rows if one["step"] > 4
    ]

    checked = run_checks(open_run(write_run(tmp_path / "run", {"first.jsonl": rows, "second.jsonl": again})))

    assert found(checked, "two-files").what == (
        "2 steps in several files: 5, 6; 16 rather than 8 rollouts in a step; 8 rather than 4 rollouts in a group; "
        "the first in first.jsonl, second.jsonl"
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
        "import json, sys; from board import open_run; from board.findings.checks.all_checks import run_checks\n"
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
    folder = write_run(
        tmp_path / "run", {"data.jsonl": [row(0, reward=1.0)], "more.jsonl": [row(1, token_arrays_left_out=1, reward=1.0)]}
    )
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
    folder = write_run(tmp_path / "run", {"data.jsonl": [row(0, reward=1.0)]})
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
    """A check of numbers does not pass on a field that was read as text."""
    checked = examined(tmp_path / "run", [one | {"logprobs": "x", "reward": "good"} for one in sound()])

    unable = {check.name: reason for check, reason in checked.unable}
    assert unable["off-by-one"] == "no rollout has logprobs"
    assert unable["missing-rewards"] == "no rollout has reward"


def test_findings_come_worst_first(tmp_path: Path) -> None:
    """Errors stand before warnings and those before notes, whatever the table's order."""
    rows = sound()
    rows[3]["reward"] = None
    rows[4]["logprobs"][2] = math.nan
    rows[-1] |= {name: rows[-2][name] for name in ("response", "response_tokens")}

    checked = examined(tmp_path / "run", rows)

    assert [finding.check.severity for finding in checked.findings] == ["error", "warning", "note"]
    assert reached("error", (one.check.severity for one in checked.findings))
    assert (checked.count("warning"), checked.count("note")) == (1, 1)


def test_a_few_places_are_named(tmp_path: Path) -> None:
    """A finding names at most so many rollouts and counts all."""
    rows = [one | {"reward": None} for one in sound()[:20]] + sound()[20:]

    finding = found(examined(tmp_path / "run", rows), "missing-rewards")

    assert (len(finding.where), finding.places) == (NAMED_PLACES, 20)


def test_more_problems_than_are_kept_are_at_least(tmp_path: Path) -> None:
    """Where loading stopped listing, a finding says that there are at least so many."""
    rows = [row(0, response_tokens=["ok"], logprobs=[-1.0, -2.0], prompt=str(i)) for i in range(MOST_PROBLEMS + 1)]

    finding = found(examined(tmp_path / "run", rows), "array-lengths")

    assert finding.at_least
    assert finding.places == MOST_PROBLEMS


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


def test_masked_rows_whose_logprobs_differ_are_not_there_twice(tmp_path: Path) -> None:
    """Equal texts of which nothing is trained on have no mean that could differ; their logprobs do."""
    last, none = sound()[-1], [0.0] * len(sound()[-1]["logprobs"])
    own = [last | {"loss_mask": none, "rollout_logprobs": [by, *none[1:]]} for by in (-1.0, -2.0)]
    assert "same-row" not in names(run_checks(open_run(write_run(tmp_path / "run", {"data.jsonl": [*sound()[:-1], *own]}))))


def test_of_a_part_of_a_run_nothing_is_said_to_be_missing(tmp_path: Path) -> None:
    """What is not read yet is not missing: such checks cannot tell, and the others say what they find in the part."""
    rows = [one for one in sound() if one["step"] != 2]
    run = open_run(write_run(tmp_path / "run", {"data.jsonl": [*rows, rows[-1]]}))
    part = replace(run, reading=Reading(Progress(1, 2, len(rows), 1.0), len(rows), 2 * len(rows)))

    whole, checked = run_checks(run), run_checks(part)

    assert {"missing-steps", "same-row"} <= {*names(whole)}
    assert "same-row" in names(checked)
    assert not any(finding.check.of_whole for finding in checked.findings)
    reasons = {check.name: reason for check, reason in checked.unable if check.of_whole}
    assert {*reasons} == {check.name for check in CHECKS if check.of_whole}
    assert {reasons["missing-steps"], reasons["small-groups"]} == {"it looks at the whole run, of which a part is read"}
