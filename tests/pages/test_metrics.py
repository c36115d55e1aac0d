"""The page Metrics by AppTest: names, families, pins and panels."""

import math
from pathlib import Path

import pytest
from drawn_panels import by_component, chosen, panels
from drawn_tables import with_column
from metrics_page import GROWING, STEPS, choose, find, headings, labels, said, scalars, sections, show
from opened_pages import opened, scrolled, texts, whole_row
from rows import add_run
from top_line import to_step_after

from board import open_run
from board.analysis.texts import measured_columns
from board.metrics import declared
from board.settings import saved


@pytest.fixture(autouse=True)
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings folder of the test's own."""
    folder = tmp_path_factory.mktemp("settings")
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(folder))
    return folder


def test_dialect_changes_the_names(root: Path) -> None:
    """The same metric goes by each trainer's own name, and by the board's where the trainer has none."""
    add_run(root, "run", GROWING)
    test = opened("metrics")
    assert "reward/mean" in panels(test)

    for dialect, name in (("ROLL", "critic/score/mean"), ("TRL (PPO)", "objective/scores")):
        choose(test, "dialect", dialect)

        assert name in panels(test)
        assert not test.exception


def test_closed_families_are_not_drawn(root: Path) -> None:
    """A family is a heading with its count until it is opened; then its panels are there."""
    add_run(root, "run", [whole_row(step) for step in STEPS])
    test = opened("metrics")
    before = sections(test)

    show(test, "Length")

    assert before == {"keys"}
    assert sections(test) == {*before, "length"}


def test_one_of_each_family_is_open(root: Path) -> None:
    """What each family is about is seen without opening it: one panel of each, in the families' order, side by side."""
    add_run(root, "run", GROWING)
    test = opened("metrics")

    shown = [one.sent["title"].partition("/")[0] for one in by_component(test)["curves_keys"]]

    assert len(shown) == len(set(shown)) > 4
    assert shown[0] == "reward"
    assert f"One of each family · {len(shown)}" in [one.label for one in test.expander]


def test_what_is_measured_stands_beside(root: Path) -> None:
    """Once the run was measured, the KL is drawn without its largest tokens, too, and below the lengths stands how responses end.

    Before that a line says so.
    """
    rows = [{**one, "finish_reason": "length" if at % 4 == 0 else "stop"} for at, one in enumerate(GROWING)]
    folder = add_run(root, "run", rows)
    before = opened("metrics", family_kl="true", family_length="true")
    measured_columns.with_measures(open_run(folder))
    test = opened("metrics", family_kl="true", family_length="true")

    assert set(panels(before, "curves_kl")["kl/k3_mean"].curves) == {"rollouts"}
    assert "once the run was scanned" in texts(before)
    assert set(panels(test, "curves_kl")["kl/k3_mean"].curves) == {"rollouts", "without top 5"}
    assert "column/kl_gini/mean" in panels(test, "curves_kl")
    ends = panels(test, "endings_curves")["How do responses end?"].values
    assert ends["cut off at the limit"] == [0.5, 0.0, 0.5, 0.0]
    assert ends["engine: stop"] == [0.5, 1.0, 0.5, 1.0]
    assert with_column(test, "ending").frame["ending"].tolist()[:2] == ["engine: stop", "cut off at the limit"]
    assert not test.exception


def test_variety_of_responses(root: Path) -> None:
    """Below the groups: responses that name their prompt are told by it; of one text for all nothing is."""
    words = ("apple river stone", "seven wolves ran", "purple engines hum", "my neighbour sells")
    rows = [
        whole_row(step, prompt=f"about {one}", response="the same for all" if step else f"{one}, said {at}", reward=float(at))
        for step in (0, 1)
        for one in words
        for at in range(3)
    ]
    add_run(root, "run", rows)
    test = opened("metrics", family_groups="true")

    found = panels(test, "variety_curves")
    assert found["Do responses depend on their prompt?"].values["prompt recognised"] == pytest.approx([1.0, 0.0], abs=1e-5)
    assert found["Do the samples of a group differ?"].values["distinct"][1] == pytest.approx(1 / 3)
    assert not test.exception


def test_a_link_opens_families_and_choices(root: Path) -> None:
    """Open families and every choice are in the link: it shows the same panels under the same names."""
    add_run(root, "run", GROWING)

    test = opened("metrics", family_kl="true", dialect="TRL (PPO)", glossary="中文")

    assert "kl" in sections(test)
    assert "objective/kl" in panels(test, "curves_kl")
    assert declared.METRICS["kl/k1_sum_mean"].meaning.zh in said(test)
    assert "names as in TRL (PPO)" in texts(test)
    assert "1 of 19 families · known from rollouts" in texts(opened("metrics", families="Reward", origin="rollouts"))


def test_pinned_metrics_come_first(root: Path) -> None:
    """A pinned metric stands above everything else, open, and is marked in every panel of it, until its pin is taken off."""
    add_run(root, "run", GROWING)
    saved.toggle_pin("length/mean")

    test = opened("metrics")
    (pinned,) = by_component(test)["curves_pinned"]
    first, marked = headings(test)[0], chosen(test)["pinned"]
    saved.toggle_pin("length/mean")
    test.run()

    assert pinned.sent["title"] == "length/mean"
    assert first == "Pinned"
    assert marked == [pinned.sent["key"]]
    assert "Pinned" not in headings(test)


