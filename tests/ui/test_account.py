"""Tests of what a page says of who is logged in, where nobody asked."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ENTRY = Path(__file__).parents[2] / "rl_logging_board.py"


def test_a_server_that_cannot_ask_shows_nothing() -> None:
    """Where Streamlit's secrets ask for a log-in and no gate stands in front, as under `streamlit run`, there is a sentence and no page."""
    page = AppTest.from_file(str(ENTRY))
    page.user["is_logged_in"] = False
    page.run(timeout=60)
    assert [text.value for text in page.text] == [
        "This board asks its readers to log in, which `rl-logging-board serve` alone can do: start it by that."
    ]
    assert not page.selectbox
    assert not page.exception
