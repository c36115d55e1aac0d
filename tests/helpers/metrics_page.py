"""What stands on the page Metrics, and a run for it."""

import json
from pathlib import Path
from typing import Any

import drawn_panels
from opened_pages import texts, whole_row
from streamlit.testing.v1 import AppTest

STEPS = range(4)
UNLIKELY = {"logprobs": [-2.0] * 4, "ref_logprobs": [-0.1] * 4}
GROWING = [
    whole_row(step, reward=float(step + i), prompt=f"prompt {i}", **(UNLIKELY if step >= 2 else {}))
    for step in STEPS
    for i in (0, 1)
]
"""The summed log-ratio falls far below zero at step 2: the reading of KL calls that unhealthy."""


def scalars(folder: Path, rows: list[dict[str, Any]]) -> None:
    """A metrics.jsonl in the run's folder."""
    (folder / "metrics.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")


def sections(test: AppTest) -> set[str]:
    """The sections whose panels are there."""
    return {key.removeprefix("curves_") for key in drawn_panels.by_component(test)}


def said(test: AppTest) -> str:
    """Everything in plain text, around the panels too."""
    return "\n".join([texts(test), *(one.said for one in drawn_panels.panels(test).values())])


def charts(test: AppTest) -> dict[str, dict[str, Any]]:
    """Plotly's charts below the top line by their keys, as its JSON."""
    return {str(one.proto.id).rsplit("-", 1)[-1]: json.loads(one.proto.spec) for one in test.get("plotly_chart")}


def marks(test: AppTest) -> dict[str, dict[str, Any]]:
    """Where the chosen step stands in the charts below the top line, by their keys."""
    sent = [json.loads(one.proto.json)["marks"] for one in test.get("bidi_component") if '"marks"' in (one.proto.json or "")]
    marked: dict[str, dict[str, Any]] = sent[0]
    return marked


def headings(test: AppTest) -> list[str]:
    """Families and other sections that open and close, in order."""
    return [one.label.partition(" ·")[0] for one in test.expander]


def show(test: AppTest, heading: str) -> AppTest:
    """Open the section of that heading."""
    (section,) = (one for one in test.expander if one.label.startswith(f"{heading} ·"))
    if str(section.key).startswith("family_"):  # in the link
        test.query_params[str(section.key)] = "true"
    else:
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
