"""Measures of a response's text and tokens, as numbers per rollout.

A part in, one column per measure out. Of texts the last 10,000 characters are measured, but for how they end, to bound the cost of a rollout.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from board.analysis.texts.text_health import (
    answers,
    compression,
    endings,
    loops,
    overlap,
    rare_tokens,
    repetition,
    scripts,
    words,
)
from board.analysis.texts.text_health.texts import blocks, code_units, column, ends, responses, shingles
from board.metrics.formulas import Float64Array
from board.runs.cache.parts import Part
from board.schema import Column

__all__ = ["COLUMNS", "measure"]

COLUMNS: Final[tuple[Column, ...]] = tuple(
    one
    for module in (compression, repetition, loops, scripts, words, rare_tokens, endings, answers, overlap)
    for one in module.COLUMNS
)
"""The measures, in the order in which they are shown."""


def measure(part: Part) -> dict[str, Float64Array]:
    """Every measure of every rollout of a part: the columns COLUMNS names, in their order, (n,) float64 each, NaN where it has no value."""
    whole, prompts, truths = responses(part), column(part, "prompt"), column(part, "ground_truth")
    response, prompt, truth = (ends(texts) for texts in (whole, prompts, truths))
    found = {
        **compression.measure(response),
        **repetition.of_tokens(part),
        **words.reflections(response),
        **rare_tokens.measure(part),
        **endings.measure(part, whole),
        **answers.measure(response, prompt, truths),
        **_of_characters(response, prompt, truth),
    }
    return {one.name: found[one.name] for one in COLUMNS}


def _of_characters(response: pa.Array, prompt: pa.Array, truth: pa.Array) -> dict[str, Float64Array]:
    """The measures that look at characters, some rollouts at a time."""
    found = [
        _of_block(response[first:last], prompt[first:last], truth[first:last]) for first, last in blocks(response, prompt, truth)
    ]
    names = found[0] if found else _of_block(response, prompt, truth)
    return {name: np.concatenate([np.zeros(0), *(one[name] for one in found)]) for name in names}


def _of_block(response: pa.Array, prompt: pa.Array, truth: pa.Array) -> dict[str, Float64Array]:
    text, question = code_units(response), code_units(prompt)
    four = shingles(text)
    in_question = scripts.scripts_of(question) | scripts.scripts_of(code_units(truth))
    return {
        **repetition.of_characters(four),
        **loops.measure(text, four),
        **scripts.measure(text, in_question),
        **words.measure(text),
        **overlap.measure(four, shingles(question)),
    }
