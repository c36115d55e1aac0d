"""The filter on every page: what it leaves, what is said of it, and chips that are added, changed and taken away."""

import json
from pathlib import Path
from typing import Any

from drawn_panels import panels
from opened_pages import GOOD, every_page, linked, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.settings import saved

LEFT = {"filter": "reward > 2"}


def bar(test: AppTest) -> dict[str, Any]:
    """What the filter bar was given."""
    (found,) = [one for one in test.get("bidi_component") if one.proto.component_name.endswith("filter_bar")]
    given: dict[str, Any] = json.loads(found.proto.json)
    return given


def test_every_page_follows_it_and_says_so(root: Path) -> None:
    """A link's filter holds on every page, each of which says how many rollouts of how many are left."""
    add_run(root, "run", GOOD)

    for page, test in every_page(filter="reward > 2", step=0):
        assert not test.exception, page
        assert bar(test)["count"] == "6 of 12 rollouts", page
        assert linked(test, "filter") == "reward > 2", page
        assert linked(test, "step") == "0", page
        if page == "responses":
            assert "1 rollout of step 0" in texts(test)
        if page == "data":
            assert "Checks look at all rollouts" in texts(test)


def test_curves_stand_beside_those_of_all(root: Path) -> None:
    """Under a filter each curve has that of all rollouts beside it, dashed; without one there is none."""
    add_run(root, "run", GOOD)

    plain = [name for panel in panels(opened("rewards")).values() for name in panel.curves]
    filtered = list(panels(opened("rewards", filter="reward > 2")).values())

    assert sorted(filtered[0].curves) == ["policy", "policy, all", "reference", "reference, all"]
    assert filtered[0].values["policy"] == [3.0, 3.5, 4.0]
    assert filtered[0].values["policy, all"] == [1.5, 2.5, 3.5]
    assert not any(name.endswith(", all") for name in plain)


def test_metrics_stand_beside_those_of_all(root: Path) -> None:
    """Each panel of Metrics has the same of all rollouts beside it, as it was without the filter."""
    add_run(root, "run", GOOD)

    plain, filtered = ({name: one.values for name, one in panels(opened("metrics", **asked)).items()} for asked in ({}, LEFT))

    assert filtered.keys() == plain.keys()
    for name, values in filtered.items():
        assert values["all rollouts"] == plain[name]["rollouts"], name
    assert any(values["rollouts"] != values["all rollouts"] for values in filtered.values())


def test_a_wrong_condition_leaves_the_last_good_one(root: Path) -> None:
    """DuckDB's own words stand under the bar, with what was typed, and the filter of before stays in force and in the link."""
    add_run(root, "run", GOOD)
    test = opened("responses", filter="reward > 2", step=2)

    test.session_state["filter"] = "reward > 2\nrewrad < 9"
    test.run()

    assert not test.exception
    assert "Binder Error" in bar(test)["problem"]["reason"]
    assert "rewrad" in bar(test)["problem"]["typed"]
    assert bar(test)["count"] == "6 of 12 rollouts"
    assert linked(test, "filter") == "reward > 2"


def test_a_wrong_link_is_told(root: Path) -> None:
    """A link whose filter is no condition shows all rollouts, and why."""
    add_run(root, "run", GOOD)

    test = opened("rewards", filter="rewrad < 9")

    assert 'Candidate bindings: "reward"' in bar(test)["problem"]["reason"]
    assert bar(test)["count"] == "12 rollouts"
    assert linked(test, "filter") is None


def test_nothing_left_is_said(root: Path) -> None:
    """A filter that leaves nothing says so, and can still be changed."""
    add_run(root, "run", GOOD)

    test = opened("rewards", filter="reward > 99")

    assert not test.exception
    assert "No rollout satisfies the filter." in texts(test) + str([one.value for one in test.markdown])
    assert bar(test)["chips"] == [{"condition": "reward > 99", "on": True, "negated": False}]


def test_steps_that_are_left(root: Path) -> None:
    """A reader whose step has no rollout left is taken to the nearest that has."""
    add_run(root, "run", [whole_row(step, reward=float(step)) for step in range(6)])

    test = opened("responses", step=5, filter="reward < 3")

    assert linked(test, "step") == "2"
    assert bar(test)["count"] == "3 of 6 rollouts"


def test_steps_of_a_link_of_before(root: Path) -> None:
    """Steps beside the filter become a chip in place of another range; other chips, and what is let through instead, stay."""
    add_run(root, "run", [whole_row(step, reward=float(step)) for step in range(6)])

    test = opened("responses", steps="2-4", filter="step BETWEEN 0 AND 1\nreward < 4\nNOT (step BETWEEN 3 AND 3)")

    assert linked(test, "filter") == "reward < 4\nNOT (step BETWEEN 3 AND 3)\nstep BETWEEN 2 AND 4"
    assert linked(test, "steps") is None
    assert bar(test)["count"] == "1 of 6 rollouts"


def test_filters_of_before_are_proposed(root: Path, tmp_path: Path) -> None:
    """A filter that was in force is among those of before, the latest first; a wrong one is not."""
    add_run(root, "run", GOOD)
    for condition in ("reward > 1", "rewrad > 1", "reward > 2"):
        opened("rewards", filter=condition)

    assert bar(opened("rewards"))["recent"] == list(saved.recent_filters()) == ["reward > 2", "reward > 1"]


def test_columns_and_their_values_are_proposed(root: Path) -> None:
    """Columns as SQL writes them, with what they may be equal to where these are few; texts too."""
    add_run(root, "run", [whole_row(0, data_source=source) for source in ("math", "it's")])

    columns = {one["name"]: one for one in bar(opened("rewards"))["columns"]}

    assert columns["data_source"]["values"] == ["'it''s'", "'math'"]
    assert columns["reward"]["kind"] == "number"
    assert columns["response"]["kind"] == "text"
    assert '"group"' in columns