def test_pins_that_cannot_be_kept_are_told(root: Path, settings: Path) -> None:
    """A damaged file of pins is a notice that names it; the page is there all the same."""
    add_run(root, "run", GROWING)
    (settings / "pinned_metrics.json").write_text("[")

    test = opened("metrics")

    assert "pinned_metrics.json" in texts(test)
    assert "Reward" in headings(test)


def test_what_is_missing_is_listed_and_never_guessed(root: Path) -> None:
    """Metrics of the dialect without a curve are lists in words: those whose fields the rows lack, and those only a trainer knows."""
    add_run(root, "run", [whole_row(step, values=...) for step in STEPS])
    test = choose(opened("metrics"), "dialect", "ROLL")

    show(test, "Rollouts of this run do not give")
    show(test, "Logged by the trainer only")

    lines = texts(test).splitlines()
    assert any(line.startswith("critic/values/mean (needs values): ") for line in lines)
    assert any(line.startswith("actor/pg_loss: ") for line in lines)
    assert not any(line.startswith("critic/score/mean") and ":" in line for line in lines)


def test_charts_stay_as_they_are_when_the_step_changes(root: Path) -> None:
    """Every panel is sent as it was; which step is chosen is told beside them."""
    add_run(root, "run", GROWING)
    test = scrolled(show(opened("metrics", step=1), "Reward"))
    before = {key: [one.sent for one in sent] for key, sent in by_component(test).items()}
    frontier = [one.proto.spec for one in test.get("plotly_chart")]

    to_step_after(test)

    assert len(before) == 3
    assert {key: [one.sent for one in sent] for key, sent in by_component(test).items()} == before
    assert [one.proto.spec for one in test.get("plotly_chart")] == frontier != []
    assert chosen(test)["step"] == 2


def test_glossary_speaks_chinese(root: Path) -> None:
    """Every panel's line, the reading and the headings are in Chinese once the reader asks for it."""
    add_run(root, "run", GROWING)

    saved.toggle_pin("reward/mean")
    test = choose(opened("metrics"), "glossary", "中文")

    told = said(test) + labels(test)
    assert {"已固定", "超出正常范围", "仅由训练器记录"} <= {*headings(test)}
    assert "在 Tokens 页查看第 2 步" in told
    assert "个超出，最早的是：" in told
    english = ("left it, first", "at step", " on Tokens", "Pinned", "Left the", "Logged by the trainer", "Rollouts of this")
    assert not [words for words in english if words in told]
    assert declared.METRICS["reward/mean"].meaning.zh in told
    assert declared.METRICS["reward/mean"].meaning.en not in told
    assert "奖励" in headings(test)


def test_smoothing_and_log_axis_reach_the_panels(root: Path) -> None:
    """Smoothing keeps the line as it was beside it; the logarithmic axis is one."""
    add_run(root, "run", GROWING)
    test = opened("metrics")
    test.slider(key="smoothing").set_value(0.9)
    test.toggle(key="log_axis").set_value(True)

    find(test.run(), "reward/max")

    (panel,) = panels(test).values()
    assert panel.sent["log"]
    assert panel.sent["drawn"] == "smoothed 0.9"
    assert panel.curves["rollouts"]["raw"].tolist() == [1, 2, 3, 4]


def test_evaluations_have_a_family(root: Path) -> None:
    """A run that holds evaluations shows their reward by step, whichever of its rollouts are looked at."""
    add_run(
        root,
        "run",
        [
            whole_row(step, reward=reward, split=split)
            for step in STEPS
            for split, reward in (("train", 0.0), ("evaluation", 1.0))
        ],
    )

    for split in ("train", "evaluation"):
        test = choose(opened("metrics"), "split", split)

        assert "Evaluation" in headings(test)


def test_what_fits_nothing_says_so(root: Path) -> None:
    """A query that no metric fits is answered with a sentence."""
    add_run(root, "run", GROWING)

    test = find(opened("metrics"), "no such metric at all")

    assert "No metric of this run fits these choices." in texts(test)
    assert not panels(test)


ODD = {
    "no reward": [whole_row(step, reward=..., ref_reward=...) for step in STEPS],
    "no tokens": [
        whole_row(step, response_tokens=..., logprobs=..., ref_logprobs=..., values=..., token_rewards=...) for step in STEPS
    ],
    "one step": [whole_row(7)],
    "gaps": [whole_row(step) for step in (0, 1, 500, 10**12)],
    "a step without a reward": [whole_row(0), whole_row(1, reward=...), whole_row(2)],
    "NaN and infinities": [whole_row(step, reward=reward) for step, reward in enumerate((math.nan, math.inf, -math.inf, 1.0))],
    "nothing but step and response": [{"step": 0, "response": "x"}],
}


@pytest.mark.parametrize("name", ODD)
def test_every_section_of_odd_runs_can_be_opened(root: Path, name: str) -> None:
    """Whatever a run lacks, each family opens, every chart is sound and each list is there."""
    folder = add_run(root, "run", ODD[name])
    scalars(folder, [{"step": 1, "loss": math.nan, "actor/pg_loss": math.inf}, {"step": 900, "loss": -1.0}])
    test = opened("metrics")

    for section in list(test.expander):
        test.query_params[str(section.key)] = "true"
    test.toggle(key="log_axis").set_value(True)
    test.run()

    assert not test.exception
    assert "Counts" in headings(test)
