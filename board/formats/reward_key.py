"""Which key of records that no format knows holds the reward: by words, by what `metrics` names, or as the only number next to texts.

Knows words and types.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from board.formats.aliases import set_of
from board.formats.sampled_key import Columns, Values, every, holds_text, is_input, parts_of

_PARTS_OF: Final = ("rewards", "scores", "reward", "reward_components", "reward_parts", "rewards_per_func")
"""Objects whose numbers are parts of a reward."""

_NONE: Final = set_of(
    "weight count num number n max min mean avg std var threshold limit rate len length size token time timeout duration latency index idx id"
    " ids step epoch seed temperature top p k cost price version coef scale factor attempt trial retry turn rank level year day total"
    " truncated finished finish complete completed done valid validation cached error filtered discarded masked logprob prob"
    " tstamp timestamp date difficulty call exit returncode rejected"
)
"""Words of numbers and flags that are no reward."""

_RIGHT: Final = set_of(
    "correct correctness graded passed pass resolved solved accuracy acc em exact match verdict judge judgement"
    " judgment grade win winner point follow right verified"
)
"""Words of what says whether a rollout did well."""

_SUCCESS: Final = set_of("success successful succeeded")

_SCORE: Final = set_of("score rating helpfulness quality outcome")
_LABEL: Final = set_of("target label")
"""Words of flags that say so, too."""

_WHOLE: Final = set_of("overall total final")
"""Words of the one score among several that is no part of another."""

_PART: Final = re.compile(
    r"reward|score|(?:^|[^a-z])(?:acc(?:uracy)?|correct(?:ness)?|format|style|penalty|bonus|solved|pass(?:ed)?|success)(?:$|[^a-z])"
)
"""What trainers call a part of the reward, anywhere in its name."""
_NO_PART: Final = re.compile(r"weight|threshold|count|num_|index|_id$|std|baseline|max|min")
"""What is so named is about the reward and no part of it."""

_VERDICT: Final = re.compile(r"\s*(true|false|yes|no|[-+]?[0-9]*\.?[0-9]+(e[-+]?[0-9]+)?)\s*", re.IGNORECASE)
"""A text that says a reward."""


def is_number(value: Any) -> bool:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_verdict(path: str, values: Values) -> bool:
    """Whether a key says of a rollout that it is right, as `correct` does with true, no or 1, and not what would be."""
    return not _RIGHT.isdisjoint(parts_of(path)[-1][-1:]) and every(
        values, lambda one: str(one).lower() in ("true", "false", "yes", "no", "0", "1")
    )


def is_reward(value: Any) -> bool:
    """Whether a value can be a reward: a number, true or false, or a text that says one of these."""
    return isinstance(value, int | float) or (isinstance(value, str) and _VERDICT.fullmatch(value) is not None)


def rewards_in(columns: Columns) -> list[str]:
    """The paths of the reward, or of its parts; none where nothing looks like one."""
    fit = _fitting(columns)
    named = [*_named_by_metrics(columns, fit)]
    if named:
        return named[:1]
    for found in (
        [path for path in fit if "reward" in parts_of(path)[-1] or _parent(path) in _PARTS_OF],
        # a verdict comes before the tests that passed
        sorted(
            (path for path, values in fit.items() if _says_right(path, values)),
            key=lambda path: any(is_number(value) and value > 1 for value in fit[path]),
        )[:1],
        [path for path in fit if not _SCORE.isdisjoint(parts_of(path)[-1])],
        [path for path in _flags(fit) if not _LABEL.isdisjoint(parts_of(path)[-1])],
    ):
        whole = [path for path in found if not _WHOLE.isdisjoint(parts_of(path)[-1])]
        if len(whole) == 1:
            return whole
        if found:
            return found if len(found) == 1 or all(is_called_part(path) or _parent(path) in _PARTS_OF for path in found) else []
    return []


def perhaps_reward(columns: Columns) -> list[str]:
    """The flags that differ, else the only number: what may be the reward though nothing is called so."""
    fit = _fitting(columns)
    numbers = [path for path, values in fit.items() if every(values, is_number)]
    return _flags(fit) or numbers[: len(numbers) == 1]


def _flags(fit: Columns) -> list[str]:
    return [path for path, values in fit.items() if every(values, lambda value: isinstance(value, bool)) and _differs(values)]


def scores_of_others(columns: Columns, said: str) -> list[str]:
    """Scores of a text that is not the response but is called like it, as `base_score` with `base_output` next to `rl_output`, and those that
    are a log-probability, as in an object that has an average one, too."""
    (*_, (*ours, kind)) = parts_of(said)
    others = {
        tuple(last[:-1])
        for path, values in columns.items()
        if (last := parts_of(path)[-1])[-1:] == [kind] and holds_text(path, values)
    } - {tuple(ours), ()}
    measured = {_above(path) for path, values in columns.items() if "logprob" in parts_of(path)[-1] and every(values, is_number)}
    return [
        path
        for path in _fitting(columns)
        if tuple(parts_of(path)[-1][:-1]) in others
        or ("." in path and parts_of(path)[-1] == ["score"] and _above(path) in measured)
    ]


def _fitting(columns: Columns) -> Columns:
    return {path: values for path, values in columns.items() if every(values, is_reward) and _may_score(path)}


def _says_right(path: str, values: Values) -> bool:
    """Whether a key says that a rollout did well; a success that is the same in every row may be that of the request."""
    last = parts_of(path)[-1]
    return not _RIGHT.isdisjoint(last) or (not _SUCCESS.isdisjoint(last) and _differs(values))


def _differs(values: Values) -> bool:
    return len({*values}) >= min(len(values), 2)


def is_called_part(name: str) -> bool:
    """Whether a name is one that trainers give to a part of a reward."""
    return _PART.search(name.lower()) is not None and not _NO_PART.search(name.lower())


def _above(path: str) -> str:
    return path.replace("/", ".").rpartition(".")[0]


def _parent(path: str) -> str:
    return _above(path).removesuffix(".0").rpartition(".")[2]


def _may_score(path: str) -> bool:
    """Whether a key is called as no weight, count or id, and tells nothing of the task but whether it was done."""
    last = parts_of(path)[-1]
    is_of_task = is_input(path) and (_RIGHT | _SUCCESS).isdisjoint(last)
    return bool(last) and _NONE.isdisjoint(last) and last[-1] != "answer" and not is_of_task


def _named_by_metrics(columns: Columns, fit: Columns) -> Iterator[str]:
    """The keys that `metrics` or `metric` names, or the only number in an object that is called so."""
    for path, values in columns.items():
        if path.split(".")[0] in ("metric", "metrics"):
            names = {
                name for value in values for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)
            }
            yield from (one for one in fit if one in names)
    inside = [path for path in fit if _parent(path) in ("metric", "metrics")]
    yield from inside if len(inside) == 1 else ()
