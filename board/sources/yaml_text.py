"""YAML → plain values; nothing is executed, no small file becomes a large one.

PyYAML's safe loader, with three things changed. Numbers are read as YAML 1.2 has them, so that `1e-6`, which Python and Hydra write, is a
number and `1:30` is none, and dates stay texts. What has a tag of some language (`!!python/object:argparse.Namespace`) is the plain values
it is written with. Before anything is made of a text its nesting is bounded, which the parser's own code does not survive, and so is what
its aliases come to.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from board.errors import RowRefused

MOST_NODES: Final = 50_000
"""Values that a text may come to, aliases followed; the largest trainer's settings have some 1,500."""

MOST_LEVELS: Final = 64

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one that is compiled where PyYAML was built with it: ten times as quick."""

_NUMBERS: Final = {
    "tag:yaml.org,2002:int": (r"[-+]?(?:0|[1-9][0-9_]{0,40})|0x[0-9a-fA-F_]{1,40}", "-+0123456789"),
    "tag:yaml.org,2002:float": (
        r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9][0-9_]*(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
}
"""Tag → how its numbers are written, and the letters that they begin with. An integer of more digits is no setting, and stays a text."""

_REPLACED: Final = {*_NUMBERS, "tag:yaml.org,2002:timestamp"}


class _Plain(_Base):  # type: ignore[misc]  # whose base has no annotations
    """The safe loader as the module says."""

    yaml_implicit_resolvers: Final = {
        letter: [one for one in resolvers if one[0] not in _REPLACED]
        for letter, resolvers in _Base.yaml_implicit_resolvers.items()
    }


def _untagged(loader: Any, _: str, node: Any) -> Any:
    """What a value with an unknown tag is written with."""
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else loader.construct_scalar(node)


for _tag, (_written, _letters) in _NUMBERS.items():
    _Plain.add_implicit_resolver(_tag, re.compile(f"(?:{_written})$"), [*_letters])
_Plain.add_multi_constructor("", _untagged)


def parse(text: bytes) -> Any:
    """The one document in the text; None of an empty one. Raises RowRefused with the reason."""
    try:
        _refuse_unbounded(text)
        return yaml.load(text, Loader=_Plain)
    except yaml.YAMLError as error:
        raise RowRefused(f"is not YAML: {_first_line(error)}") from error
    except (ValueError, RecursionError) as error:  # a number that is none after all, a value that holds itself
        raise RowRefused(f"is not YAML that can be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    problem, mark = getattr(error, "problem", None), getattr(error, "problem_mark", None)
    if problem is not None and mark is not None:
        return f"line {mark.line + 1}: {problem}"
    return next(iter(str(error).splitlines()), type(error).__name__)


def _refuse_unbounded(text: bytes) -> None:
    """Raises RowRefused for a text that is nested too deeply, or comes to too much once its aliases are followed."""
    sizes: dict[str, int] = {}
    """Of what aliases stand for, by anchor, all that it holds included."""
    opened: list[tuple[str | None, int]] = []
    """Anchors of what is not closed yet, and how much there was before each."""
    count = 0
    for event in _events(text):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise RowRefused(f"has an alias *{event.anchor} of what is not there before it, or holds itself")
            count += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, count))
            sizes.pop(event.anchor, None)
            count += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            sizes |= {anchor: count - before} if anchor else {}
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            sizes |= {event.anchor: 1} if event.anchor else {}
        if len(opened) > MOST_LEVELS:
            raise RowRefused(f"is nested more than {MOST_LEVELS} levels deep, as no settings are")
        if count > MOST_NODES:
            raise RowRefused(f"comes to more than {MOST_NODES:,} values, as no settings do")


def _events(text: bytes) -> Iterator[Any]:
    events: Iterator[Any] = yaml.parse(text, Loader=_Plain)
    return events
