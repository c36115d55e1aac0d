"""Tests of what an index tells of the tokens of all rollouts: as the run in memory tells it, and in a sentence where it cannot."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from indexed import indexed
from rows import token_row, write_run

from board import open_run
from board.analysis import stored_tokens, token_survey
from board.analysis.token_survey import Survey, survey
from board.analysis.vocabulary import Vocabulary, vocabulary
from board.indexing import frame_writer
from board.runs.beyond_memory import SETTING
from board.runs.run import Run
from board.schema import TOKENS

STEPS, EACH = 12, 9


def rows(step: int) -> list[dict[str, object]]:
    """Rollouts of a step, with tokens of their own, masked ones and numbers that are missing; some of an evaluation, some discarded."""
    dice = np.random.default_rng(step)
    made = []
    for one in range(EACH):
        arrays = {
            name: dice.normal(-1, 0.5, 3).astype(np.float32).astype(float).tolist()
            for name in ("logprobs", "ref_logprobs", "own")
        }
        made.append(
            token_row(
                step,
                prompt=f"{step}.{one // 3}",
                **{TOKENS: ["a", f"w{(step * one) % 7}", "b" * (one % 3 + 1)]},
                **arrays,
                advantages=[float(one % 4) - 1.5] * 3,
                loss_mask=[1, 1, int(one % 5 > 0)],
                split="evaluation" if one == 8 and step % 2 else "train",
                is_filtered=int(one == 7),
            )
        )
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and its index, whose frame many pieces of work made."""
    place = tmp_path_factory.mktemp("stored")
    shards = {f"rank_{rank}.jsonl": [row for step in range(STEPS) for row in rows(step)[rank::3]] for rank in range(3)}
    write_run(place / "run", shards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_writer, "LEAST_ROLLOUTS", 1)
        patch.setattr(frame_writer, "STRETCH_ROLLOUTS", 20)
        patch.setattr(frame_writer, "SAMPLE_ROLLOUTS", 24)
        patch.setattr(frame_writer, "TOGETHER_PARTS", 1)
        indexed(place / "run", place / "index")
    return place


@pytest.fixture
def sample(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The index as it opens where ten rollouts fit in memory."""
    monkeypatch.setenv(SETTING, "10")
    return open_run(folder / "index")


def test_the_vocabulary_is_that_of_all(folder: Path, sample: Run) -> None:
    """Names, counts and the sums of every metric; and the line says of how many rollouts."""
    wanted = vocabulary(open_run(folder / "run").of_split("train"))
    told = stored_tokens.vocabulary(sample.of_split("train"))
    assert told.found is not None
    same(told.found, wanted)
    assert told.said == f"Of all {sample.of_split('train').rollout_count:,} rollouts."


def same(found: Vocabulary, wanted: Vocabulary) -> None:
    """Row for row."""
    assert (found.names, found.texts, found.folded, found.missed) == (wanted.names, wanted.texts, wanted.folded, 0)
    for name in ("firsts", "lasts", "counts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert found.sums.keys() == wanted.sums.keys()
    for metric in wanted.sums:
        np.testing.assert_allclose(found.sums[metric], wanted.sums[metric], rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(found.known[metric], wanted.known[metric])


@pytest.mark.parametrize("split", ["train", "evaluation"])
@pytest.mark.parametrize("most", [1_000, 5])
def test_every_survey_is_that_of_all(folder: Path, most: int, split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums by place, bins and the most extreme tokens of each stretch of steps, of every metric that the run has."""
    monkeypatch.setattr(token_survey, "MOST_STEPS", most)
    monkeypatch.setattr(frame_writer, "LEAST_ROLLOUTS", 1)
    index = folder / ("index" if most == 1_000 else "few")
    indexed(folder / "run", index)
    whole = open_run(folder / "run").of_split(split)  # type: ignore[arg-type]
    monkeypatch.setenv(SETTING, "10")
    sample = open_run(index).of_split(split)  # type: ignore[arg-type]
    for metric in token_survey.metrics_of(whole):
        told = stored_tokens.survey(sample, metric, "k3")
        assert told.found is not None, (metric, told.said)
        same_survey(told.found, survey(whole, metric))


def same_survey(found: Survey, wanted: Survey) -> None:
    """As exactly as sums of floats are."""
    for name in ("first", "last", "counts", "in_bins"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    np.testing.assert_allclose(found.sums, wanted.sums, rtol=1e-6, atol=1e-9)
    pd.testing.assert_frame_equal(found.tokens, wanted.tokens, check_dtype=False)


def test_what_is_not_told_is_said(sample: Run) -> None:
    """Of other estimators, of several splits together, and of a run in memory."""
    assert "by k3 alone" in stored_tokens.survey(sample.of_split("train"), "kl", "k1").said
    assert stored_tokens.vocabulary(sample).said.startswith("Of the sample")
    assert stored_tokens.vocabulary(sample.of_split("evaluation")).said.startswith("Of the sample: when the index was made")


@pytest.mark.parametrize("name", ["vocabulary.arrow", "survey-train-0.arrow"])
def test_a_damaged_file_is_told_and_made_again(name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is shown; the command makes it anew, and what was whole before is what is there then."""
    index = tmp_path / "index"
    monkeypatch.setattr(frame_writer, "LEAST_ROLLOUTS", 1)
    indexed(folder / "run", index)
    path = index / "frame" / name
    data = path.read_bytes()
    path.write_bytes(data[:-20] + bytes(20))
    monkeypatch.setenv(SETTING, "10")
    assert "damaged" in _told(open_run(index), name)

    indexed(folder / "run", index)
    assert path.read_bytes() == data
    assert _told(open_run(index), name).startswith("Of all")


def _told(run: Run, name: str) -> str:
    train = run.of_split("train")
    if name == "vocabulary.arrow":
        return stored_tokens.vocabulary(train).said
    return stored_tokens.survey(train, token_survey.metrics_of(train)[0], "k3").said
