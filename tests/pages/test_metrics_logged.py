"""The page Metrics by AppTest: what trackers logged beside what is computed, and where a metric leaves its healthy range."""

import math
from pathlib import Path

import pytest
from drawn_panels import panels
from metrics_page import GROWING, STEPS, choose, find, headings, labels, said, scalars, show
from opened_pages import TEXT_ALONE, linked, opened, texts, whole_row
from rows import add_run

from board.metrics import declared
from board.ui.pages.metrics.grid import MOST_NAMED, healthy_range


def test_logged_curve_stands_beside_the_computed_one(root: Path) -> None:
    """What a tracker logged under any name of the metric is in its panel, dashed and named, at its own steps; the file is named."""
    folder = add_run(root, "run", GROWING)
    scalars(folder, [{"step": step, "critic/score/mean": 0.5 * step} for step in (1, 3)])

    test = find(opened("metrics"), "reward/mean")

    panel = panels(test)["reward/mean"]
    assert [(one["name"], bool(one["dash"])) for one in panel.sent["curves"]] == [("jsonl", True), ("rollouts", False)]
    assert panel.curves["jsonl"]["steps"].tolist() == [1, 3]
    assert panel.values["jsonl"] == [0.5, 1.5]
    assert "1 scalar logged by the trainer, dashed grey, from metrics.jsonl (jsonl)." in texts(test)


HOSTILE = "![](http://evil/x.png) <b>b</b> :red[x] **y**"


def test_names_of_scalars_are_plain_text(root: Path) -> None:
    """A scalar's name is a trainer's: shown letter for letter, never as Markdown or HTML, wherever it stands."""
    folder = add_run(root, "run", [whole_row(step, **{"<i>my number</i>": 1.0}) for step in STEPS])
    scalars(folder, [{"step": 1, HOSTILE: 1.0, f"memory/generate/start/offload/allocated/{HOSTILE.replace('/', '')}": 2.0}])

    test = find(opened("metrics"), "")
    for heading in ("Memory", "Other", "Logged by the trainer"):
        show(test, heading)

    assert HOSTILE in panels(test, "curves_unknown")
    assert "evil" not in texts(test)
    assert "evil" not in labels(test)
    assert "my number" not in labels(test)


def test_odd_names_keep_the_page_in_order(root: Path) -> None:
    """A name that turns writing around, is empty or endless is a short line; the whole of it is told as text, on demand."""
    folder = add_run(root, "run", GROWING)
    long, hostile = "x/" * 100 + "end", "<b>" * 80
    scalars(folder, [{"step": 1, "loss\u202eevil": 1.0, "": 2.0, long: 3.0, hostile: 4.0}])

    test = opened("metrics")
    show(test, "Logged by the trainer")

    titles = [*panels(test)]
    assert {"loss⟨U+202E⟩evil", "(no name)"} <= {*titles}
    assert not {long, hostile} & {*titles}
    assert {long, hostile} <= {text for one in panels(test).values() for _, text in one.sent["texts"]["help"]}
    assert "<b>" not in labels(test).replace("\\", "")
    assert "\u202e" not in said(test) + labels(test)


def test_first_departure_is_told_and_linked(root: Path) -> None:
    """Where a metric first leaves its healthy range is on its panel: a ring, a sentence, and the way to the page that shows it at that step."""
    add_run(root, "run", GROWING)

    test = find(opened("metrics", step=0), "kl/k1_sum_mean")

    reading = declared.METRICS["kl/k1_sum_mean"].reading
    assert any(
        line.startswith(f"First outside the healthy range ({healthy_range(reading)}) at step 2, with -7.60, in 2 steps in all. ")
        and line.endswith(reading.departure.en)
        for line in said(test).splitlines()
    )
    (panel,) = panels(test).values()
    assert panel.sent["texts"]["look"] == "Step 2 on Tokens"
    assert panel.sent["departure"]["step"] == 2
    assert panel.sent["departure"]["value"] == pytest.approx(-7.6)
    assert panel.sent["healthy"] == {"low": reading.low, "high": reading.high}


def test_a_pattern_that_no_value_shows_alone_is_told(root: Path) -> None:
    """What a curve does over several steps is told with its first step, in the words of the pattern, and with what it means."""
    folder = add_run(root, "run", [{**TEXT_ALONE, "step": step} for step in range(13)])
    scalars(folder, [{"step": step, "loss/value_avg": 9.0 if step == 7 else 0.4} for step in range(13)])

    test = find(opened("metrics", step=0, dialect="trl"), "loss/value")

    meant = declared.METRICS["loss/value"].reading.departure.en
    assert f"At step 7, with 9: more than 5 times the median of the steps before. {meant}" in said(test)


