"""The page All tokens by AppTest: what it shows of a run, what its links hold, and the tour that goes on from it to Tokens."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_tables import clicked, tables
from opened_pages import GOOD, TEXT_ALONE, linked, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.metrics.token_summaries import codes


def data(test: AppTest, component: str) -> dict[str, Any]:
    """What a component of the page is sent."""
    found = [one for one in test.get("bidi_component") if one.proto.component_name.endswith(component)]
    return dict(json.loads(found[0].proto.json))


def test_spread_picture_and_extreme_tokens(root: Path) -> None:
    """The step's tokens as bars and as a list with the text around each, the run's by place as a picture."""
    add_run(root, "run", GOOD)

    test = opened("all_tokens", step=1)

    assert sum(data(test, "count_bars")["counts"]) == 16
    picture = data(test, "heat_map")
    assert (picture["columns"], len(picture["rows"]), picture["chosen"]) == (["0", "1", "2"], 50, [1, None])
    table = tables(test)[0].frame
    assert table["token"].tolist()[:4] == ["·42"] * 4
    assert table["before"].tolist()[0] == "The answer is"
    assert table["log_ratio"].tolist()[:5] == pytest.approx([2.0] * 4 + [0.1], rel=1e-5)
    assert "16 tokens of step 1, the farthest from 0 first · a click" in texts(test)
    assert not test.get("plotly_chart")

    test.text_input(key="token_text").set_value("answer").run()
    assert tables(test)[0].frame["token"].tolist() == ["·answer"] * 4
    test.number_input(key="token_from").set_value(4).run()
    assert "positions 4 to the end · 0 of 16 tokens match" in texts(test)
    test.number_input(key="token_from").set_value(1).run()
    test.selectbox(key="of_tokens").set_value("value").run()
    assert tables(test)[0].frame["value"].tolist() == pytest.approx([0.1] * 4)


def test_links_open_a_bar_and_a_place(root: Path) -> None:
    """A link names the bar and the cell that were looked into; what is not there any more is let go of."""
    add_run(root, "run", [whole_row(step, values=[0.0, 0.5, -2.0, float(step)]) for step in (-3, 7)])
    first = data(opened("all_tokens", step=7, of_tokens="value"), "count_bars")
    assert (first["edges"][0], first["edges"][-1]) == pytest.approx((-2, 7), rel=0.02)
    bar = int(codes(np.array([7.0], np.float32))[0])
    test = opened("all_tokens", step=7, of_tokens="value", bar=bar, cell="0-m3-49")

    assert data(test, "count_bars")["chosen"] == 59
    assert "1 token of the marked bar, the farthest from 0 first" in texts(test)
    assert data(test, "heat_map")["chosen"] == [0, 49]
    lost = opened("all_tokens", step=7, of_tokens="value", bar="x", cell="9-9-9")
    assert data(lost, "count_bars")["chosen"] is None
    assert not lost.exception


def test_filter_and_another_kind_of_run(root: Path) -> None:
    """Under a filter only the rollouts that it leaves are counted; a run of one step and one metric has its picture, too."""
    add_run(root, "run", [whole_row(0, reward=float(at)) for at in range(3)])
    add_run(root, "bare", [{"step": 5, "response": "a", "entropies": [0.5, 1.5], "reward": 1.0}])

    filtered = opened("all_tokens", run="run", filter="reward > 0.5")
    bare = opened("all_tokens", run="bare")

    assert sum(data(filtered, "count_bars")["counts"]) == 8
    assert "8 tokens of step" in texts(filtered)
    assert (data(bare, "heat_map")["columns"], sum(data(bare, "count_bars")["counts"])) == (["5"], 2)
    assert tables(bare)[0].frame["entropy"].tolist() == [1.5, 0.5]
    assert "token" not in tables(bare)[0].frame


def test_run_without_token_arrays(root: Path) -> None:
    """It says in one line which fields are needed."""
    add_run(root, "run", [TEXT_ALONE])

    said = texts(opened("all_tokens"))

    assert "All tokens needs a list of numbers per token, such as logprobs, ref_logprobs, values" in said


def test_a_token_is_opened_and_walked_on_from(root: Path) -> None:
    """A click on a row chooses its token, and the Tokens page says where in the list it is."""
    add_run(root, "run", GOOD)
    test = opened("all_tokens", step=1)
    listed = tables(test)[0].frame
    row = next(
        at
        for at, (position, step) in enumerate(zip(listed["position"], listed["step"], strict=True))
        if (position, step) == (4, 1)
    )
    assert tables(test)[0].chosen is None

    clicked(test, tables(test)[0], row)
    assert tables(test)[0].chosen == row
    assert "position 4 of rank_0.jsonl:5, step 1 Token 1 of the 16 listed on All tokens" in texts(test)
    other = test.switch_page("board/ui/pages/tokens/tokens.py").run()
    assert "Token 1 of the 16 listed on All tokens: ] and [ go on" in texts(other)
    assert linked(other, "token") == "3"
