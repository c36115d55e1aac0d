"""The panels in which a finding is seen: each curve once, in its colour, and none for what the run lacks."""

from pathlib import Path

from hacked import write_hacked

from board.figures.finding_panels import finding_panels
from board.figures.theme import COLORS
from board.runs.opening import open_run


def test_each_curve_is_drawn_once(tmp_path: Path) -> None:
    """Rewards together; a column and the metric that is its mean are one; what the run has not is passed over."""
    run = open_run(write_hacked(tmp_path / "run"))
    names = (
        "valid_reward",
        "reward",
        "reward/mean",
        "response_length",
        "length/mean",
        "kl/k3_mean",
        "nothing",
        "groups/std_mean",
    )

    found = finding_panels(run, names, 6)

    assert [one.names for one in found] == [("reward", "valid_reward"), ("response_length",)]
    assert [len(one.panel.curves) for one in found] == [2, 1]
    assert found[1].panel.curves[0].color == COLORS["length"]
    assert [one.names for one in finding_panels(run, names, 1)] == [("reward", "valid_reward")]
    assert finding_panels(run, (), 6) == []
