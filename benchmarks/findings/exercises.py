"""Prompts with a known answer and how they are solved, in English, Chinese and code: what the responses of a run are written from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

NAMES: Final = ("Tom", "Aisha", "Mei", "Lukas", "Priya", "Diego", "Ingrid", "Kofi")
THINGS: Final = ("apples", "marbles", "pencils", "stamps", "oranges", "tickets", "shells", "coins")
BOXES: Final = ("boxes", "bags", "crates", "shelves", "baskets", "drawers")
ZH_NAMES: Final = ("小明", "小红", "王老师", "李华", "张伟", "阿芳")
ZH_THINGS: Final = ("苹果", "铅笔", "邮票", "橘子", "贝壳", "书签")


@dataclass(frozen=True)
class Exercise:
    """A prompt of the data set."""

    name: str
    source: str
    text: str
    answer: str
    wrong: tuple[str, ...]
    """Answers that a slip leads to."""
    steps: tuple[tuple[str, ...], ...]
    """What a solution says, one tuple of paraphrases for each sentence; `{slip}` is where a wrong one goes astray."""
    chinese: bool
    difficulty: float
    """In logits: what skill is needed for every other response to be right."""


def _words(dice: np.random.Generator) -> tuple[str, int, Sequence[Sequence[str]]]:
    a, b, c = (int(x) for x in dice.integers(3, 40, 3))
    who, thing, box = (str(dice.choice(pool)) for pool in (NAMES, THINGS, BOXES))
    c = min(c, a * b - 1)
    text = (
        f"{who} has {a} {box} with {b} {thing} in each of them, and gives {c} {thing} away. "
        f"How many {thing} does {who} have left?"
    )
    if dice.random() < 0.5:
        text = f"There are {a} {box} of {b} {thing} in a shop. {who} buys {c} of the {thing}. How many {thing} stay in the shop?"
    return (
        text,
        a * b - c,
        (
            (
                f"There are {a} {box} and each holds {b} {thing}.",
                f"Each of the {a} {box} has {b} {thing} in it.",
                f"We start from {a} {box} of {b} {thing}.",
            ),
            (
                f"Together that makes {a} × {b} = {a * b} {thing}.",
                f"Multiplying {a} by {b} gives {a * b} {thing} at first.",
                f"So at first there are {a} * {b} = {a * b} {thing}.",
            ),
            (
                f"Then {c} of them go, so {a * b} - {c} = {{slip}} {thing} remain.",
                f"Taking away {c} leaves {a * b} - {c} = {{slip}}.",
                f"After {who} takes {c} {thing} we have {{slip}} {thing}.",
            ),
        ),
    )


def _algebra(dice: np.random.Generator) -> tuple[str, int, Sequence[Sequence[str]]]:
    a, x, b = (int(n) for n in dice.integers(2, 30, 3))
    right = a * x + b
    letter = str(dice.choice(list("xyzt")))
    text = f"Solve for {letter}: {a}{letter} + {b} = {right}. Give the value of {letter} only at the end."
    return (
        text,
        x,
        (
            (
                f"We want {letter} such that {a}{letter} + {b} = {right}.",
                f"The equation is {a}{letter} + {b} = {right}.",
                f"Start with {a}{letter} + {b} = {right}.",
            ),
            (
                f"Subtract {b} on both sides: {a}{letter} = {right - b}.",
                f"Moving {b} over gives {a}{letter} = {right} - {b} = {right - b}.",
                f"Without the constant it reads {a}{letter} = {right - b}.",
            ),
            (
                f"Dividing by {a} we get {letter} = {{slip}}.",
                f"Hence {letter} = {right - b} / {a} = {{slip}}.",
                f"So {letter} must be {{slip}}.",
            ),
        ),
    )


def _code(dice: np.random.Generator) -> tuple[str, int, Sequence[Sequence[str]]]:
    a, b, c = (int(n) for n in dice.integers(2, 60, 3))
    name = str(dice.choice(["scale", "shift", "total", "price", "score"]))
    text = f"Write a Python function `{name}(n)` that returns n * {a} + {b}, and say what `{name}({c})` is."
    return (
        text,
        a * c + b,
        (
            (
                f"Here is the function:\n```python\ndef {name}(n):\n    return n * {a} + {b}\n```\n",
                f"```python\ndef {name}(n: int) -> int:\n    result = n * {a}\n    return result + {b}\n```\n",
                f"A short version:\n```python\n{name} = lambda n: n * {a} + {b}\n```\n",
            ),
            (
                f"For n = {c} the product is {c} * {a} = {a * c}.",
                f"Calling it with {c} first computes {c} * {a} = {a * c}.",
                f"With {c} the first part is {a * c}.",
            ),
            (
                f"Adding {b} gives {{slip}}.",
                f"Then {a * c} + {b} = {{slip}} is returned.",
                f"So `{name}({c})` returns {{slip}}.",
            ),
        ),
    )


def _chinese(dice: np.random.Generator) -> tuple[str, int, Sequence[Sequence[str]]]:
    a, b, c = (int(n) for n in dice.integers(3, 40, 3))
    who, thing = str(dice.choice(ZH_NAMES)), str(dice.choice(ZH_THINGS))
    text = f"{who}有{a}箱{thing}，每箱{b}个，后来又买了{c}个。请问{who}一共有多少个{thing}？"
    return (
        text,
        a * b + c,
        (
            (f"题目说有{a}箱{thing}，每箱{b}个。", f"已知每箱有{b}个{thing}，共{a}箱。", f"先看原来的{a}箱{thing}。"),
            (f"原来一共有{a}×{b}={a * b}个。", f"两个数相乘，{a}乘以{b}得到{a * b}。", f"所以开始时有{a * b}个{thing}。"),
            (f"再加上买来的{c}个，就是{{slip}}个。", f"然后{a * b}+{c}={{slip}}。", f"买了{c}个以后总数变成{{slip}}个。"),
        ),
    )


def _sums(dice: np.random.Generator) -> tuple[str, int, Sequence[Sequence[str]]]:
    numbers = [int(n) for n in dice.integers(10, 99, 8)]
    text = f"Add up these numbers and write every partial sum: {', '.join(map(str, numbers))}."
    steps, total = [], numbers[0]
    for number in numbers[1:-1]:
        steps.append(
            (
                f"{total} plus {number} is {total + number}.",
                f"Adding {number} to {total} gives {total + number}.",
                f"Next, {total} + {number} = {total + number}.",
            )
        )
        total += number
    last = numbers[-1]
    steps.append(
        (
            f"Finally {total} + {last} = {{slip}}.",
            f"The last number {last} brings it to {{slip}}.",
            f"With {last} the sum is {{slip}}.",
        )
    )
    return text, total + last, steps


def _choice(dice: np.random.Generator) -> tuple[str, str, Sequence[Sequence[str]]]:
    a, b = (int(n) for n in dice.integers(11, 99, 2))
    right = int(dice.integers(4))
    offered = [a * b + 7 * (at - right) for at in range(4)]
    options = "\n".join(f"{letter}. {number}" for letter, number in zip(LETTERS, offered, strict=True))
    return (
        f"Which of these is {a} times {b}? Answer with the letter.\n{options}",
        LETTERS[right],
        (
            (f"We need {a} × {b}.", f"The product of {a} and {b} is asked for.", f"{a} times {b} has to be found."),
            (
                f"{a} × {b // 10 * 10} is {a * (b // 10 * 10)}, and {a} × {b % 10} is {a * (b % 10)}.",
                f"Splitting {b} helps: {a * (b // 10 * 10)} plus {a * (b % 10)}.",
                f"The last digit must be that of {a % 10} × {b % 10}.",
            ),
            ("That is option {slip}.", "Only {slip} fits.", "Comparing with the options leaves {slip}."),
        ),
    )


def _verdict(dice: np.random.Generator) -> tuple[str, str, Sequence[Sequence[str]]]:
    a, b = int(dice.integers(40, 400)), int(dice.integers(3, 12))
    return (
        f"Is {a} divisible by {b}? Answer yes or no.",
        "no" if a % b else "yes",
        (
            (f"Divide {a} by {b}.", f"How often does {b} go into {a}?", f"We look at {a} / {b}."),
            (
                f"{b} × {a // b} = {a // b * b}, which leaves {a % b}.",
                f"The remainder of {a} by {b} is {a % b}.",
                f"{a} - {a // b * b} = {a % b} is left over.",
            ),
            ("So it is a {slip}.", "Therefore: {slip}.", "This means {slip}."),
        ),
    )


def _tool(dice: np.random.Generator) -> tuple[str, int, Sequence[Sequence[str]]]:
    a, b = (int(n) for n in dice.integers(100, 900, 2))
    city = str(dice.choice(["Lima", "Oslo", "Accra", "Hanoi", "Quito", "Turin"]))
    text = f"Use the calculator. A depot in {city} sends {a} parcels a day. How many parcels does it send in {b} days?"
    return (
        text,
        a * b,
        (
            (
                f"The depot in {city} sends {a} parcels a day.",
                f"I need the number of parcels over {b} days.",
                "This is a product, so I will call the calculator.",
            ),
            (f'<tool_call>{{"expression": "{a} * {b}"}}</tool_call>\n',),
            (f'<tool_response>{{"status": "ok", "expression": "{a} * {b}", "result": {a * b}}}</tool_response>\n',),
            (
                "The calculator says {slip} parcels.",
                f"So over {b} days {city} sends {{slip}} parcels.",
                f"The result of {a} * {b} is {{slip}}.",
            ),
        ),
    )


LETTERS: Final = ("A", "B", "C", "D")
SLIPS: Final = (-10, -3, -2, -1, 1, 2, 3, 9, 10, 100)

FAMILIES: Final[dict[str, Callable[[np.random.Generator], tuple[str, int | str, Sequence[Sequence[str]]]]]] = {
    "words": _words,
    "algebra": _algebra,
    "code": _code,
    "chinese": _chinese,
    "sums": _sums,
    "choice": _choice,
    "verdict": _verdict,
    "tool": _tool,
}


def exercise(source: str, number: int, dice: np.random.Generator) -> Exercise:
    """One prompt of a data source."""
    text, answer, steps = FAMILIES[source](dice)
    return Exercise(
        name=f"{source}-{number}",
        source=source,
        text=text,
        answer=str(answer),
        wrong=_wrong(answer),
        steps=tuple(tuple(sentence) for sentence in steps),
        chinese=source == "chinese",
        difficulty=float(dice.normal(0, 0.9)),
    )


def _wrong(answer: int | str) -> tuple[str, ...]:
    if isinstance(answer, int):
        return tuple(str(answer + slip) for slip in SLIPS)
    return tuple(one for one in (LETTERS if answer in LETTERS else ("yes", "no")) if one != answer)
