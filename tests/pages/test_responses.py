"""The page Responses by AppTest: its table, how it is sorted and filtered, and what it opens."""

from pathlib import Path
from typing import Any

import pytest
from drawn_tables import clicked, sorted_by_head, tables
from opened_pages import GOOD, facts, linked, opened, table, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.settings import saved


def test_filter_leaves_the_chosen_rollout_open(root: Path) -> None:
    """A filter that hides the chosen rollout neither closes it nor moves the link, and Next leads into the list."""
    add_run(
        root,
        "run",
        [whole_row(0), whole_row(1, prompt="alpha"), whole_row(1, prompt="beta"), whole_row(1, prompt="beta two"), whole_row(2)],
    )
    test = opened("responses", step=1, rollout="rank_0.jsonl:2")

    test.text_input(key="text").set_value("beta").run()

    assert "step 1 · rank_0.jsonl:2" in texts(test)
    assert "The rollout below is not in the list" in texts(test)
    assert linked(test, "rollout") == "rank_0.jsonl:2"
    assert test.button(key="rollout_Previous").disabled
    test.button(key="rollout_Next").click().run()
    assert linked(test, "rollout") == "rank_0.jsonl:3"
    test.text_input(key="text").set_value("").run()
    assert linked(test, "rollout") == "rank_0.jsonl:3"
    assert linked(test, "step") == "1"


def test_list_without_the_chosen_step_opens_nothing_unasked(root: Path) -> None:
    """Where no rollout is chosen and the list holds none of the chosen step, the page asks for a click and stays where it is."""
    add_run(root, "run", [whole_row(0), whole_row(1, prompt="alpha"), whole_row(2)])

    test = opened("responses", step=2, scope="All steps", text="alpha")

    assert "Click a row to open its rollout here." in texts(test)
    assert (linked(test, "step"), linked(test, "rollout")) == ("2", None)


def test_table_page_is_in_the_link(root: Path) -> None:
    """A link opens the page of the table that was looked at, and one to a page that is not there breaks nothing."""
    add_run(root, "run", [whole_row(0, prompt=f"prompt {i}") for i in range(1_002)])

    test = opened("responses", page=2)

    assert table(test)["prompt"].tolist() == ["prompt 1000", "prompt 1001"]
    assert "Rows 1,001 to 1,002 of 1,002 in this order." in texts(test)
    assert not opened("responses", page=7).exception


def test_second_rollout_of_a_record_is_opened_from_the_table(root: Path) -> None:
    """Where a line holds several rollouts, each row of the table leads to its own."""
    group = {"tokens": [[1, 2], [1, 3]], "masks": [[-100, 2], [-100, 3]], "scores": [1.0, -1.0], "messages": None}
    messages = [[{"role": "user", "content": "q"}, {"role": "assistant", "content": answer}] for answer in ("first", "second")]
    add_run(root, "run", [group | {"messages": messages, "inference_logprobs": None, "advantages": None, "ref_logprobs": None}])

    page = opened("responses", run="run", step=0, rollout="rank_0.jsonl:1.2")

    assert "second" in texts(page)
    assert linked(page, "rollout") == "rank_0.jsonl:1.2"


def test_other_numbers_and_ids_of_a_rollout_are_listed(root: Path) -> None:
    """The parts of a reward and the trainer's ids stand beside the main numbers; what the board derives does not."""
    add_run(root, "run", [whole_row(0, accuracy_reward=0.25, group_id="g7", sample_id="<b>s")])

    said = texts(opened("responses"))

    assert "group_id g7 · sample_id <b>s · rank 0 · accuracy_reward 0.25" in said
    assert "log-ratio, max" not in said


def test_table_is_sorted_and_missing_values_come_last(root: Path) -> None:
    """Sorting by any number, either way, keeps rows without it at the end."""
    add_run(root, "run", [whole_row(0, reward=reward) for reward in (1.0, None, 3.0, 2.0)])
    test = opened("responses")

    test.selectbox(key="sort").select("reward").run()

    assert table(test)["reward"].tolist()[:3] == [3.0, 2.0, 1.0]
    test.segmented_control(key="order").set_value("ascending").run()
    assert table(test)["reward"].tolist()[:3] == [1.0, 2.0, 3.0]


