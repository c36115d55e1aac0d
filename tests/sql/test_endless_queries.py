"""SQL that never ends, as a reader or an agent may ask it: ended after its bound, in a sentence, with nothing of it left."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from queried import ENDLESS, children
from rows import add_run, token_row
from streamlit.testing.v1 import AppTest

from board.cli.mcp_server import RunTools
from board.cli.replies import query as replies
from board.cli.replies.root import Root
from board.errors import ArgumentRefused
from board.sql import query as pages
from board.sql.sandbox_client import Limits

SCRIPT = """
import os
import streamlit as st
from board import open_run
from board.ui.pages.metrics import sql_editor

sql_editor.draw(st.cache_resource(open_run)(os.environ["TEST_RUN"]))
"""


SHORT = partial(Limits, seconds=2)


def of_page(_: Path, query: str, patch: pytest.MonkeyPatch) -> str:
    """What the page says that asks it, which then draws the answer to another query."""
    test = AppTest.from_string(SCRIPT, default_timeout=60)
    test.query_params["sql"] = "true"
    said = list[str]()
    for one, limits in ((query, SHORT), ("SELECT step, avg(reward) AS mean FROM rollouts GROUP BY step", Limits)):
        patch.setattr(pages, "Limits", limits)
        test.text_area(key="sql_query").set_value(one) if said else test.run().text_area(key="sql_query").set_value(one)
        test.button(key="sql_run").click().run()
        said.append("\n".join(str(element.value) for element in (*test.text, *test.error)))
    assert "stopped" not in said[1]
    return said[0]


def of_tool(root: Path, query: str, patch: pytest.MonkeyPatch) -> str:
    """What the tool refuses it with that an agent calls, which then answers another query."""
    tools = RunTools(Root(root))
    with patch.context() as short:
        short.setattr(replies, "Limits", SHORT)
        with pytest.raises(ArgumentRefused) as refused:
            tools.query("run", query)
    assert tools.query("run", "SELECT count(*) FROM rollouts")["rows"] == [[4]]
    return str(refused.value)


@pytest.mark.parametrize("query", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("asked", [of_page, of_tool])
def test_a_query_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: Callable[[Path, str, pytest.MonkeyPatch], str], query: str
) -> None:
    """The page and the tool say that it took too long; its process, and the memory that it took, are gone, and the next one is answered."""
    monkeypatch.setenv("TEST_RUN", str(add_run(tmp_path, "run", [token_row(step) for step in range(4)])))
    before = children()

    assert "The query was stopped: it took longer than 2 seconds." in asked(tmp_path, query, monkeypatch)
    assert children() <= before
