"""Paired differences of two runs against a slow reference, closed forms, and what is known to differ or not to."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from board.analysis.compare.pair_notes import FEW_PROMPTS
from board.analysis.compare.paired_prompts import (
    BY_STEP,
    PAIRS,
    PROMPTS,
    PairedDifference,
    Rollouts,
    Visits,
    by_prompt,
    by_step,
    overall,
    pairs,
    unpaired,
)

NONE = -9
Row = tuple[int, int, float]
"""Step, prompt, number."""

ROWS = st.lists(
    st.tuples(
        st.integers(-2, 3), st.sampled_from([NONE, 1, 2, 3, 4]), st.one_of(st.floats(-5, 5), st.sampled_from([np.nan, np.inf]))
    ),
    max_size=30,
)


def rollouts(rows: list[Row]) -> Rollouts:
    """As the functions take them."""
    steps, prompts, values = zip(*rows, strict=True) if rows else ((), (), ())
    return Rollouts(np.array(steps, np.int64), np.array(prompts, np.int64), np.array(values, np.float64))


def means(rows: list[Row]) -> dict[tuple[int, int], float]:
    """(step, prompt) → mean of its numbers, as it is said."""
    known = [row for row in rows if row[1] != NONE and np.isfinite(row[2])]
    return {cell: float(np.mean([value for *at, value in known if tuple(at) == cell])) for cell in {row[:2] for row in known}}


def last_visits(of: dict[tuple[int, int], float]) -> dict[int, float]:
    """Prompt → mean of its last step."""
    return {prompt: value for (_, prompt), value in sorted(of.items())}


def slowly(a: list[Row], b: list[Row], visits: Visits) -> list[tuple[int, float]]:
    """(prompt, difference) of every pair."""
    if visits == "last":
        of_a, of_b = last_visits(means(a)), last_visits(means(b))
        return sorted((prompt, of_b[prompt] - of_a[prompt]) for prompt in of_a.keys() & of_b.keys())
    cells_a, cells_b = means(a), means(b)
    return sorted((cell[1], cells_b[cell] - cells_a[cell]) for cell in cells_a.keys() & cells_b.keys())


@given(ROWS, ROWS, st.sampled_from(["same step", "last"]))
def test_pairs_are_those_of_the_slow_way(a: list[Row], b: list[Row], visits: Visits) -> None:
    """Missing numbers, prompts that one side lacks, and rows in any order included."""
    found = pairs(rollouts(a), rollouts(b), NONE, visits)
    expected = slowly(a, b, visits)

    assert list(found.columns) == list(PAIRS)
    told = sorted(zip(found["prompt"].tolist(), found["difference"].tolist(), strict=True))
    np.testing.assert_allclose(np.array(told).reshape(-1, 2), np.array(expected).reshape(-1, 2), atol=1e-9)
    for name, rows in (("a", a), ("b", b)):
        firsts = [rows[at] for at in found[f"first_{name}"].tolist()]
        assert [first[1] for first in firsts] == found["prompt"].tolist()
        assert [first[0] for first in firsts] == found[f"step_{name}"].tolist()
        assert unpaired(rollouts(rows), found, NONE) == len({row[1] for row in rows} - {NONE} - {one[0] for one in expected})


@settings(max_examples=30)
@given(ROWS, ROWS)
def test_the_whole_is_what_its_prompts_and_steps_add_up_to(a: list[Row], b: list[Row]) -> None:
    """The difference is the mean over pairs, wins, ties and losses are all prompts, and the other way round all is turned about."""
    paired = pairs(rollouts(a), rollouts(b), NONE)
    back = overall(pairs(rollouts(b), rollouts(a), NONE))
    total, of_prompts, of_steps = overall(paired), by_prompt(paired), by_step(paired)

    assert (list(of_prompts.columns), list(of_steps.columns)) == (list(PROMPTS), list(BY_STEP))
    assert total.win + total.tie + total.loss == total.prompts == len(of_prompts)
    assert total.pairs == of_prompts["pairs"].sum() == of_steps["prompts"].sum()
    assert (total.win, total.tie, total.loss) == (back.loss, back.tie, back.win)
    if total.pairs:
        assert total.difference == pytest.approx(-back.difference, abs=1e-9)
        assert total.difference == pytest.approx(np.average(of_steps["difference"], weights=of_steps["prompts"]), abs=1e-9)
        assert total.difference == pytest.approx(np.average(of_prompts["difference"], weights=of_prompts["pairs"]), abs=1e-9)
        sizes = of_prompts["difference"].abs().to_numpy()
        assert (sizes[1:] <= sizes[:-1]).all()
        assert (paired.loc[of_prompts["widest"], "prompt"].to_numpy() == of_prompts.index).all()


def test_by_hand() -> None:
    """Prompt 1 is seen by both at steps 0 and 1, prompt 2 at step 0 by both, prompt 3 by A alone, prompt 4 at other steps by either."""
    a = rollouts([(0, 1, 0.0), (0, 1, 1.0), (1, 1, 0.0), (0, 2, 1.0), (0, 3, 5.0), (0, 4, 1.0)])
    b = rollouts([(0, 1, 1.0), (1, 1, 2.0), (0, 2, 0.5), (1, 4, 3.0)])

    paired = pairs(a, b, NONE)

    assert paired[["step_b", "prompt", "difference"]].to_numpy().tolist() == [[0, 1, 0.5], [0, 2, -0.5], [1, 1, 2.0]]
    total = overall(paired)
    assert (total.prompts, total.pairs, total.win, total.tie, total.loss) == (2, 3, 1, 0, 1)
    assert total.difference == pytest.approx(2 / 3)
    assert by_step(paired)[["step", "difference", "prompts"]].to_numpy().tolist() == [[0, 0, 2], [1, 2, 1]]
    assert by_prompt(paired)[["pairs", "rollouts_a", "rollouts_b", "difference", "widest"]].to_numpy().tolist() == [
        [2, 3, 2, 1.25, 2],
        [1, 1, 1, -0.5, 1],
    ]
    assert (unpaired(a, paired, NONE), unpaired(b, paired, NONE)) == (2, 1)
    assert pairs(a, b, NONE, "last")["difference"].tolist() == [-0.5, 2.0, 2.0]


def test_rounding_is_no_win() -> None:
    """Means that are equal but for how floats add up tie."""
    values = [0.1, 0.2, 0.3]

    total = overall(pairs(rollouts([(0, 1, one) for one in values]), rollouts([(0, 1, one) for one in reversed(values)]), NONE))

    assert (total.win, total.tie, total.loss, total.difference) == (0, 1, 0, 0.0)


def test_a_prompt_of_many_steps_is_one() -> None:
    """A prompt that was visited fifty times is no more evidence than one visit: the interval is that of the prompts."""
    rng = np.random.default_rng(0)
    by_prompts = rng.normal(size=40)
    once = overall(pairs(*planted(by_prompts, steps=1), NONE))
    often = overall(pairs(*planted(by_prompts, steps=50), NONE))

    np.testing.assert_allclose([often.difference, often.low, often.high], [once.difference, once.low, once.high], atol=1e-9)
    half = 1.96 * by_prompts.std() / np.sqrt(40)
    np.testing.assert_allclose([once.low, once.high], [by_prompts.mean() - half, by_prompts.mean() + half], atol=0.15 * half)


def planted(differences: NDArray[np.float64], steps: int) -> tuple[Rollouts, Rollouts]:
    """Two runs that differ by so much on each prompt, at every step."""
    prompts, step = np.tile(np.arange(len(differences)), steps), np.repeat(np.arange(steps), len(differences))
    return Rollouts(step, prompts, np.zeros(len(prompts))), Rollouts(step, prompts, np.tile(differences, steps))


ENDS: dict[str, tuple[list[Row], list[Row]]] = {
    "nothing": ([], []),
    "one side": ([(0, 1, 1.0)], []),
    "no number": ([(0, 1, np.nan)], [(0, 1, 1.0)]),
    "no prompt": ([(0, NONE, 1.0)], [(0, NONE, 1.0)]),
    "other prompts": ([(0, 1, 1.0)], [(0, 2, 1.0)]),
    "other steps": ([(0, 1, 1.0)], [(1, 1, 1.0)]),
}


@pytest.mark.parametrize("name", ENDS)
def test_nothing_to_pair(name: str) -> None:
    """There is no difference and no interval, and no error."""
    a, b = ENDS[name]
    paired = pairs(rollouts(a), rollouts(b), NONE)

    total = overall(paired)

    assert (total.prompts, total.pairs, total.win, total.tie, total.loss) == (0, 0, 0, 0, 0)
    assert np.isnan([total.difference, total.low, total.high]).all()
    assert not total.excludes_zero
    assert by_step(paired).empty
    assert by_prompt(paired).empty


def test_one_prompt_has_no_interval() -> None:
    """A difference of a single prompt is told, how sure it is cannot be."""
    total = overall(pairs(rollouts([(0, 1, 1.0)]), rollouts([(0, 1, 3.0)]), NONE))

    assert (total.prompts, total.difference, total.excludes_zero) == (1, 2.0, False)
    assert np.isnan([total.low, total.high]).all()


PROMPTS_OF_A_RUN = 200
ROLLOUTS_OF_A_PROMPT = 8
SEEDS = 1000


def two_halves() -> tuple[Rollouts, Rollouts]:
    """The rollouts of every prompt of one run, dealt to two by chance, a seed at each step: right or wrong, by how hard the prompt is."""
    rng = np.random.default_rng(16)
    seeds, prompts, rollout = (one.ravel() for one in np.indices((SEEDS, PROMPTS_OF_A_RUN, ROLLOUTS_OF_A_PROMPT), dtype=np.int64))
    chances = np.repeat(rng.beta(1.5, 1.5, SEEDS * PROMPTS_OF_A_RUN), ROLLOUTS_OF_A_PROMPT)
    right = (rng.random(len(chances)) < chances).astype(np.float64)
    in_a = rng.permuted(rollout.reshape(-1, ROLLOUTS_OF_A_PROMPT), axis=1).ravel() < ROLLOUTS_OF_A_PROMPT // 2
    a, b = (Rollouts(seeds[part], prompts[part], right[part]) for part in (in_a, ~in_a))
    return a, b


def uneven_halves(prompts: int) -> tuple[Rollouts, Rollouts]:
    """The same where a prompt has 2 to 12 rollouts, of which either run has any number but none."""
    rng = np.random.default_rng(16)
    sizes = rng.integers(2, 13, SEEDS * prompts)
    chances = np.repeat(rng.beta(1.5, 1.5, sizes.size), sizes)
    right = (rng.random(len(chances)) < chances).astype(np.float64)
    seeds, of = (np.repeat(one.ravel(), sizes) for one in np.indices((SEEDS, prompts), dtype=np.int64))
    rollout = np.arange(len(right)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    in_a = rollout < np.repeat(rng.integers(1, sizes), sizes)
    a, b = (Rollouts(seeds[part], of[part], right[part]) for part in (in_a, ~in_a))
    return a, b


def share_excluding_zero(a: Rollouts, b: Rollouts, prompts: int = PROMPTS_OF_A_RUN) -> float:
    """In what share of the seeds two runs are told apart, B the better one."""
    found = by_step(pairs(a, b, NONE))
    assert (found["prompts"] == prompts).all()
    return float(((found["low"] > 0) | (found["high"] < 0)).mean())


def test_a_planted_difference_is_told_and_two_halves_of_a_run_are_not() -> None:
    """A tenth of a reward more on 200 prompts of four rollouts a side is found in 95 of 100 seeds; where nothing differs, zero lies in the
    interval in 95 of 100, as far as a thousand seeds can tell that from 94 and 96.
    """
    a, b = two_halves()

    assert share_excluding_zero(a, Rollouts(b.steps, b.prompts, b.values + 0.1)) >= 0.95
    assert share_excluding_zero(a, b) == pytest.approx(0.05, abs=0.014)


def test_groups_of_unequal_size_are_told_apart_as_surely() -> None:
    """On 400 prompts, some of one rollout on a side: the tenth is found in 95 of 100 seeds, and taken for one where nothing differs in 5."""
    a, b = uneven_halves(400)

    assert share_excluding_zero(a, Rollouts(b.steps, b.prompts, b.values + 0.1), 400) >= 0.95
    assert share_excluding_zero(a, b, 400) == pytest.approx(0.05, abs=0.014)


def test_fewer_prompts_than_conclude_anything_would_mislead() -> None:
    """On as few as the page draws a conclusion from chance is taken for a difference in no more than 8 of 100 seeds; on half of them in more."""
    assert share_excluding_zero(*uneven_halves(FEW_PROMPTS), FEW_PROMPTS) <= 0.08
    assert share_excluding_zero(*uneven_halves(FEW_PROMPTS // 2), FEW_PROMPTS // 2) > 0.08


def test_a_step_by_itself_is_as_the_whole() -> None:
    """Of a run of one step, its row and the whole say the same."""
    a, b = two_halves()
    paired = pairs(a, b, NONE)
    first = paired[paired["step_b"] == 0]

    total, (row, *none) = overall(first), by_step(first).itertuples(index=False)

    assert not none
    assert (total.difference, total.low, total.high, total.prompts) == (row.difference, row.low, row.high, row.prompts)


def test_frames_tell_their_places() -> None:
    """What is paired names the rows of its first rollouts on either side."""
    paired = pairs(rollouts([(0, 2, 1.0), (0, 1, 1.0), (0, 1, 3.0)]), rollouts([(0, 1, 1.0)]), NONE)

    assert paired[["first_a", "first_b", "rollouts_a"]].to_numpy().tolist() == [[1, 0, 2]]
    assert isinstance(overall(paired), PairedDifference)
    assert isinstance(paired, pd.DataFrame)
