"""Texts that more and more responses show: loops, no answer, what nobody writes, mixed scripts, copies; and what only looks like it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent
from spreading_rows import MakeRow, check_kind, prose, rows

from board.findings.contract import CannotTell, Found, Kind
from board.findings.kinds.showing import (
    GIBBERISH,
    LANGUAGE_MIXING,
    PROMPT_ECHO,
    REPETITION_LOOP,
    REWARD_AFTER_TRUNCATION,
    THINK_WITHOUT_ANSWER,
)


def _said(make: Callable[[np.random.Generator], str]) -> MakeRow:
    """Rows with a text and nothing else."""
    return lambda dice, _: {"response": make(dice)}


def _ending(end: str) -> MakeRow:
    return _said(lambda dice: prose(dice) + end)


PROSE = _said(prose)


def test_a_table_is_no_loop(tmp_path: Path) -> None:
    """Lines of one form with different numbers."""

    def table(dice: np.random.Generator, _: int) -> dict[str, Any]:
        return {"response": "\n".join(f"| {at} | {dice.integers(1000)} |" for at in range(12)) + "\n\n------------\n"}

    assert silent(asked(REPETITION_LOOP, tmp_path, rows(PROSE, table, 0.5)))


def _letters(dice: np.random.Generator) -> str:
    return " ".join("".join(dice.choice(list("bcdfghjklmnpqrstvwxz"), 7)) for _ in range(30))


ENGLISH = (
    "A train leaves the station at noon and travels north with a speed of eighty kilometres per hour, while a second one begins its journey "
    "two hours later from the same place. Find the moment at which both are equally far from the village where the driver was born. "
    "Suppose that every farmer owns twelve animals, of which some are sheep and the others are goats; explain why the number of legs does "
    "not depend on which of them he sells first. Write a function that returns the largest value of a list without sorting it, and give its "
    "complexity. Which of these words is not like the rest, and what would a careful reader object to your choice? "
)
GERMAN = "Der Müller wiegt das Mehl und sagt dann, wie viele Säcke noch im Lager liegen, bevor er nach Hause geht. Danach kommt sein Sohn. "


def test_letters_without_words_are_found_from_the_second_step_on(tmp_path: Path) -> None:
    """Any letters, of which most can be spoken, against the language of the prompts; another language is none."""
    words = ENGLISH.split()

    def row(response: str, prompt: int) -> dict[str, Any]:
        return {"prompt": f"{prompt}: {' '.join(words[20 * prompt :][:70])}", "response": response}

    def sound(dice: np.random.Generator, prompt: int) -> dict[str, Any]:
        return row(" ".join(words[at] for at in dice.integers(0, len(words), 40)), prompt)

    def drawn(dice: np.random.Generator, prompt: int) -> dict[str, Any]:
        return row(" ".join("".join(dice.choice(list("aeioubcdfghjklmnpqrstvwxyz"), 6)) for _ in range(30)), prompt)

    found = one(asked(GIBBERISH, tmp_path, rows(sound, drawn, 1.0, onset=1)))
    assert (found.first_step, found.severity) == (1, None)
    assert silent(asked(GIBBERISH, tmp_path / "other", rows(sound, lambda _, prompt: row(GERMAN, prompt), 1.0)))


def test_improbable_tokens_are_found(tmp_path: Path) -> None:
    """Logprobs far below an even draw."""

    def row(dice: np.random.Generator, rare: int) -> dict[str, Any]:
        logprobs = np.concatenate([-dice.random(40) * 5, np.full(rare, -17.0)])
        return {"response": prose(dice), "response_tokens": [" a"] * len(logprobs), "logprobs": logprobs.tolist()}

    check_kind(GIBBERISH, tmp_path, lambda dice, _: row(dice, 0), lambda dice, _: row(dice, 6), 0.3)
    found = one(asked(GIBBERISH, tmp_path / "first", rows(lambda dice, _: row(dice, 0), lambda dice, _: row(dice, 6), 0.3)))
    assert found.explains is None, "a KL that runs away, and scripts that mix, are its signs"


@pytest.mark.parametrize(
    "other", ["我们把这个数加起来。" * 9, "for (int i = 0; i < n; i++) { strncpy(dst, src, n); printf(fmt, i); }\n" * 4]
)
def test_code_and_chinese_are_silence(tmp_path: Path, other: str) -> None:
    """Another language, and code with names that nobody could say."""
    mixed = rows(PROSE, _said(lambda _: other), 0.5)
    assert silent(asked(GIBBERISH, tmp_path, mixed))


def test_broken_characters_from_the_first_step_on(tmp_path: Path) -> None:
    """A tokenizer that does not fit is wrong all along; words that nobody can say may be what a task is about."""
    broken = rows(PROSE, _ending("\ufffd" * 20), 0.8, before=0.8)
    found = one(asked(GIBBERISH, tmp_path / "broken", broken))
    assert found.crossed == "share"
    assert "from the first step on" in found.effect
    assert all("\ufffd" in broken[key]["response"] for key in found.rollouts[:50])
    odd = rows(PROSE, _said(_letters), 0.8, before=0.8)
    assert silent(asked(GIBBERISH, tmp_path / "odd", odd))


CHINESE = "我们把这个数加起来，然后看它有多大。所以答案应该是这样的，再检查一次。"


def _mixed(dice: np.random.Generator, foreign: str) -> str:
    words = prose(dice).split()
    for at in range(0, len(words), 5):
        words[at] = foreign
    return " ".join(words)


@pytest.mark.parametrize("foreign", [True, False])
def test_sentences_of_another_language_are_found(tmp_path: Path, foreign: bool) -> None:
    """Whole sentences between others, from the second step on: nothing is mixed within one."""
    said = f"Done.{CHINESE}" if foreign else "Done. Once more, and nothing else counts."
    made = rows(PROSE, _said(lambda dice: prose(dice) + said + prose(dice)), 0.95, before=0.95)
    made = [row | ({"response": "Nothing at all."} if row["step"] == 0 else {}) for row in made]
    answer = asked(LANGUAGE_MIXING, tmp_path, made)

    assert one(answer).first_step == 1 if foreign else silent(answer)
    assert not foreign or "letters that are foreign to the prompt go from 0 %" in one(answer).effect, (
        "and not of switches, of which are none"
    )


@pytest.mark.parametrize(
    "other",
    [
        CHINESE * 3,
        f"{CHINESE}用 PyTorch 的 `for x in rows` 计算 $\\alpha + x$，见 API。",
        "これは日本語の文章です。カタカナも漢字もあります。",
    ],
)
def test_a_change_to_another_language_as_a_whole(tmp_path: Path, other: str) -> None:
    """Names, code and formulas in it included: it is told, unless the prompts change with it."""
    made = rows(PROSE, _said(lambda _: other), 0.5)
    asked_in_it = [row | ({"prompt": f"{other}{row['prompt']}"} if row["response"] == other else {}) for row in made]

    found = one(asked(LANGUAGE_MIXING, tmp_path / "alone", made))
    assert (
        "are in another script than their prompt, before 0 %; letters that are foreign to the prompt go from 0 %" in found.effect
    )
    assert silent(asked(LANGUAGE_MIXING, tmp_path / "with the prompts", asked_in_it))


PROMPT = (
    "There are {} apples and {} pears in the basket of the farmer's youngest daughter, who eats one of each. How many are left?"
)


def _row(dice: np.random.Generator, echo: bool) -> dict[str, Any]:
    prompt = PROMPT.format(*dice.integers(2, 99, 2))
    return {"prompt": prompt, "response": (prompt + " " if echo else "") + prose(dice, 20)}


def test_a_task_of_copying_is_a_note(tmp_path: Path) -> None:
    """Every response is mostly its prompt, from the first step on; where it is a small part of them, there is nothing to say."""
    found = asked(PROMPT_ECHO, tmp_path / "most", rows(lambda dice, _: _row(dice, True), lambda dice, _: {}, 0.0))

    def long(dice: np.random.Generator) -> dict[str, Any]:
        whole = _row(dice, False)
        return {**whole, "response": f"{whole['prompt'][:50]} {prose(dice, 80)}"}

    assert isinstance(found, Found)
    assert (found.crossed, found.severity, found.first_step) == ("always", "note", 0)
    assert silent(asked(PROMPT_ECHO, tmp_path / "part", rows(lambda dice, _: long(dice), lambda dice, _: {}, 0.0)))


def _thinking(dice: np.random.Generator, text: str, reason: str = "stop") -> dict[str, Any]:
    return {"response": text.format(prose(dice)), "finish_reason": reason}


@pytest.mark.parametrize(("reason", "explains"), [("length", ()), ("stop", None)])
def test_what_explains_what(tmp_path: Path, reason: str, explains: tuple[str, ...] | None) -> None:
    """Thoughts that are all cut off explain nothing; thoughts that end by themselves explain what is cut."""
    shown = rows(
        lambda dice, _: _thinking(dice, "<think>{}</think> 5"), lambda dice, _: _thinking(dice, "<think>{}", reason), 0.5
    )
    assert one(asked(THINK_WITHOUT_ANSWER, tmp_path, shown)).explains == explains


def test_responses_that_do_not_think(tmp_path: Path) -> None:
    """No tags, nothing told; a thought opened by the prompt is one."""
    plain = rows(lambda dice, _: _thinking(dice, "{}"), lambda dice, _: {}, 0.0)
    assert isinstance(asked(THINK_WITHOUT_ANSWER, tmp_path / "plain", plain), CannotTell)
    begun = [row | {"prompt": row["prompt"] + "<think>\n", "response": row["response"] + "</think> 5"} for row in plain]
    assert silent(asked(THINK_WITHOUT_ANSWER, tmp_path / "begun", begun))


def _cut(dice: np.random.Generator, paid: bool) -> dict[str, Any]:
    truth, right, cut = int(dice.integers(100, 999)), dice.random() < 0.5, paid or dice.random() < 0.2
    answer = "" if cut else f" \\boxed{{{truth if right else 7}}}"
    told = {"ground_truth": str(truth), "reward": float(paid if cut else right)}
    return told | {"response": prose(dice) + answer, "finish_reason": "length" if cut else "stop"}


def test_by_marks_of_answers_alone(tmp_path: Path) -> None:
    """No ground truth: most responses have a box, and those cut off have none; paid so all along."""
    without = [
        {name: value for name, value in row.items() if name != "ground_truth"}
        for row in rows(lambda dice, _: _cut(dice, False), lambda dice, _: _cut(dice, True), 0.4, before=0.4)
    ]
    found = one(asked(REWARD_AFTER_TRUNCATION, tmp_path, without))
    assert found.first_step == 0
    assert all(without[key]["shows"] for key in found.rollouts)


def test_a_reward_model_of_half_texts(tmp_path: Path) -> None:
    """Nothing says what an answer is."""
    dice = np.random.default_rng(1)
    scored = rows(lambda d, _: {"response": prose(d), "finish_reason": "length", "reward": dice.random()}, lambda d, _: {}, 0.0)
    assert isinstance(asked(REWARD_AFTER_TRUNCATION, tmp_path / "model", scored), CannotTell)
    assert silent(asked(REWARD_AFTER_TRUNCATION, tmp_path / "sound", rows(lambda d, _: _cut(d, False), lambda d, _: {}, 0.0)))


def _thought(text: str) -> MakeRow:
    return lambda dice, _: _thinking(dice, text)


HALF_ENGLISH = (CHINESE * 3).replace("然后", " and then we ").replace("所以", " so ")
THOUGHT = _thought("<think>{}</think> 5")
SPREADING: dict[str, tuple[Kind, MakeRow, MakeRow, float]] = {
    "loop of a word": (REPETITION_LOOP, PROSE, _ending(" ha" * 40), 0.3),
    "loop of a sentence": (REPETITION_LOOP, PROSE, _ending("\nAnd so we go on." * 40), 0.3),
    "loop in Chinese": (REPETITION_LOOP, PROSE, _ending("等等，" * 40), 0.3),
    "loop of white space": (REPETITION_LOOP, PROSE, _ending("\n" * 40), 0.3),
    "letters that make no word": (GIBBERISH, PROSE, _said(_letters), 0.3),
    "broken characters": (GIBBERISH, PROSE, _ending("\ufffd\u0007" * 9), 0.3),
    "Chinese in English": (LANGUAGE_MIXING, PROSE, _said(lambda dice: _mixed(dice, "因为")), 0.5),
    "Russian in English": (LANGUAGE_MIXING, PROSE, _said(lambda dice: _mixed(dice, "потому")), 0.5),
    "English in Chinese": (
        LANGUAGE_MIXING,
        _said(lambda dice: CHINESE * int(dice.integers(2, 6))),
        _said(lambda _: HALF_ENGLISH),
        0.5,
    ),
    "echo": (PROMPT_ECHO, lambda dice, _: _row(dice, False), lambda dice, _: _row(dice, True), 0.5),
    "open thought": (THINK_WITHOUT_ANSWER, THOUGHT, _thought("<think>{}"), 0.5),
    "nothing behind a thought": (THINK_WITHOUT_ANSWER, THOUGHT, _thought("<think>{}</think>\n"), 0.5),
    "paid for nothing": (REWARD_AFTER_TRUNCATION, lambda dice, _: _cut(dice, False), lambda dice, _: _cut(dice, True), 0.4),
}
"""By what it is: the kind that finds it, rows without and with it, and the share of the latter from a step on."""


@pytest.mark.parametrize("what", SPREADING)
def test_what_spreads_is_found(tmp_path: Path, what: str) -> None:
    """From a step on."""
    kind, plain, showing, share = SPREADING[what]
    check_kind(kind, tmp_path, plain, showing, share)


@pytest.mark.parametrize("onset", [1, 2])
@pytest.mark.parametrize("share", [0.6, 1.0])
@pytest.mark.parametrize("what", SPREADING)
def test_what_spreads_right_after_the_first_steps(tmp_path: Path, what: str, share: float, onset: int) -> None:
    """It is dated there, with what there was before, which was nothing; a curve like that is no level from the first step on."""
    kind, plain, showing, _ = SPREADING[what]
    found = one(asked(kind, tmp_path, rows(plain, showing, share, onset=onset)))

    assert found.first_step == onset
    assert found.effect.startswith(f"from step {onset} on {100 if share == 1 else ''}")
    assert "before 0 %" in found.effect
    assert found.crossed in ("rise", "paid")
