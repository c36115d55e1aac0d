"""Runs of one setting with other seeds: of one tag, or names that differ by a number."""

import re
from collections.abc import Sequence
from typing import Final, Literal

Seeds = Literal["apart", "tag", "name"]

_SEED: Final = re.compile(r"(?:seed|(?<![A-Za-z])s)[-_=. ]*[0-9]+", re.IGNORECASE)
"""A seed that is named as one, anywhere in the name: seed3, seed_3, s3."""

_NUMBER: Final = re.compile(r"[0-9]+(?=[^0-9]*$)")

_EDGES: Final = " -_./="


def setting(name: str) -> str:
    """A run's name without its seed: without what is named a seed, else without its last number; the name where that leaves nothing."""
    seedless = _SEED.sub("", name)
    bare = seedless if seedless != name else _NUMBER.sub("", name)
    return re.sub(r"[-_. ]{2,}", lambda found: found[0][0], bare).strip(_EDGES) or name


def groups(names: Sequence[str], tags: Sequence[Sequence[str]], by: Seeds) -> list[tuple[str, list[int]]]:
    """The runs by setting, in the order of the first of each: what the setting is called, and which runs are of it.

    A run without a tag, or alone with its own, is a setting by itself, under its own name; of several tags the one counts that most runs have.
    """
    found: dict[tuple[bool, str], list[int]] = {}
    for at, name in enumerate(names):
        label = _label(name, tags[at], tags, by)
        found.setdefault((True, label) if label else (False, f"{at}"), []).append(at)
    return [(label if len(runs) > 1 else names[runs[0]], runs) for (_, label), runs in found.items()]


def _label(name: str, own: Sequence[str], tags: Sequence[Sequence[str]], by: Seeds) -> str:
    if by == "name":
        return setting(name)
    return max(own, key=lambda tag: sum(tag in others for others in tags), default="") if by == "tag" else ""


def any_seeds(names: Sequence[str], tags: Sequence[Sequence[str]]) -> list[Seeds]:
    """By what some of the runs are one setting."""
    kinds: tuple[Seeds, ...] = ("tag", "name")
    return [by for by in kinds if len(groups(names, tags, by)) < len(names)]
