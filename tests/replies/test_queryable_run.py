"""`board.open_run` answers the questions of the command line."""

from pathlib import Path

from asked import asked_run

from board import open_run


def test_every_question(tmp_path: Path) -> None:
    """A run as loaded, with a verb for each; a part of it is asked in the same way."""
    folder = asked_run(tmp_path)
    run = open_run(folder)

    assert run.summary().run == str(folder)
    assert [one.step for one in run.step_rows().steps] == [0, 1]
    assert run.rollouts(sort="-reward", top=1).rollouts[0].rollout == "rank_0.jsonl:8"
    assert run.show(step=0).rollout == "rank_0.jsonl:2"
    assert run.metrics(["reward/mean"]).metrics[0].last == 2.0
    assert run.query("SELECT count(*) AS n FROM rollouts").rows == [[8]]
    assert "text" in [one.kind for one in run.findings().findings]
    assert len(run.of_steps(1, 1).frame) == 4
