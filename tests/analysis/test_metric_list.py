"""board.analysis.steps.metric_list: metrics in families under a dialect's names, searched, with what departs first and what is missing."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board import schema
from board.analysis.steps.healthy_range import Departure, first_departure
from board.analysis.steps.logged_curves import Logged
from board.analysis.steps.metric_list import (
    HEADINGS,
    UNKNOWN,
    Absent,
    absent,
    by_family,
    line_names,
    matching,
    panels,
    short_name,
    token_metric,
    unit_of,
)
from board.metrics import declared
from board.metrics.declared.contract import FAMILIES, Interpretation, Words
from board.trackers.contract import Curve
from board.trackers.nearby import LogSource

VALUES = pd.DataFrame(
    {"column/my_number/mean": [1.0, 2.0], "kl/k1_sum_mean": [0.5, -5.0], "reward/mean": [1.0, 2.0]},
    index=pd.Index([3, 4], name="step"),
)


def logged(
    name: str, *, steps: tuple[int, ...] = (3, 4), values: tuple[float, ...] = (1.0, 2.0), tracker: str = "jsonl"
) -> Logged:
    """One scalar as `board.analysis.steps.logged_curves` joins it."""
    found = declared.resolve_any(name)
    key, metric = (found[1].key, found[1]) if found else (name, None)
    if found:
        for place, value in found[2].items():
            key = key.replace(f"{{{place}}}", value)
    return Logged(name, key, metric, LogSource(tracker, Path("metrics.jsonl")), Curve(np.array(steps), np.array(values)))


def names(dialect: str, *scalars: Logged) -> dict[str, str]:
    """Key → name on the screen."""
    return {panel.key: panel.name for panel in panels(VALUES, scalars, dialect)}


def test_every_family_has_a_heading_in_both_languages() -> None:
    """Each family of the catalogue, and the scalars it does not know, have a heading."""
    assert set(HEADINGS) == {*FAMILIES, UNKNOWN}
    assert all(heading.en and heading.zh for heading in HEADINGS.values())


NAMES = {"board": "kl/k1_sum_mean", "trl": "objective/kl"}


@pytest.mark.parametrize("dialect", NAMES)
def test_metrics_go_by_the_dialects_names(dialect: str) -> None:
    """A metric has the name the dialect gives it; one it does not name keeps the board's, and so does a column of the run."""
    found = names(dialect)

    assert found["kl/k1_sum_mean"] == NAMES[dialect]
    assert found["column/my_number/mean"] == "column/my_number/mean"


def test_what_was_logged_joins_what_is_computed() -> None:
    """A scalar stands in the panel of the metric it is called after in any dialect; both curves keep their own steps."""
    (panel,) = (
        one for one in panels(VALUES, [logged("critic/score/mean", steps=(9,), values=(7.0,))], "trl") if one.key == "reward/mean"
    )

    assert panel.name == "objective/scores"
    assert panel.own is not None
    assert panel.own.to_dict() == {3: 1.0, 4: 2.0}
    assert [(one.curve.steps.tolist(), one.curve.values.tolist()) for one in panel.logged] == [([9], [7.0])]


def test_families_come_in_order_and_strangers_last() -> None:
    """Families are those of the catalogue, in its order; columns are of family other, unknown scalars follow all of them."""
    listed = panels(VALUES, [logged("who knows"), logged("actor/lr")], "roll")

    assert list(by_family(listed)) == ["reward", "kl", "optimiser", "other", UNKNOWN]
    assert [panel.key for panel in by_family(listed)[UNKNOWN]] == ["who knows"]


def test_a_family_of_names_is_filled_in() -> None:
    """A metric with placeholders has one panel for each thing it was logged of, named as the dialect names it."""
    one, two = (logged(f"memory/generate/start/offload/allocated/{device}") for device in ("0", "cuda:1"))

    found = names("roll", one, two)

    assert found[one.key] == "memory/generate/start/offload/allocated/0"
    assert found[two.key] == "memory/generate/start/offload/allocated/cuda:1"
    assert names("trl", one)[one.key] == one.name


SHOWN_BY = {
    "kl/k1_sum_mean": "kl",
    "critic/explained_variance": "value",
    "advantage/max": "advantage",
    "policy/entropy_mean": "entropy",
    "policy/logprob_mean": None,
    "mismatch/policy_ppl": None,
    "reward/mean": None,
}


@pytest.mark.parametrize("key", SHOWN_BY)
def test_a_departure_names_the_tokens_metric_that_shows_it(key: str) -> None:
    """What sends the reader to the tokens names the token metric to look at there, if one shows it; nothing else names one."""
    assert token_metric(declared.METRICS[key]) == SHOWN_BY[key]


