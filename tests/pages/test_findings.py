"""The page Findings by AppTest: asked for, found, opened to the rollout, filtered by, and calm where nothing is found."""

import time
from pathlib import Path

import pytest
from hacked import write_hacked
from opened_pages import linked, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.findings import watching
from board.ui import caches


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "FIRST_SECONDS", 0.0)


def looked(test: AppTest) -> AppTest:
    """The page once the look that its reader asks for has ended."""
    test.button(key="look_now").click().run()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        test.run()
        state = test.session_state["_remembered_findings_state"]
        if state.report is not None or state.trouble:
            return test
        time.sleep(0.1)
    raise AssertionError(caches.findings_watcher())


def test_from_a_finding_to_the_rollout(root: Path) -> None:
    """The cards say what, since when and how much; the evidence opens its rollout, with the way to its tokens, and filters every page."""
    write_hacked(root / "run")
    test = looked(opened("findings", run="run"))

    assert not test.exception
    card = next(button for button in test.button if button.label == "Reward rises, validation reward does not")
    assert any("the reward rises by" in str(text.value) for text in test.text)
    card.click().run()
    assert (linked(test, "finding") or "").startswith("proxy_gold_gap@")
    rows = test.dataframe[0].value
    assert {"step", "rollout", "reward", "valid_reward", "response"} <= set(rows.columns)
    test.query_params["rollout"] = str(rows["rollout"].iloc[0])
    test.run()
    assert not test.exception
    assert "always, always" in texts(test)
    labels = [link.proto.label for link in test.get("page_link")]
    assert "Open its tokens" in labels
    assert "1 finding" in labels

    next(button for button in test.button if button.label == "Filter by its rollouts").click().run()
    assert "line IN" in (linked(test, "filter") or "")
    assert not test.exception


def test_nothing_found_is_said_in_a_sentence(root: Path) -> None:
    """With how many kinds were looked for, and which could not tell and why."""
    add_run(root, "run", [whole_row(step, prompt=f"prompt {at}") for step in range(3) for at in range(4)])
    test = looked(opened("findings", run="run"))

    assert not test.exception
    said = texts(test)
    if "Nothing found" in said:
        assert "kinds of findings were looked for." in said
    assert any("could not tell" in expander.label for expander in test.expander)
