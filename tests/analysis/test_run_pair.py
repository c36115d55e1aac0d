"""Two runs against each other: which prompts are the same, the difference on them, and what is said where they cannot be compared."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import add_run, row, write_run

from board import open_run
from board.analysis.compare.pair_notes import FEW_PROMPTS
from board.analysis.compare.run_pair import Response, RunPair, Visit, compare, rollouts_of_prompt
from board.analysis.prompts.shared_prompts import shared_prompts
from board.errors import FieldMissing
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

SAMPLES = Path(__file__).parents[2] / "rollout_samples"
Rows = Iterable[dict[str, Any]]


def runs(folder: Path, a: Rows, b: Rows) -> tuple[Run, Run]:
    """Two runs of one shard each."""
    first, second = (open_run(write_run(folder / name, {"rank_0.jsonl": rows})) for name, rows in (("a", a), ("b", b)))
    return first, second


def asked(*prompts: str, step: int = 0, **fields: Any) -> list[dict[str, Any]]:
    """Two rollouts of each prompt, rewarded 0 and 1 unless told otherwise."""
    return [row(step, prompt=prompt, **{"reward": reward, **fields}) for prompt in prompts for reward in (0.0, 1.0)]


def named(ids: dict[str, str], **fields: Any) -> list[dict[str, Any]]:
    """The same of prompts that have ids, id → text."""
    return [one | {"prompt_id": key} for key, prompt in ids.items() for one in asked(prompt, **fields)]


MANY = {str(at): f"prompt {at}" for at in range(FEW_PROMPTS + 2)}

SAME: dict[str, tuple[Rows, Rows, int, str, int]] = {
    "texts, white space folded": (asked("a  b", "c"), asked("a b\n", "d"), 1, "text", 0),
    "ids and texts": (named(MANY), named(MANY), len(MANY), "id", 0),
    "ids without texts": ([row(0, prompt_id="7")], [row(0, prompt_id="7")], 1, "id", 0),
    "an id of another text is another prompt": (named(MANY), named(MANY | {"3": "else"}), len(MANY) - 1, "id", 1),
    "ids that count otherwise": (
        named(MANY),
        named({key: MANY[other] for key, other in zip(MANY, reversed(MANY), strict=True)}),
        len(MANY),
        "text",
        len(MANY),
    ),
    "ids of one run alone": (named(MANY), asked(*MANY.values()), len(MANY), "text", 0),
    "ids of some rollouts": (named(MANY), [*named({"0": "prompt 0"}), *asked("prompt 1")], 2, "text", 0),
    "ids that nobody else has": (named(MANY), named({f"x{key}": text for key, text in MANY.items()}), len(MANY), "text", 0),
    "no prompts": ([row(0)], [row(0)], 0, "text", 0),
    "messages": (
        [row(0, prompt=[{"role": "user", "content": "a"}])],
        [row(0, prompt=[{"role": "user", "content": "a", "name": "x"}])],
        1,
        "text",
        0,
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_prompt(tmp_path: Path, name: str) -> None:
    """By id where both runs have ids that mean the same, else by text; chat prompts by roles and contents."""
    a, b, both, by, conflicting = SAME[name]

    shared = shared_prompts(*runs(tmp_path, a, b))

    assert len(np.setdiff1d(np.intersect1d(shared.a, shared.b), [NO_PROMPT])) == both
    assert (shared.by, shared.conflicting) == (by, conflicting)


def test_difference_on_the_prompts_of_both(tmp_path: Path) -> None:
    """B minus A, prompts that one run lacks counted on its side, and the rollouts that show the largest difference."""
    a, b = runs(tmp_path, [*asked("p", "q"), *asked("p", step=1)], [*asked("p", reward=2.0), *asked("q", "r", "s")])

    found = compare(a, b)

    assert (found.total.prompts, found.total.difference, found.unpaired) == (2, 0.75, (0, 2))
    assert (found.total.win, found.total.tie, found.total.loss) == (1, 1, 0)
    assert found.by_step[["step", "difference", "prompts"]].to_numpy().tolist() == [[0, 0.75, 2]]
    most = found.prompts.iloc[0]
    texts = [run.texts("prompt", [int(most[f"rollout_{one}"])]).to_pylist() for run, one in ((a, "a"), (b, "b"))]
    assert (texts, most["difference"], most["step_b"]) == ([["p"], ["p"]], 1.5, 0)
    assert found.a.by_step.to_dict() == {0: 0.5, 1: 0.5}
    assert compare(a, b, visits="last").by_step.empty
    assert compare(a, b, "reward/mean").total == found.total


def test_a_number_that_a_run_lacks(tmp_path: Path) -> None:
    """The error says which run it is."""
    with pytest.raises(FieldMissing, match=r"^b: This needs reward"):
        compare(*runs(tmp_path, asked("p"), [row(0, prompt="p")]))


ENOUGH = tuple(f"p{at}" for at in range(FEW_PROMPTS))

NOTES: dict[str, tuple[Rows, Rows, list[str]]] = {
    "nothing to say": (asked(*ENOUGH), asked(*ENOUGH), []),
    "few prompts": (asked("p"), asked("p"), ["Only 1 prompt could be paired"]),
    "few prompts at the same step": (
        [*asked("p"), *asked(*ENOUGH, step=1)],
        [*asked("p"), *asked(*ENOUGH, step=2)],
        ["Only 1 prompt could be paired: the interval is too narrow, or none. The runs share 21, most of them at other steps"],
    ),
    "no prompt": ([row(0, reward=1.0)], asked("p"), ["the rollouts of A have none"]),
    "no common prompt": (asked("p"), asked("q"), ["No prompt is in both runs"]),
    "other steps": (asked("p"), asked("p", step=1), ["share 1 prompt, but saw none at the same step"]),
    "other split": (
        asked(*ENOUGH, split="train"),
        asked(*ENOUGH, split="evaluation"),
        ["A has only rollouts of split train, B only of evaluation"],
    ),
    "evaluations of both": (asked(*ENOUGH, split="evaluation"), asked(*ENOUGH, split="evaluation"), []),
    "other scale": (
        asked(*ENOUGH),
        [one | {"reward": 100 * one["reward"]} for one in asked(*ENOUGH)],
        ["reward goes from 0 to 1 in A and from 0 to 100 in B: these may be different scales"],
    ),
    "right and wrong as 1 and -1": (
        asked(*ENOUGH),
        [one | {"reward": 2 * one["reward"] - 1} for one in asked(*ENOUGH)],
        ["reward goes from 0 to 1 in A and from -1 to 1 in B"],
    ),
    "a small bonus": (asked(*ENOUGH), [one | {"reward": one["reward"] + 0.2} for one in asked(*ENOUGH)], []),
    "all equal in one": (asked(*ENOUGH), asked(*ENOUGH, reward=100.0), []),
    "numbers missing": (
        asked(*ENOUGH),
        [*asked(*ENOUGH), row(0, prompt="x")],
        [f"1 rollout of {2 * FEW_PROMPTS + 1} of B have no reward"],
    ),
    "prompts missing": (
        [*asked(*ENOUGH), row(0, reward=1.0)],
        asked(*ENOUGH),
        [f"1 rollout of {2 * FEW_PROMPTS + 1} of A have no prompt"],
    ),
    "conflicting ids": (named(MANY), named(MANY | {"3": "else"}), ["1 prompt_id of both runs stand for other texts"]),
}


@pytest.mark.parametrize("name", NOTES)
def test_notes(tmp_path: Path, name: str) -> None:
    """What cannot be compared, or only with care, is said, and nothing else is."""
    a, b, expected = NOTES[name]

    said = compare(*runs(tmp_path, a, b)).notes

    assert len(said) == len(expected)
    assert all(part in note for part, note in zip(expected, said, strict=True))


def test_last_visits_are_told(tmp_path: Path) -> None:
    """Whoever reads the report alone learns that steps were not held to each other."""
    found = compare(*runs(tmp_path, asked(*ENOUGH), asked(*ENOUGH, step=3)), visits="last")

    assert found.notes == ("Each prompt's last step in either run is paired, so there is no difference by step.",)


def test_a_run_against_itself() -> None:
    """Nothing differs, all ties, and it is said."""
    run = open_run(SAMPLES / "tiny_ppo_rhyme")

    found = compare(run, run)

    assert (found.total.difference, found.total.low, found.total.high, found.unpaired) == (0.0, 0.0, 0.0, (0, 0))
    assert found.total.tie == found.total.prompts
    assert found.notes == ("A and B are the same run.",)


def samples(metric: str) -> RunPair:
    """The two runs that ship, honest and hacked."""
    return compare(open_run(SAMPLES / "tiny_ppo_rhyme"), open_run(SAMPLES / "tiny_ppo_hacked"), metric)


def test_the_hacked_run_is_paid_more_and_worth_less() -> None:
    """On the same prompts its reward is higher and its validation reward lower, both beyond doubt."""
    reward, worth = samples("reward").total, samples("valid_reward").total

    assert reward.low > 1
    assert worth.high < -0.2
    assert reward.prompts == worth.prompts > 1000


A = [(0, "p", 1.0), (0, "p", 3.0), (0, "p", 2.0), (0, "q", 0.0), (5, "p", 2.0), (7, "p", 9.0), (8, "p", None)]
B = [(0, "p", 2.0), (0, "q", 0.0), (5, "p", -6.0), (5, "p", -5.0), (5, "p", -7.0)]
"""Step, prompt, reward: the prompt p is seen by both at the steps 0 and 5, where they lie furthest apart at 5."""


def pair_of(root: Path) -> RunPair:
    """Both runs, on the steps that they share."""
    folders = [
        add_run(
            root,
            name,
            [row(step, prompt=prompt, reward=reward, response=f"{at}") for at, (step, prompt, reward) in enumerate(rows)],
        )
        for name, rows in (("a", A), ("b", B))
    ]
    a, b = (open_run(folder) for folder in folders)
    return compare(a, b)


CHOSEN: list[tuple[Visit, Response, int, int]] = [
    ("furthest apart", "highest", 4, 3),
    ("furthest apart", "lowest", 4, 4),
    ("furthest apart", "first", 4, 2),
    ("last", "highest", 5, 3),
    ("last", "first", 5, 2),
]


@pytest.mark.parametrize(("visit", "response", "of_a", "of_b"), CHOSEN)
def test_a_rollout_of_either_run(tmp_path: Path, visit: Visit, response: Response, of_a: int, of_b: int) -> None:
    """At the visits furthest apart, or at each run's last with the number; the largest, the least or the first of it."""
    pair = pair_of(tmp_path)
    prompt = int(pair.prompts.index[0])

    found = rollouts_of_prompt(pair, prompt, visit, response)

    texts = [side.run.texts("response", [key]).to_pylist()[0] for side, key in zip((pair.a, pair.b), found, strict=True)]
    assert texts == [str(of_a), str(of_b)]
