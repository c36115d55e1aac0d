"""A metric by place in the response: the picture, and the rollouts that stand out at a place, against loops."""

from pathlib import Path

import numpy as np
import pytest
from rows import row, write_run

from board.analysis.tokens.position_profile import PARTS, Part, place_name, position_means, rollouts_at
from board.analysis.tokens.token_histogram import count_tokens
from board.metrics.token_summaries import ENDS, RELATIVE
from board.runs.opening import open_run
from board.runs.run import Run

LENGTHS = (1, 3, 49, 50, 51, 130, 200)


def opened(tmp_path: Path) -> Run:
    """Two steps of responses of many lengths, every fifth token masked, and one without the metric."""
    dice = np.random.default_rng(1)
    rows = [
        row(
            step,
            entropies=dice.gamma(1, 1, n).astype(np.float32).astype(float).tolist(),
            loss_mask=[int(i % 5 != 4) for i in range(n)],
        )
        for step in (0, 1)
        for n in LENGTHS
    ]
    return open_run(write_run(tmp_path / "run", {"a.jsonl": [*rows, row(1)]}))


def places(run: Run, key: int, part: Part) -> list[tuple[int, int, float]]:
    """Of each counted token that is in a part: its place there, its position, its number."""
    rollout = run.rollout(key)
    kept = np.flatnonzero(rollout.counts) if "entropies" in rollout.arrays else np.zeros(0, int)
    found = []
    for at, position in enumerate(kept.tolist()):
        left = len(kept) - 1 - at
        place = {"whole": at * RELATIVE // len(kept), "beginning": at, "end": ENDS - 1 - left}[part]
        if 0 <= place < (RELATIVE if part == "whole" else ENDS):
            found.append((place, position, float(rollout.arrays["entropies"][position])))
    return found


@pytest.mark.parametrize("part", PARTS)
def test_against_loops(part: Part, tmp_path: Path) -> None:
    """The picture is the mean over tokens of a step at a place; the rollouts at one are those with tokens there, by their mean."""
    run = opened(tmp_path)
    found = position_means(count_tokens(run, "entropy"), part)

    for column, step in enumerate((0, 1)):
        own = [one for key in run.frame.index[run.frame["step"] == step] for one in places(run, int(key), part)]
        for place in range(found.shape[1]):
            numbers = [one[2] for one in own if one[0] == place]
            np.testing.assert_allclose(found[column, place], np.mean(numbers) if numbers else np.nan, rtol=1e-6)
    for place in (0, 1, 30, found.shape[1] - 1):
        table = rollouts_at(run, "entropy", "k3", part, place)
        wanted = {}
        for key in run.frame.index.tolist():
            there = [one for one in places(run, key, part) if one[0] == place]
            if there:
                wanted[key] = (len(there), there[0][1], np.mean([one[2] for one in there]))
        assert table["key"].tolist() == sorted(wanted, key=lambda key: -wanted[key][2])
        for at, key in enumerate(table["key"].tolist()):
            assert (table["tokens"][at], table["position"][at]) == wanted[key][:2]
            assert table["mean"][at] == pytest.approx(wanted[key][2])


NAMES = {
    ("whole", 0): "0–2 %",
    ("whole", 49): "98–100 %",
    ("beginning", 0): "token 1",
    ("end", ENDS - 1): "last token",
    ("end", ENDS - 2): "token 2 from the end",
}


@pytest.mark.parametrize(("place", "name"), NAMES.items())
def test_names(place: tuple[Part, int], name: str) -> None:
    """A place is called by where it is in the response."""
    assert place_name(*place) == name


def test_run_without_the_metric(tmp_path: Path) -> None:
    """There is no rollout at any place, and the picture is empty."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(0)]}))

    assert rollouts_at(run, "entropy", "k3", "whole", 3).empty
    assert np.isnan(position_means(count_tokens(run, "entropy"), "end")).all()
