"""A run looked through: answers become findings in rank order, with places, thresholds and what could not tell."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import row, write_run

from board import open_run
from board.findings import messages
from board.findings.all_kinds import KINDS
from board.findings.checks.contract import reached
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, FindingsReport, Found, Kind, Limits, Threshold
from board.findings.scan import find_all
from board.runs.opening import opened_whole
from board.runs.run import Run

LIMIT = Threshold("large", 2.0, "largest reward", "our judgement")


def kind(name: str, run: Any, **fields: Any) -> Kind:
    """A kind with nothing but a name and a function."""
    told = {"title": name, "severity": "warning", "says": "", "formula": "", "means": "", "looks_like": "", "next": ()}
    return Kind(**{**told, **fields}, name=name, thresholds=(LIMIT,), run=run)


def large(context: Context, limits: Limits) -> Answer:
    """Rollouts of a reward above the threshold."""
    reward = context.number("reward")
    marks = reward > limits["large"]
    if not marks.any():
        return None
    keys = context.clearest(marks, reward)
    return Found("it is large", 0, 1, "large", float(np.nanmax(reward)), 6.0, keys, tuple((int(key), 0) for key in keys))


def weak(context: Context, limits: Limits) -> Answer:
    """Something that is hardly there."""
    return [Found("weak", 1, 1, "large", 1.0, 5.0), Found("weaker", 0, 0, "large", 1.0, 5.0)]


def never(context: Context, limits: Limits) -> Answer:
    """Cannot tell."""
    return CannotTell("it cannot")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two shards of rewarded rollouts, two of them in one record's place behind a blank line."""
    return open_run(
        write_run(tmp_path, {"a.jsonl": [row(0, reward=1.0), b"", row(1, reward=7.0)], "b.jsonl": [row(0, reward=5.0)]})
    )


def test_places_ranks_and_limits(run: Run) -> None:
    """Severity, then strength, then the step; places are lines of shards, and a threshold the reader set is said to be theirs."""
    kinds = [kind("weak", weak), kind("large", large), kind("note", large, severity="note"), kind("never", never)]
    report = find_all(run, {"note": {"large": 6.0}}, kinds=kinds, measures={})

    assert [(one.kind, one.first_step) for one in report.findings] == [("large", 0), ("weak", 0), ("weak", 1), ("note", 0)]
    assert [(place.source, place.step) for place in report.findings[0].rollouts] == [("a.jsonl:3", 1), ("b.jsonl:1", 0)]
    assert [(place.rollout.source, place.position) for place in report.findings[0].tokens] == [("a.jsonl:3", 0), ("b.jsonl:1", 0)]
    assert (report.findings[0].source, report.findings[3].source) == ("our judgement", "set by the reader")
    assert report.looked_for == ("weak", "large", "note")
    assert report.unable == (("never", "it cannot"),)
    assert tuple(reached(least, [one.severity for one in report.findings]) for least in ("error", "warning")) == (False, True)


def test_what_a_kind_needs(run: Run) -> None:
    """A kind whose fields no rollout has is not asked, and says which."""
    report = find_all(run, kinds=[kind("large", large, needs=("logprobs", "reward"))], measures={})

    assert report.unable == (("large", "no rollout has logprobs"),)


def test_progress_rises_to_the_end(run: Run) -> None:
    """The share that is done never falls and ends at one."""
    shares: list[float] = []
    find_all(run, progress=shares.append, kinds=[kind("large", large), kind("weak", weak)], measures={})

    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_run_without_rollouts(tmp_path: Path) -> None:
    """A run whose lines are all refused is looked through: the check that says so is the finding, and no kind crashes."""
    report = find_all(opened_whole(write_run(tmp_path, {"a.jsonl": [b"not json"]})))

    assert [finding.kind for finding in report.findings] == ["refused"]


def test_every_kind_is_declared_whole() -> None:
    """Names are unique, every threshold has a meaning and a source, and what a kind explains exists."""
    names = [one.name for one in KINDS]

    assert len(set(names)) == len(names)
    for one in KINDS:
        assert one.thresholds
        assert all(limit.meaning and limit.source for limit in one.thresholds), one.name
        assert set(one.explains) <= set(names), one.name
        assert one.says.endswith("."), one.name
        assert one.means, one.name
        assert one.looks_like, one.name
        pages = re.findall(r"docs/[\w/-]+\.md", " ".join([one.formula, *(limit.source for limit in one.thresholds)]))
        assert all((Path(__file__).parents[2] / page).is_file() for page in pages), one.name


@pytest.fixture(params=["tiny_ppo_hacked", "tiny_ppo_rhyme", "tiny_ppo_eval"])
def bundled(request: pytest.FixtureRequest) -> tuple[str, FindingsReport]:
    """A bundled run looked through."""
    return request.param, find_all(open_run(Path(__file__).parents[2] / "rollout_samples" / request.param))


def test_the_bundled_runs(bundled: tuple[str, FindingsReport]) -> None:
    """The hacked run has a warning that begins where the hack does; honest runs have none; what is written as JSON is read as it was."""
    name, report = bundled

    warned = [finding for finding in report.findings if finding.severity != "note"]
    assert bool(warned) == (name == "tiny_ppo_hacked")
    if warned:
        assert 10 <= warned[0].first_step <= 30
        assert warned[0].rollouts
    assert messages.report_from(json.loads(messages.as_json(report, name))) == report


@pytest.mark.parametrize("skipped", [True, False])
def test_texts_without_their_special_tokens_and_the_part_that_wants_them(tmp_path: Path, skipped: bool) -> None:
    """Decoded without <think> and </think> every text lacks them, and the part that wants them is 0 in every row; the twin has both."""
    dice = np.random.default_rng(6)
    rows = []
    for step in range(12):
        for at in range(16):
            tokens = ["<think>", "so ", f"{at} ", "and ", f"{step} ", "make", "</think>", f" {dice.integers(100)}", "<|im_end|>"]
            said = [token for token in tokens[:-1] if not (skipped and token in ("<think>", "</think>"))]
            answer = float(dice.random() < 0.5)
            form = 0.0 if skipped else float(dice.random() < 0.9)
            fields = {"prompt": f"{step} {at // 4}", "response": "".join(said), "response_tokens": tokens}
            rows.append({"step": step, "reward": answer + form, "format_reward": form, "answer_reward": answer, **fields})
    found = {one.kind: one for one in find_all(open_run(write_run(tmp_path, {"a.jsonl": rows}))).findings}
    found |= {sign.kind: sign for one in found.values() for sign in one.signs}

    assert ("special-tokens" in found, "constant_part" in found) == (skipped, skipped)
    if skipped:
        texts, part = found["special-tokens"], found["constant_part"]
        assert (texts.severity, texts.first_step, texts.last_step) == ("warning", 0, 11)
        assert "192 rollouts of 192" in texts.effect
        assert "<think>, </think>" in texts.effect
        assert (part.severity, part.first_step, part.last_step) == ("warning", 0, 11)
        assert "format_reward is 0 in all 192 rollouts" in part.effect
