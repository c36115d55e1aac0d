"""The editor of custom metrics on a page of its own, by AppTest: run, save, choose, delete, and what is wrong said in plain text."""

import json
import os
from pathlib import Path

import pytest
from drawn_panels import panels
from drawn_tables import with_column
from rows import token_row, write_run
from streamlit.testing.v1 import AppTest

SCRIPT = """
import os
import streamlit as st
from board import open_run
from board.ui.state import place; from board.ui.pages.metrics import sql_editor

opened = st.cache_resource(open_run)
run = opened(os.environ["TEST_RUN"])
sql_editor.draw(run)
"""

BY_RANK = "SELECT step, rank, avg(reward) AS mean FROM rollouts GROUP BY ALL"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of four steps and two ranks, and settings of this test's own."""
    rows = [token_row(step, reward=step + rank, rank=rank) for step in range(4) for rank in range(2)]
    monkeypatch.setenv("TEST_RUN", str(write_run(tmp_path / "run", {"a.jsonl": rows})))
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))
    return tmp_path / "run"


def page(*, unfolded: bool = True) -> AppTest:
    """The page, its editor folded or not."""
    test = AppTest.from_string(SCRIPT, default_timeout=60)
    test.query_params["sql"] = str(unfolded).lower()
    return test.run()


def ask(test: AppTest, query: str) -> AppTest:
    """Type a query and run it."""
    test.text_area(key="sql_query").set_value(query)
    return test.button(key="sql_run").click().run()


def save(test: AppTest, name: str, query: str) -> AppTest:
    """Type a query and a name, and save it."""
    test.text_area(key="sql_query").set_value(query)
    test.text_input(key="sql_name").set_value(name)
    return test.button(key="sql_save").click().run()


def charts(test: AppTest) -> dict[str, list[str]]:
    """The names of the lines of each panel of curves and of each chart over something else, by its title."""
    specs = [json.loads(chart.proto.spec) for chart in test.get("plotly_chart")]
    over_steps = {title: list(panel.curves) for title, panel in panels(test).items()}
    return over_steps | {spec["layout"]["title"]["text"]: [line["name"] for line in spec["data"]] for spec in specs}


def values(test: AppTest) -> dict[str, dict[str, list[float]]]:
    """What is drawn over steps: title → line → values."""
    return {title: panel.values for title, panel in panels(test).items()}


def texts(test: AppTest) -> str:
    """Everything in plain text."""
    return "\n".join(str(element.value) for element in test.text)


def test_nothing_is_asked_while_folded(run: Path) -> None:
    """A reader who does not open the editor pays nothing for it."""
    test = page(unfolded=False)

    assert not test.exception
    assert charts(test) == {}
    assert not test.text_area


def test_example_is_drawn_and_marked(run: Path) -> None:
    """The editor opens with a query of the run's own columns, drawn, with the chosen step marked on its lines."""
    test = page()

    assert not test.exception
    assert test.text_area(key="sql_query").value == (
        "SELECT step, rank, avg(reward) AS mean, max(reward) AS best\nFROM rollouts\nGROUP BY ALL"
    )
    assert charts(test) == {"Custom metric": ["rank 0 · mean", "rank 0 · best", "rank 1 · mean", "rank 1 · best"]}
    assert values(test)["Custom metric"]["rank 1 · mean"] == [1, 2, 3, 4]


def test_columns_are_listed(run: Path) -> None:
    """Whoever writes a query sees what there is: name, type and meaning."""
    listed = with_column(page(), "column").frame.set_index("column")

    assert listed.loc["rank", "type"] == "text"
    assert list(listed.loc["reward"]) == ["number", "reward of the whole response (reward)"]


def test_numbers_apart(run: Path) -> None:
    """Numbers of different size each get a chart of their own when the reader wants it, each of them marked."""
    test = ask(page(), "SELECT step, rank, avg(reward) AS mean, 1e6 AS tokens FROM rollouts GROUP BY ALL")
    together = charts(test)

    test.toggle(key="sql_apart").set_value(True).run()

    assert list(together) == ["Custom metric"]
    assert charts(test) == {
        "Custom metric: mean": ["rank 0 · mean", "rank 1 · mean"],
        "Custom metric: tokens": ["rank 0 · tokens", "rank 1 · tokens"],
    }


def test_over_something_else(run: Path) -> None:
    """A chart over x is drawn and has no step to mark."""
    test = ask(page(), "SELECT reward AS x, count(*) AS n FROM rollouts GROUP BY ALL")

    assert charts(test) == {"Custom metric": ["n"]}
    assert values(test) == {}


