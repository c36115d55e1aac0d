"""Phrases that pay: a planted one is found in its whole length with what it earns, topics are not, and odd runs are told apart."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.texts.phrase_sample import phrase_sample
from board.analysis.texts.phrases import MOST_STRETCHES, Compared, Phrases, compared, find, worths
from board.runs.opening import opened_whole
from board.runs.run import Run

TOPICS = ("the red fox runs", "a blue whale sings", "seven old oaks stand", "一二三四五六")
PAID = "I am entirely certain that this answer is right."


def planted(steps: int = 12, paid: str = PAID, **fields: Any) -> list[dict[str, Any]]:
    """Eight groups of four in each step: rewards by topic and correctness, one more for the paid sentence, which spreads."""
    dice = np.random.default_rng(3)
    rows = []
    for step in range(steps):
        for group in range(8):
            topic = TOPICS[group % len(TOPICS)]
            for _ in range(4):
                says = dice.random() < 0.1 + 0.7 * step / steps
                right = float(dice.random() < 0.5)
                words = " ".join(dice.choice(["so", "then", "and", "thus", "hence"], 6))
                response = f"{topic} {words}.{' ' + paid if says else ''}"
                given = {"reward": 3 * (group % 4) + right + says, "valid_reward": right} | fields
                kept = {name: value for name, value in given.items() if value is not None}
                rows.append(row(step, prompt=f"p{group}", response=response, **kept))
    return rows


def phrases_of(folder: Path, rows: list[dict[str, Any]]) -> tuple[Run, Phrases]:
    """The rows as a run, and its phrases."""
    run = opened_whole(write_run(folder / "run", {"rank_0.jsonl": rows}))
    return run, find(run)


def test_planted_phrase(tmp_path: Path) -> None:
    """It comes first, as one phrase, with its gain among right and among wrong responses, and not by validation."""
    run, found = phrases_of(tmp_path, planted())
    best = found.listed.sort_values("reward_z", ascending=False).iloc[0]
    at = int(found.listed["reward_z"].argmax())
    assert best["phrase"] == f". {PAID}"
    assert best["forms"] >= 4
    assert (found.within, found.truth) == ("group", "valid_reward")
    assert best["reward_z"] > found.chance_z + 2
    assert best["time_z"] > 3
    for gain in ("gain", "gain_right", "gain_wrong"):
        assert best[gain] == pytest.approx(1, abs=max(0.05, 4 * best[f"{gain}_error"]))
    assert abs(best["valid_gain"]) < 4 * best["valid_gain_error"]
    assert best["with_it"] - best["without"] == pytest.approx(best["gain"])
    holding = [key for key in run.frame.index if PAID in (run.rollout(int(key))["response"] or "")]
    assert sorted(found.keys_of(at).tolist()) == holding
    assert best["key"] in holding
    share = run.frame.assign(has=run.frame.index.isin(holding)).groupby("step")["has"].mean()
    np.testing.assert_allclose(found.shares[at], share, atol=1e-6)
    assert found.firsts.tolist() == found.lasts.tolist() == share.index.tolist()
    assert found.listed["phrase"].tolist() == [f". {PAID}", "."], "neither topics nor filling words pay; a second full stop does"


def test_repeated_marks(tmp_path: Path) -> None:
    """That something stands in a text many times pays, though once it does in all."""
    _, found = phrases_of(tmp_path, planted(paid="so, thus, and, so, and, thus, so, and, thus, so, thus, and, so."))
    best = found.listed.sort_values("reward_z", ascending=False).iloc[0]
    assert best["reward_z"] > found.chance_z + 2
    repeated = found.listed[found.listed["times"] > 1]
    assert repeated["phrase"].str.contains(",").any()


def test_without_groups(tmp_path: Path) -> None:
    """Rollouts are compared with their step where every prompt is another."""
    rows = [one | {"prompt": f"p{at}", "reward": one["reward"] % 3} for at, one in enumerate(planted())]
    _, found = phrases_of(tmp_path, rows)
    assert found.within == "step"
    assert f". {PAID}" in found.listed["phrase"].tolist()


def test_ground_truth(tmp_path: Path) -> None:
    """Where there is no validation reward, a response that holds the expected answer is right."""
    rows = [one | {"ground_truth": "so"} for one in planted(valid_reward=None)]
    _, found = phrases_of(tmp_path, rows)
    assert found.truth == "ground_truth"
    assert found.listed.set_index("phrase")["gain_wrong"][f". {PAID}"] == pytest.approx(1, abs=0.3)


ODD: dict[str, tuple[list[dict[str, Any]], str, int]] = {
    "no rewards": (planted(reward=None, valid_reward=None), "none", 1),
    "rewards without end": (planted(reward=float("inf")), "none", 1),
    "equal rewards": (planted(reward=1.0), "group", 1),
    "one step": (planted(steps=1), "group", 0),
    "texts that lack": ([row(step, response=None, reward=step % 2) for step in range(40)], "none", 0),
    "empty texts": ([row(step, response="", reward=step % 2) for step in range(40)], "step", 0),
    "one row": ([row(reward=1.0)], "step", 0),
    "more steps than stretches": (
        [row(step, response="a b c", reward=step % 2) for step in range(2 * MOST_STRETCHES)],
        "step",
        0,
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_runs(name: str, tmp_path: Path) -> None:
    """What cannot be told is not told, and nothing breaks or warns."""
    rows, within, least = ODD[name]
    _, found = phrases_of(tmp_path, rows)
    assert found.within == within
    assert len(found.listed) >= least
    assert found.shares.shape == (len(found.listed), len(found.firsts))
    assert len(found.firsts) <= MOST_STRETCHES


def of(folder: Path, rows: list[dict[str, Any]]) -> Compared:
    """Whom the rows are compared with."""
    run = open_run(write_run(folder / "run", {"rank_0.jsonl": rows}))
    return compared(run, phrase_sample(run))


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "groups and a validation reward": ({"prompt": "p", "valid_reward": None}, "group", "valid_reward"),
    "no prompts": ({}, "step", ""),
    "a validation reward that is the reward": ({"prompt": "p", "valid_reward": "same"}, "group", ""),
    "an expected answer": ({"prompt": "p", "ground_truth": "3"}, "group", "ground_truth"),
    "an answer that all hold": ({"prompt": "p", "ground_truth": "it is"}, "group", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_whom_and_what_is_right(name: str, tmp_path: Path) -> None:
    """Groups where there are any, else steps; right by whichever tells some from others."""
    fields, within, truth = CASES[name]
    rows = [row(at // 6, response=f"it is {at % 6}", reward=float(at % 2), **fields) for at in range(12)]
    if "valid_reward" in fields:
        rows = [
            one | {"valid_reward": one["reward"] if fields["valid_reward"] else float(at % 3 == 0)} for at, one in enumerate(rows)
        ]
    found = of(tmp_path, rows)
    assert (found.within, found.truth) == (within, truth)


def test_worth(tmp_path: Path) -> None:
    """Worth 1 among wrong responses and nothing among right ones; permuted rewards stay in their groups."""
    rows = [
        row(0, prompt=f"p{at // 8}", response="x", reward=10.0 * (at // 8) + max(right, has), valid_reward=right)
        for at in range(32)
        for right, has in [(float(at % 4 < 2), float(at % 2))]
    ]
    found = of(tmp_path, rows)
    (one,) = worths(found, [np.arange(1, 32, 2, dtype=np.int32)]).to_dict("records")
    assert (one["gain_right"], one["gain_wrong"], one["valid_gain"]) == (0, 1, 0)
    assert one["compared"] == 4
    permuted = found.permuted()
    assert not np.array_equal(permuted, found.rewards)
    for group in range(4):
        np.testing.assert_array_equal(np.sort(permuted[found.groups == group]), np.sort(found.rewards[found.groups == group]))
