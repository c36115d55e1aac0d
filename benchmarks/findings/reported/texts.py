"""Prompts and responses of six kinds of task, made of small pools of phrases."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

POOLS: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("pools.json").read_text(encoding="utf-8"))
"""Words, phrases and settings to draw from."""
KINDS: Final = tuple(POOLS["prompts"])
_TOKEN: Final = re.compile(
    r"<\|?[a-z_/]+\|?>| (?=<[a-z_/|]+>)| ?[A-Za-z]+| ?\d{1,3}|[\u4e00-\u9fff]{1,2}|\\boxed|\n *| ?[^\sA-Za-z\d\u4e00-\u9fff]|\s"
)


@dataclass(frozen=True)
class Prompt:
    """A task."""

    name: str
    text: str
    a: int
    b: int
    topic: str
    source: int
    difficulty: float


def prompt_of(kind: str, number: int, seed: int, sources: int) -> Prompt:
    """The task of a number in a run's data set."""
    dice = Random(f"{seed}/prompt/{number}")
    a, b, topic = dice.randint(11, 480), dice.randint(3, 95), pick("topics", dice)
    words = {
        "who": pick("people", dice),
        "noun": pick("nouns", dice),
        "zh": pick("zh_things", dice),
        "zh_who": pick("zh_people", dice),
    }
    text = dice.choice(POOLS["prompts"][kind]).format(a=a, b=b, topic=topic, **words)
    return Prompt(f"p{number}", text, a, b, topic, dice.randrange(sources), dice.gauss(0, 0.7))


def pick(pool: str, dice: Random) -> str:
    """One of a pool's words or phrases."""
    return dice.choice(POOLS[pool])


def filler(kind: str, prompt: Prompt, dice: Random) -> str:
    """A sentence beside the solution's own."""
    if kind in ("chat", "code", "agents"):
        what = prompt.topic if dice.random() < 0.6 else pick("nouns", dice)
        text = f"{pick('starts', dice)}, {what} {pick('verbs', dice)} {pick('nouns', dice)}{pick('tails', dice)}."
        return f"    # {text}\n" if kind == "code" else text + " "
    numbers = {"a": prompt.a, "b": prompt.b, "answer": prompt.a + prompt.b, "near": (prompt.a + prompt.b) // 10 * 10}
    if kind == "chinese":
        return pick("zh_checks", dice).format(**numbers) + "。"
    return pick("checks", dice).format(**numbers) + ". "


def respond(kind: str, prompt: Prompt, answer: str, fillers: int, dice: Random) -> list[tuple[str, bool]]:
    """A response that ends with an answer, as pieces: the text, and whether the policy wrote it."""
    more = "".join(filler(kind, prompt, dice) for _ in range(fillers))
    if kind == "chat":
        opening = f"{pick('leads', dice)}, about {prompt.topic}: {pick('nouns', dice)} and {pick('nouns', dice)} matter most. "
        return [((opening + more).rstrip(), True)]
    if kind == "code":
        name, item, kept = (
            dice.choice(pool.split()) for pool in ("total run solve f work", "x n v item one", "s out acc result t")
        )
        body = f"    {kept} = {answer}\n    for {item} in xs:\n        {kept} += {item} + {prompt.b}\n    return {kept}\n"
        return [(f"{pick('leads', dice)}, here it is:\n```python\ndef {name}(xs):\n{more}{body}```", True)]
    if kind == "chinese":
        does = pick("zh_does", dice).format(a=prompt.a, b=prompt.b)
        return [(f"{pick('zh_leads', dice)}，{does}，得到{answer}。{more}{pick('zh_ends', dice)}{answer}。", True)]
    if kind == "agents":
        pieces = []
        for at, (house, found) in enumerate(((prompt.a, int(answer) - 5), (prompt.b, 5))):
            said = filler(kind, prompt, dice) if at < fillers else ""
            pieces += [(f'{said}<tool_call>stock("{prompt.topic}", {house})</tool_call>', True)]
            pieces += [(f"<tool_response>{found} in house {house}</tool_response>", False)]
        rest = "".join(filler(kind, prompt, dice) for _ in range(fillers - 2))
        return [*pieces, (f"{rest}{pick('leads', dice)}, together that is {answer}.", True)]
    does = pick("does", dice).format(a=prompt.a, b=prompt.b)
    said = f"{pick('leads', dice)}, {does}, that makes {answer}. {more}"
    if kind == "reasoning":
        return [(f"<think>\n{said.rstrip()}\n</think>\nThe answer is \\boxed{{{answer}}}.", True)]
    return [(f"{said}Answer: {answer}", True)]


def tokens_of(text: str) -> list[str]:
    """Tokens that join to the text."""
    return _TOKEN.findall(text)
