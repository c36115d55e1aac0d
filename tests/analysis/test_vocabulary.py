"""The tokens of a run against a loop over its rollouts: kept or counted, folded, of odd runs; and which rise."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import row, token_row, write_run

from board import open_run
from board.analysis.texts import vocabulary as module
from board.analysis.texts.vocabulary import METRICS, RARE, summary, vocabulary
from board.metrics.formulas import token_arrays
from board.runs.run import Run

NAMES = ("a", " b", " c", " d", "，", "\n")


def rows(steps: int = 5, **fields: Any) -> list[dict[str, Any]]:
    """Six rollouts of each step with random tokens; " d" is written late alone; some are masked, one number is missing."""
    dice = np.random.default_rng(steps)
    found = []
    for step in range(steps):
        for at in range(6):
            length = int(dice.integers(1, 9))
            names = [*dice.choice(NAMES[: 4 if 2 * step > steps else 3], length).tolist(), "，", "\n"]
            made = dice.normal(-1, 0.4, (6, length + 2)).round(4).tolist()
            arrays = dict(zip(("logprobs", "ref_logprobs", "entropies", "advantages", "old_logprobs"), made, strict=False))
            if at == 3:
                arrays["entropies"][0] = None
            if at == 4:
                del arrays["ref_logprobs"]
            mask = [0] + [1] * (length + 1)
            found.append(row(step, response_tokens=names, loss_mask=mask, response="".join(names), **arrays, **fields))
    return found


def slow(run: Run) -> dict[tuple[str, int], dict[str, list[float]]]:
    """By token and step, of every metric all its numbers; under n as many ones."""
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for key, step in run.trained.frame["step"].items():
        rollout = run.rollout(int(str(key)))
        arrays = token_arrays(rollout.arrays)
        for at in np.flatnonzero(rollout.counts).tolist() if rollout.tokens else []:
            cell = found[(rollout.tokens or [])[at], int(step)]
            cell["n"].append(1)
            for metric in METRICS:
                if metric in arrays and np.isfinite(arrays[metric][at]):
                    cell[metric].append(float(arrays[metric][at]))
            if {"logprobs", "old_logprobs", "advantages"} <= rollout.arrays.keys():
                change = float(rollout.arrays["logprobs"][at]) - float(rollout.arrays["old_logprobs"][at])
                advantage = rollout.arrays["advantages"][at]
                cell["clipped"].append(float(change > np.log(1.2) if advantage > 0 else change < np.log(0.8)))
    return found


def check(run: Run) -> None:
    """Counts and sums are as the loop has them."""
    found, wanted = vocabulary(run), slow(run)
    assert set(found.names) == {name for name, _ in wanted}
    for at, name in enumerate(found.names):
        for column, step in enumerate(found.firsts.tolist()):
            cell = wanted.get((name, step), {})
            assert found.counts[at, column] == len(cell.get("n", []))
            for metric, sums in found.sums.items():
                assert found.known[metric][at, column] == len(cell.get(metric, []))
                assert sums[at, column] == pytest.approx(sum(cell.get(metric, [])), abs=1e-4)


@pytest.mark.parametrize("odd", [False, True])
def test_against_a_loop(odd: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over two shards, evaluations left out, rollouts without arrays or tokens among them; whole, by steps and by a filter."""
    monkeypatch.setattr(module, "LEAST", 1)
    others = [token_row(2), row(3, response="no tokens")] if odd else [token_row(1, split="evaluation")]
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows(), "rank_1.jsonl": [*rows(3), *others]}))
    check(run)
    check(run)  # out of what is kept
    check(run.of_steps(1, 2))
    check(run.of_rows(np.arange(len(run.frame)) % 3 > 0, "some"))


def test_rare_ones_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run has less often than LEAST is one row, and nothing is lost; steps are taken together where there are many."""
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows(7)}))
    whole = vocabulary(run)
    monkeypatch.setattr(module, "LEAST", int(np.sort(whole.counts.sum(axis=1))[2]))
    monkeypatch.setattr(module, "MOST_STRETCHES", 3)
    found = vocabulary(run)
    assert (found.names[-1], found.folded) == (RARE, len(whole.names) - len(found.names) + 1)
    assert found.total == whole.total
    assert found.firsts.tolist() == [0, 3, 5]
    assert found.lasts.tolist() == [2, 4, 6]
    np.testing.assert_allclose(sum(found.sums["kl"].ravel()), sum(whole.sums["kl"].ravel()), rtol=1e-4)
    np.testing.assert_allclose(found.shares.sum(axis=0), 1, rtol=1e-5)


def test_summary(tmp_path: Path) -> None:
    """Shares and means over all steps or some; what is written late alone rises most."""
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows(30)}))
    found = vocabulary(run)
    table = summary(found).assign(name=found.names).set_index("name")
    assert table["z"].idxmax() == " d"
    assert table["early"][" d"] == 0 < table["late"][" d"]
    assert (table["share"].sum(), table["kl_share"].sum()) == pytest.approx((1, 1))
    entropies = [number for (name, _), cell in slow(run).items() if name == "a" for number in cell["entropy"]]
    assert table["entropy"]["a"] == pytest.approx(np.mean(entropies), rel=1e-4)
    part = summary(found, 4, 4).assign(name=found.names).set_index("name")
    assert part["count"][" d"] == 0
    assert part["z"].isna().all()


@pytest.mark.parametrize("lines", [[row(0)], [row(0, response_tokens=[])], [token_row(0, response_tokens=None, logprobs=[1.0])]])
def test_no_tokens(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    """A run that names no tokens has no vocabulary."""
    found = vocabulary(open_run(write_run(tmp_path / "run", {"rank_0.jsonl": lines})))
    assert (found.names, found.total, len(summary(found))) == ((), 0, 0)


def test_names_of_bytes(tmp_path: Path) -> None:
    """Byte-level names are read."""
    names = ["The", "Ġcat", "Ġsat", "Ċ", "Ġcat"] * 5
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [row(0, response_tokens=names)]}))
    found = vocabulary(run)
    assert dict(zip(found.names, found.texts, strict=True))["Ġcat"] == " cat"
