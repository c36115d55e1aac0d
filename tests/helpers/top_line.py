"""The lists of runs and of steps in the top line of a page: what they offer, and what a reader does with them."""

from dataclasses import dataclass
from typing import Any, Literal

import component_reports
from streamlit.testing.v1 import AppTest


@dataclass(frozen=True)
class SentList:
    """One of the lists as it is sent to the browser."""

    label: str
    options: list[str]
    chosen: str | None
    before: str | None
    """What the button before the list goes to; None where it goes nowhere."""
    after: str | None


def the_list(test: AppTest, of: Literal["run", "step"]) -> SentList:
    """The list of runs, or of steps."""
    sent = component_reports.sent(test, f"{of}_picker")
    before, after = (one["text"] for one in sent["neighbours"]) if sent["neighbours"] else (None, None)
    return SentList(sent["label"], sent["options"], sent["chosen"], before, after)


def choose(test: AppTest, of: Literal["run", "step"], text: Any) -> AppTest:
    """The page after that was chosen, or typed, in the list."""
    return component_reports.told(test, f"{of}_picker", "chosen", str(text))


def to_step_before(test: AppTest) -> AppTest:
    """The page after a press of the button before the list of steps."""
    return choose(test, "step", the_list(test, "step").before)


def to_step_after(test: AppTest) -> AppTest:
    """The page after a press of the button behind it."""
    return choose(test, "step", the_list(test, "step").after)


def light_words(test: AppTest) -> str:
    """What the light of the findings says."""
    (link,) = component_reports.sent(test, "findings_light_link")["links"]
    return str(link["text"])