def columns_of(test: AppTest) -> dict[str, dict[str, Any]]:
    """How the first table shows its columns, by their names, in order."""
    return tables(test)[0].columns


PARTS = {"format_reward": 0.5, "accuracy_reward": 0.25, "advantages": [0.5, 0.5, 0.5, 0.5]}


def test_what_the_table_is_sorted_by_is_its_first_column(root: Path) -> None:
    """It is shown whether it was chosen as a column or not, and stays in sight; any number will do."""
    add_run(root, "run", [whole_row(0, reward=1.0, **PARTS), whole_row(0, reward=2.0, **PARTS)])
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
    add_run(root, "run", [whole_row(step, reward=reward) for step, reward in ((0, 1.0), (0, 9.0), (1, 5.0), (1, 3.0), (1, 7.0))])
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
    add_run(root, "run", [whole_row(0, reward=float(at)) for at in range(1_002)])
    test = opened("responses", page=2)

    test.selectbox(key="sort").select("reward").run()

    assert table(test)["reward"].iloc[0] == 1001
    assert linked(test, "rollout") == "rank_0.jsonl:1002"


def test_parts_of_the_reward_are_columns_and_the_rest_one_click_away(root: Path) -> None:
    """What the trainer wrote and the advantage lie in the table where the run has them; a switch shows all numbers, and is in the link."""
    add_run(root, "run", [whole_row(0, **PARTS)])
    add_run(root, "plain", [whole_row(0)])
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
    add_run(
        root,
        "run",
        [whole_row(0, reward=reward, accuracy_reward=part) for reward, part in ((1 / 3, 2.0), (2.0, 3.0), (None, 4.0))],
    )
    add_run(root, "same", [whole_row(0, reward=1.5)] * 2)

    mixed, same = columns_of(opened("responses", run="run")), columns_of(opened("responses", run="same"))

    assert mixed["reward"]["format"] == "%.2f"
    assert mixed["reward"]["kind"] == "bar"
    assert (mixed["reward"]["low"], mixed["reward"]["high"]) == (0.0, 2.0)
    assert mixed["accuracy_reward"]["format"] == "%d"
    assert same["reward"]["kind"] == "number"


def test_text_filter_keeps_matching_rows(root: Path) -> None:
    """The filter looks in prompt and response, letter for letter but for case."""
    rows = [
        whole_row(0, prompt=prompt, response=response)
        for prompt, response in (("Привет", "a"), ("b", "明月.*[几时有"), ("c", "d"))
    ]
    add_run(root, "run", rows)
    test = opened("responses")

    for query, wanted in (("ПРИВЕТ", ["a"]), (".*[几", ["明月.*[几时有"]), ("nowhere", None)):
        test.text_input(key="text").set_value(query).run()
        if wanted is None:
            assert "No rollout matches" in texts(test)
        else:
            assert table(test)["response"].tolist() == wanted


def test_all_steps_lists_the_whole_run(root: Path) -> None:
    """The table can list every step's rollouts, with the step as a column."""
    add_run(root, "run", GOOD)
    test = opened("responses")

    test.segmented_control(key="scope").set_value("All steps").run()

    assert len(table(test)) == 12
    assert table(test)["step"].tolist() == sorted(table(test)["step"])


def test_text_filter_without_texts_matches_nothing(root: Path) -> None:
    """A run of tokens alone has nothing to search in."""
    add_run(root, "run", [whole_row(0, response=..., prompt=..., ref_response=..., ground_truth=...)])
    test = opened("responses")

    test.text_input(key="text").set_value("The").run()

    assert not test.exception
    assert "No rollout matches" in texts(test)


def test_row_click_opens_the_rollout(root: Path) -> None:
    """A click on a row shows its texts, numbers and place, marks it, and puts it into the URL."""
    add_run(root, "run", [whole_row(0, response=f"response {i}", reward=float(i)) for i in range(3)])
    test = opened("responses")
    assert tables(test)[0].chosen == 0

    clicked(test, tables(test)[0], 2)

    assert tables(test)[0].chosen == 2
    assert linked(test, "rollout") == "rank_0.jsonl:3"
    assert "response 2" in texts(test)
    assert "step 0 · rank_0.jsonl:3" in texts(test)
    assert facts(test)["reward"] == "2"