@pytest.mark.parametrize(("family", "name"), [("mismatch", "mismatch"), ("update", "log_update")])
def test_no_token_metric_is_named_that_there_is_none_of(family: str, name: str) -> None:
    """A family whose token metric the board does not have names none."""
    found = {
        token_metric(metric) for metric in declared.METRICS.values() if (metric.family, metric.reading.look) == (family, "tokens")
    }

    assert found == ({name} if name in schema.BY_TITLE else {None})


READABLE = {
    "as it is": ("critic/score/mean", "critic/score/mean"),
    "turned around": ("loss\u202egnp.exe", "loss⟨U+202E⟩gnp.exe"),
    "controls": ("a\x00b\nc\u2066", "a⟨U+0000⟩b↵c⟨U+2066⟩"),
    "no name": ("", "(no name)"),
    "half a character": ("a\ud800b", "a\ufffdb"),
    "long": ("a" * 200 + "b" * 200, "a" * 30 + "…" + "b" * 29),
}


@pytest.mark.parametrize("name", READABLE)
def test_names_of_a_run_are_readable(name: str) -> None:
    """A name stands on one line with every character to be seen; one without letters says so, a long one is cut in the middle."""
    given, wanted = READABLE[name]

    assert short_name(given) == wanted


def of(tracker: str, path: str, name: str) -> Logged:
    """A scalar of one place."""
    return Logged(name, "kl/k1_sum_mean", None, LogSource(tracker, Path(path)), Curve(np.array([1]), np.array([1.0])))


LINES = {
    "of two trackers": ([of("jsonl", "a", "kl"), of("wandb", "a", "kl")], ["jsonl", "wandb"]),
    "of one tracker by their names": (
        [of("wandb", "/r/run-1", "objective/kl"), of("wandb", "/r/run-1", "critic/kl"), of("jsonl", "a", "kl")],
        ["wandb objective/kl", "wandb critic/kl", "jsonl"],
    ),
    "of one name by their places": ([of("wandb", "/r/1", "kl"), of("wandb", "/r/2", "kl")], ["wandb r/1", "wandb r/2"]),
    "by both": (
        [of("wandb", "/r/1", "kl"), of("wandb", "/r/2", "kl"), of("wandb", "/r/2", "other")],
        ["wandb r/1 kl", "wandb r/2 kl", "wandb r/2 other"],
    ),
    "by their numbers": ([of("wandb", "/r/1", "a" * 90), of("wandb", "/r/1", "a" * 91)], ["wandb 1", "wandb 2"]),
}


@pytest.mark.parametrize("name", LINES)
def test_curves_of_one_panel_are_told_apart(name: str) -> None:
    """A tracker's curve is called after it; several of one after what they differ in, shortly."""
    given, wanted = LINES[name]

    assert line_names(given) == wanted


QUERIES = {
    "": 4,
    "objective/KL": 1,
    "k1_sum": 1,
    "critic/score": 1,
    "奖励": 1,
    "who knows": 1,
    "my_number": 1,
    "no such thing": 0,
}


@pytest.mark.parametrize("query", QUERIES)
def test_search_finds_names_and_meanings(query: str) -> None:
    """Every word of the query must be in a name of any dialect, or in the meaning in either language; case does not matter."""
    listed = panels(VALUES, [logged("who knows")], "trl")

    found = matching(listed, query)

    assert len(found) >= QUERIES[query] if query == "奖励" else len(found) == QUERIES[query]


def test_search_narrows_by_family_and_origin() -> None:
    """Families and origin leave out everything else; a metric both computed and logged is of both origins."""
    listed = panels(VALUES, [logged("critic/score/mean"), logged("actor/lr")], "board")

    assert {panel.family for panel in matching(listed, families=["kl", "optimiser"])} == {"kl", "optimiser"}
    assert {panel.key for panel in matching(listed, origin="rollouts")} == set(VALUES.columns)
    assert {panel.family for panel in matching(listed, origin="tracker")} == {"reward", "optimiser"}


def reading(low: float | None, high: float | None) -> Interpretation:
    """A healthy range."""
    return Interpretation("", Words("", ""), low=low, high=high)


DEPARTURES = {
    "never": (reading(0, 2), [0.0, 1.0, 2.0], None),
    "below": (reading(0, 2), [1.0, -1.0, 1.0, -2.0], Departure(11, -1.0, 2)),
    "above": (reading(None, 2), [-9.0, 2.5], Departure(11, 2.5, 1)),
    "at once": (reading(0, None), [-9.0, 2.5], Departure(10, -9.0, 1)),
    "no range": (reading(None, None), [-9.0, 2.5], None),
    "NaN and infinities are no values": (reading(0, 1), [np.nan, np.inf, -np.inf, 0.5], None),
    "nothing": (reading(0, 1), [], None),
}


