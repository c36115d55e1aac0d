"""The page Findings by AppTest: asked for, found, opened to the rollout, filtered by, and calm where nothing is found."""

import re
import time
from pathlib import Path

import pytest
from drawn_tables import clicked, tables
from hacked import write_hacked
from opened_pages import linked, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest
from top_line import light_words

from board.findings import background_scan
from board.findings.contract import Finding
from board.text.counting import plural
from board.ui.state import caches


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_scan, "FIRST_SECONDS", 0.0)


def looked(test: AppTest) -> AppTest:
    """The page once the look that its reader asks for has ended."""
    test.button(key="look_now").click().run()
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        time.sleep(0.5)  # it takes seconds, and to draw the page meanwhile takes as much
        test.run()
        state = test.session_state["_remembered"]["findings_state"]
        if state.report is not None or state.trouble:
            return test
    raise AssertionError(caches.findings_watcher())


def found(test: AppTest) -> tuple[Finding, ...]:
    """What was found, in rank order; which kinds there are is not this file's business."""
    findings: tuple[Finding, ...] = test.session_state["_remembered"]["findings_state"].report.findings
    return findings


def light(test: AppTest) -> str:
    """What the light in the top line says."""
    errors = [one.severity for one in found(test)].count("error")
    return plural(len(found(test)), "finding") + (f", {plural(errors, 'error')}" if errors else "")


def test_from_a_finding_to_the_rollout(root: Path) -> None:
    """The cards say what, since when and how much; the evidence opens its rollout, with the way to its tokens, and filters every page."""
    write_hacked(root / "run")
    test = looked(opened("findings", run="run"))

    assert not test.exception
    first = found(test)[0]
    assert any(first.effect[1:] in str(text.value) for text in test.text)
    test.button(key="finding_1").click().run()
    assert linked(test, "finding") == first.id
    rows = tables(test)[0].frame
    assert {"step", "rollout", "reward", "valid_reward", "response"} <= set(rows.columns)
    clicked(test, tables(test)[0], 0)
    assert not test.exception
    assert linked(test, "rollout") == rows["rollout"].iloc[0]
    assert tables(test)[0].chosen == 0
    assert str(rows["response"].iloc[0]) in texts(test)
    assert "Open its tokens" in [link.proto.label for link in test.get("page_link")]
    assert light_words(test) == light(test)

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
        assert re.search(r"kinds of findings were looked for, [0-9]+ could not tell\.", said)
    assert any("could not tell" in expander.label for expander in test.expander)


def test_what_is_put_aside_can_be_brought_back(root: Path) -> None:
    """With its reason, kept outside the run; the light in the top line goes by what is left. A threshold is kept likewise."""
    folder = write_hacked(root / "run")
    before = sorted(folder.iterdir())
    test = looked(opened("findings", run="run"))
    first, lit = found(test)[0], light(test)

    test.text_input(key="finding_reason").set_value("it is a test").run()
    test.button(key="finding_understood").click().run()
    assert not test.exception
    assert "it is a test" in texts(test)
    assert f"{first.id}" not in [linked(test, "finding")]
    assert lit != light_words(test)
    test.button(key="finding_back_0").click().run()
    assert lit == light_words(test)
    test.button(key="finding_mute").click().run()
    assert "1 finding dismissed" in [expander.label for expander in test.expander]
    assert sorted(folder.iterdir()) == before

    test.session_state["finding_thresholds"] = True
    test.run()
    test.selectbox(key="finding_kind").set_value("proxy_gold_gap").run()
    test.number_input(key="threshold_proxy_gold_gap_gap").set_value(1e6).run()
    assert not test.exception
    assert test.session_state["_remembered"]["findings_settings"].thresholds == {"proxy_gold_gap": {"gap": 1e6}}
    test.session_state["finding_thresholds"] = True
    test.run()
    test.button(key="threshold_proxy_gold_gap_gap_reset").click().run()
    assert not test.session_state["_remembered"]["findings_settings"].thresholds