def test_a_departure_of_a_run_without_tokens_leads_to_the_texts(root: Path) -> None:
    """A metric that tokens would explain, logged beside a run that has none, sends the reader to the responses."""
    folder = add_run(root, "run", [{**TEXT_ALONE, "step": step} for step in range(3)])
    scalars(folder, [{"step": step, "kl/k1_sum_mean": value} for step, value in enumerate((0.0, 0.0, -7.6))])

    test = find(opened("metrics", step=0), "kl/k1_sum_mean")

    assert [one.sent["texts"]["look"] for one in panels(test).values()] == ["Step 2 on Responses"]


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
    assert sum(str(one.key).startswith("left_") for one in test.button if one.key) <= MOST_NAMED


def test_heading_and_summary_tell_the_same_numbers(root: Path) -> None:
    """As many metrics as the top line says have left their range are in the heading below it; if not all are shown it says so."""
    folder = add_run(root, "run", GROWING)
    scalars(folder, [{"step": 3, **{f"scalar {i}": math.inf for i in range(MOST_NAMED)}}])
    test = opened("metrics")

    told = next(line for line in texts(test).splitlines() if line.endswith(" left it, first:"))
    count = int(told.removesuffix(" left it, first:").rpartition(" ")[2])

    assert count > MOST_NAMED
    assert test.expander[0].label == f"Left the healthy range · first {MOST_NAMED} of {count}"


def test_healthy_run_says_so(root: Path) -> None:
    """A run whose metrics all stay in their ranges is told so."""
    add_run(root, "run", [{"step": step, "prompt": "p", "response": "x", "reward": float(i)} for step in STEPS for i in (0, 1)])

    test = opened("metrics")

    assert any(line.endswith("with a healthy range stayed in it.") for line in texts(test).splitlines())
    assert "Left the healthy range" not in headings(test)


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

    assert "Logged as NaN or infinite in 2 steps, first in step 2." in said(test)
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
    assert "Logged as NaN or infinite in 1 step, first in step 2." in said(test).splitlines()
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


def test_texts_are_shown_and_what_is_not_is_named(root: Path) -> None:
    """A text is listed with its last value and is no longer missing, tables are named, and a setting stands among the run's."""
    folder = add_run(root, "run", GROWING)
    row = {
        "accelerate/device": "cuda:0",
        "accelerate/sync_gradients": True,
        "dr_grpo/critic_type": "mlp",
        "t": {"_type": "table"},
    }
    scalars(folder, [{"step": step, "examples/completion": f"say {step} <b>", **row} for step in (1, 3)])

    test = opened("metrics", run="run", dialect="re-grpo")
    for heading in ("Texts that the trainer logged", "Logged and not shown", "Logged by the trainer only"):
        show(test, heading)

    listed = texts(test)
    assert "accelerate/device: cuda:0\n" in listed
    assert "dr_grpo/critic_type: mlp\n" in listed
    assert "examples/completion (2 texts, the last at step 3): say 3 <b>" in listed
    assert "\nt\n" in listed
    assert "Kind of critic in use" not in listed
    assert panels(find(test, "sync_gradients"))["accelerate/sync_gradients"].values["jsonl"] == [1.0, 1.0]
    assert "1 of 2" in texts(opened("runs", run="run", run_settings_text="critic_type mlp"))


def test_growing_scalars_are_read_again(root: Path) -> None:
    """What a tracker adds is there when the page is drawn next; what nobody touched is not read again."""
    folder = add_run(root, "run", GROWING)
    scalars(folder, [{"step": 1, "actor/pg_loss": 0.5}])
    test = find(opened("metrics"), "pg_loss")
    before = panels(test)
    scalars(folder, [{"step": 1, "actor/pg_loss": 0.5}, {"step": 2, "actor/pg_loss": 0.25}])

    after = panels(test.run())

    assert [one.values for one in before.values()] == [{"jsonl": [0.5]}]
    assert [one.values for one in after.values()] == [{"jsonl": [0.5, 0.25]}]


def test_what_a_trainer_counts_otherwise_is_said(root: Path) -> None:
    """A name that a trainer gives to almost the same number says in its help how the trainer's differs; in other dialects nothing is said."""
    add_run(root, "run", GROWING)
    test = opened("metrics", run="run")

    ours = said(find(test, "std"))
    theirs = said(choose(test, "dialect", "re-grpo"))

    assert "divided by n - 1" not in ours
    assert "re-grpo It is divided by n - 1, on the board by n." in theirs
