"""What pages of tokens need of some parts of an index: their tokens counted by name, and surveyed by each token metric, split by split.

Tables that add up. Knows the parts, and what is known of all of them; knows neither where the tables go nor who adds them up.
"""

from typing import Final, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis import vocabulary
from board.analysis.merged_survey import table_of
from board.analysis.merged_vocabulary import TokenStretches, summed
from board.analysis.step_centres import KnownCentres
from board.analysis.token_survey import Stretches, SurveyedParts, fields_among
from board.indexing.frame_facts import FrameFacts, IndexParts
from board.metrics.formulas import DEFAULT_ESTIMATOR, token_metric_names
from board.runs.discarded import rows_of_split
from board.runs.parts import Part
from board.runs.run import Split
from board.schema import TOKENS

MOST_METRICS: Final = 32
"""So many token metrics are surveyed, the declared ones first: each takes ten megabytes of whoever adds the surveys up."""

_CODEC_ROLLOUTS: Final = 100
_CODEC_TOKENS: Final = 4_000
"""The first rollout among so many that names its tokens tells, by so many of them, how tokens name their bytes."""


def metrics_of(facts: FrameFacts) -> list[str]:
    """The token metrics that are surveyed, by their screen names."""
    return token_metric_names(facts.account().token_metrics)[:MOST_METRICS]


def rows_of_splits(part: Part, facts: FrameFacts) -> dict[Split, NDArray[np.int64]]:
    """The rows of a part that are of each split, where there are any."""
    found = {split: rows_of_split(part.scalars, facts.flags, split) for split in get_args(Split)}
    return {split: rows for split, rows in found.items() if len(rows)}


def surveyed(
    parts: IndexParts, facts: FrameFacts, steps: dict[str, NDArray[np.int64]], centres: KnownCentres, first: int, stop: int
) -> tuple[dict[str, pa.Table], list[str]]:
    """Of the parts from number `first` to before `stop`: by `<split>/<metric>` the survey as a table, `words` for the vocabulary, and some
    tokens of a rollout of training. `steps` are by split all that the run has.
    """
    stretches = {split: Stretches(of) for split, of in steps.items()}
    metrics, token_metrics = metrics_of(facts), facts.account().token_metrics
    found = {
        (split, metric): SurveyedParts(fields_among(token_metrics, metric), metric, DEFAULT_ESTIMATOR, of, centres)
        for split, of in stretches.items()
        for metric in metrics
    }
    words, some = list[pa.Table](), list[str]()
    for number in range(first, stop):
        part, start = parts.opened(number), facts.parts[number]["start"]
        rows = rows_of_splits(part, facts)
        for (split, _), adding in found.items():
            if split in rows:
                adding.part(part, start, rows[split])
        if "train" in rows:
            words += [table for table in vocabulary.tables_of(part, rows["train"]) if table.num_rows]
            some = some or _some_tokens(part, rows["train"])
    tables = {f"{split}/{metric}": table_of(adding.survey()) for (split, metric), adding in found.items()}
    return {**tables, "words": summed(words, TokenStretches(np.array(sorted(facts.token_steps), np.int64)))}, some


def _some_tokens(part: Part, rows: NDArray[np.int64]) -> list[str]:
    if TOKENS not in part.tokens.column_names:
        return []
    lists = part.tokens.column(TOKENS).chunk(0)
    held = (lists[row] for row in rows[:_CODEC_ROLLOUTS].tolist())
    return next(
        ([name or "" for name in one.values[:_CODEC_TOKENS].to_pylist()] for one in held if one.is_valid and len(one)), []
    )