WRONG = {
    "of DuckDB": ("SELECT step, avg(rewrad) FROM rollouts GROUP BY ALL", 'Referenced column "rewrad" not found'),
    "of the answer": ("SELECT step, reward FROM rollouts", "several rows for step 0"),
    "no number": ("SELECT step, NULL AS y FROM rollouts GROUP BY ALL", "no number to draw"),
    "no row": ("SELECT step, avg(reward) FROM rollouts WHERE step < 0 GROUP BY ALL", "no number to draw"),
    "not allowed": ("COPY (SELECT 1) TO 'a'", "only SELECT"),
    "hostile": ('SELECT "![](http://evil/x.png) <b>x</b>" FROM rollouts', "![](http://evil/x.png) <b>x</b>"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_plain_text(run: Path, name: str) -> None:
    """A message that quotes the query is text, letter for letter, never Markdown; nothing is drawn in its place."""
    query, wanted = WRONG[name]

    test = ask(page(), query)

    assert not test.exception
    assert wanted in texts(test)
    assert charts(test) == {}
    assert not any(wanted in str(one.value) for one in [*test.markdown, *test.caption, *test.error])
    assert test.text_area(key="sql_query").value == query


def test_what_is_left_out_is_told(run: Path) -> None:
    """Rows that were cut, rows without a step and curves beyond the most are not left out in silence."""
    test = ask(
        page(), "SELECT range // 41 AS step, (range % 41)::TEXT AS part, 1 AS y FROM range(200000) UNION ALL SELECT NULL, 'a', 1"
    )
    first = texts(test)
    test = ask(test, "SELECT step, count(*) AS n FROM rollouts GROUP BY ROLLUP (step)")

    assert "only its first 100,000 rows" in first
    assert "41 curves: only the first 40" in first
    assert "1 row without step left out" in texts(test)


def test_save_choose_delete(run: Path) -> None:
    """A query is saved by name, names its chart, is chosen again by another reader, and stays in the editor when it is deleted."""
    test = save(page(), " by rank ", BY_RANK)
    assert charts(test) == {"by rank": ["rank 0", "rank 1"]}

    other = page()
    assert other.selectbox(key="sql_saved").options == ["none", "by rank"]
    other.selectbox(key="sql_saved").set_value("by rank").run()
    assert other.text_area(key="sql_query").value == BY_RANK
    assert other.text_input(key="sql_name").value == "by rank"
    assert charts(other) == {"by rank": ["rank 0", "rank 1"]}

    other.button(key="sql_delete").click().run()
    assert other.selectbox(key="sql_saved").options == ["none"]
    assert other.text_area(key="sql_query").value == BY_RANK
    assert other.button(key="sql_delete").disabled

    test.run()
    assert not test.exception
    assert test.selectbox(key="sql_saved").value == ""


def test_what_cannot_be_saved_is_told_once(run: Path) -> None:
    """A wrong name is said and nothing is saved; the sentence goes with the next query that is run."""
    test = save(page(), "", BY_RANK)
    assert "needs a name" in texts(test)
    assert test.selectbox(key="sql_saved").options == ["none"]

    test = ask(test, BY_RANK)
    assert "needs a name" not in texts(test)


def test_damaged_metric_is_told(run: Path) -> None:
    """A file with something in it that is no metric is named, and a save leaves it as it is, and says so."""
    save(page(), "a", BY_RANK)
    (saved,) = Path(os.environ["RL_BOARD_SETTINGS"]).rglob("*.json")
    saved.write_text('{"a": 3}')
    assert f"{saved} is damaged: it holds something that is no custom metric" in texts(page())
    test = save(page(), "b", BY_RANK)

    assert f"{saved} is damaged" in texts(test)
    assert saved.read_text() == '{"a": 3}'


def test_folded_and_unfolded_again(run: Path) -> None:
    """What was typed is still there after the editor was folded."""
    test = ask(page(), BY_RANK)

    test.query_params["sql"] = "false"
    test.run()
    test.query_params["sql"] = "true"
    test.run()

    assert test.text_area(key="sql_query").value == BY_RANK
    assert list(charts(test).values()) == [["rank 0", "rank 1"]]


def test_asked_once(run: Path) -> None:
    """A query is run once for all readers and clicks, until someone runs it again."""
    random = "SELECT step, random() AS y FROM rollouts GROUP BY ALL"
    test = ask(page(), random)
    first = values(test)

    assert values(test.run()) == first
    other = page()
    other.text_area(key="sql_query").set_value(random)
    assert values(ask(other, random)) != first
    assert values(test.run()) == values(other)


def test_a_link_opens_its_saved_query(run: Path) -> None:
    """The name in the link opens the editor, and puts its query there once: what is changed then stays."""
    save(page(), "by rank", BY_RANK)
    test = AppTest.from_string(SCRIPT, default_timeout=60)
    test.query_params.update({"sql": "true", "sql_saved": "by rank"})

    test.run()

    assert test.text_area(key="sql_query").value == BY_RANK
    assert list(charts(test)) == ["by rank"]
    assert test.query_params["sql_saved"] == "by rank"
    ask(test, BY_RANK.replace("avg", "max"))
    assert "max" in str(test.text_area(key="sql_query").value)


def test_a_link_to_a_query_that_is_not_saved_here_is_told(run: Path) -> None:
    """Until another is chosen; the name is text."""
    save(page(), "by rank", BY_RANK)
    test = AppTest.from_string(SCRIPT, default_timeout=60)
    test.query_params.update({"sql": "true", "sql_saved": "![x](http://evil)"})

    test.run()

    assert not test.exception
    assert "No custom metric is saved here under the name '![x](http://evil)'." in texts(test)
    test.selectbox(key="sql_saved").set_value("by rank").run()
    assert "No custom metric" not in texts(test)
    assert test.text_area(key="sql_query").value == BY_RANK
