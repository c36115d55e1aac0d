"""What workers found in the tokens of parts, laid together as tables of all of them: the vocabulary, and a survey of each token metric.

One piece of work after another, in the order of parts: what comes out is the same whoever did them. Knows the files that they left; knows
neither parts nor what becomes of the tables.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis import kept_vocabulary
from board.analysis.merged_survey import MergedSurvey, table_of
from board.analysis.merged_vocabulary import NamesTally, TokenStretches, VocabularyGrid
from board.analysis.token_survey import Stretches
from board.indexing.made_file import Made
from board.runs.frame_files import VOCABULARY, survey_name

ReadMade = Callable[[str, int], Made]
"""What a piece of work of a kind left, by its first part."""


def laid_together(
    made: ReadMade,
    firsts: Sequence[int],
    steps: Mapping[str, NDArray[np.int64]],
    metrics: Sequence[str],
    token_steps: NDArray[np.int64],
) -> tuple[dict[str, tuple[str, ...]], dict[str, pa.Table]]:
    """By split the metrics that are surveyed, and the tables by the names of their files.

    `steps` are by split all that there are, `token_steps` those with a token of training that counts.
    """
    surveys = {(split, metric): MergedSurvey(metric, Stretches(of)) for split, of in steps.items() for metric in metrics}
    tally, some = NamesTally(), list[str]()
    for first in firsts:
        found = made("tokens", first)
        for (split, metric), merged in surveys.items():
            merged.add(found.tables[f"{split}/{metric}"])
        tally.add(found.tables["names"])
        some = some or found.about["some"]
    named: dict[str, tuple[str, ...]] = dict.fromkeys(steps, ())
    tables: dict[str, pa.Table] = {}
    for (split, metric), merged in surveys.items():
        survey = merged.survey()
        if survey.counts.any() or len(survey.tokens):
            tables[survey_name(split, len(named[split]))] = table_of(survey)
            named[split] += (metric,)
    if len(token_steps):
        grid = VocabularyGrid(tally, TokenStretches(token_steps))
        for first in firsts:
            grid.add(made("words", first).tables["words"])
        tables[VOCABULARY] = kept_vocabulary.table_of(grid.vocabulary(some))
    return named, tables
