"""Every page by AppTest, on good runs and bad ones: what stands on the screen, and that nothing breaks."""

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from opened_pages import ENTRY, TEXT_ALONE, _numbers, figure, linked, opened, panes, row, table, texts, write_run
from streamlit.testing.v1 import AppTest

from board import open_run
from board.runs.store import Store
from board.ui import address, live_reload
from board.ui.header import MOST_OPTIONS

PAGES = ("rewards", "metrics", "responses", "tokens", "data")
ODD_RUNS = sorted(path.name for path in (Path(__file__).parents[1] / "odd_runs").iterdir() if path.is_dir())


GOOD = [row(step, reward=float(step + i), prompt=f"prompt {i}") for step in range(3) for i in range(4)]

RUNS = {
    "good": (GOOD, "4 rollouts of step 2"),
    "without token fields": (
        [row(s, response_tokens=..., logprobs=..., ref_logprobs=..., values=..., token_rewards=...) for s in range(2)],
        "",
    ),
    "without reward": ([row(s, reward=..., ref_reward=...) for s in range(2)], ""),
    "reward of one step missing": ([row(0), row(1, reward=...), row(2)], ""),
    "one rollout": ([row(7)], "1 rollout of step 7"),
    "tokens alone": ([row(0, response=..., prompt=..., ref_response=...)], ""),
    "no arrays": ([row(0, logprobs=..., ref_logprobs=..., values=..., token_rewards=...)], ""),
    "arrays without tokens": ([row(0, response_tokens=...)], ""),
    "nothing but step and response": ([{"step": 0, "response": "x"}], ""),
    "all masked": ([row(0, loss_mask=[0, 0, 0, 0])], ""),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", RUNS)
def test_every_page_draws_every_run(root: Path, name: str, page: str) -> None:
    """No run the loader accepts breaks a page."""
    rows, wanted = RUNS[name]
    write_run(root, "run", rows)

    test = opened(page)

    assert not test.exception
    if page == "responses":
        assert wanted in texts(test)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", ODD_RUNS)
def test_odd_runs_break_no_page(name: str, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is in a run folder, each page shows it or says in words why not."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(Path(__file__).parents[1] / "odd_runs"))

    test = opened(page, run=name)

    assert not test.exception
    assert linked(test, "run") == name


def test_empty_root_says_what_to_do(root: Path) -> None:
    """Without a run folder the board says where it looked and how to name another root."""
    test = opened("rewards")

    assert not test.exception
    assert f"No run folders under {root}" in texts(test)
    assert "bash start.sh PATH" in texts(test)


def test_missing_root_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A root that is no folder is an error in words, not a traceback."""
    monkeypatch.setenv("RL_BOARD_ROOT", "/no/such/folder")

    test = opened("rewards")

    assert not test.exception
    assert "'/no/such/folder' is not a folder" in texts(test)


@pytest.mark.parametrize("page", PAGES)
def test_empty_folder_says_what_was_looked_for(root: Path, page: str) -> None:
    """An empty run folder can be chosen, and every page says which files it wants."""
    (root / "empty").mkdir()

    test = opened(page, run="empty")

    assert not test.exception
    assert "No rollouts in 'empty': looked for *.jsonl, *.jsonl.gz, *.jsonl.zst, *.jsonl.xz" in texts(test)
    assert [box.label for box in test.selectbox] == ["Run"]


def test_broken_lines_are_counted_and_the_rest_is_shown(root: Path) -> None:
    """Bad lines stand in the report with their place; the good rows are on the page."""
    folder = write_run(root, "run", [row(0), row(1)])
    with (folder / "rank_0.jsonl").open("a") as shard:
        shard.write('not json\n{"step": 3}\n')

    test = opened("responses")

    assert not test.exception
    assert "2 rows · 2 problems" in _popovers(test.main)


def _popovers(block: Any) -> list[str]:
    """Labels of all popovers in a block."""
    inside = list(getattr(block, "children", {}).values())
    labels = [child.proto.popover.label for child in inside if child.type == "popover"]
    return [*labels, *(label for child in inside for label in _popovers(child))]


def test_run_without_a_readable_row_names_the_missing_keys(root: Path) -> None:
    """Another trainer's rows are refused with the keys seen and what they may be called here."""
    write_run(root, "run", [{"input": "q", "output": "a", "score": 0.5, "global_step": 1}])

    test = opened("rewards")

    assert "No rows could be read: 1 line refused" in texts(test)
    assert "global_step → step" in texts(test)


def test_run_and_step_are_in_the_url(root: Path) -> None:
    """Opening the board writes the chosen run and step into the URL: the first run, its last step."""
    write_run(root, "a", GOOD)
    write_run(root, "b", GOOD)

    test = opened("rewards")

    assert linked(test, "run") == "a"
    assert linked(test, "step") == "2"


def test_link_opens_its_rollout(root: Path) -> None:
    """A link with run, step and rollout opens exactly that rollout."""
    write_run(root, "a", [row(0)])
    write_run(root, "b", [row(s, response=f"text of step {s}, row {i}") for s in range(3) for i in range(2)])

    test = opened("responses", run="b", step=1, rollout="rank_0.jsonl:4")

    assert "step 1 · rank_0.jsonl:4" in texts(test)
    assert "text of step 1, row 1" in texts(test)


LINKS = {
    "unknown run": ({"run": "../secret"}, "There is no run '../secret' under this root"),
    "unknown step": ({"run": "run", "step": "99"}, "4 rollouts of step 2"),
    "step that is no number": ({"run": "run", "step": "abc"}, "4 rollouts of step 2"),
    "rollout of another run": ({"run": "run", "step": "1", "rollout": "rank_7.jsonl:4"}, "step 1 · rank_0.jsonl:5"),
    "rollout that is no place": ({"run": "run", "step": "1", "rollout": "<script>"}, "step 1 · rank_0.jsonl:5"),
}


AMISS = {
    "step": ({"step": "99"}, "This run has no step 99: the last one is shown."),
    "rollout": (
        {"step": "1", "rollout": "rank_7.jsonl:4"},
        "This run has no rollout 'rank_7.jsonl:4': the link leads to its step alone.",
    ),
    "token beyond the end": (
        {"step": "1", "rollout": "rank_0.jsonl:5", "token": "4"},
        "This rollout has no token 4: it has 4, which links count from 0.",
    ),
    "token that is no number": (
        {"step": "1", "token": "x"},
        "The first rollout of step 1 has no token x: it has 4, which links count from 0.",
    ),
    "metric": ({"step": "1", "rollout": "rank_0.jsonl:5", "metric": "zzz"}, "This rollout has no token metric 'zzz'."),
}
"""Part of a link that is not there → what is said of it."""


@pytest.mark.parametrize("page", ["rewards", "tokens"])
@pytest.mark.parametrize("name", AMISS)
def test_what_a_link_asks_for_in_vain_is_said(root: Path, page: str, name: str) -> None:
    """On pages that show it or not, in a sentence that stays until the reader moves; then the link is one that leads somewhere."""
    asked, said = AMISS[name]
    write_run(root, "run", GOOD)
    test = opened(page, run="run", **asked)

    assert not test.exception
    assert said in texts(test)
    assert said in texts(test.run())
    assert linked(test, name.split()[0]) != asked[name.split()[0]]

    test.button(key="step_previous").click().run()
    assert said not in texts(test)


def test_a_link_to_an_evaluation_says_where_it_is(root: Path) -> None:
    """A rollout of the split that is not shown is not said to be missing."""
    write_run(root, "run", [row(0), row(0, split="evaluation")])

    said = texts(opened("responses", run="run", rollout="rank_0.jsonl:2"))

    assert "The rollout 'rank_0.jsonl:2' is one of evaluations: choose them under Split to see it." in said


SAID_ONCE = {"unknown run"}
"""What stands on the screen until the next click."""


def first_seen(**place: str) -> AppTest:
    """The board as a link opens it, before any click."""
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.query_params.update(place)
    return test.run()


@pytest.mark.parametrize("name", LINKS)
def test_links_are_requests_not_facts(root: Path, name: str) -> None:
    """A link that asks for what is not there opens what is, or says so."""
    place, wanted = LINKS[name]
    write_run(root, "run", GOOD)
    test = first_seen(**place) if name in SAID_ONCE else opened("responses", **place)

    assert not test.exception
    assert wanted in texts(test)


def test_filter_leaves_the_chosen_rollout_open(root: Path) -> None:
    """A filter that hides the chosen rollout neither closes it nor moves the link, and Next leads into the list."""
    write_run(root, "run", [row(0), row(1, prompt="alpha"), row(1, prompt="beta"), row(1, prompt="beta two"), row(2)])
    test = opened("responses", step=1, rollout="rank_0.jsonl:2")

    test.text_input(key="filter").set_value("beta").run()

    assert "step 1 · rank_0.jsonl:2" in texts(test)
    assert "The rollout below is not in the list" in texts(test)
    assert linked(test, "rollout") == "rank_0.jsonl:2"
    assert test.button(key="rollout_Previous").disabled
    test.button(key="rollout_Next").click().run()
    assert linked(test, "rollout") == "rank_0.jsonl:3"
    test.text_input(key="filter").set_value("").run()
    assert linked(test, "rollout") == "rank_0.jsonl:3"
    assert linked(test, "step") == "1"


def test_list_without_the_chosen_step_opens_nothing_unasked(root: Path) -> None:
    """Where no rollout is chosen and the list holds none of the chosen step, the page asks for a click and stays where it is."""
    write_run(root, "run", [row(0), row(1, prompt="alpha"), row(2)])

    test = opened("responses", step=2, scope="All steps", filter="alpha")

    assert "Click a row to open its rollout here." in texts(test)
    assert (linked(test, "step"), linked(test, "rollout")) == ("2", None)


def test_table_page_is_in_the_link(root: Path) -> None:
    """A link opens the page of the table that was looked at, and one to a page that is not there breaks nothing."""
    write_run(root, "run", [row(0, prompt=f"prompt {i}") for i in range(1_002)])

    test = opened("responses", page=2)

    assert table(test)["prompt"].tolist() == ["prompt 1000", "prompt 1001"]
    assert "Rows 1,001 to 1,002 of 1,002 in this order." in texts(test)
    assert not opened("responses", page=7).exception


def test_text_without_tokens_is_not_called_empty(root: Path) -> None:
    """A row with a response but no tokens has no token view, and the page says which field it lacks."""
    write_run(root, "run", [row(0, response_tokens=..., logprobs=..., ref_logprobs=..., values=..., token_rewards=...)])

    test = opened("tokens")

    assert "The token view needs response_tokens, which this rollout does not have." in texts(test)
    assert not any("token_view" in element.proto.component_name for element in test.get("bidi_component"))


def links(test: AppTest) -> list[Any]:
    """The links in the page that open something."""
    found: list[Any] = list(test.get("page_link"))
    return [link for link in found if link.label.startswith("Open ")]


def test_without_tokens_there_is_the_text(root: Path) -> None:
    """A rollout without tokens shows its response and one line on what is missing; the link that leads there promises no tokens."""
    write_run(root, "run", [TEXT_ALONE])

    from_responses, shown = opened("responses"), opened("tokens")

    assert [link.label for link in links(from_responses)] == ["Open its response"]
    assert panes(shown) == ["The answer is 42"]
    assert [said for said in texts(shown).splitlines() if "does not have" in said or "has no" in said] == [
        "The token view needs response_tokens, which this rollout does not have."
    ]
    assert [heading.value for heading in shown.subheader if heading.value == "Most extreme tokens"] == []
    assert [link.label for link in links(shown)] == ["Open its texts"]


def test_a_recording_offers_the_dump_beside_it(root: Path) -> None:
    """The load report of a recording leads to the trainer's own dump, which is in the list of runs and has a link."""
    folder = write_run(root, "run", [row(0), row(1), row(2)])
    (folder / "rank_0.jsonl.account.json").write_text('{"ended": true}')
    write_run(root, "run", [{"input": "q", "output": "a", "score": 1.0, "step": 7}], "7.jsonl")

    page, dump = opened("rewards", run="run"), opened("rewards", run="run (verl)")
    page.session_state["report"] = True
    page.run()

    (link,) = links(page)
    assert (link.label, link.proto.query_string) == ("Open what verl wrote", "run=run+%28verl%29")
    assert "Beside this recording lies verl's own dump (1 file, such as 7.jsonl)." in texts(page)
    assert page.selectbox(key="run").options == ["run", "run (verl)"]
    assert "3 rows · no problems · 1 note" in _popovers(page.main)
    assert (linked(dump, "run"), linked(dump, "step")) == ("run (verl)", "7")


def test_a_part_of_a_run_leads_to_it(root: Path) -> None:
    """TRL's output folder and its completions are one run in the list, and a link to the latter opens the former."""
    write_run(root, "trl_grpo/completions", [row(0), row(1)])

    test = opened("rewards", run="trl_grpo/completions", step=0)

    assert test.selectbox(key="run").options == ["trl_grpo"]
    assert (linked(test, "run"), linked(test, "step"), [*test.exception]) == ("trl_grpo", "0", [])


def test_link_with_a_token_alone_keeps_it(root: Path) -> None:
    """A link that names a step and a token but no rollout pins that token of the step's first rollout."""
    write_run(root, "run", [row(0), row(1)])

    test = opened("tokens", step=1, token=2)

    assert (linked(test, "rollout"), linked(test, "token")) == ("rank_0.jsonl:2", "2")


def test_back_takes_a_pin_away(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link of before, without a pin, unpins; a click that comes with the link of before, too soon for the browser, does not."""
    write_run(root, "run", [row(0), row(1)])
    test = opened("tokens", run="run", step=1, rollout="rank_0.jsonl:2")
    before = {name: linked(test, name) for name in ("run", "step", "rollout", "metric", "scale", "granularity")}
    test.session_state["token"] = 2
    test.run()
    assert linked(test, "token") == "2"

    def with_link_of_before() -> str | None:
        test.query_params.clear()
        test.query_params.update({name: value for name, value in before.items() if value is not None})
        test.run()
        return linked(test, "token")

    assert with_link_of_before() == "2"
    monkeypatch.setattr(address, "STALE_SECONDS", 0.0)
    assert with_link_of_before() is None
    assert linked(test, "rollout") == "rank_0.jsonl:2"


def test_link_of_before_counts_once_the_browser_had_the_new_one(root: Path) -> None:
    """After a click whose link the browser has shown, the link of before is a wish, however soon it comes."""
    write_run(root, "run", [row(0), row(1)])
    test = opened("tokens", run="run", step=1, rollout="rank_0.jsonl:2")
    test.session_state["token"] = 2
    test.run()
    test.run()
    assert linked(test, "token") == "2"

    del test.query_params["token"]
    test.run()

    assert linked(test, "token") is None


def test_response_that_is_all_think_has_a_segment(root: Path) -> None:
    """A response that is one segment is not said to have no tags."""
    write_run(root, "run", [row(0, response_tokens=["<think>", "42", " so", "</think>"])])

    said = texts(opened("tokens"))

    assert "has no tags" not in said


def test_infinite_kl_is_said_to_be_left_out(root: Path) -> None:
    """The shares of the KL are those of its finite values, and the page says what they leave out."""
    write_run(root, "run", [row(0, logprobs=[-0.1, -0.2, -math.inf, -0.4])])

    assert "1 token of infinite KL left out" in texts(opened("tokens"))


def test_unknown_metric_of_a_link_becomes_the_default(root: Path) -> None:
    """A link to a metric that the rollout does not have colours by the log-ratio, not by whatever comes first."""
    write_run(root, "run", [row(0)])

    assert linked(opened("tokens", metric="zzz"), "metric") == "log_ratio"


def test_next_step_moves_the_page(root: Path) -> None:
    """The buttons beside the step go to the steps there are, in order."""
    write_run(root, "run", [row(step) for step in (0, 10, 35)])
    test = opened("responses", step=10)

    test.button(key="step_next").click().run()

    assert linked(test, "step") == "35"
    assert "1 rollout of step 35" in texts(test)
    assert test.button(key="step_next").disabled


def test_step_chooser_offers_exactly_the_steps_there_are(root: Path) -> None:
    """Uneven steps are offered as they are, none invented."""
    write_run(root, "run", [row(step) for step in (0, 10, 20, 35)])

    test = opened("rewards")

    assert test.selectbox(key="step").options == ["0", "10", "20", "35"]


def test_another_run_forgets_step_and_rollout(root: Path) -> None:
    """Choosing a run starts at its last step."""
    write_run(root, "a", GOOD)
    write_run(root, "b", [row(5)])
    test = opened("responses", run="a", step=1, rollout="rank_0.jsonl:6")

    test.selectbox(key="run").select("b").run()

    assert linked(test, "step") == "5"
    assert linked(test, "rollout") == "rank_0.jsonl:1"


@pytest.mark.parametrize(("x", "expected"), [(10.4, 10), (35, 35), (-3, 0), (1e9, 35)], ids=str)
def test_a_click_on_a_chart_goes_to_the_nearest_step(x: float, expected: int) -> None:
    """The x of the click is a place on the axis of steps; what depended on the old step is forgotten. The browser tests click."""
    script = f"""
import numpy as np
import streamlit as st
from board.ui import session
st.session_state.update(step=20, rollout="rank_0.jsonl:1", marks={{"clicked": {x}}})
session.step_clicked("marks", np.array([0, 10, 20, 35]))()
st.text(f"{{st.session_state.step}} {{'rollout' in st.session_state}}")
"""
    test = AppTest.from_string(script).run()

    assert test.text[0].value == f"{expected} False"


def test_charts_stay_as_they_are_when_the_step_changes(root: Path) -> None:
    """What is drawn for all steps is sent once: another step moves the marks alone."""
    write_run(root, "run", [row(step, reward=step / 10) for step in range(4)])
    test = opened("rewards", run="run", step=1)
    before = {chart.proto.id for chart in test.get("plotly_chart")}

    test.button(key="step_next").click().run()

    changed = [json.loads(chart.proto.spec) for chart in test.get("plotly_chart") if chart.proto.id not in before]
    assert len(before) > len(changed) + 5
    assert all(
        "step 2" in str(spec["layout"]["title"]) or "beat the reference" in str(spec["layout"]["title"]) for spec in changed
    )


def test_the_list_of_steps_of_a_long_run_holds_those_around_the_chosen_one(root: Path) -> None:
    """The browser is given few; Previous and Next go on, the first and the last step are reached by link, too."""
    write_run(root, "run", [row(step) for step in range(MOST_OPTIONS + 100)])
    for step, expected in ((0, (0, MOST_OPTIONS)), (300, (50, MOST_OPTIONS + 50)), (599, (100, MOST_OPTIONS + 100))):
        test = opened("rewards", run="run", step=step)
        assert test.selectbox(key="step").options == [str(at) for at in range(*expected)]
    test.button(key="step_previous").click().run()
    assert linked(test, "step") == "598"


@pytest.mark.parametrize(("typed", "expected"), [("17", "20"), ("-4", "0"), ("99999", "30"), ("seven", "None")], ids=str)
def test_a_typed_step_goes_to_the_nearest(typed: str, expected: str) -> None:
    """What is no number chooses nothing: then the last step is shown."""
    script = f"""
import numpy as np
import streamlit as st
from board.ui import session
st.session_state["step"] = {typed!r}
session.step_chosen(np.array([0, 10, 20, 30]))
st.text(str(st.session_state["step"]))
"""
    test = AppTest.from_string(script).run()

    assert test.text[0].value == expected


def test_curves_are_drawn_per_step(root: Path) -> None:
    """The reward curve's x are the steps in order, its y their means, whatever order the rows came in."""
    write_run(root, "run", [row(step, reward=float(step)) for step in (4, 0, 3, 1, 2)])

    lines = figure(opened("rewards"), "Does the reward rise?")["data"]

    policy = next(line for line in lines if line.get("name") == "policy" and "lines" in line.get("mode", ""))
    assert _numbers(policy["x"]) == _numbers(policy["y"]) == [0, 1, 2, 3, 4]


def test_a_warning_leads_to_where_it_breaks(root: Path) -> None:
    """A validation reward that falls while the reward rises is said with the word "warning", apart from the notes, and linked where it broke."""
    gold = (1.0, 1.1, 1.0, 1.1, 0.1, 0.0)
    write_run(root, "run", [row(step, reward=float(step), valid_reward=value) for step, value in enumerate(gold)])
    test = opened("rewards", step=1)

    badges = [element.value for element in test.markdown if "warning" in element.value]
    assert badges == [":orange-badge[warning]"]
    assert "validation reward breaks at step 4: since its peak at step 1 it falls by 1.10 while the reward rises by 4" in texts(
        test
    )
    test.button(key="landmark_0").click().run()
    assert linked(test, "step") == "4"


def test_curves_tell_the_value_of_the_chosen_step_alone(root: Path) -> None:
    """What stands beside the lines is their names; the number at the mark is the chosen step's, not the last one's."""
    write_run(root, "run", [row(step, reward=float(step)) for step in range(5)])
    test = opened("rewards", step=1)

    named = [label["text"] for label in figure(test, "Does the reward rise?")["layout"]["annotations"]]
    sent = [json.loads(one.proto.json)["marks"] for one in test.get("bidi_component") if '"marks"' in (one.proto.json or "")]
    mark = next(found["curve_0"] for found in sent if "curve_0" in found)
    assert named == ["policy", "reference"]
    assert (mark["text"], [dot["text"] for dot in mark["dots"]]) == ("step 1", ["1", "0.250"])


def test_absent_fields_are_named_in_one_line(root: Path) -> None:
    """Panels without their fields are one line at the end, which says what each needs; no reference is invented."""
    write_run(root, "run", [{"step": 0, "response": "x", "reward": 1.0}])

    page = opened("rewards")

    said = [str(element.value) for element in page.text if " needs " in str(element.value)]
    assert said == [
        "Not drawn: How far is the policy from the reference? needs logprobs and ref_logprobs"
        " · Does it prefer its tokens to the reference? needs logprobs and ref_logprobs"
        " · Does it still explore? needs entropies · Reward against the reference needs ref_reward"
    ]


def test_length_is_of_characters_without_tokens(root: Path) -> None:
    """A run of texts alone has a curve of their lengths all the same, and its unit says what is counted."""
    write_run(root, "run", [{"step": step, "response": "x" * (step + 3), "reward": 1.0} for step in range(3)])

    figures = [json.loads(element.proto.spec) for element in opened("rewards").get("plotly_chart")]

    lengths = next(one for one in figures if "How long are the responses?" in json.dumps(one["layout"]))
    assert "characters" in json.dumps(lengths["layout"])
    assert any(_numbers(line["y"]) == [3.0, 4.0, 5.0] for line in lengths["data"])


def test_second_rollout_of_a_record_is_opened_from_the_table(root: Path) -> None:
    """Where a line holds several rollouts, each row of the table leads to its own."""
    group = {"tokens": [[1, 2], [1, 3]], "masks": [[-100, 2], [-100, 3]], "scores": [1.0, -1.0], "messages": None}
    messages = [[{"role": "user", "content": "q"}, {"role": "assistant", "content": answer}] for answer in ("first", "second")]
    write_run(root, "run", [group | {"messages": messages, "inference_logprobs": None, "advantages": None, "ref_logprobs": None}])

    page = opened("responses", run="run", step=0, rollout="rank_0.jsonl:1.2")

    assert "second" in texts(page)
    assert linked(page, "rollout") == "rank_0.jsonl:1.2"


def test_other_numbers_and_ids_of_a_rollout_are_listed(root: Path) -> None:
    """The parts of a reward and the trainer's ids stand beside the main numbers; what the board derives does not."""
    write_run(root, "run", [row(0, accuracy_reward=0.25, group_id="g7", sample_id="<b>s")])

    said = texts(opened("responses"))

    assert "group_id g7 · sample_id <b>s · rank 0 · accuracy_reward 0.25" in said
    assert "log-ratio, max" not in said


def test_table_is_sorted_and_missing_values_come_last(root: Path) -> None:
    """Sorting by any number, either way, keeps rows without it at the end."""
    write_run(root, "run", [row(0, reward=reward) for reward in (1.0, None, 3.0, 2.0)])
    test = opened("responses")

    test.selectbox(key="sort").select("reward").run()

    assert table(test)["reward"].tolist()[:3] == [3.0, 2.0, 1.0]
    test.segmented_control(key="order").set_value("ascending").run()
    assert table(test)["reward"].tolist()[:3] == [1.0, 2.0, 3.0]


def columns_of(test: AppTest) -> dict[str, dict[str, Any]]:
    """How the first table shows its columns, by their names, in order."""
    configured = json.loads(test.dataframe[0].proto.columns)
    return {name: configured.get(name, {}) for name in table(test).columns}


PARTS = {"format_reward": 0.5, "accuracy_reward": 0.25, "advantages": [0.5, 0.5, 0.5, 0.5]}


def test_what_the_table_is_sorted_by_is_its_first_column(root: Path) -> None:
    """It is shown whether it was chosen as a column or not, and stays in sight; any number will do."""
    write_run(root, "run", [row(0, reward=1.0, **PARTS), row(0, reward=2.0, **PARTS)])
    test = opened("responses")
    assert "kl_k3_max" not in columns_of(test)

    for by in ("kl_k3_max", "reward", "accuracy_reward"):
        test.selectbox(key="sort").select(by).run()
        shown = columns_of(test)
        assert next(iter(shown)) == by
        assert shown[by]["pinned"] is True
        assert sum(bool(config.get("pinned")) for config in shown.values()) == 1


def test_after_a_sort_the_row_on_top_is_the_choice(root: Path) -> None:
    """Another column and another direction choose the first row, in another step too, on the table's first page."""
    write_run(root, "run", [row(step, reward=reward) for step, reward in ((0, 1.0), (0, 9.0), (1, 5.0), (1, 3.0), (1, 7.0))])
    test = opened("responses", step=1, rollout="rank_0.jsonl:4")

    test.selectbox(key="sort").select("reward").run()
    assert (linked(test, "step"), linked(test, "rollout")) == ("1", "rank_0.jsonl:5")
    test.segmented_control(key="order").set_value("ascending").run()
    assert (linked(test, "step"), linked(test, "rollout")) == ("1", "rank_0.jsonl:4")
    test.segmented_control(key="scope").set_value("All steps").run()
    assert linked(test, "rollout") == "rank_0.jsonl:4"
    test.segmented_control(key="order").set_value("descending").run()
    assert (linked(test, "step"), linked(test, "rollout")) == ("0", "rank_0.jsonl:2")
    assert "step 0 · rank_0.jsonl:2" in texts(test)


def test_a_sort_shows_the_first_page(root: Path) -> None:
    """The row that is chosen by it is on the page that is shown."""
    write_run(root, "run", [row(0, reward=float(at)) for at in range(1_002)])
    test = opened("responses", page=2)

    test.selectbox(key="sort").select("reward").run()

    assert table(test)["reward"].iloc[0] == 1001
    assert linked(test, "rollout") == "rank_0.jsonl:1002"


def test_parts_of_the_reward_are_columns_and_the_rest_one_click_away(root: Path) -> None:
    """What the trainer wrote and the advantage lie in the table where the run has them; a switch shows all numbers, and is in the link."""
    write_run(root, "run", [row(0, **PARTS)])
    write_run(root, "plain", [row(0)])
    test = opened("responses", run="run")

    assert {"format_reward", "accuracy_reward", "advantage_mean"} <= set(columns_of(test))
    assert not {"format_reward", "advantage_mean"} & set(columns_of(opened("responses", run="plain")))
    assert "log_ratio_sum" not in columns_of(test)
    test.toggle(key="numbers").set_value(True).run()
    everything = set(columns_of(test))
    assert {"log_ratio_sum", "kl_k2_max", "nonfinite_tokens"} <= everything
    assert set(columns_of(opened("responses", run="run", numbers="true"))) == everything


def test_numbers_of_a_column_have_one_format_and_the_reward_a_bar(root: Path) -> None:
    """The format comes from the column's values; a reward stands beside a bar unless all are the same."""
    write_run(
        root, "run", [row(0, reward=reward, accuracy_reward=part) for reward, part in ((1 / 3, 2.0), (2.0, 3.0), (None, 4.0))]
    )
    write_run(root, "same", [row(0, reward=1.5)] * 2)

    mixed, same = columns_of(opened("responses", run="run")), columns_of(opened("responses", run="same"))

    assert mixed["reward"]["type_config"]["format"] == "%.2f"
    assert mixed["reward"]["type_config"]["type"] == "progress"
    assert (mixed["reward"]["type_config"]["min_value"], mixed["reward"]["type_config"]["max_value"]) == (0.0, 2.0)
    assert mixed["accuracy_reward"]["type_config"]["format"] == "%d"
    assert same["reward"]["type_config"]["type"] == "number"


def test_text_filter_keeps_matching_rows(root: Path) -> None:
    """The filter looks in prompt and response, letter for letter but for case."""
    rows = [
        row(0, prompt=prompt, response=response) for prompt, response in (("Привет", "a"), ("b", "明月.*[几时有"), ("c", "d"))
    ]
    write_run(root, "run", rows)
    test = opened("responses")

    for query, wanted in (("ПРИВЕТ", ["a"]), (".*[几", ["明月.*[几时有"]), ("nowhere", None)):
        test.text_input(key="filter").set_value(query).run()
        if wanted is None:
            assert "No rollout matches" in texts(test)
        else:
            assert table(test)["response"].tolist() == wanted


def test_all_steps_lists_the_whole_run(root: Path) -> None:
    """The table can list every step's rollouts, with the step as a column."""
    write_run(root, "run", GOOD)
    test = opened("responses")

    test.segmented_control(key="scope").set_value("All steps").run()

    assert len(table(test)) == 12
    assert table(test)["step"].tolist() == sorted(table(test)["step"])


def test_limit_draws_a_stated_seeded_sample(root: Path) -> None:
    """Asked for 128 of 300 rollouts, the table shows the same 128 each time and says so."""
    write_run(root, "run", [row(0, reward=float(i)) for i in range(300)])
    test = opened("responses")
    assert len(table(test)) == 300

    test.number_input(key="limit").set_value(128).run()

    drawn = table(test)["reward"].tolist()
    assert "128 of 300 shown, drawn at random with seed 0" in texts(test)
    assert len(drawn) == len(set(drawn)) == 128
    assert table(opened("responses", limit=128))["reward"].tolist() == drawn


def test_text_filter_without_texts_matches_nothing(root: Path) -> None:
    """A run of tokens alone has nothing to search in."""
    write_run(root, "run", [row(0, response=..., prompt=..., ref_response=..., ground_truth=...)])
    test = opened("responses")

    test.text_input(key="filter").set_value("The").run()

    assert not test.exception
    assert "No rollout matches" in texts(test)


def test_row_click_opens_the_rollout(root: Path) -> None:
    """Selecting a row shows its texts, numbers and place, and puts it into the URL."""
    write_run(root, "run", [row(0, response=f"response {i}", reward=float(i)) for i in range(3)])
    test = opened("responses", rollout="rank_0.jsonl:3")

    assert "response 2" in texts(test)
    assert "step 0 · rank_0.jsonl:3" in texts(test)
    assert {metric.label: metric.value for metric in test.metric}["reward"] == "2"


def test_next_rollout_follows_the_table_order(root: Path) -> None:
    """Previous and next walk the rows as they are sorted."""
    write_run(root, "run", [row(0, reward=reward) for reward in (1.0, 3.0, 2.0)])
    test = opened("responses", sort="reward", rollout="rank_0.jsonl:2")

    test.button(key="rollout_Next").click().run()

    assert linked(test, "rollout") == "rank_0.jsonl:3"


def test_length_change_is_told(root: Path) -> None:
    """The mean length of the step stands beside its change against the step before."""
    write_run(
        root,
        "run",
        [row(0), row(1, response_tokens=list("abcdefg"), logprobs=..., ref_logprobs=..., values=..., token_rewards=...)],
    )

    assert "mean length of step 1: 7 tokens (+3 against step 0)" in texts(opened("responses", step=1))


HOSTILE = {
    "script": "<script>document.title='owned'</script>",
    "image": "<img src=x onerror=alert(1)>",
    "end of sequence": "<s> hello </s>",
    "markdown image": "![](http://127.0.0.1:9/x.png) **bold** :red[x]",
    "dollars": "$5 and then $6, ~ and &lt;",
    "heading": "# not a heading\n- not a list",
    "indented code": "    def f(x):\n        return x\n\n",
    "spaces at both ends": "  \t x  ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_model_text_is_shown_letter_for_letter(root: Path, name: str) -> None:
    """Prompt, response, reference and ground truth reach the screen as plain text elements, unchanged."""
    text = HOSTILE[name]
    write_run(root, "run", [row(0, prompt=text, response=text, ref_response=text, ground_truth=text, note=text)])

    test = opened("responses")

    assert panes(test) == [text] * 5
    assert not any(text in str(element.value) for element in [*test.markdown, *test.caption])


def test_padding_is_hidden_and_said(root: Path) -> None:
    """Common pad tokens are taken out of the texts, with their number; the switch brings them back."""
    write_run(root, "run", [row(0, response="yes<PAD><PAD>", prompt="<PAD>hm")])
    test = opened("responses")

    assert "Response · 2 pad tokens hidden · 3 characters" in texts(test)
    test.toggle(key="hide_padding").set_value(False).run()
    assert "yes<PAD><PAD>" in texts(test)


def test_pad_token_of_the_run_enters_no_mean(root: Path) -> None:
    """A pad token given by hand is padding in texts and statistics alike."""
    write_run(root, "run", [row(0, response_tokens=["The", " answer", " is", "<nothing>"], response="The answer is<nothing>")])
    assert table(opened("responses"))["response_length"].tolist() == [4]

    test = opened("responses", pad="<nothing>")

    assert table(test)["response_length"].tolist() == [3]
    assert "The answer is" in panes(test)


def test_the_pad_token_is_asked_for_where_loading_is_told(root: Path) -> None:
    """It is in the load report, which is opened by a link here; there is no sidebar."""
    write_run(root, "run", [row(0)])
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.session_state["report"] = True

    test.run()

    assert test.text_input(key="pad").value == ""
    assert not test.sidebar.children


EMPTY = {
    "an empty file beside rows": ([row(0)], b"", "b.jsonl: 0 rows, the file is empty."),
    "nothing but an empty file": ([], b"", "b.jsonl: 0 rows, the file is empty."),
    "blank lines": ([row(0)], b"\n\n", "b.jsonl: 0 rows, there is no row in it."),
    "half a line": ([row(0)], b'{"step": 1, "resp', "b.jsonl: 0 rows, its only line is still being written."),
    "refused lines": (
        [row(0)],
        b'{"step": "x", "prompt": "p", "response": "r", "reward": 1.0}\n',
        "b.jsonl: 0 rows, every line of it was refused.",
    ),
}


@pytest.mark.parametrize(("rows", "data", "said"), EMPTY.values(), ids=EMPTY)
def test_an_empty_shard_is_0_rows_with_its_reason(root: Path, rows: list[dict[str, Any]], data: bytes, said: str) -> None:
    """In the load report, or in the place of the page where no shard has rows."""
    folder = write_run(root, "run", rows, "a.jsonl")
    if not rows:
        (folder / "a.jsonl").unlink()
    (folder / "b.jsonl").write_bytes(data)
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.session_state["report"] = True

    assert said in texts(test.run())


def test_system_prompt_is_hidden_on_request(root: Path) -> None:
    """With the switch on, the prompt starts after the text that ends the system prompt."""
    write_run(root, "run", [row(0, prompt="be brief<endofsystem>hi")])
    test = opened("responses")
    assert "be brief<endofsystem>hi" in texts(test)

    test.toggle(key="hide_system").set_value(True).run()

    assert "be brief" not in texts(test)
    assert "Prompt · system prompt hidden · 2 characters" in texts(test)


def test_tokens_page_lists_the_extreme_tokens(root: Path) -> None:
    """The token with the largest KL comes first, positions counted from 1."""
    write_run(root, "run", [row(0)])

    extremes = table(opened("tokens"))

    assert extremes["position"].tolist()[0] == 4
    assert extremes["token"].tolist()[0] == "·42"


BYTE_LEVEL = ["ĠThe", "Ġcat", "ä", "»", "Ĭ"]


def test_tables_of_tokens_sort_as_numbers_and_read_as_text(root: Path) -> None:
    """Numbers stay numbers, byte-level names are read, split characters say their share, and the name stands beside."""
    others = [[["Ġcat", -0.1], [" dog", -2.5]]] * 5
    n = len(BYTE_LEVEL)
    numbers = {"logprobs": [-0.001, -10.0, -9.0, -100.0, -2.0], "ref_logprobs": [-1.0] * n, "values": ..., "token_rewards": ...}
    write_run(root, "run", [row(0, response_tokens=BYTE_LEVEL, top_logprobs=others, **numbers)])

    test = opened("tokens", rollout="rank_0.jsonl:1", token=1, extreme="logprob", extreme_order="highest")

    assert not test.exception
    extremes = next(element.value for element in test.dataframe if "position" in element.value.columns)
    assert extremes["logprob"].tolist() == pytest.approx([-0.001, -2.0, -9.0, -10.0, -100.0])
    assert extremes["token"].tolist() == ["·The", "今 (3 of 3)", "今 (1 of 3)", "·cat", "今 (2 of 3)"]
    assert extremes["token's name"].tolist() == ["ĠThe", "Ĭ", "ä", "Ġcat", "»"]
    alternatives = next(element.value for element in test.dataframe if "probability" in element.value.columns)
    assert alternatives["token"].tolist() == ["·cat", "·dog"]
    assert alternatives["sampled"].tolist() == ["sampled", ""]
    assert alternatives["logprob"].tolist() == pytest.approx([-0.1, -2.5])


def test_token_ids_are_no_metric(root: Path) -> None:
    """A row's token ids colour nothing and stand in no list; the view gets them beside the tokens."""
    write_run(root, "run", [row(0, response_token_ids=[11, 12, 13, 14])])

    test = opened("tokens")

    assert not test.exception
    assert "response_token_ids" not in table(test).columns


PINS = {
    "two beside one": ({"token": 1, "compare": "3,0"}, "3,0"),
    "beside no token": ({"compare": "3,0"}, None),
    "the token itself, twice, and one beyond the end": ({"token": 1, "compare": "1,3,3,999"}, "3"),
    "nonsense": ({"token": 1, "compare": "3,x"}, None),
    "an endless number": ({"token": 1, "compare": "9" * 5000}, None),
}


@pytest.mark.parametrize(("place", "kept"), PINS.values(), ids=PINS)
def test_a_link_names_several_pins(root: Path, place: dict[str, Any], kept: str | None) -> None:
    """What makes sense of a link's pins is pinned and stays in the link, the rest is ignored."""
    write_run(root, "run", [row(0)])

    test = opened("tokens", rollout="rank_0.jsonl:1", **place)

    assert not test.exception
    assert test.session_state["compare"] == kept


def test_another_token_leaves_the_pins_behind(root: Path) -> None:
    """A place that names another token, from a click in a table or the Back button, does not keep what was pinned beside the old one."""
    write_run(root, "run", [row(0)])
    test = opened("tokens", rollout="rank_0.jsonl:1", token=1, compare="3,0")
    assert test.session_state["compare"] == "3,0"

    test.query_params["token"] = "2"
    del test.query_params["compare"]
    test.run()

    assert (test.session_state["token"], test.session_state["compare"]) == (2, None)


def test_tokens_page_draws_a_long_response_whole(root: Path) -> None:
    """A response of some thousand tokens has no windows to turn over."""
    n = 4_500
    numbers = [-0.1] * n
    write_run(
        root, "run", [row(0, response_tokens=["x"] * n, logprobs=numbers, ref_logprobs=numbers, values=..., token_rewards=...)]
    )

    test = opened("tokens", rollout="rank_0.jsonl:1", token=4_400)

    assert not test.exception
    assert "a window at a time" not in texts(test)


def test_tokens_page_says_what_the_row_lacks(root: Path) -> None:
    """A rollout without reference logprobs names what is missing and draws the rest."""
    write_run(root, "run", [row(0, ref_logprobs=..., values=...)])

    test = opened("tokens")

    assert "This rollout has no ref_logprobs, values" in texts(test)
    assert "logprob" in table(test).columns


def segment_table(test: AppTest) -> Any:
    """The table of segments, which stands above that of the extreme tokens."""
    return next(element.value for element in test.dataframe if "segment" in element.value.columns)


def test_tokens_page_tells_where_it_sits_by_segment(root: Path) -> None:
    """Each segment has its tokens and sums, without masked tokens; metrics the row lacks have no column."""
    tokens = ["<think>", "so", "</think>", "42"]
    write_run(root, "run", [row(0, response_tokens=tokens, loss_mask=[0, 1, 1, 1])])

    test = opened("tokens")

    assert "Where does it sit? By segment" in [one.value for one in test.subheader]
    found = segment_table(test)
    assert found.columns.tolist() == ["segment", "first", "tokens", "masked", "kl, sum", "kl, mean", "value, change"]
    assert found.iloc[:, :4].to_numpy().tolist() == [["think", 1, 2, 1], ["text", 4, 1, 0]]
    assert found["kl, sum"].tolist() == pytest.approx([0.00484, 1.14], rel=0.01)
    assert found["value, change"].tolist() == pytest.approx([0.1, float("nan")], nan_ok=True)


def test_tokens_page_says_when_there_are_no_segments(root: Path) -> None:
    """A response of plain text has no table of segments, but a line that says so."""
    write_run(root, "run", [row(0)])

    assert "By segment: this response has no tags" in texts(opened("tokens"))


def test_tokens_page_tells_how_concentrated_the_kl_is(root: Path) -> None:
    """The share of the few largest tokens is told by the estimator chosen; without reference logprobs nothing is."""
    write_run(root, "run", [row(0), row(1, ref_logprobs=...)])

    said = texts(opened("tokens", step=0))

    assert "4 of 4 tokens hold 100 % of the KL (k3) · the top 1 % (1 token) 99.6 % · 1 token half of it · Gini 0.75" in said
    assert "of |log-ratio| the 4 largest hold 100 %, its top 1 % 95 %" in said
    assert "half of it" not in texts(opened("tokens", step=1))


def compared(test: AppTest) -> list[tuple[str, str]]:
    """The runs of the comparison with the reference as they are handed to the browser: side and text, folded ones in brackets."""
    data = next(
        json.loads(element.proto.json)
        for element in test.get("bidi_component")
        if element.proto.component_name.endswith("diff_view")
    )
    return [(run["side"], f"[{run['fold']}]" if run["fold"] else run["text"]) for run in data["runs"]]


@pytest.mark.parametrize("page", ["tokens", "responses"])
def test_response_is_compared_with_the_reference(root: Path, page: str) -> None:
    """When opened, the panel shows word by word what only one of the two says, with the rewards; before, nothing is computed."""
    write_run(root, "run", [row(0, ref_response="The answer is 41, maybe<PAD>")])
    test = opened(page)
    assert "in both" not in texts(test)

    test.session_state["against"] = True
    test.run()

    assert compared(test) == [("both", "The answer is"), ("old", " 41, maybe"), ("new", " 42")]
    assert (
        "1 word only here, underlined · 3 only in the reference's, struck through · 3 in both · reward 1 against 0.250"
        in texts(test)
    )


def test_equal_parts_of_a_comparison_are_folded(root: Path) -> None:
    """Two equal responses are one folded run, and the page says that they are the same."""
    text = " ".join(["word"] * 100)
    write_run(root, "run", [row(0, response=text, ref_response=text, ref_reward=...)])
    test = opened("tokens")

    test.session_state["against"] = True
    test.run()

    assert compared(test) == [("both", "[100 words the same]")]
    assert "The two are the same: 100 words" in texts(test)


@pytest.mark.parametrize("page", ["tokens", "responses"])
def test_nothing_is_compared_without_a_reference(root: Path, page: str) -> None:
    """A row without ref_response has no such panel."""
    write_run(root, "run", [row(0, ref_response=...)])

    assert "Against the reference's response" not in [one.label for one in opened(page).expander]


OTHERS = [[["The", -0.1], ["A", -2.5]], [[" <b>", -3.0], [" answer", -0.2]], None, [[" 41", -0.5]]]

ALTERNATIVES = {
    "likeliest": (0, "Position 1: The was sampled, number 1 of the 2 listed", ["The", "A"], ["sampled", ""]),
    "in any order": (1, "Position 2: ·answer was sampled, number 1 of the 2 listed", ["·answer", "·<b>"], ["sampled", ""]),
    "not among them": (3, "Position 4: ·42 was sampled, not among the 1 listed", ["·41"], [""]),
}


@pytest.mark.parametrize(("token", "said", "tokens", "sampled"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_alternatives_of_the_pinned_token(root: Path, token: int, said: str, tokens: list[str], sampled: list[str]) -> None:
    """The likeliest comes first, the one sampled is marked, and the line says how much of the distribution is listed."""
    write_run(root, "run", [row(0, top_logprobs=OTHERS)])

    test = opened("tokens", rollout="rank_0.jsonl:1", token=token)

    assert not test.exception
    assert said in texts(test)
    found = next(element.value for element in test.dataframe if "probability" in element.value.columns)
    assert found["token"].tolist() == tokens
    assert found["sampled"].tolist() == sampled


NO_ALTERNATIVES = {
    "no token pinned": ({"top_logprobs": OTHERS}, {}, "pin a token to see what else it could have been"),
    "unknown at the token": ({"top_logprobs": OTHERS}, {"token": 2}, "The row has no alternatives at position 3."),
    "token that is not there": ({"top_logprobs": OTHERS}, {"token": 99}, "pin a token to see what else it could have been"),
    "malformed": ({"top_logprobs": "odd"}, {"token": 0}, ""),
    "absent": ({}, {"token": 0}, ""),
}


@pytest.mark.parametrize(("fields", "place", "said"), NO_ALTERNATIVES.values(), ids=NO_ALTERNATIVES)
def test_no_alternatives_are_invented(root: Path, fields: dict[str, Any], place: dict[str, int], said: str) -> None:
    """Where the row lists none for the token the page says so; where it has no such field it says nothing."""
    write_run(root, "run", [row(0, **fields)])

    test = opened("tokens", rollout="rank_0.jsonl:1", **place)

    assert not test.exception
    assert said in texts(test)
    assert ("alternatives" in texts(test) or "pin a token" in texts(test)) == bool(said)
    assert not any("probability" in element.value.columns for element in test.dataframe)


def grow(folder: Path, *rows: dict[str, Any]) -> None:
    """Append rows to the shard that `write_run` made."""
    with (folder / "rank_0.jsonl").open("a") as shard:
        shard.writelines(json.dumps(one) + "\n" for one in rows)


def switch(test: AppTest, label: str) -> Any:
    """The switch with that label."""
    return next(toggle for toggle in test.toggle if toggle.label == label)


def test_running_job_is_followed(root: Path) -> None:
    """Of a run that was just written to, what its shards gain is loaded unasked, and the place of who is at an older step is kept."""
    folder = write_run(root, "run", [row(0), row(1)])
    test = opened("responses", step=0, rollout="rank_0.jsonl:1")
    assert switch(test, "Live").value
    assert not switch(test, "Follow newest step").value
    grow(folder, row(2))

    test.run()

    assert test.selectbox(key="step").options == ["0", "1", "2"]
    assert (linked(test, "step"), linked(test, "rollout")) == ("0", "rank_0.jsonl:1")


def test_on_the_newest_step_the_reader_goes_along(root: Path) -> None:
    """The switch says so while one is on the newest step; turned off there it keeps the step, turned on it goes to the newest."""
    folder = write_run(root, "run", [row(0), row(1)])
    test = opened("responses")
    assert switch(test, "Follow newest step").value

    grow(folder, row(2))
    test.run()
    assert (linked(test, "step"), linked(test, "rollout")) == ("2", "rank_0.jsonl:3")

    switch(test, "Follow newest step").set_value(False).run()
    grow(folder, row(3))
    test.run()
    assert linked(test, "step") == "2"
    assert not switch(test, "Follow newest step").value

    switch(test, "Follow newest step").set_value(True).run()
    assert linked(test, "step") == "3"
    test.selectbox(key="step").set_value(0).run()
    assert not switch(test, "Follow newest step").value
    test.selectbox(key="step").set_value(3).run()
    assert switch(test, "Follow newest step").value


def test_changed_run_offers_a_reload(root: Path) -> None:
    """A run that was written long ago is not followed: when it changes, the board says so, reads it when asked, and says no more."""
    folder = write_run(root, "run", [row(0)])
    os.utime(folder / "rank_0.jsonl", (1e9, 1e9))
    test = opened("responses")
    switch(test, "Follow newest step").set_value(False).run()
    grow(folder, row(1))
    os.utime(folder / "rank_0.jsonl", (1e9 + 1, 1e9 + 1))

    test.run()
    assert test.selectbox(key="step").options == ["0"]
    test.button(key="reload").click().run()

    assert test.selectbox(key="step").options == ["0", "1"]
    assert linked(test, "step") == "0"
    assert "reload" not in {button.key for button in test.button}


def test_what_changed_is_told_within_five_seconds() -> None:
    """While Live is off too, and the look itself takes time."""
    assert live_reload.TELL_SECONDS <= 4


def test_run_deleted_while_open_stays_on_the_screen(root: Path) -> None:
    """What was loaded is still shown when the folder has gone, live or not."""
    folder = write_run(root, "run", [row(0)])
    test = opened("responses")
    (folder / "rank_0.jsonl").unlink()

    test.run()

    assert not test.exception
    assert "1 rollout of step 0" in texts(test)


def test_large_run_waits_to_be_asked_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run above the limit is not loaded because it is first in the list, but by a button or a link."""
    monkeypatch.setattr("board.ui.header.AUTO_LOAD_BYTES", 10)
    write_run(root, "run", GOOD)

    test = opened("rewards")
    assert [button.label for button in test.button if button.label.startswith("Load")]
    assert test.get("plotly_chart") == []
    next(button for button in test.button if button.label.startswith("Load")).click().run()
    assert len(test.get("plotly_chart")) > 0


@pytest.mark.parametrize("place", [{"estimator": "k1"}, {"curves": "KL k3"}, {"step": "--5"}, {"token": "--5"}], ids=str)
def test_no_choice_breaks_the_rewards_page(root: Path, place: dict[str, str]) -> None:
    """Panels that draw the same column stand beside each other, and a link that makes no sense is ignored."""
    write_run(root, "run", GOOD)

    test = opened("rewards", **place)

    assert not test.exception
    assert figure(test, "How is the reward spread")


def choice(test: AppTest) -> dict[str, Any]:
    """What the token view is told to show."""
    told: dict[str, Any] = json.loads(test.get_by_key("token_view.choice").proto.json)
    return told


FIRST = {"run": "run", "step": "0", "rollout": "rank_0.jsonl:1"}
PADDED = row(
    0, response_tokens=["<pad>", "a", "b", "<pad>", "c", "d"], logprobs=[0.0] * 6, ref_logprobs=..., values=..., token_rewards=...
)
WINDOWS = {
    "a window": ("1-4", "0-2", "1-4"),
    "beyond the end": ("2-9", "1-3", "2-5"),
    "hidden tokens alone": ("3-3", None, None),
    "backwards": ("4-1", None, None),
    "behind the end": ("7-9", None, None),
    "no numbers": ("a-b", None, None),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_link_opens_its_window_of_tokens(root: Path, name: str) -> None:
    """The link counts all tokens, hidden padding too, as it does for the pin; a window that makes no sense leaves the URL."""
    asked, shown, link = WINDOWS[name]
    write_run(root, "run", [PADDED, row(0)])

    test = opened("tokens", **FIRST, window=asked)

    assert not test.exception
    assert choice(test)["window"] == shown
    assert linked(test, "window") == link


def test_the_readers_window_goes_into_the_link_and_is_forgotten_with_the_rollout(root: Path) -> None:
    """What the view reports is kept until another rollout is opened; everything is no window at all."""
    write_run(root, "run", [PADDED, row(0)])
    test = opened("tokens", **FIRST)
    for window, link in (("1-3", "2-5"), ("all", None), ("0-1", "1-2")):
        test.session_state["token_view"] = {"choice": {"metric": "logprob", "pinned": None, "scale": "q", "window": window}}
        test.run()
        assert linked(test, "window") == link
    test.session_state["token_view"] = {"choice": None}
    test.button(key="rollout_Next").click().run()
    assert linked(test, "rollout") == "rank_0.jsonl:2"
    assert linked(test, "window") is None


def test_the_ends_of_step_and_run_are_sent_when_they_are_asked_for(root: Path) -> None:
    """A few bytes beside the choice, the same for every rollout of the step, and nothing of the kind for other ranges."""
    write_run(root, "run", [row(step, values=[0.0, 0.1, 0.2, 1.0 + step + i]) for step in range(2) for i in range(3)])
    assert "ends" not in choice(opened("tokens", **FIRST, scale="q"))

    told = [choice(opened("tokens", **FIRST | {"rollout": f"rank_0.jsonl:{line}"}, scale="step"))["ends"] for line in (1, 2)]
    run = choice(opened("tokens", **FIRST, scale="run"))["ends"]

    assert told[0] == told[1]
    assert (told[0]["scope"], told[0]["step"], told[0]["rollouts"], told[0]["total"]) == ("step", 0, 3, 3)
    assert told[0]["ends"]["value"] == [-3.0, 3.0]
    assert (run["scope"], run["step"], run["total"], run["ends"]["value"]) == ("run", None, 6, [-4.0, 4.0])
    assert told[0]["ends"]["prob"] == [0.0, 1.0]
    assert len(json.dumps(run)) < 1_000


def test_training_and_evaluation_are_switched(root: Path) -> None:
    """A run that has both shows training first and never mixes them; the choice is in the link. Other runs have no such switch."""
    write_run(root, "both", [row(0), row(0, split="evaluation"), row(1)])
    write_run(root, "one", [row(0)])

    training, evaluated = opened("responses", run="both"), opened("responses", run="both", split="evaluation")

    assert training.selectbox(key="step").options == ["0", "1"]
    assert evaluated.selectbox(key="step").options == ["0"]
    labels = [[group.label for group in page.button_group] for page in (training, opened("responses", run="one"))]
    assert ["Split" in found for found in labels] == [True, False]


def test_files_without_rollouts_are_listed(root: Path) -> None:
    """What was left out, whose format was read and what to know of the numbers stand in the load report."""
    write_run(root, "run", [{"input": "q", "output": "a", "score": 1.0, "step": 1}], "1.jsonl")
    write_run(root, "run", [{"loss": 1}], "metrics.jsonl")

    page = opened("responses")
    page.session_state["report"] = True
    page.run()

    said = texts(page)
    assert "Format: verl (1 shard)." in said
    assert "Left out: metrics.jsonl holds no rollouts that the board knows; its keys are loss." in said


def test_damaged_cache_is_told(root: Path) -> None:
    """A reader hears that something in the cache was damaged and read again from the shard, in the count of notes and beneath it."""
    write_run(root, "run", [row(0), row(1)])
    open_run(root / "run")
    part = next(Store(root / "run").folder.glob("*.arrow"))
    data = part.read_bytes()
    part.unlink()
    part.write_bytes(bytes(len(data)))

    page = opened("responses", run="run")
    page.session_state["report"] = True
    page.run()

    assert "What the cache held of rank_0.jsonl was damaged, and was read again from the run itself." in texts(page)
    assert "2 rows · no problems · 1 note" in _popovers(page.main)
