"""The sample of rollouts, with texts, that is searched for phrases; bounded in size."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.rollout_sample import even_sample, group_codes
from board.runs.run import Run
from board.text.text_units import GAP

MOST_ROLLOUTS: Final = 20_000
MOST_BYTES: Final = 24_000_000
"""Of texts; of a run of long responses fewer rollouts are sampled, but at least LEAST_ROLLOUTS."""
LEAST_ROLLOUTS: Final = 2_000
LONGEST: Final = 12_000
"""Characters of a response; of a longer one half as many of its beginning and of its end are used."""

_PROBE: Final = 200


@dataclass(frozen=True)
class PhraseSample:
    """n rollouts and their responses."""

    frame: pd.DataFrame
    """Their rows of the run's frame, step by step, those of a group side by side."""
    texts: list[str]
    """(n,): responses; GAP stands for what was left out of a long one."""
    cut: int
    """How many of them were long."""
    of: int
    """How many rollouts with a response they were chosen from."""

    @property
    def keys(self) -> NDArray[np.int64]:
        """(n,) of the rollouts."""
        found: NDArray[np.int64] = self.frame.index.to_numpy(np.int64)
        return found


def phrase_sample(run: Run) -> PhraseSample:
    """Rollouts of the run's frame, evenly over its steps, groups whole, as many as may be; none where there are no responses."""
    if "response" not in run.text_columns:
        return PhraseSample(run.frame.iloc[:0], [], 0, 0)
    known = run.frame[np.isfinite(run.frame["response_chars"].to_numpy(np.float64))]
    frame = known.iloc[even_sample(known, _most(run, known))]
    frame = frame.iloc[np.lexsort([group_codes(frame), frame["step"].to_numpy()])]
    found = [text or "" for text in run.texts("response", frame.index.to_numpy()).to_pylist()]
    cut = sum(len(text) > LONGEST for text in found)
    return PhraseSample(frame, [_within(text) for text in found], cut, len(known))


def _most(run: Run, frame: pd.DataFrame) -> int:
    """How many rollouts may be sampled: by how long their texts are, and how many bytes a character of some of them takes."""
    probe = frame.index.to_numpy()[:: max(1, len(frame) // _PROBE)]
    texts = [text or "" for text in run.texts("response", probe).to_pylist()]
    width = sum(len(text.encode()) for text in texts) / max(1, sum(map(len, texts)))
    length = np.minimum(frame["response_chars"].to_numpy(np.float64), LONGEST).mean() if len(frame) else 0
    return int(np.clip(MOST_BYTES / max(1.0, width * length), LEAST_ROLLOUTS, MOST_ROLLOUTS))


def _within(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}{GAP}{text[-half:]}"