@pytest.mark.parametrize("name", DEPARTURES)
def test_first_departure(name: str) -> None:
    """The first step whose finite value is outside, its value, and how many there are."""
    healthy, values, wanted = DEPARTURES[name]

    assert first_departure(healthy, np.arange(10, 10 + len(values)), np.array(values, np.float64)) == wanted


@given(st.lists(st.floats(allow_nan=True), max_size=20), st.floats(-5, 0), st.floats(0, 5))
def test_first_departure_agrees_with_the_reading(values: list[float], low: float, high: float) -> None:
    """What departs is what the reading calls unhealthy, in whatever values."""
    healthy = reading(low, high)
    outside = [at for at, value in enumerate(values) if np.isfinite(value) and not healthy.healthy(value)]

    found = first_departure(healthy, np.arange(len(values)), np.array(values, np.float64))

    assert (None if found is None else (found.step, found.steps)) == ((outside[0], len(outside)) if outside else None)


def test_departure_of_a_panel() -> None:
    """Values from rollouts decide where there are any; what was logged decides where there are none."""
    low = logged("objective/kl", values=(-3.0, -3.0))
    computed = {panel.key: panel for panel in panels(VALUES, [low], "trl")}
    alone = {panel.key: panel for panel in panels(pd.DataFrame(index=VALUES.index), [low], "trl")}

    assert computed["kl/k1_sum_mean"].departure == Departure(4, -5.0, 1)
    assert alone["kl/k1_sum_mean"].departure == Departure(3, -3.0, 2)
    assert computed["reward/mean"].departure is None


def test_what_was_logged_as_no_number_is_told() -> None:
    """Steps that a trainer logged NaN or an infinity in are counted once, from the first on; a panel of numbers alone has none."""
    broken, sound = logged("actor/pg_loss", steps=(3, 5, 7), values=(1.0, np.inf, np.nan)), logged("actor/lr")
    again = logged("actor/pg_loss", steps=(5, 7), values=(-np.inf, np.inf), tracker="wandb")
    found = {panel.key: panel.broken for panel in panels(VALUES, [broken, again, sound], "roll")}

    assert found[broken.key] == Departure(5, np.inf, 2)
    assert found[sound.key] is None
    assert found["reward/mean"] is None


LEFT = {
    "the range alone": ("objective/kl", (0.5, 0.5), Departure(4, -5.0, 1)),
    "the numbers first": ("objective/kl", (np.inf, 0.5), Departure(3, np.inf, 1)),
    "the numbers, without bounds": ("critic/score/mean", (1.0, -np.inf), Departure(4, -np.inf, 1)),
    "the numbers, of no known metric": ("who knows", (1.0, np.inf), Departure(4, np.inf, 1)),
    "neither": ("critic/score/mean", (1.0, 2.0), None),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_became_no_number_has_left_what_is_healthy(name: str) -> None:
    """A metric leaves at its first value outside the range, or at the first logged as NaN or infinite, bounds or not."""
    scalar, values, wanted = LEFT[name]
    one = logged(scalar, values=values)

    (panel,) = (panel for panel in panels(VALUES, [one], "trl") if panel.key == one.key)

    assert panel.left == wanted
    assert panel.ranged >= (wanted is not None)


def test_what_is_missing_says_what_it_needs() -> None:
    """A metric of the dialect without a curve names the fields the run lacks; one that only the trainer knows names none."""
    listed = panels(VALUES, [logged("actor/lr")], "roll")

    missing = {one.name: one for one in absent(listed, "roll", {"reward"})}

    assert "critic/score/mean" not in missing
    assert "actor/lr" not in missing
    assert missing["actor/pg_loss"].lacks == ()
    needs = missing["critic/values/mean"]
    assert isinstance(needs, Absent)
    assert "values" in needs.lacks
    assert "reward" not in needs.lacks


def test_what_is_missing_can_be_searched() -> None:
    """The query that narrows the panels narrows what is missing too."""
    found = absent([], "roll", {"reward"}, "pg_loss")

    assert "actor/pg_loss" in {one.name for one in found}
    assert "critic/score/mean" not in {one.name for one in found}


def test_measures_of_texts_are_a_family() -> None:
    """What is measured of texts stands together, with its unit; a trainer's own column is among the others."""
    values = pd.DataFrame({"column/compression_ratio/mean": [1.0, 2.0], "reward/part/accuracy_reward": [0.5, 0.75]}, index=[0, 1])
    listed = {panel.key: panel for panel in panels(values, [], "board")}

    assert listed["column/compression_ratio/mean"].family == "text"
    assert listed["reward/part/accuracy_reward"].family == "reward"
    assert unit_of(listed["reward/part/accuracy_reward"]) == ""
