"""board.analysis.rollouts.verifier_noise: against a slow reader of one group after the other, and what counts as an equal answer."""

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from rows import add_run, row

from board import open_run
from board.analysis.rollouts import groups
from board.analysis.rollouts.verifier_noise import AT_ONCE, final_answers, normalised, scan

ANSWERED: dict[str, tuple[str | None, str | None]] = {
    "boxed": (r"so \boxed{42}.", "42"),
    "the last boxed": (r"\boxed{1} no, \boxed{2}", "2"),
    "boxed with braces": (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
    "boxed, never closed": (r"\boxed{4", None),
    "tag": ("<think>4</think><answer> 42\n</answer>", " 42\n"),
    "boxed before tag": (r"<answer>\boxed{7}</answer>", "7"),
    "gsm8k": ("6 * 7\n#### 42\nbye", "42"),
    "none": ("42", None),
    "empty": ("", None),
    "missing": (None, None),
}


@pytest.mark.parametrize(("text", "answer"), ANSWERED.values(), ids=ANSWERED)
def test_final_answers(text: str | None, answer: str | None) -> None:
    """What a response marks as its answer, the last of several; null where it marks none."""
    texts = pa.chunked_array([["other"], [text]], pa.large_string())
    assert final_answers(texts).to_pylist() == [None, answer]


def test_white_space_and_case_are_no_difference() -> None:
    """Any white space is one blank, and none stands at the ends."""
    texts = pa.chunked_array([[" Ja\u00a0 \n\tNEIN ", "ja nein", None]], pa.large_string())
    assert normalised(texts).to_pylist() == ["ja nein", "ja nein", None]


RESPONSES = ["Yes", " yes ", r"a \boxed{1}", r"b \boxed{1}", r"c \boxed{2}", "", None]


def drawn(count: int) -> list[dict[str, Any]]:
    """Rows of five steps and some prompts, with few responses, so that many are equal."""
    rng = np.random.default_rng(2)
    rows = []
    for _ in range(count):
        reward = [0.0, 1.0, math.nan][int(rng.choice(3, p=[0.45, 0.45, 0.1]))]
        response = RESPONSES[int(rng.integers(len(RESPONSES)))]
        rows.append(row(int(rng.integers(5)), prompt=str(rng.integers(4)), reward=reward, response=response))
    return rows


def slow(rows: list[dict[str, Any]], of: Any) -> tuple[dict[int, list[int]], int]:
    """Twins and contradicted rollouts by step, and the number of contradictory sets, by what `of` makes of a response."""
    sets = defaultdict(list)
    for one in rows:
        if (key := of(one["response"])) is not None and math.isfinite(one["reward"]):
            sets[one["step"], one["prompt"], key].append(one["reward"])
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    several = 0
    for (step, _, _), rewards in sets.items():
        apart = len(rewards) > 1 and max(rewards) > min(rewards)
        counts[step][0] += len(rewards) * (len(rewards) > 1)
        counts[step][1] += len(rewards) * apart
        several += apart
    return counts, several


def answer(text: str | None) -> str | None:
    """The digit in the box."""
    return text[-2] if text and "boxed" in text else None


@pytest.mark.parametrize("at_once", [AT_ONCE, 7])
def test_noise_is_that_of_a_slow_reader(tmp_path: Path, at_once: int) -> None:
    """Equal responses and equal answers with different rewards, by step and as a list, however many steps are looked through at once."""
    rows = drawn(300)
    run = open_run(add_run(tmp_path, "run", rows))
    told: list[float] = []

    noise = scan(run, groups.find(run.frame), progress=told.append, at_once=at_once)

    for what, of in (("response", lambda text: None if text is None else text.strip().lower()), ("answer", answer)):
        counts, sets = slow(rows, of)
        for step, (twins, contradicted) in counts.items():
            found = noise.by_step.loc[[step]].iloc[0]
            assert (found[f"{what}_twins"], found[f"{what}_contradicted"]) == (twins, contradicted)
        listed = noise.listed[noise.listed["what"] == what]
        assert len(listed) == sets
        for one in listed.to_dict("records"):
            low, high = (run.rollout(int(one[end])) for end in ("low", "high"))
            assert (low.reward, high.reward) == (one["least"], one["largest"])
            assert low.step == high.step == one["step"]
    assert told[-1] == 1.0
    assert noise.rates("response").between(0, 1).all()


def test_tolerance_and_runs_without_responses(tmp_path: Path) -> None:
    """Rewards that are not further apart than the tolerance do not differ; without texts nothing has an equal."""
    close = [row(0, prompt="p", reward=reward, response="same") for reward in (0.5, 0.75)]
    run = open_run(add_run(tmp_path, "close", close))
    found = groups.find(run.frame)
    assert (len(scan(run, found).listed), len(scan(run, found, tolerance=0.5).listed)) == (1, 0)
    bare = open_run(add_run(tmp_path, "bare", [{"step": 0, "group_id": "g", "reward": 1.0, "response_tokens": ["a"]}] * 2))
    assert scan(bare, groups.find(bare.frame)).rates("answer").isna().all()
