"""How much responses of a step differ: closed forms on runs whose responses are all one text, or name their prompt."""

from pathlib import Path
from typing import Any

import pytest
from looked_at import opened
from rows import row

from board.analysis.texts.template_collapse import MOST_STEPS, VARIETY, variety_by_step

WORDS = (
    "apple river stone cloud",
    "seven wolves ran along",
    "purple engines hum tonight",
    "my neighbour sells violins",
    "quick notes about chess",
)


def rows(step: int, group: int, alike: bool) -> list[dict[str, Any]]:
    """Responses to five prompts, `group` to each: all the same text, or each about its own prompt."""
    return [
        row(step, prompt=f"about {words}", response="one text for all of them" if alike else f"{words}, said {at}")
        for words in WORDS
        for at in range(group)
    ]


@pytest.mark.parametrize("group", [1, 4])
def test_own_words_and_one_template(tmp_path: Path, group: int) -> None:
    """Each finds its prompt as long as it says something of it, and none does once all are one text."""
    found = variety_by_step(opened(tmp_path / "run", [*rows(0, group, False), *rows(1, group, True)]))

    assert tuple(found.columns) == VARIETY
    assert found["told_by_neighbour"].tolist() == pytest.approx([1.0, 0.0], abs=1e-6)
    assert found["alike_to_others"].tolist()[1] == pytest.approx(1.0, abs=1e-5)
    assert found["alike_to_others"].tolist()[0] < 0.3
    if group > 1:
        assert found["alike_in_group"].tolist()[1] == pytest.approx(1.0, abs=1e-5)
        assert found["distinct_in_group"].tolist()[1] == pytest.approx(1 / group)
    else:
        assert found[["alike_in_group", "distinct_in_group"]].isna().all(axis=None)


def test_some_steps_of_many(tmp_path: Path) -> None:
    """The first and the last are among them."""
    run = opened(tmp_path / "run", [one for step in range(100) for one in rows(step, 1, False)])
    heard: list[float] = []
    found = variety_by_step(run, heard.append)

    assert len(found) == MOST_STEPS
    assert found.index[[0, -1]].tolist() == [0, 99]
    assert heard[-1] == 1.0


def test_too_little_to_compare(tmp_path: Path) -> None:
    """One prompt, or no responses at all."""
    assert variety_by_step(opened(tmp_path / "one", [row(0, prompt="p", response="a b c d e")] * 2)).isna().all(axis=None)
    assert variety_by_step(opened(tmp_path / "none", [{"step": 0, "response_tokens": ["a"], "reward": 1.0}])).empty