def test_a_click_on_a_head_sorts_all_rows(root: Path) -> None:
    """The largest come first, then the other way round; the head says so, and the row on top is the choice."""
    add_run(root, "run", [whole_row(0, reward=reward) for reward in (1.0, 3.0, 2.0)])
    test = opened("responses")
    assert tables(test)[0].meta["sorted"] is None
    assert "3 rollouts of step 0 · in the order written" in texts(test)

    for descending, ordered in ((True, [3.0, 2.0, 1.0]), (False, [1.0, 2.0, 3.0])):
        sorted_by_head(test, tables(test)[0], "reward")
        assert table(test)["reward"].tolist() == ordered
        assert tables(test)[0].meta["sorted"] == {"column": "reward", "descending": descending}
        assert f"by reward, {'largest' if descending else 'smallest'} first" in texts(test)
        assert tables(test)[0].chosen == 0
    assert linked(test, "rollout") == "rank_0.jsonl:1"


def test_next_rollout_follows_the_table_order(root: Path) -> None:
    """Previous and next walk the rows as they are sorted."""
    add_run(root, "run", [whole_row(0, reward=reward) for reward in (1.0, 3.0, 2.0)])
    test = opened("responses", sort="reward", rollout="rank_0.jsonl:2")

    test.button(key="rollout_Next").click().run()

    assert linked(test, "rollout") == "rank_0.jsonl:3"


def test_length_change_is_told(root: Path) -> None:
    """The mean length of the step stands beside its change against the step before."""
    add_run(
        root,
        "run",
        [
            whole_row(0),
            whole_row(1, response_tokens=list("abcdefg"), logprobs=..., ref_logprobs=..., values=..., token_rewards=...),
        ],
    )

    assert "mean length of step 1: 7 tokens (+3 against step 0)" in texts(opened("responses", step=1))


def test_token_aggregates_are_columns_and_views_keep_them(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table can show and be sorted by what tokens add up to; a view keeps that under a name, which a link may say alone."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / ".settings"))
    add_run(root, "run", [whole_row(0, values=[0, 0, 0, value]) for value in (1.0, 3.0, 2.0)])
    test = opened("responses", sort="value, max")
    assert table(test)["value/max"].tolist() == [3.0, 2.0, 1.0]

    test.multiselect(key="columns").set_value(["reward", "value/sum"])
    test.text_input(key="view_name").set_value("By value")
    test.number_input(key="text_width").set_value(400).run()
    test.button(key="view_save").click().run()
    assert test.selectbox(key="view").value == "By value"

    other = opened("responses", view="By value", order="ascending")
    assert table(other)["value/max"].tolist() == [1.0, 2.0, 3.0]
    assert [*table(other).columns][:3] == ["value/max", "reward", "response"]
    assert "value/sum" in table(other).columns
    other.text_input(key="view_name").set_value("Another").run()
    other.button(key="view_rename").click().run()
    assert other.selectbox(key="view").value == "Another"
    other.button(key="view_delete").click().run()
    assert saved.VIEWS.read() == {}
    lost = opened("responses", view="Another")
    assert "No view of the table is saved here under the name 'Another'." in "".join(
        str(one.value) for one in lost.warning
    ) + texts(lost)


def test_view_keeps_the_filter(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view saved under a filter brings it back, by a link that names the view alone as by a choice in the list."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / ".settings"))
    add_run(root, "run", [whole_row(0, reward=reward) for reward in (1.0, 3.0, 2.0)])
    test = opened("responses", filter="reward > 1.5")
    test.text_input(key="view_name").set_value("Good").run()
    test.button(key="view_save").click().run()

    other = opened("responses", view="Good")
    assert table(other)["reward"].tolist() == [3.0, 2.0]
    assert linked(other, "filter") == "reward > 1.5"
    third = opened("responses")
    assert len(table(third)) == 3
    third.selectbox(key="view").set_value("Good").run()
    assert table(third)["reward"].tolist() == [3.0, 2.0]
