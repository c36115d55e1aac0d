"""Blocks of lines of the board's own rows, made by chance from a seed: ordinary ones, and ones with something odd in some lines."""

import json
import random
from collections.abc import Callable
from typing import Any

WORDS = ("the", " a", "威", "é", "\n", "", "<pad>", "</s>", "<|im_end|>", "\U0001f600", 'q"\\', "\u0000", " word")
TEXTS = ("prompt", "response", "ref_response", "ground_truth", "note")
NUMBERS = ("reward", "ref_reward", "valid_reward", "ref_valid_reward", "prompt_length", "temperature", "token_arrays_left_out")
IDS = ("group_id", "prompt_id", "sample_id", "data_source", "split", "rank")
ARRAYS = (
    *("logprobs", "ref_logprobs", "values", "token_rewards", "advantages", "returns", "entropies"),
    *("rollout_logprobs", "old_logprobs", "loss_mask", "response_token_ids", "own_metric", "counts"),
)
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -0.0, 3.9, 3.0, 1e40, 1e-50, 2**53 + 1, -(2**53) - 1, 2**63, 2**64, 2**70, -(2**63), -(2**63) - 1),
    *("", "5", "nan", " 7 ", "x", [], {}, [[1.0]], [1.0, [2.0], 3.0], [1.0, [], [2.0, 3.0]], [[], 1.0], [None, 1.0], ["a", 1.0]),
    *(
        float("nan"),
        float("inf"),
        [float("nan"), 1.0],
        [1e39, 1.0],
        "\ud800",
        ["\udfff", "a"],
        [True, 1.0],
        [2**53 + 1, 1],
        [0.1] * 3,
    ),
    *(
        [{"role": "user", "content": "hi"}],
        {"a": 1, "b": None},
        {"a": 1e400},
        {"token": [1]},
        [["a", -0.5]],
        [[["a", -0.5]], None],
    ),
)
STRANGE_KEYS = (
    *(
        "kl",
        "logprob",
        "kl (logged)",
        "shard",
        "line",
        "counts",
        "position",
        "score.a",
        "top_logprobs",
        "prompt_token_ids",
        "reward_gap",
    ),
    *("a\u0000b", "", "威", "response_length", "log_ratio", "step "),
)


def _value(name: str, tokens: list[str], dice: random.Random) -> Any:
    if name in TEXTS:
        return "".join(dice.choices(WORDS, k=dice.randrange(4)))
    if name in IDS:
        return dice.choice(("1", 2, "gsm8k", 2))
    if name in NUMBERS:
        return dice.choice((dice.gauss(0, 1), dice.randrange(-5, 5), 1e300))
    if name == "loss_mask":
        return [dice.randrange(2) for _ in tokens]
    if name == "response_token_ids":
        return [dice.randrange(200_000) for _ in tokens]
    return [dice.choice((dice.gauss(0, 1), -dice.random(), 0, 0.0)) for _ in tokens]


def ordinary_row(names: list[str], dice: random.Random) -> dict[str, Any]:
    """A row with these fields; of its texts and numbers some may be null."""
    tokens = [dice.choice(WORDS[:6]), *dice.choices(WORDS, k=dice.randrange(6))]  # padding alone would leave lists that are empty
    row: dict[str, Any] = {"step": dice.randrange(4), "response": "".join(tokens), "response_tokens": tokens}
    row |= {name: _value(name, tokens, dice) for name in names}
    return row | {"score": {"a": dice.random(), "b": 1}, "meta": {"c": "text"}} if "note" in names else row


def odd_row(row: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """The row with something odd: a value, a key, a length, the order of its keys."""
    changed = dict(row)
    for _ in range(dice.choice((1, 1, 2))):
        key = dice.choice((*changed, *changed, dice.choice(STRANGE_KEYS)))
        change = dice.randrange(6)
        if change == 0:
            changed.pop(key, None)
        elif change == 1 and isinstance(changed.get(key), list):
            changed[key] = changed[key][: dice.randrange(4)] + changed[key][: dice.randrange(9)]
        elif change == 2:
            changed = dict(sorted(changed.items(), key=lambda _: dice.random()))
        elif change == 3 and isinstance(changed.get(key), list) and changed[key]:
            changed[key] = [*changed[key][:-1], dice.choice(ODD)]
        else:
            changed[key] = dice.choice(ODD)
    return changed


DAMAGES: tuple[Callable[[bytes], bytes], ...] = (
    lambda line: line[:-1],
    lambda line: line + b" x",
    lambda line: b"  " + line + b" \r",
    lambda line: b"\xef\xbb\xbf" + line,
    lambda line: line.replace(b'"', b'"\xff', 1),
    lambda line: line[:-1] + b', "reward": 7, "reward": 8}',
    lambda line: line[:-1] + b', "\\u0072eward": 7}',
    lambda line: line[:-1] + b', "big": 123456789012345678901234567890}',
    lambda line: line[:-1] + b', "huge": 1e999}',
    lambda line: line[:-1] + b', "zero": -0, "exponent": 1E5, "long": 0.1000000000000000055511151231257827021181583404541015625}',
    lambda line: line[:-1] + b', "logprobs": [18446744073709551615, -9223372036854775808]}',
    lambda line: line + b"\n",
    lambda line: b"[" + line + b"]",
    lambda line: b"null",
    lambda line: b"",
)


def block(dice: random.Random, *, odd: bool) -> bytes:
    """Some lines that have mostly the same keys; with `odd`, some of them have something odd in them."""
    fields = (*TEXTS, *NUMBERS, *IDS, *ARRAYS)
    names = dice.sample(fields, dice.randrange(len(fields)))
    fewer = [name for name in names if dice.random() < 0.7]
    rows = [ordinary_row(names if dice.random() < 0.8 else fewer, dice) for _ in range(dice.randrange(1, 13))]
    written = []
    for row in rows:
        is_odd = odd and dice.random() < 0.25
        found = odd_row(row, dice) if is_odd else row
        line = json.dumps(found, ensure_ascii=dice.random() < 0.5, separators=dice.choice(((",", ":"), None)))
        data = line.encode("utf-8", errors="surrogatepass")
        written.append(dice.choice(DAMAGES)(data) if is_odd and dice.random() < 0.3 else data)
    return b"\n".join(written) + (b"\n" if dice.random() < 0.9 else b"")
