"""Pages opened as a link opens them, by AppTest, and what stands on them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import drawn_tables
from streamlit.testing.v1 import AppTest

from board.serving.page_addresses import TABS
from board.ui.state import caches

ENTRY = Path(__file__).parents[2] / "rl_logging_board.py"


def whole_row(step: int = 0, **fields: Any) -> dict[str, Any]:
    """A complete native row, with `fields` put over it; a field given as `...` is left out."""
    whole: dict[str, Any] = {
        "prompt": "What is six times seven?",
        "response": "The answer is 42",
        "response_tokens": ["The", " answer", " is", " 42"],
        "logprobs": [-0.1, -0.2, -0.3, -0.4],
        "ref_logprobs": [-0.1, -0.3, -0.3, -2.4],
        "values": [0.0, 0.1, 0.2, 0.3],
        "token_rewards": [0.0, 0.0, 0.0, 1.0],
        "reward": 1.0,
        "ref_response": "The answer is 41",
        "ref_reward": 0.25,
        "ground_truth": "42",
        "step": step,
    }
    return {key: value for key, value in (whole | fields).items() if value is not ...}


GOOD = [whole_row(step, reward=float(step + i), prompt=f"prompt {i}") for step in range(3) for i in range(4)]
"""Three steps of four prompts."""

TEXT_ALONE = whole_row(0, response_tokens=..., logprobs=..., ref_logprobs=..., values=..., token_rewards=...)
"""A row without anything per token."""


def opened(page: str, /, **place: str | int) -> AppTest:
    """The page as a link with these URL parameters opens it."""
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in place.items():
        test.query_params[name] = str(value)
    return (test.switch_page(f"board/ui/pages/{page}/{page}.py") if page != "rewards" else test).run()


def when_read(test: AppTest, *runs: Path) -> AppTest:
    """The page once these runs are read, the first of them first: a machine that is busy for a second shows a part of a run of several files."""
    for run in runs:
        if load := caches.library().load(run):
            load.wait()
        test.run()
    return test


def every_page(**place: str | int) -> Iterator[tuple[str, AppTest]]:
    """Each page of a run by its name, as a reader comes to it who opened the first by a link with these URL parameters."""
    test = opened("rewards", **place)
    yield "rewards", test
    for tab in (tab for tab in TABS if tab.of_run and tab.path):
        yield Path(tab.file).stem, test.switch_page(tab.file).run()


def texts(test: AppTest) -> str:
    """Everything the page says in plain text, captions and panes."""
    captions = [one["caption"] for one in sent(test, "verbatim")]
    return "\n".join([*(str(element.value) for element in [*test.text, *test.caption]), *captions, *panes(test)])


def panes(test: AppTest) -> list[str]:
    """The model's texts as they are handed to the browser, in order; what stands for an empty one is its placeholder."""
    return [one["text"] or one["empty"] for one in sent(test, "verbatim")]


def facts(test: AppTest) -> dict[str, str]:
    """The numbers of the page's first row of them, by name."""
    (first, *_) = sent(test, "facts")
    return dict(first["facts"])


def sent(test: AppTest, component: str) -> list[Any]:
    """What the components of that name are given, without tables."""
    return [
        json.loads(one.proto.mixed.json or one.proto.json)
        for one in test.get("bidi_component")
        if one.proto.component_name.endswith(component)
    ]


def linked(test: AppTest, name: str) -> str | None:
    """A parameter of the URL as the page left it."""
    value = test.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def table(test: AppTest) -> Any:
    """The rows of the page's first table."""
    return drawn_tables.tables(test)[0].frame


def opening_links(test: AppTest) -> list[Any]:
    """The links in the page that open something."""
    found: list[Any] = list(test.get("page_link"))
    return [link for link in found if link.label.startswith("Open ")]


def scrolled(test: AppTest) -> AppTest:
    """The page once the reader has come to all of its charts."""
    places = [one for one in test.get("bidi_component") if one.proto.component_name.endswith("in_view")]
    for place in places:
        test.session_state[str(place.proto.id).rsplit("-", 1)[-1]] = {"seen": True}
    return test.run() if places else test


def figure(test: AppTest, title: str) -> dict[str, Any]:
    """The chart with that title, as Plotly's JSON, once the reader has come to it."""
    scrolled(test)
    specs = [json.loads(chart.proto.spec) for chart in test.get("plotly_chart")]
    return next(spec for spec in specs if spec["layout"].get("title", {}).get("text", "").startswith(title))
