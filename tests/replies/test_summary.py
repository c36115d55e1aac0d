"""What there is of a run, against what was written."""

from pathlib import Path

from asked import asked_run, empty_run, plain_run
from rows import row, write_run

from board.cli.replies.contract import RewardCourse, StepSpan
from board.cli.replies.messages import summary_as_text
from board.cli.replies.summary import summary
from board.runs.opening import open_run


def test_a_run_with_everything(tmp_path: Path) -> None:
    """Counts, the course of the reward without the missing one, and what may be asked for."""
    told = summary(open_run(asked_run(tmp_path)), "called")

    assert (told.run, told.rollouts, told.steps, told.splits) == ("called", 8, StepSpan(0, 1, 2), {"train": 8})
    assert (told.prompts, told.groups) == (2, 4)
    assert told.reward == RewardCourse(0.5, 2.0, 2.0, 1)
    assert {"reward", "group"} <= {*told.columns}
    assert told.texts == ["prompt", "response"]
    assert {"logprob", "kl", "log_ratio"} <= {*told.token_metrics}
    assert (told.shards, told.refused, told.flagged) == (1, 0, 0)


def test_a_run_without_rollouts(tmp_path: Path) -> None:
    """It has no steps and no reward, and is no error."""
    told = summary(open_run(empty_run(tmp_path)), "empty")

    assert (told.rollouts, told.steps, told.reward, told.splits) == (0, None, None, {})


def test_a_run_of_a_response_alone(tmp_path: Path) -> None:
    """No reward, no group, no token metric."""
    told = summary(open_run(plain_run(tmp_path)), "plain")

    assert (told.steps, told.reward, told.groups, told.token_metrics) == (StepSpan(7, 7, 1), None, 0, [])


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    """A file of one object beside rollouts that looks like nothing is named with the reason, in the reply and among the notes."""
    folder = plain_run(tmp_path)
    (folder / "odd.json").write_text('{"id": 1}')

    run = open_run(folder)

    assert [*summary(run, "plain").left_out] == ["odd.json"]
    assert "odd.json is one JSON object" in summary_as_text(summary(run, "plain"))
    assert [note.partition(" ")[0] for note in run.report.noted] == ["odd.json"]


def test_a_run_without_rewards_or_words_says_so_first(tmp_path: Path) -> None:
    """Not one reward is a warning; so are responses that are all empty, as where the chat was not understood."""
    plain = summary(open_run(plain_run(tmp_path / "plain")), "plain")
    write_run(tmp_path / "wordless", {"a.jsonl": [row(response="", reward=1.0), row(response="", reward=0.0)]})

    assert plain.warnings == ["No rollout has a reward (1 rollout)"]
    assert summary_as_text(plain).startswith("warning")
    assert summary(open_run(tmp_path / "wordless"), "wordless").warnings == ["All 2 responses are empty"]


def test_a_reward_that_is_a_sum_is_a_warning(tmp_path: Path) -> None:
    """Of which columns, as the note of its format says: the rows do not say which are rewards."""
    write_run(
        tmp_path / "r", {"a.jsonl": [{"step": 1, "prompt": "p", "completion": "c", "near": 0.5, "kl": 0.1, "advantage": 0.5}]}
    )

    assert summary(open_run(tmp_path / "r"), "r").warnings == [
        "The trainer stores no total, so reward is the unweighted sum of near, without kl"
    ]


def test_what_sources_and_parts_earn(tmp_path: Path) -> None:
    """By the keys of their metrics, in JSON all, in the terminal twenty and how many more there are."""
    rows = [
        {
            "step": step,
            "response": "x",
            "reward": float(number),
            "data_source": f"s{number}",
            **{f"reward_{part}": float(step) for part in range(30)},
        }
        for step in range(2)
        for number in range(3)
    ]
    told = summary(open_run(write_run(tmp_path / "run", {"a.jsonl": rows})), "run")

    assert told.reward_by["reward/source/s2"] == RewardCourse(2, 2, 2, 0)
    assert told.reward_by["reward/part/reward_7"] == RewardCourse(0, 1, 1, 1)
    assert len(told.reward_by) == 33
    printed = summary_as_text(told)
    assert "reward/part/reward_7" in printed
    assert "13 more, which metrics lists" in printed
