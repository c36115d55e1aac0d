"""The Metrics page by AppTest: names, families, scalars beside rollouts, departures, pins, and what is missing."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from opened_pages import TEXT_ALONE, linked, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.metrics import declared
from board.ui.metric_grid import FIRST, MOST_TOLD, healthy_range

STEPS = range(4)
UNLIKELY = {"logprobs": [-2.0] * 4, "ref_logprobs": [-0.1] * 4}
GROWING = [
    whole_row(step, reward=float(step + i), prompt=f"prompt {i}", **(UNLIKELY if step >= 2 else {}))
    for step in STEPS
    for i in (0, 1)
]
"""The summed log-ratio falls far below zero at step 2: the reading of KL calls that unhealthy."""


@pytest.fixture(autouse=True)
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings folder of the test's own."""
    folder = tmp_path_factory.mktemp("settings")
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(folder))
    return folder


def scalars(folder: Path, rows: list[dict[str, float]]) -> None:
    """A metrics.jsonl in the run's folder."""
    (folder / "metrics.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")


def charts(test: AppTest) -> dict[str, dict[str, Any]]:
    """Charts below the top line by their keys, as Plotly's JSON."""
    found = ((str(one.proto.id).rsplit("-", 1)[-1], json.loads(one.proto.spec)) for one in test.get("plotly_chart"))
    return {key: spec for key, spec in found if key != "strip"}


def marks(test: AppTest) -> dict[str, dict[str, Any]]:
    """Where the chosen step stands in the charts below the top line, by their keys."""
    sent = [json.loads(one.proto.json)["marks"] for one in test.get("bidi_component") if '"marks"' in (one.proto.json or "")]
    return next(found for found in sent if "strip" not in found)


