"""The parts of the reader's place: names, types, and which are forgotten with which."""

from collections.abc import Mapping
from typing import Final, Literal, get_args

_Where = Literal["run", "step", "group", "prompt", "first", "second", "rollout", "token", "compare"]
_Seen = Literal["metric", "scale", "granularity", "window", "zoom", "steps", "filter", "mark", "step_a", "bar", "cell", "phrase"]
_Chosen = Literal["finding", "right_from"]
COMPARED: Final = "beside"
"""The link parameter of the runs to compare, the one part that has several values."""

_OfRuns = Literal["beside", "baseline", "compare_a", "compare_b", "pair_prompt"]
PlacePart = Literal[_Where, _Seen, _Chosen, _OfRuns]
"""`group` is its number within the step, `prompt` a prompt's key; `first` and `second` are two rollouts that are compared, `step_a` the step
that the chosen one is; `mark` a stretch of a text, as `marked` reads it; `bar` and `cell` a stretch of numbers and a place, of all tokens;
`phrase` is a regular expression of what is looked into on page Words, `steps` are those that older links keep to, which go to the `filter`,
`finding` what `board.findings.contract.Finding.id` calls one, `right_from` the reward from which on a response is right; `baseline` is the
compared run that curves are drawn less, and `compare_a` and `compare_b` are the pair, on the prompt `pair_prompt` by key."""

PARTS: Final[tuple[PlacePart, ...]] = get_args(PlacePart)

WHOLE: Final[tuple[PlacePart, ...]] = ("step", "group", "prompt", "token", "step_a", "pair_prompt")
"""Parts of the place that are whole numbers."""

_IN_ROLLOUT: Final[tuple[PlacePart, ...]] = ("window", "token", "compare", "mark")
_IN_RUN: Final[tuple[PlacePart, ...]] = ("zoom", "steps", "step_a", "phrase", "finding", "right_from")
_OF_TOKENS: Final[tuple[PlacePart, ...]] = ("bar", "cell")

PASSING: Final = ("group", "prompt", "first", "second", "filter", *get_args(_OfRuns), *_IN_ROLLOUT, *_IN_RUN, *_OF_TOKENS)
"""Those that a link leaves out when there is none: Back to such a link takes them away. A link without a run is none of ours."""

FORGOTTEN: Final[Mapping[str, tuple[PlacePart, ...]]] = {
    "run": ("step", "group", "prompt", "first", "second", "rollout", *_IN_ROLLOUT, *_IN_RUN, *_OF_TOKENS),
    "step": ("group", "first", "second", "rollout", *_IN_ROLLOUT),
    "group": ("first", "second"),
    "prompt": ("first", "second"),
    "finding": ("rollout", *_IN_ROLLOUT),
    "rollout": _IN_ROLLOUT,
    "token": ("compare",),
}
"""What depends on a part of the place and is forgotten with it."""
