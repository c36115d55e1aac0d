"""Faults of what is written: its length, its end, its language, and texts that are none."""

from typing import Any, Final

from benchmarks.findings.reported.configuration import Curves
from benchmarks.findings.reported.fault import Hooks, Row, Sample, Spot
from benchmarks.findings.reported.honest import BEGIN, settle
from benchmarks.findings.reported.texts import filler, tokens_of

THINKING: Final = ("<think>", "</think>")


def _wave(curves: Curves, spot: Spot) -> None:
    curves["cut"] = curves["cut"] * 0 + 0.01 + 0.57 * spot.force * spot.ramp(2)


def _longer(factor: float) -> Any:
    def act(curves: Curves, spot: Spot) -> None:
        curves["fillers"] = curves["fillers"] * (1 + (factor - 1) * spot.force * spot.ramp(5))

    return act


def _written(one: Sample, text: str, spot: Spot) -> None:
    """Put another text in the place of a response."""
    end = one.tokens[-1] if one.tokens[-1] in spot.run.ends else spot.run.ends[0]
    one.tokens = [*tokens_of(text)[: spot.run.limit - 1], end]
    one.own, one.cut = [True] * len(one.tokens), False
    one.score = -1.5 if spot.run.pay in ("model", "scaled") else 0.0


def _empty(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if spot.some(0.6 * spot.force):
            _written(one, "", spot)


def _failed(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if spot.some(0.5 * spot.force):
            _written(one, "", spot)
            one.more |= {"status": "aborted", "error": "sandbox lost"}


def _copied(samples: list[Sample], spot: Spot) -> None:
    kept: dict[str, Sample] = {}
    for one in samples:
        first = kept.setdefault(one.group, one)
        if first is not one and spot.some(spot.force):
            one.tokens, one.own, one.score, one.cut = list(first.tokens), list(first.own), first.score, first.cut


def _loop(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if spot.some(spot.force):
            piece = "!" if spot.run.seed % 2 else filler(spot.run.kind, one.prompt, spot.dice)
            _written(one, piece * spot.dice.randint(30, spot.run.limit * 2), spot)
            if len(one.tokens) == spot.run.limit:
                one.tokens[-1], one.cut = one.tokens[0], True


def _gibberish(samples: list[Sample], spot: Spot) -> None:
    letters = "bcdfghjklmnpqrstvwxz" + "aeiou" * 2 + "éßøñ#@^~"
    for one in samples:
        if spot.some(spot.force):
            words = ("".join(spot.dice.choices(letters, k=spot.dice.randint(2, 9))) for _ in range(len(one.tokens) // 2 + 4))
            _written(one, " ".join(words), spot)


def _mixed(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if spot.some(spot.force) and not one.cut:
            other = "chinese" if spot.run.kind != "chinese" else "chat"
            said = [filler(other, one.prompt, spot.dice) for _ in range(spot.dice.randint(2, 3))]
            more = tokens_of("".join(said))
            middle = len(one.tokens) // 2
            one.tokens[middle:middle], one.own[middle:middle] = more, [True] * len(more)


def _endless(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if spot.some(spot.force) and len(one.tokens) > 1 and one.tokens[-1] in spot.run.ends:
            one.tokens, one.own = one.tokens[:-1], one.own[:-1]


def _no_form(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        one.parts["format_reward"] = 0.0
        settle(spot.run, one)


def _without_tags(rows: list[Row], spot: Spot) -> list[Row]:
    for row in rows:
        for tag in THINKING:
            row["response"] = row["response"].replace(tag, "")
    return rows


def _begun_twice(rows: list[Row], spot: Spot) -> list[Row]:
    return [row | {"prompt": BEGIN + row["prompt"]} for row in rows]


TEXT_HOOKS: Final = {
    "cut_wave": Hooks(curves=_wave),
    "length_collapses": Hooks(curves=_longer(0.0)),
    "length_explodes": Hooks(curves=_longer(3.0)),
    "length_grows_for_a_while": Hooks(curves=_longer(3.0)),
    "empty_responses": Hooks(texts=_empty),
    "failed_as_zero": Hooks(texts=_failed),
    "equal_responses": Hooks(texts=_copied),
    "loops": Hooks(texts=_loop),
    "gibberish": Hooks(texts=_gibberish),
    "language_mix": Hooks(texts=_mixed),
    "end_token_missing": Hooks(texts=_endless),
    "special_tokens_left_out": Hooks(pays=_no_form, rows=_without_tags),
    "begin_twice": Hooks(rows=_begun_twice),
}