def traces(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A chart's traces by name."""
    return {one["name"]: one for one in spec["data"]}


def headings(test: AppTest) -> list[str]:
    """Families and other sections that open and close, in order."""
    return [one.label.partition(" ·")[0] for one in test.expander]


def show(test: AppTest, heading: str) -> AppTest:
    """Open the section of that heading."""
    (section,) = (one for one in test.expander if one.label.startswith(f"{heading} ·"))
    test.session_state[str(section.key)] = True
    return test.run()


def find(test: AppTest, query: str) -> AppTest:
    """Look for something."""
    return test.text_input(key="find").set_value(query).run()


def choose(test: AppTest, key: str, value: str) -> AppTest:
    """Choose one of several."""
    test.segmented_control(key=key).set_value(value)
    return test.run()


def labels(test: AppTest) -> str:
    """Whatever Streamlit reads as Markdown: labels, helps, Markdown itself."""
    elements = [*test.main]
    spoken = [getattr(one, name, "") or "" for one in elements for name in ("label", "help")]
    helps = [str(one.proto.help) for one in test.text]
    return "\n".join([*spoken, *helps, *(str(one.value) for one in test.markdown), *(str(one.label) for one in test.button)])


def test_dialect_changes_the_names(root: Path) -> None:
    """The same metric goes by each trainer's own name, and by the board's where the trainer has none."""
    add_run(root, "run", GROWING)
    test = opened("metrics")
    assert "reward/mean" in texts(test)

    for dialect, name in (("ROLL", "critic/score/mean"), ("TRL (PPO)", "objective/scores")):
        choose(test, "dialect", dialect)

        assert name in texts(test).splitlines()
        assert not test.exception


def test_closed_families_are_not_drawn(root: Path) -> None:
    """The reward is open, all else is a heading with its count until it is opened; then its panels are there."""
    add_run(root, "run", [whole_row(step) for step in STEPS])
    test = opened("metrics")
    before = set(charts(test))

    show(test, "Length")

    assert all(key == "frontier" or key.startswith(("panel_reward", "panel_departed")) for key in before)
    assert {key.split("_")[1] for key in set(charts(test)) - before} == {"length"}


def test_the_first_panels_are_drawn_unasked(root: Path) -> None:
    """Of a family that is open by itself the first panels are drawn, and all of them once the reader asks."""
    add_run(root, "run", GROWING)
    test = opened("metrics")
    before = [key for key in charts(test) if key.startswith("panel_reward")]

    test.toggle(key="all_reward").set_value(True).run()
    after = [key for key in charts(test) if key.startswith("panel_reward")]

    assert len(before) == FIRST
    assert after[:FIRST] == before
    assert f"All {len(after)}" == test.toggle(key="all_reward").label


def test_a_link_opens_families_and_choices(root: Path) -> None:
    """Open families and every choice are in the link: it shows the same panels under the same names."""
    add_run(root, "run", GROWING)

    test = opened("metrics", family_kl="true", dialect="TRL (PPO)", glossary="中文")

    assert any(key.startswith("panel_kl_") for key in charts(test))
    assert "objective/kl" in texts(test)
    assert declared.METRICS["kl/k1_sum_mean"].meaning.zh in texts(test)


def test_logged_curve_stands_beside_the_computed_one(root: Path) -> None:
    """What a tracker logged under any name of the metric is in its panel, dashed and named, at its own steps; the file is named."""
    folder = add_run(root, "run", GROWING)
    scalars(folder, [{"step": step, "critic/score/mean": 0.5 * step} for step in (1, 3)])

    test = find(opened("metrics"), "reward/mean")

    drawn = traces(next(iter(charts(test).values())))
    assert drawn["jsonl"]["line"]["dash"] == "dash"
    assert drawn["rollouts"]["line"]["dash"] == "solid"
    assert len(drawn) == 2
    assert "1 scalar logged by the trainer, dashed grey, from metrics.jsonl (jsonl)." in texts(test)


HOSTILE = "![](http://evil/x.png) <b>b</b> :red[x] **y**"


def test_names_of_scalars_are_plain_text(root: Path) -> None:
    """A scalar's name is a trainer's: shown letter for letter, never as Markdown or HTML, wherever it stands."""
    folder = add_run(root, "run", [whole_row(step, **{"<i>my number</i>": 1.0}) for step in STEPS])
    scalars(folder, [{"step": 1, HOSTILE: 1.0, f"memory/generate/start/offload/allocated/{HOSTILE.replace('/', '')}": 2.0}])

    test = find(opened("metrics"), "")
    for heading in ("Memory", "Other", "Logged by the trainer"):
        show(test, heading)
    button = next(one for one in test.button if str(one.key).startswith("pin_unknown"))
    button.click().run()

    assert HOSTILE in texts(test).splitlines()
    assert "evil" not in labels(test)
    assert "my number" not in labels(test)
    assert not any("<b>" in json.dumps(spec) or "<i>" in json.dumps(spec) for spec in charts(test).values())


def test_odd_names_keep_the_page_in_order(root: Path) -> None:
    """A name that turns writing around, is empty or endless is a short line; only a plain one is told in full, in its help."""
    folder = add_run(root, "run", GROWING)
    long, hostile = "x/" * 100 + "end", "<b>" * 80
    scalars(folder, [{"step": 1, "loss\u202eevil": 1.0, "": 2.0, long: 3.0, hostile: 4.0}])

    test = opened("metrics")
    show(test, "Logged by the trainer")

    lines = texts(test).splitlines()
    assert "loss⟨U+202E⟩evil" in lines
    assert "(no name)" in lines
    assert not {long, hostile} & {*lines}
    assert long in labels(test).replace("\\", "")
    assert "<b>" not in labels(test).replace("\\", "")
    assert "\u202e" not in texts(test) + labels(test)


def test_first_departure_is_told_and_linked(root: Path) -> None:
    """Where a metric first leaves its healthy range is on its panel in a sentence, with a link to the page that shows it at that step."""
    add_run(root, "run", GROWING)

    test = find(opened("metrics", step=0), "kl/k1_sum_mean")

    reading = declared.METRICS["kl/k1_sum_mean"].reading
    assert any(
        line.startswith(f"First outside the healthy range ({healthy_range(reading)}) at step 2, with -7.60, in 2 steps in all. ")
        and line.endswith(reading.departure.en)
        for line in texts(test).splitlines()
    )
    (link,) = (one for one in test.get("page_link") if one.proto.label.startswith("Step 2 on "))
    assert "step=2" in link.proto.query_string
    assert "metric=kl" in link.proto.query_string
    (spec,) = charts(test).values()
    assert "first outside" in traces(spec)


def test_a_departure_of_a_run_without_tokens_leads_to_the_texts(root: Path) -> None:
    """A metric that tokens would explain, logged beside a run that has none, sends the reader to the responses."""
    folder = add_run(root, "run", [{**TEXT_ALONE, "step": step} for step in range(3)])
    scalars(folder, [{"step": step, "kl/k1_sum_mean": value} for step, value in enumerate((0.0, 0.0, -7.6))])

    test = find(opened("metrics", step=0), "kl/k1_sum_mean")

    assert [one.proto.label for one in test.get("page_link") if one.proto.label.startswith("Step 2 on ")] == [
        "Step 2 on Responses"
    ]


def test_summary_of_departures_leads_to_their_steps(root: Path) -> None:
    """The page begins with how many metrics left their range; the first ones are buttons that go to the step."""
    add_run(root, "run", GROWING)
    test = opened("metrics", step=0)

    button = test.button(key="left_0")
    button.click().run()

    assert any("with a healthy range" in line and line.endswith(" left it, first:") for line in texts(test).splitlines())
    assert headings(test)[0] == "Left the healthy range"
    assert linked(test, "step") != "0"
    assert f"at step {linked(test, 'step')}" in button.label
    assert sum(str(one.key).startswith("left_") for one in test.button if one.key) <= MOST_TOLD


def test_heading_and_summary_tell_the_same_numbers(root: Path) -> None:
    """As many metrics as the top line says have left their range are in the heading below it; if not all are shown it says so."""
    folder = add_run(root, "run", GROWING)
    scalars(folder, [{"step": 3, **{f"scalar {i}": math.inf for i in range(MOST_TOLD)}}])
    test = opened("metrics")

    told = next(line for line in texts(test).splitlines() if line.endswith(" left it, first:"))
    count = int(told.removesuffix(" left it, first:").rpartition(" ")[2])

    assert count > MOST_TOLD
    assert test.expander[0].label == f"Left the healthy range · first {MOST_TOLD} of {count}"


def test_healthy_run_says_so(root: Path) -> None:
    """A run whose metrics all stay in their ranges is told so."""
    add_run(root, "run", [{"step": step, "prompt": "p", "response": "x", "reward": float(i)} for step in STEPS for i in (0, 1)])

    test = opened("metrics")

    assert any(line.endswith("with a healthy range stayed in it.") for line in texts(test).splitlines())
    assert "Left the healthy range" not in headings(test)


def test_pinned_metrics_come_first(root: Path) -> None:
    """A pinned metric stands above everything else, open, until its pin is taken off."""
    add_run(root, "run", GROWING)
    test = show(opened("metrics"), "Length")

    next(one for one in test.button if str(one.key).startswith("pin_length")).click().run()
    pinned = [key for key in charts(test) if key.startswith("panel_pinned")]
    first = headings(test)[0]
    next(one for one in test.button if str(one.key).startswith("pin_pinned")).click().run()

    assert len(pinned) == 1
    assert first == "Pinned"
    assert "Pinned" not in headings(test)


def test_pins_outlive_the_session(root: Path) -> None:
    """What one session pinned stands first in the next."""
    add_run(root, "run", GROWING)
    next(one for one in opened("metrics").button if str(one.key).startswith("pin_reward")).click().run()

    assert headings(opened("metrics"))[0] == "Pinned"


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


def test_a_damaged_scalar_file_hides_nothing(root: Path) -> None:
    """One file that cannot be read is a notice; the others' curves and the rollouts' are there."""
    folder = add_run(root, "run", GROWING)
    scalars(folder, [{"step": 1, "actor/pg_loss": 0.5}])
    (folder / "more").mkdir()
    (folder / "more" / "metrics.jsonl").write_bytes(b'\xff\xfe no\n{"step": 1}\n')

    test = opened("metrics")

    assert "more/metrics.jsonl" in texts(test)
    assert "Loss" in headings(test)
    assert "Reward" in headings(test)


def test_what_was_logged_as_nan_is_told(root: Path) -> None:
    """A loss that became NaN is a gap in its curve and a sentence beneath it."""
    folder = add_run(root, "run", GROWING)
    scalars(
        folder,
        [{"step": 1, "actor/pg_loss": 0.5}, {"step": 2, "actor/pg_loss": math.nan}, {"step": 3, "actor/pg_loss": math.inf}],
    )

    test = find(opened("metrics"), "pg_loss")

    assert "Logged as NaN or infinite in 2 steps, first in step 2." in texts(test)
    assert not test.exception


def test_what_was_logged_as_nan_has_left_the_healthy_range(root: Path) -> None:
    """A value logged as NaN is told at the top and first of what left the healthy range, though the rollouts give numbers."""
    folder = add_run(root, "run", [whole_row(step) for step in STEPS])
    scalars(folder, [{"step": step, "objective/kl": math.nan if step == 2 else 0.1, HOSTILE: math.nan} for step in STEPS])

    test = opened("metrics", step=0)

    stories = [one.label for one in test.button if (one.key or "").startswith("left_")]
    assert "kl/k1\\_sum\\_mean: NaN at step 2" in stories
    assert "a scalar of the trainer: NaN at step 0" in stories
    assert headings(test)[0] == "Left the healthy range"
    assert "Logged as NaN or infinite in 1 step, first in step 2." in texts(test).splitlines()
    assert "evil" not in labels(test)
    test.button(key="left_1").click().run()
    assert linked(test, "step") == "2"


def test_scalars_may_lie_elsewhere(root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """RL_BOARD_SCALARS names a file or folder instead; one without scalars is told."""
    add_run(root, "run", GROWING)
    far = tmp_path_factory.mktemp("far")
    monkeypatch.setenv("RL_BOARD_SCALARS", str(far))
    empty = opened("metrics")
    scalars(far, [{"step": 1, "actor/pg_loss": 0.5}])

    assert "No tracker's scalars lie in" in texts(empty)
    assert "Reward" in headings(empty)
    assert "Loss" in headings(empty.run())


def test_growing_scalars_are_read_again(root: Path) -> None:
    """What a tracker adds is there when the page is drawn next; what nobody touched is not read again."""
    folder = add_run(root, "run", GROWING)
    scalars(folder, [{"step": 1, "actor/pg_loss": 0.5}])
    test = find(opened("metrics"), "pg_loss")
    before = marks(test)
    scalars(folder, [{"step": 1, "actor/pg_loss": 0.5}, {"step": 2, "actor/pg_loss": 0.25}])

    after = marks(test.run())

    assert [dot["text"] for mark in before.values() for dot in mark["dots"]] == ["0.500 at step 1"]
    assert [dot["text"] for mark in after.values() for dot in mark["dots"]] == ["0.250 at step 2"]


def test_charts_stay_as_they_are_when_the_step_changes(root: Path) -> None:
    """Every chart is sent as it was; where the chosen step stands in each is told beside them, in the frontier too."""
    add_run(root, "run", GROWING)
    test = opened("metrics", step=1)
    before = charts(test)

    test.button(key="step_next").click().run()

    assert before
    assert charts(test) == before
    assert set(marks(test)) == set(before)
    assert all(mark["text"] == "step 2" for mark in marks(test).values())


def test_what_a_trainer_counts_otherwise_is_said(root: Path) -> None:
    """A name that a trainer gives to almost the same number says in its help how the trainer's differs; in other dialects nothing is said."""
    add_run(root, "run", GROWING)
    test = opened("metrics", run="run")

    ours = labels(find(test, "std"))
    theirs = labels(choose(test, "dialect", "re-grpo"))

    assert "divided by n \\- 1" not in ours
    assert "**re-grpo** It is divided by n \\- 1, on the board by n\\." in theirs


def test_glossary_speaks_chinese(root: Path) -> None:
    """Every panel's line, the reading and the headings are in Chinese once the reader asks for it."""
    add_run(root, "run", GROWING)

    pinned = opened("metrics")
    next(one for one in pinned.button if str(one.key).startswith("pin_reward")).click().run()
    test = choose(pinned, "glossary", "中文")

    said = texts(test) + labels(test) + "".join(one.proto.label for one in test.get("page_link"))
    assert {"已固定", "超出正常范围", "仅由训练器记录"} <= {*headings(test)}
    assert "在 Tokens 页查看第 2 步" in said
    assert "个超出，最早的是：" in said
    english = ("left it, first", "at step", " on Tokens", "Pinned", "Left the", "Logged by the trainer", "Rollouts of this")
    assert not [words for words in english if words in said]
    assert declared.METRICS["reward/mean"].meaning.zh in texts(test)
    assert declared.METRICS["reward/mean"].meaning.en not in texts(test)
    assert "奖励" in headings(test)


def test_smoothing_and_log_axis_reach_the_panels(root: Path) -> None:
    """Smoothing keeps the line as it was beside it; the logarithmic axis is one."""
    add_run(root, "run", GROWING)
    test = opened("metrics")
    test.slider(key="smoothing").set_value(0.9)
    test.toggle(key="log_axis").set_value(True)

    find(test.run(), "reward/max")

    (spec,) = charts(test).values()
    assert spec["layout"]["yaxis"]["type"] == "log"
    assert "rollouts, not smoothed" in traces(spec)


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
    assert not charts(test)


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
        test.session_state[str(section.key)] = True
    test.toggle(key="log_axis").set_value(True)
    test.run()

    assert not test.exception
    assert "Counts" in headings(test)
