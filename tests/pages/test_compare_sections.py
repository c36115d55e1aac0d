"""The page Compare beyond pairs of prompts: distributions, words, texts, settings and checkpoints of runs, by AppTest."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_tables import tables
from metrics_page import scalars
from opened_pages import ENTRY, figure, linked, opened, texts, when_read, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.analysis.texts.phrase_forms import expression
from board.ui.pages.compare.sections import SECTIONS

EVIL = "![x](http://x) **b**"
FOLDER = EVIL.replace("/", "_")


def rows(seed: int, moved: float, said: str, steps: int = 3, **fields: Any) -> list[dict[str, Any]]:
    """Two rollouts of each of six prompts at each step; `said` is in every response."""
    dice = np.random.default_rng(seed)
    return [
        whole_row(step, prompt=f"prompt {nth}", response=f"so it is {said}", reward=float(dice.normal(moved)), **fields)
        for step in range(steps)
        for nth in range(6)
        for _ in range(2)
    ]


@pytest.fixture
def three(root: Path) -> Path:
    """Two runs with settings and a third, whose name is hostile, that has no reward and says the same as the first."""
    for name, at in (("a", 0), ("b", 1)):
        settings = f"actor: {{lr: {at + 1}e-6, clip: 0.2}}\nnote: '{EVIL}'\nextra: {[1, 2][: at + 1]}\n"
        (add_run(root, name, rows(at, 3.0 * at, ["maybe", "<wait>"][at])) / "config.yaml").write_text(settings)
    add_run(root, FOLDER, [{**one, "reward": None} for one in rows(2, 0, "maybe")])
    return root


def section(name: str, beside: str = "b", **place: str) -> AppTest:
    """The section as a link opens it."""
    test = opened("compare", run="a", beside=beside, compare_section=name, **place)
    assert not test.exception
    return test


def table(test: AppTest, *columns: str) -> Any:
    """The first table that has these columns."""
    return next(one.frame for one in tables(test) if {*columns} <= {*one.columns})


def test_distributions(three: Path) -> None:
    """The run that lies 3 higher does, with an interval; the link chooses number, baseline and how they are drawn."""
    test = section("Distributions")

    found = table(test, "Δ mean")
    assert found["run"].tolist() == ["a", "b"]
    assert found["Δ mean"][0] == ""
    assert found["Δ mean"][1].startswith(("+2.", "+3"))
    assert "95 % intervals by bootstrap over prompts" in texts(test)
    assert [line["name"] for line in figure(test, "How is it spread")["data"]] == ["a", "b"]

    turned = section("Distributions", compare_a="b", spread_as="Cumulative", spread_number="tokens")
    assert table(turned, "Δ mean")["Δ mean"].tolist() == ["0 (0 to 0)", ""]
    assert figure(turned, "Which share lies")["layout"]["xaxis"]["title"]["text"] == "tokens"


def test_what_a_run_lacks_is_one_line(three: Path) -> None:
    """A run without the number is named, the others are compared; its name is text."""
    test = section("Distributions", beside=FOLDER)

    assert table(test, "Δ mean")["rollouts"].tolist()[0] == 36
    assert "reward" in texts(test)


def test_words(three: Path) -> None:
    """Each run's own words are listed on its side; a click leads to the responses of either that hold one."""
    test = section("Words")

    of_b, of_a = (one.frame for one in tables(test) if "z" in one.columns)
    assert of_b["word"].tolist() == ["<", ">", "wait"]
    assert of_a["word"].tolist() == ["maybe"]
    assert of_a[["share", "other"]].to_numpy().tolist() == [[100, 0]]

    chosen = section("Words", phrase=expression("wait"))
    links = {one.proto.label: one.proto.query_string for one in chosen.get("page_link")}
    assert {"0 responses of A", "36 responses of B"} <= {*links}
    assert "run=b" in links["36 responses of B"]
    assert "wait" in links["36 responses of B"]


def test_text_health(three: Path) -> None:
    """What differs is listed by effect, what is the same everywhere is counted in a line."""
    test = section("Text health")

    found = table(test, "effect")
    assert "characters" in found["number"].tolist()
    assert (found["effect"].abs().dropna().diff().dropna() <= 0).all()
    assert "the same in every response" in texts(test)


def test_settings(three: Path) -> None:
    """Only what differs, by the runs' numbers; the search is in the link; a run without any is named."""
    test = section("Settings")

    found = table(test, "setting")
    assert found.set_index("setting").to_dict("index") == {
        "actor.lr": {"1": "1e-06", "2": "2e-06"},
        "extra": {"1": "[1]", "2": "[1, 2]"},
    }
    means = table(test, "settings from")
    assert means["settings from"].tolist() == ["config.yaml"] * 2
    assert means["best reward"][1] >= means["last reward"][1] > 1
    assert "2 settings of 4 differ" in texts(test)

    searched = section("Settings", settings_text="ACTOR")
    assert table(searched, "setting")["setting"].tolist() == ["actor.lr"]
    alone = section("Settings", beside=FOLDER)
    assert f"No settings next to {FOLDER}." in texts(alone)
    assert "two runs or more" in texts(alone)


def test_logged_settings(root: Path) -> None:
    """Settings that runs logged to their trackers differ as those of files do."""
    for at, (name, critic) in enumerate((("a", "mlp"), ("b", "linear"))):
        logged = {"dr_grpo/critic_type": critic, "accelerate/device": "cuda:0"}
        scalars(add_run(root, name, rows(at, 0, "maybe")), [{"step": 1, **logged}])

    test = when_read(section("Settings"), root / "a", root / "b")

    assert table(test, "setting").to_dict("records") == [{"setting": "dr_grpo/critic_type", "1": "mlp", "2": "linear"}]
    assert "1 setting of 2 differs" in texts(test)


def test_checkpoints(root: Path) -> None:
    """Training is a line, evaluations points, also those of a run of checkpoints, which the link may deny."""
    add_run(root, "a", [*rows(0, 0, "x"), *rows(1, 1, "x", 2, split="evaluation")])
    add_run(root, "b", [{**one, "step": 10 * one["step"]} for one in rows(2, 0, "x")])

    test = section("Checkpoints")

    assert [one["name"] for one in figure(test, "Do evaluations")["data"]] == [
        "a, interval",
        "a, training",
        "a, evaluated",
        "b, evaluated",
    ]
    found = table(test, "evaluated at")
    assert found["evaluated at"].tolist() == [1, 20]
    assert np.isfinite(found["training there"][0])
    denied = section("Checkpoints", checkpoint_runs="a")
    assert [one["name"] for one in figure(denied, "Do evaluations")["data"]][-2:] == ["b, training", "a, evaluated"]


def test_eight_runs(root: Path) -> None:
    """Every section draws them, or the two of them that it is of."""
    names = [f"sweep/seed_{at}" for at in range(8)]
    for at, name in enumerate(names):
        add_run(root, name, [*rows(at, at / 10, "x", 2), *rows(at, at / 10, "x", 1, split="evaluation")])
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.query_params["run"], test.query_params["beside"] = names[0], names
    test.switch_page("board/ui/pages/compare/compare.py")

    for title in (one.title for one in SECTIONS):
        test.query_params["compare_section"] = title
        test.run()
        assert not test.exception
        for shown in (one.frame for one in tables(test) if "run" in one.columns):
            assert shown["run"].tolist() == names


def test_without_evaluations_a_line_says_so(three: Path) -> None:
    """Training is drawn nevertheless."""
    test = section("Checkpoints")

    assert "None of these runs has evaluations" in texts(test)
    assert linked(test, "compare_section") == "Checkpoints"
