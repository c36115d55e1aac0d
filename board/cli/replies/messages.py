"""Replies as text for a terminal and as JSON for scripts; long lists come piece by piece."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, islice
from typing import Any, Final

import pandas as pd

from board.analysis.steps.metric_list import short_name
from board.cli.replies.contract import (
    LoggedReply,
    MetricsReply,
    Reply,
    RolloutReply,
    RolloutRow,
    Scalar,
    StepsReply,
    SummaryReply,
    document,
    plain,
)
from board.cli.replies.rollouts import ChosenRollouts
from board.text.counting import plural
from board.text.format_number import MISSING, fmt, size
from board.text.terminal import on_one_line, printable
from board.text.token_decoding import codec_of, decoded, token_text

CELL: Final = 60
"""Characters of a text in a table; a text in the first column, or in SHARD, names the row or its file and is never cut."""

SHARD: Final = "shard"

_COURSE: Final = ("first", "last", "lowest", "lowest_step", "highest", "highest_step", "meaning")
"""What the tables of metrics tell of each."""

_AT_ONCE: Final = 500
"""Rows of a table whose columns are aligned together."""


def as_json(reply: Reply) -> str:
    """One JSON object, as docs/scripts.md has it, in ASCII: a pipe and a terminal bear whatever a file is named with."""
    return json.dumps(document(reply), indent=2)


def rollouts_as_json(name: str, chosen: ChosenRollouts) -> Iterator[str]:
    """A list of rollouts as JSON, a line for each, so that it may be longer than memory: one JSON object when put together."""
    head = json.dumps({"version": 1, "run": name, "matching": chosen.matching})
    yield f'{head[:-1]}, "rollouts": ['
    before = ""
    for row in chosen.rows():
        yield f"{before}\n  {json.dumps(plain(asdict(row)))}"
        before = ","
    yield "\n]}\n"


_NAMED: Final = 3
"""So many files that are left out a text names."""
_COURSES: Final = 20
"""Of so many data sources and parts a text says what they earn."""


def summary_as_text(reply: SummaryReply) -> str:
    """What there is of a run, a line each."""
    facts = {"warning": "; ".join(reply.warnings)} if reply.warnings else {}
    facts |= {
        "rollouts": f"{reply.rollouts:,}",
        "splits": ", ".join(f"{count:,} {split}" for split, count in reply.splits.items()),
        "steps": f"{reply.steps.count:,}: {reply.steps.first:,} to {reply.steps.last:,}" if reply.steps else "0",
        "prompts": f"{reply.prompts:,}",
        "groups": f"{reply.groups:,}",
        "files": f"{plural(reply.shards, 'shard')}, {size(reply.bytes)}",
        "problems": f"{reply.refused:,} refused, {reply.flagged:,} flagged",
        "columns": ", ".join(reply.columns),
        "texts": ", ".join(reply.texts),
        "token metrics": ", ".join(reply.token_metrics),
    }
    if reply.left_out:
        named = [f"{name} {reason}" for name, reason in [*reply.left_out.items()][:_NAMED]]
        facts["left out"] = "; ".join([*named, f"and {len(reply.left_out) - _NAMED:,} more"][: len(reply.left_out)])
    if course := reply.reward:
        facts["reward"] = (
            f"{fmt(course.first)} at first, {fmt(course.last)} in the end, highest {fmt(course.highest)} at step {course.highest_step:,}"
        )
    courses = {short_name(key): f"{fmt(one.first)} at first, {fmt(one.last)} in the end" for key, one in reply.reward_by.items()}
    facts |= dict([*courses.items()][:_COURSES])
    if len(courses) > _COURSES:
        facts["reward of"] = f"{len(courses) - _COURSES:,} more, which metrics lists"
    return _facts(facts)


def steps_as_text(reply: StepsReply) -> str:
    """The steps, a line each."""
    rows = [{"step": one.step, **one.values} for one in reply.steps]
    return "\n".join(_table(rows)) if rows else "no steps"


def metrics_as_text(reply: MetricsReply) -> str:
    """The metrics, a line each, then what trackers logged; with curves, each metric's values below it."""
    scalars = reply.logged.scalars if reply.logged else []
    if any(one.curve for one in reply.metrics) or any(one.curve for one in scalars):
        curves = {one.key: dict(one.curve) for one in reply.metrics}
        curves |= {f"{one.name} ({one.tracker})": dict(one.curve) for one in scalars}
        steps = sorted({step for curve in curves.values() for step in curve})
        return "\n".join(_table({"step": step, **{key: curve.get(step) for key, curve in curves.items()}} for step in steps))
    own = "\n".join(_table({name: getattr(one, name) for name in ("key", *_COURSE)} for one in reply.metrics)) or "no metrics"
    return own if reply.logged is None else f"{own}\n\n{_logged_as_text(reply.logged)}"


