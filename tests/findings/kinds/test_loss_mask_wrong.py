"""What a tool wrote is trained on: small runs of an agent, with and without a sound mask to learn from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.loss_mask_wrong import KIND, Masked, not_written

STEPS, PER_STEP, ONSET = 10, 8, 6

Mask = Callable[[int, int, list[float]], list[float]]


def _rows(mask: Mask, begin: str = "<tool_response>", end: str = "</tool_response>") -> list[dict[str, Any]]:
    """A question to a tool, its answer, and what is made of it; `mask` of step, place and the sound mask."""
    dice = np.random.default_rng(6)
    rows = []
    for step in range(STEPS):
        for at in range(PER_STEP):
            own = [f" word{number}" for number in dice.integers(0, 30, 4)]
            tool = [begin, "status", " ok", str(dice.integers(100)), end]
            tokens = [*own, *tool, *own[:2], " ok"]
            sound = [1.0] * len(own) + [0.0] * len(tool) + [1.0] * 3
            row = {"step": step, "prompt": f"{step} {at}", "response": "".join(tokens), "response_tokens": tokens}
            rows.append(row | {"loss_mask": mask(step, at, sound)})
    return rows


@pytest.mark.parametrize("tags", [("<tool_response>", "</tool_response>"), ("Observation:", "#")])
def test_masks_that_are_lost(tmp_path: Path, tags: tuple[str, str]) -> None:
    """From the onset on every other rollout masks nothing: each is named, with tokens of the tool's, whatever its tags are."""
    found = one(
        asked(KIND, tmp_path, _rows(lambda step, at, sound: [1.0] * len(sound) if step >= ONSET and at % 2 else sound, *tags))
    )

    assert found.first_step == ONSET
    assert set(found.rollouts.tolist()) == {step * PER_STEP + at for step in range(ONSET, STEPS) for at in range(1, PER_STEP, 2)}
    assert {position for _, position in found.tokens} <= set(range(4, 9))


def test_run_without_any_sound_mask(tmp_path: Path) -> None:
    """Known tags tell where nothing can be learned from others."""
    found = one(asked(KIND, tmp_path, _rows(lambda step, at, sound: [1.0] * len(sound))))

    assert (found.first_step, found.measured) == (0, 1.0)


@pytest.mark.parametrize(
    ("mask", "tags", "first", "title"),
    [
        (lambda step, at, sound: [1 - one for one in sound], ("<tool_response>", "</tool_response>"), 0, ""),
        (lambda step, at, sound: [1 - one for one in sound], ("<|im_start|>tool\n", "<|im_end|>"), 0, ""),
        (lambda step, at, sound: [1 - one for one in sound] if step >= ONSET else sound, ("<tool_result>", "</tool_result>"), ONSET, ""),
        (lambda step, at, sound: [0.0] * len(sound), ("<tool_response>", "</tool_response>"), 0, "Nothing is trained on"),
        (lambda step, at, sound: [0.0] * len(sound) if step >= ONSET else sound, ("Observation:", "#"), ONSET, "Nothing is trained on"),
    ],
    ids=["turned round", "turned round, by roles", "turned round from a step on", "0 everywhere", "0 everywhere from a step on"],
)  # fmt: skip
def test_masks_that_leave_out_the_policy(tmp_path: Path, mask: Mask, tags: tuple[str, str], first: int, title: str) -> None:
    """Tags and roles tell who wrote; a mask of 0 everywhere needs nobody to tell."""
    found = one(asked(KIND, tmp_path, _rows(mask, *tags)))

    assert (found.severity, found.first_step, found.last_step, found.title) == ("error", first, STEPS - 1, title)
    assert found.measured == 1


@pytest.mark.parametrize("kept", [0.0, 1.0], ids=["left out", "trained on"])
def test_end_tokens_that_are_masked(tmp_path: Path, kept: float) -> None:
    """Where every response's end token is left out the policy never learns to stop."""
    rows = [
        row | {"response_tokens": [*row["response_tokens"], "<|im_end|>"], "loss_mask": [*row["loss_mask"], kept]}
        for row in _rows(lambda step, at, sound: sound)
    ]
    answer = asked(KIND, tmp_path, rows)

    assert silent(answer) == bool(kept)
    if not kept:
        assert (one(answer).title, one(answer).first_step) == ("The end token is never trained", 0)


@pytest.mark.parametrize(
    "mask",
    [lambda step, at, sound: sound, lambda step, at, sound: [0.0] * len(sound) if at == 0 else sound],
    ids=["sound", "some are left out whole"],
)
def test_sound_masks(tmp_path: Path, mask: Mask) -> None:
    """Rollouts that mask what the tool wrote, or all of themselves, are no finding."""
    assert silent(asked(KIND, tmp_path, _rows(mask)))


def test_nothing_is_masked_and_no_tool_is_known(tmp_path: Path) -> None:
    """There is nothing to tell by, and that is said."""
    rows = _rows(lambda step, at, sound: [1.0] * len(sound), "begin", "end")

    assert isinstance(asked(KIND, tmp_path, rows), CannotTell)


@pytest.mark.parametrize("marker", ["<|user|>", "<|observation|>", "<|im_start|>user"])
def test_a_role_that_ends_the_policys_own_turn(tmp_path: Path, marker: str) -> None:
    """Some models end their answers by naming who speaks next: that token is theirs, and trained on."""
    rows = [
        {
            "step": step,
            "prompt": f"{step} {at}",
            "response": "so it is",
            "response_tokens": ["so", " it", " is", marker],
            "loss_mask": [1.0] * 4,
        }
        for step in range(STEPS)
        for at in range(PER_STEP)
    ]
    assert silent(asked(KIND, tmp_path, rows)) or isinstance(asked(KIND, tmp_path, rows), CannotTell)


def test_words_that_are_masked_by_chance_are_the_policys() -> None:
    """A string that is also trained on, or that few rollouts have, is not learned."""
    codes = np.tile([0, 1, 2, 0], 12)
    codes[2] = 3
    trained = np.tile([True, False, False, False], 12)

    assert not_written(Masked(codes, trained, np.repeat(np.arange(12), 4), 12)).tolist() == [1, 2]
