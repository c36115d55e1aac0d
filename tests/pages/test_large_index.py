"""Tests of pages over an index that is larger than memory, at a lowered bound: what is exact is so, and what is a sample says so."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from indexed import indexed
from opened_pages import every_page, opened, texts
from rows import token_row, write_run

from board import open_run
from board.analysis.steps.step_metrics import computable, of_step_alone, per_step_values
from board.analysis.steps.step_stats import per_step, stats_of
from board.cli.indexing import step_sums
from board.cli.main import main
from board.runs.indexed.slices import SETTING
from board.runs.run import Run
from board.sql import index_query
from board.sql.chips import parsed
from board.sql.condition import matching

STEPS, GROUPS, EACH = 40, 10, 5
"""2,000 rollouts."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and, beside it, its index, summed up in several stretches."""
    folder = tmp_path_factory.mktemp("large")
    rows = [
        token_row(
            step,
            prompt=f"{step}.{group}",
            reward=float((step * 7 + group * 3 + one) % 11),
            data_source="ab"[group % 2],
            split="evaluation" if group == 9 and step % 2 else "train",
        )
        for step in range(STEPS)
        for group in range(GROUPS)
        for one in range(EACH)
    ]
    run = write_run(folder / "before" / "run", {"a.jsonl": rows[:1200], "b.jsonl": rows[1200:]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_sums, "STRETCH_ROLLOUTS", 600)
        indexed(run, folder / "root" / "index")
    run.rename(folder / "root" / "run")  # the index has none of its shards
    return folder / "root"


@pytest.fixture
def sampled(root: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The index as it opens where 800 rollouts are opened at once, 200 in a sample."""
    monkeypatch.setenv(SETTING, "800")
    monkeypatch.setenv("RL_BOARD_ROOT", str(root))
    monkeypatch.setenv("RL_BOARD_FINDINGS", "off")
    return open_run(root / "index")


@pytest.fixture
def whole(root: Path) -> Run:
    """The run in memory."""
    return open_run(root / "run")


def test_a_sample_is_even_over_steps_and_says_so(sampled: Run) -> None:
    """The frame holds some rollouts of each split of each step, in whole groups, and the run says of how many."""
    assert sampled.rollout_count == 2_000
    assert 100 < len(sampled.frame) < 500
    assert sampled.frame.groupby("step").size().between(1, 20).all()
    assert str(sampled.sample).startswith(f"A sample of {len(sampled.frame)} of 2,000 rollouts, even over steps.")
    assert sampled.of_split("evaluation").rollout_count == 100


def test_curves_are_of_all(sampled: Run, whole: Run) -> None:
    """Every metric of every step, and how a number is spread in it, is what all rollouts give."""
    for split in whole.splits:
        of_all, of_sample = whole.of_split(split), sampled.of_split(split)
        keys = list(filter(of_step_alone, computable(of_all)))
        pd.testing.assert_frame_equal(per_step_values(of_sample, keys), per_step_values(of_all, keys))
        pd.testing.assert_frame_equal(stats_of(of_sample, "reward"), per_step(of_all.frame, "reward"))
    keys = list(filter(of_step_alone, computable(whole)))
    pd.testing.assert_frame_equal(per_step_values(sampled, keys), per_step_values(whole, keys))


def rows_of(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame's rows, whatever their keys: those of a slice go by the slice. Ids have the categories that are there."""
    texts = {name: frame[name].astype(str) for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)}
    return frame.assign(**texts).reset_index(drop=True)


@pytest.mark.parametrize("split", ["", "train", "evaluation"])
@pytest.mark.parametrize("step", [0, 17, 39])
def test_a_step_is_whole(sampled: Run, whole: Run, step: int, split: str) -> None:
    """A step holds all its rollouts, as the run in memory has them, with what their tokens add up to and how links name them."""
    of_sample, of_all = (one.of_split(split) if split else one for one in (sampled, whole))  # type: ignore[arg-type]
    if step not in of_all.steps:
        return
    found, wanted = of_sample.at_step(step).of_steps(step, step), of_all.of_steps(step, step)
    pd.testing.assert_frame_equal(rows_of(found.frame[wanted.frame.columns]), rows_of(wanted.frame))
    names = sorted(whole.moment_names)
    pd.testing.assert_frame_equal(rows_of(found.moments(names)), rows_of(wanted.moments(names)))
    assert (found.prompt_keys == wanted.prompt_keys).all()
    keys, own = wanted.frame.index.to_numpy(), found.frame.index.to_numpy()
    assert found.sources(own) == wanted.sources(keys)
    for key, other in zip(own, keys, strict=True):
        assert found.rollout(int(key))["logprobs"].tolist() == wanted.rollout(int(other))["logprobs"].tolist()
        assert found.rollout(int(key)).texts == wanted.rollout(int(other)).texts


def test_any_rollout_by_its_link(sampled: Run, whole: Run) -> None:
    """A link leads to the step of its rollout, in the sample or not; one to a rollout of another split is not in it."""
    keys = whole.frame.index.to_numpy()[::97]
    for source, step in zip(whole.sources(keys), whole.frame["step"].loc[keys], strict=True):
        assert sampled.step_of(source) == step
        found = sampled.at_step(int(step))
        assert found.rollout(found.key_of(source) or 0).source == source
    other = whole.of_split("evaluation")
    source = other.sources(other.frame.index.to_numpy()[:1])[0]
    of_train = sampled.of_split("train")
    assert of_train.at_step(of_train.step_of(source) or 0).key_of(source) is None
    assert sampled.step_of("a.jsonl:99999") is None
    assert sampled.step_of("c.jsonl:1") is None


@pytest.mark.parametrize(
    "condition",
    [
        "reward > 9",
        "step BETWEEN 3 AND 5 AND data_source = 'a'",
        "reward > (SELECT avg(reward) + 5 FROM rollouts)",
        "prompt LIKE '7.%'",
    ],
)
def test_a_filter_that_leaves_few(sampled: Run, whole: Run, condition: str) -> None:
    """A filter looks at all rollouts, texts too, and what it leaves is all there where it fits."""
    found = index_query.filtered(sampled, list(parsed(condition)), "few")
    wanted = whole.frame[matching(whole, condition)]
    assert found.sample is None
    pd.testing.assert_frame_equal(rows_of(found.frame[wanted.columns]), rows_of(wanted))


def test_a_filter_that_leaves_many(sampled: Run, whole: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a filter that leaves many it is known how many, a sample stands for them, and a step is whole."""
    monkeypatch.setenv(SETTING, "100")
    found = index_query.filtered(sampled, list(parsed("reward > 3")), "many")
    assert found.rollout_count == (whole.frame["reward"] > 3).sum()
    assert (found.frame["reward"] > 3).all()
    assert "Curves are of the sample" in str(found.sample)
    step, wanted = found.at_step(12).frame.query("step == 12"), whole.frame.query("step == 12 and reward > 3")
    pd.testing.assert_frame_equal(rows_of(step[whole.frame.columns]), rows_of(wanted))


def test_a_flag_discards_in_a_query_as_it_does_in_the_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trainer marks as discarded is of that split in SQL, too."""
    rows = [token_row(step, prompt=f"{step}.{one}", is_filtered=one % 2) for step in range(30) for one in range(4)]
    run = write_run(tmp_path / "run", {"a.jsonl": rows})
    indexed(run, tmp_path / "index")
    monkeypatch.setenv(SETTING, "40")
    here = open_run(run)
    said = index_query.answer(open_run(tmp_path / "index"), "SELECT count(*) AS n FROM rollouts WHERE split = 'discarded'")
    assert said.to_pylist() == [{"n": len(here.of_split("discarded").frame)}]


def test_every_page_comes_up_and_says_how_much_it_shows(sampled: Run) -> None:
    """No page of the index fails, and each says of how many rollouts its sample is."""
    for name, test in every_page(run="index", step="7"):
        assert not test.exception, (name, test.exception)
        if name != "runs":
            assert "of 1,900 rollouts, even over steps" in texts(test), name


def test_a_page_of_a_step_has_all_of_it(sampled: Run) -> None:
    """Responses counts all rollouts of the step, as the run in memory does."""
    assert "45 rollouts of step 7" in texts(opened("responses", run="index", step="7"))
    assert "45 rollouts of step 7" in texts(opened("responses", run="run", step="7"))


def test_pages_of_words_and_tokens_say_that_they_are_of_the_sample(sampled: Run) -> None:
    """Tokens that rise and fall, all tokens by a metric of all steps, and phrases."""
    pages = {"words": {"words": "Tokens that rise and fall"}, "all_tokens": {"tokens_scope": "All steps"}}
    for page, choices in pages.items():
        test = opened(page, run="index", step="7", **choices)
        assert not test.exception
        of_train = len(sampled.of_split("train").frame)
        assert f"A sample of {of_train} of 1,900 rollouts, even over steps: their tokens alone are counted." in texts(test)
    assert "phrases of all rollouts are not looked for" in texts(opened("words", run="index", step="7"))


@pytest.mark.parametrize(("condition", "said"), [("", " of 1,900 rollouts"), ("step = 17", "")])
def test_a_search(root: Path, sampled: Run, whole: Run, condition: str, said: str) -> None:
    """A search of the sample says that it is one; of a filter that leaves few every rollout is searched, as in memory."""
    held = sampled.of_split("train").of_steps(17, 17)
    link = {"step": "17", "q": held.rollout(int(held.frame.index[0])).texts["prompt"], "search_in": "prompt", "filter": condition}
    test = opened("search", run="index", **link)
    lines = [
        json.loads(one.proto.json)["rows"] for one in test.get("bidi_component") if "concordance" in one.proto.component_name
    ]
    assert {line["facts"][0] for line in lines[0]} == {"17"}
    assert said in texts(test)
    assert ("these were searched" in texts(test)) == bool(said)
    if not said:
        of_memory = texts(opened("search", run="run", **link))
        assert next(line for line in of_memory.splitlines() if " of 45 rollouts (" in line) in texts(test)

    key = next(int(key) for key in whole.of_split("train").of_steps(17, 17).frame.index if key not in sampled.frame.index)
    assert not opened("search", run="index", **link, rollout=whole.rollout(key).source).exception


def test_commands_and_comparisons_say_that_they_look_at_a_sample(sampled: Run, root: Path) -> None:
    """On standard error, as what they print is for scripts; a comparison among its notes."""
    for command in ("findings", "check"):
        said = CliRunner().invoke(main, [command, str(root / "index")])
        assert "of 2,000 rollouts, even over steps: these are" in said.stderr
    said = CliRunner().invoke(main, ["compare", str(root / "run"), str(root / "index"), "--json"])
    assert any("B is larger than memory. A sample of" in one for one in json.loads(said.stdout)["notes"])


def test_pages_of_a_filtered_sample(sampled: Run) -> None:
    """Pages follow a filter over all rollouts."""
    for name, test in every_page(run="index", step="7", filter="reward > 9"):
        assert not test.exception, (name, test.exception)
