"""Faults of how rows are written: the same steps twice, other rows among them, ranks that stop."""

import re
from random import Random
from typing import Final

from benchmarks.findings.reported.fault import Hooks, Row, Spot
from benchmarks.findings.reported.honest import made
from benchmarks.findings.reported.texts import prompt_of


def _inside(row: Row, spot: Spot) -> bool:
    return spot.run.steps[spot.first] <= row["step"] <= spot.run.steps[spot.last]


def _turns(rows: list[Row], spot: Spot) -> list[Row]:
    """Each turn as a row with the reward of the episode; what failed went on for longer."""
    found = []
    for number, row in enumerate(rows):
        turns = [turn for turn in re.split(r"(?=<tool_call>)", row["response"]) if turn]
        if row["reward"] < 1:
            turns = [turn.replace("house", f"house {more}") for more in range(spot.dice.randint(2, 3)) for turn in turns]
        kept = {key: value for key, value in row.items() if not isinstance(value, list)}
        about = {"rollout_id": f"r{number}", "num_turns": len(turns)}
        found += [kept | {"response": turn, "turn": at} | about for at, turn in enumerate(turns)]
    return found


def _other_attempt(rows: list[Row], spot: Spot) -> list[Row]:
    """The same steps as another attempt would have sampled them: every rollout answers as its neighbour's neighbour did."""
    chosen = [row for row in rows if _inside(row, spot)]
    again = made(spot.run.__class__(**(spot.run.__dict__ | {"seed": spot.run.seed + 5000})))
    others = [row for row in again if _inside(row, spot)]
    keep = ("prompt", "group_id", "prompt_id", "ground_truth", "data_source")
    return [other | {key: row[key] for key in keep if key in row} for row, other in zip(chosen, others, strict=False)]


def _two_files(rows: list[Row], spot: Spot) -> list[Row]:
    early = [row | {"_file": "attempt_1.jsonl"} for row in rows if row["step"] < spot.run.steps[spot.first]]
    late = [row | {"_file": "attempt_2.jsonl"} for row in rows if row["step"] >= spot.run.steps[spot.first]]
    return [*early, *(row | {"_file": "attempt_1.jsonl"} for row in _other_attempt(rows, spot)), *late]


def _abandoned(rows: list[Row], spot: Spot) -> list[Row]:
    early = [row for row in rows if row["step"] < spot.run.steps[spot.first]]
    return [*early, *_other_attempt(rows, spot), *rows[len(early) :]]


def _validation_between(rows: list[Row], spot: Spot) -> list[Row]:
    """At every fifth step the rows of a validation stand in the place of training's."""
    run = spot.run
    found = [row for row in rows if (run.steps.index(row["step"]) - spot.first) % 5]
    for at in range(spot.first, len(run.steps), 5):
        for number in range(48):
            prompt = prompt_of("evaluation", 10**7 + number, run.seed, 1)
            answer = prompt.a + prompt.b + (spot.dice.random() < 0.5)
            row: Row = {
                "step": run.steps[at],
                "prompt": prompt.text,
                "response": f"It is {answer}.",
                "reward": float(answer == prompt.a + prompt.b),
            }
            found.append(row | {"ground_truth": str(prompt.a + prompt.b), "_file": "rollouts.jsonl"})
    return found


def _one_rank(rows: list[Row], spot: Spot) -> list[Row]:
    return [row for row in rows if row["rank"] == 1 or not _inside(row, spot)]


def _stale(rows: list[Row], spot: Spot) -> list[Row]:
    """Rows of earlier steps are written once more, under later numbers of steps."""
    dice = Random(f"{spot.run.seed}/stale")
    early = [row for row in rows if row["step"] < spot.run.steps[spot.first]]
    kept = ("step", "rank", "_file", "policy_version", "group_id")
    return [
        dice.choice(early) | {key: row[key] for key in kept if key in row}
        if _inside(row, spot) and dice.random() < 0.8 * spot.force
        else row
        for row in rows
    ]


FILE_HOOKS: Final = {
    "row_a_turn": Hooks(rows=_turns),
    "steps_in_two_files": Hooks(rows=_two_files),
    "abandoned_attempt": Hooks(rows=_abandoned),
    "validation_among_rollouts": Hooks(rows=_validation_between),
    "ranks_stop": Hooks(rows=_one_rank),
    "stale_rows": Hooks(rows=_stale),
}
