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
            own = [*(f" word{number}" for number in dice.integers(0, 30, 4)), "<search>q</search>"]
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
    assert {position for _, position in found.tokens} <= set(range(5, 10))


def test_run_without_any_sound_mask(tmp_path: Path) -> None:
    """Known tags tell where nothing can be learned from others."""
    found = one(asked(KIND, tmp_path, _rows(lambda step, at, sound: [1.0] * len(sound))))

    assert (found.first_step, found.measured) == (0, 1.0)


def _turned(step: int, at: int, sound: list[float]) -> list[float]:
    return [1 - one for one in sound]


TAGS = [
    *(
        (f"<{name}>", f"</{name}>")
        for name in ("tool_response", "tool_output", "result", "interpreter", "information", "observation")
    ),
    ("<|im_start|>tool\n", "<|im_end|>"),
    ("<|im_start|>user\n", "<|im_end|>"),
    ("<|observation|>", "<|assistant|>"),
    ("<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>", "<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"),
    ("```output\n", "```"),
]


@pytest.mark.parametrize("tags", TAGS, ids=[begin for begin, _ in TAGS])
def test_masks_that_are_turned_round(tmp_path: Path, tags: tuple[str, str]) -> None:
    """Tags, roles and fences tell who wrote, whatever model they are of."""
    found = one(asked(KIND, tmp_path, _rows(_turned, *tags)))

    assert (found.severity, found.first_step, found.last_step, found.measured) == ("error", 0, STEPS - 1, 1)


@pytest.mark.parametrize("field", ["turns", "response"])
def test_turns_and_messages_tell_who_wrote(tmp_path: Path, field: str) -> None:
    """Where tokens have no mark: turns with their number of tokens, or a response that was a list of messages."""
    spans = {"assistant": (0, 5), "tool": (5, 10), "assistant_again": (10, 13)}
    rows = _rows(_turned, "begin", "end")
    for row in rows:
        texts = {role: row["response_tokens"][slice(*span)] for role, span in spans.items()}
        said = [{"role": role[:9], "content": "".join(text), "tokens": len(text)} for role, text in texts.items()]
        row[field] = [{name: value for name, value in turn.items() if field != "turns" or name != "content"} for turn in said]

    assert one(asked(KIND, tmp_path, rows)).severity == "error"


@pytest.mark.parametrize(
    ("mask", "tags", "title"),
    [
        (_turned, ("<tool_result>", "</tool_result>"), ""),
        (lambda step, at, sound: [0.0] * len(sound), ("Observation:", "#"), "Nothing is trained on"),
    ],
    ids=["turned round", "0 everywhere"],
)
@pytest.mark.parametrize("first", [0, ONSET])
def test_masks_that_leave_out_the_policy(tmp_path: Path, mask: Mask, tags: tuple[str, str], first: int, title: str) -> None:
    """From the first step on, or a later one."""
    found = one(asked(KIND, tmp_path, _rows(lambda step, at, sound: mask(step, at, sound) if step >= first else sound, *tags)))

    assert (found.severity, found.first_step, found.last_step, found.title) == ("error", first, STEPS - 1, title)
    assert found.measured == 1


@pytest.mark.parametrize(
    ("first", "last", "dated"),
    [(0, 9, "from the first step on"), (5, 9, "from step 5 "), (5, 7, "from step 5 to 7"), (1, 9, "from step 1 "), (10, 10, "")],
)
@pytest.mark.parametrize("agent", [True, False], ids=["with a tool", "alone"])
def test_end_tokens_that_are_masked(tmp_path: Path, first: int, last: int, dated: str, agent: bool) -> None:
    """In the steps in which every response's end token is left out the policy does not learn to stop; in others nothing is wrong."""
    rows = [
        row
        | {"response_tokens": [*row["response_tokens"], "<|eot|>"]}
        | {"loss_mask": [*row["loss_mask"], float(not first <= row["step"] <= last)]}
        for row in _rows(lambda step, at, sound: sound if agent else [1.0] * len(sound), *() if agent else ("begin", "end"))
    ]
    answer = asked(KIND, tmp_path, rows)

    if first == STEPS:
        assert silent(answer) or isinstance(answer, CannotTell)
    else:
        found = one(answer)
        assert (found.title, found.first_step, found.last_step) == ("The end token is never trained", first, last)
        assert found.effect.startswith(f"{dated.rstrip()} 100 %")


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
