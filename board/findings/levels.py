"""What is wrong as it is, from the first step on: numbers that are judged by their level over the whole run, a look for each kind.

`kinds.toml` says what their level is a fault from which on, and in which words. The engine dates what was seen by all rollouts that show it.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from board.findings import level_looks
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.level_looks import Look

_LIMIT: Final = "level"

_LOOKS: Final[Mapping[str, Callable[[Dossier, float], Look]]] = {
    "no_signal": level_looks.signal,
    "constant_part": level_looks.constant_parts,
    "paid_whatever": level_looks.paid_whatever,
    "logprobs_unfilled": level_looks.unfilled,
    "advantages_not_centred": level_looks.not_centred,
    "prompt_doubled": level_looks.doubled,
    "empty_responses": level_looks.empty_responses,
    "empty_thoughts": level_looks.empty_thoughts,
}
"""What is looked for, in the order in which it is asked."""


def _kind(name: str, look: Callable[[Dossier, float], Look]) -> Kind:
    def run(dossier: Dossier, limits: Limits) -> Answer:
        seen = look(dossier, limits[_LIMIT])
        if seen is None or isinstance(seen, CannotTell):
            return seen
        steps = dossier.steps.of_rows[seen.marks]
        # of n rollouts by chance, the square root of n is the noise
        strength, shown = float(np.sqrt(seen.marks.sum())), dossier.clearest(seen.marks, seen.by)
        first, last = int(steps.min()), int(steps.max())
        return Found(seen.effect, first, last, _LIMIT, seen.measured, strength, shown, seen.tokens, seen.severity)

    return declared(name, run)


LEVELS: Final[tuple[Kind, ...]] = tuple(_kind(name, look) for name, look in _LOOKS.items())