def _logged_as_text(logged: LoggedReply) -> str:
    names = ("name", "tracker", *_COURSE)
    blocks = [f"logged by the trainer, {plural(len(logged.scalars), 'scalar')}:"]
    blocks += _table({name: getattr(one, name) for name in names} for one in logged.scalars)
    facts = {f"text {name}": _cell(text) for name, text in logged.texts.items()}
    facts |= {"not shown": ", ".join(logged.not_shown)} if logged.not_shown else {}
    facts |= {f"problem {at}": problem for at, problem in enumerate(logged.problems, 1)}
    return "\n".join([*blocks, *([_facts(facts)] if facts else [])])


def rollouts_as_text(chosen: ChosenRollouts) -> Iterator[str]:
    """The rollouts, a line each, then how many of how many they are."""
    yield from _table(_row(one) for one in chosen.rows())
    yield f"{len(chosen.keys):,} of {plural(chosen.matching, 'rollout')}"


def _row(one: RolloutRow) -> dict[str, Scalar]:
    return {"rollout": one.rollout, "step": one.step, **one.values}


def rollout_as_text(reply: RolloutReply) -> str:
    """One rollout: its numbers, its group, its texts whole, its tokens a line each."""
    numbers = {name: _cell(value) for name, value in reply.numbers.items()}
    blocks = [_facts({"rollout": reply.rollout, "step": f"{reply.step:,}", "split": reply.split, **numbers})]
    if reply.group:
        best = [f"{member.rollout} {_cell(member.reward)}" for member in reply.group]
        blocks.append("\n".join([f"group of {len(best):,}, the best first:", *(f"  {on_one_line(one)}" for one in best)]))
    blocks += [f"{name}:\n{printable(text)}" for name, text in reply.texts.items()]
    if reply.tokens:
        texts = _token_texts(reply)
        rows = (
            {"position": one.position, "token": repr(text), **one.values} for one, text in zip(reply.tokens, texts, strict=True)
        )
        blocks.append("\n".join(_table(rows)))
    elif reply.token_count:
        blocks.append(f"{plural(reply.token_count, 'token')}: --tokens tells them, --extremes METRIC the most extreme")
    return "\n\n".join(blocks)


def _token_texts(reply: RolloutReply) -> list[str]:
    """The tokens as text where their names are of bytes; a character of several tokens is whole where all tokens are listed."""
    names = [one.token for one in reply.tokens]
    codec = codec_of(names)
    if len(names) == reply.token_count:
        return [token_text(codec, names, at) for at in range(len(names))]
    return [decoded(codec, name) for name in names]


def _facts(facts: Mapping[str, str]) -> str:
    width = max(map(len, facts))
    return "\n".join(f"{on_one_line(name):<{width}}  {on_one_line(value)}" for name, value in facts.items())


def _cell(value: Scalar, *, whole: bool = False) -> str:
    if value is None:
        return MISSING
    if isinstance(value, str):
        text = on_one_line(value)
        return text if whole or len(text) <= CELL else f"{text[: CELL - 1]}…"
    return f"{value}" if isinstance(value, int) else fmt(value)


def _table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The rows aligned below their heads, some hundreds at a time; numbers to the right."""
    remaining = iter(rows)
    while some := list(islice(remaining, _AT_ONCE)):
        yield _aligned(some)


def _aligned(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    frame = pd.DataFrame(
        {on_one_line(name): [_cell(row.get(name), whole=name in (names[0], SHARD)) for row in rows] for name in names}
    )
    texts = [on_one_line(name) for name in names if any(isinstance(row.get(name), str) for row in rows)]
    widths = {name: max(map(len, [name, *frame[name]])) for name in texts}
    to_left = {name: f"{{:<{width}}}".format for name, width in widths.items()}
    with pd.option_context("display.unicode.east_asian_width", True, "display.max_colwidth", None):
        return frame.to_string(index=False, formatters=to_left, justify="left")
