"""The page Groups by AppTest: the groups of a step, one of them opened, two of its members compared, and what a run cannot show."""

import json
from pathlib import Path
from typing import Any

import pytest
from drawn_panels import panels
from drawn_tables import with_column
from opened_pages import every_page, linked, opened, opening_links, panes, sent, table, texts, whole_row
from rows import add_run

REWARDS = {"sums": [0.0, 1.0, 1.0, 0.0], "names": [0.0, 0.0, 0.0, 0.0], "rhymes": [1.0, 1.0, 1.0, 1.0]}


def rows(steps: int = 2) -> list[dict[str, Any]]:
    """Three groups of four in each step: one mixed, one all wrong, one all right."""
    return [
        whole_row(step, prompt=prompt, group_id=prompt, reward=reward, response=f"{prompt} {at} of {step}")
        for step in range(steps)
        for prompt, rewards in REWARDS.items()
        for at, reward in enumerate(rewards)
    ]


def test_groups_of_a_step(root: Path) -> None:
    """The step's groups stand as rows and as strips, those that can teach most first, with what gives no gradient greyed."""
    add_run(root, "run", rows())

    test = opened("groups", step=1)

    assert not test.exception
    shown = table(test)
    assert shown["group"].tolist() == [1, 2, 3]
    assert shown["kind"].tolist() == ["mixed", "all wrong", "all right"]
    assert shown["gradient"].tolist() == ["", "none", "none"]
    assert shown["pass_at_k"].tolist() == [1.0, 0.0, 1.0]
    assert shown["prompt"].tolist() == list(REWARDS)
    assert "Step 1 has 3 groups of 4 rollouts · 2 of 3 have equal rewards and give no gradient, greyed" in texts(test)
    (strips,) = sent(test, "group_strips")
    assert [row["grey"] for row in strips["meta"]["rows"]] == [False, True, True]
    (curves,) = sent(test, "rl_logging_board.curves")
    assert [card["key"] for card in curves["meta"]["cards"]] == ["kinds", "passed"]


def test_the_link_holds_threshold_k_and_order(root: Path) -> None:
    """What counts as right, the k of pass@k and the order come from the link."""
    add_run(root, "run", rows(1))
    shown = table(opened("groups", right_from=2, pass_k=1, group_sort="mean", group_order="ascending"))
    assert shown["group"].tolist() == [2, 1, 3]
    assert shown["kind"].tolist() == ["all wrong"] * 3


def test_what_is_right_is_asked_where_rewards_do_not_tell(root: Path) -> None:
    """Of lengths as rewards no pass@k is drawn and none is called right until the reader says it; what gives no gradient is told at once."""
    add_run(root, "run", [row | {"reward": 3 * row["reward"] + 7 * row["step"]} for row in rows()])

    test = opened("groups", step=1)
    assert not test.exception
    assert "say from which one on a response is right" in texts(test)
    assert not {"right", "pass_at_k", "kind"} & {*table(test)}
    assert {*test.selectbox(key="group_sort").options} & {"pass@k", "kind"} == set()
    assert table(test)["gradient"].tolist() == ["", "none", "none"]
    assert {title: [*panel.values] for title, panel in panels(test).items()} == {
        "How many groups give no gradient?": ["no gradient"]
    }
    filtered = panels(opened("groups", step=1, filter="reward > 6"))
    assert {name for panel in filtered.values() for name in panel.values} == {"no gradient"}
    assert "pass@" not in texts(opened("groups", step=1, group=1))
    test.number_input(key="right_from_field").set_value(9.0).run()
    assert table(test)["kind"].tolist() == ["mixed", "all wrong", "all right"]
    assert "Is one of k responses right?" in panels(test)


def test_one_group_opened(root: Path) -> None:
    """Its best and its worst stand against each other in the same colours; the link names others; neighbours are a click away."""
    add_run(root, "run", rows())

    test = opened("groups", step=1, group=1)

    assert "group 1 · 4 rollouts · mean 0.500" in texts(test)
    assert table(test)["rollout"].tolist() == ["rank_0.jsonl:16", "rank_0.jsonl:14"]
    assert "1 word only in the best, underlined · 1 only in the worst, struck through" in texts(test)
    assert linked(test, "first") is None
    assert panes(test)[0] == "sums"
    (diff,) = sent(test, "diff_view")
    assert [(run["side"], run["text"]) for run in diff["runs"]] == [
        ("both", "sums"),
        ("old", " 3"),
        ("new", " 1"),
        ("both", " of 1"),
    ]
    views = sent(test, "token_view")
    assert [view["meta"]["key"] for view in views] == ["pair_first", "pair_second"]
    assert views[0]["meta"]["compared"]
    ranges = [[metric["range"] for metric in view["meta"]["metrics"]] for view in views]
    assert ranges[0] == ranges[1]
    assert all(ranges[0])
    test.selectbox(key="choose_first").set_value("rank_0.jsonl:15").run()
    assert linked(test, "first") == "rank_0.jsonl:15"
    assert table(test)[["which", "rollout"]].iloc[0].tolist() == ["no. 2", "rank_0.jsonl:15"]
    test.button(key="group_after").click().run()
    assert (linked(test, "group"), linked(test, "first")) == ("2", None)
    test.button(key="all_groups").click().run()
    assert linked(test, "group") is None


def test_members_of_a_group(root: Path) -> None:
    """All members are listed with their numbers, the best first, and their texts stand letter for letter."""
    add_run(root, "run", rows(1))
    test = opened("groups", group=1, aspect="All members", rollout="rank_0.jsonl:3")
    assert table(test)["reward"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert panes(test)[2:] == ["sums 1 of 0", "sums 2 of 0", "sums 0 of 0", "sums 3 of 0"]
    assert [link.label for link in opening_links(test)] == [
        "Open its tokens",
        "Open its texts",
    ]


LINKS: dict[str, tuple[dict[str, Any], str]] = {
    "no such group": ({"group": 9}, "Step 0 has no group 9."),
    "no such rollout": ({"group": 1, "first": "rank_0.jsonl:99"}, "There is no rollout 'rank_0.jsonl:99' here to compare."),
    "of another group": ({"group": 1, "first": "rank_0.jsonl:9"}, "group 1 · 4 rollouts"),
    "no number": ({"group": "x"}, "Step 0 has no group x."),
    "nonsense choices": ({"right_from": "x", "pass_k": 99, "group_sort": "shard", "aspect": "y"}, "Step 0 has 3 groups"),
}


@pytest.mark.parametrize(("place", "said"), LINKS.values(), ids=LINKS)
def test_what_a_link_asks_for_is_checked(root: Path, place: dict[str, Any], said: str) -> None:
    """What is not there is said and given up, and the page shows what there is."""
    add_run(root, "run", rows(1))
    test = opened("groups", **place)
    assert not test.exception
    assert said in texts(test)


LACKING: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no groups": (
        [whole_row(0, prompt=str(i)) for i in range(3)],
        "Groups need group_id, or prompts that were sampled more than once in a step: this run has neither.",
    ),
    "no rewards": ([whole_row(0, reward=..., ref_reward=...) for _ in range(3)], "A strip per group needs reward"),
    "groups of one": (
        [whole_row(0, prompt="twice"), whole_row(0, prompt="twice"), whole_row(1, prompt="once")],
        "each is alone in its group",
    ),
}


@pytest.mark.parametrize(("given", "said"), LACKING.values(), ids=LACKING)
def test_what_a_run_cannot_show_is_said(root: Path, given: list[dict[str, Any]], said: str) -> None:
    """One line tells which field is needed, and the rest of the page stands."""
    add_run(root, "run", given)
    test = opened("groups")
    assert not test.exception
    assert said in texts(test)


def test_without_rewards_none_is_the_best(root: Path) -> None:
    """Two responses of an opened group are compared all the same, by their places; where they part at the second token is said so."""
    add_run(
        root,
        "run",
        [whole_row(0, reward=..., ref_reward=..., response_tokens=["The", one, " is", " 42"]) for one in "abc"],
    )

    test = opened("groups", group=1)

    assert not test.exception
    assert "none is the best or the worst" in texts(test)
    assert "only in the best" not in texts(test)
    assert "The first token is the same; where they part" in texts(test)


def test_group_of_one_and_of_a_thousand(root: Path) -> None:
    """A lone response is not compared; of a thousand members all can be chosen, and a few texts are shown at once."""
    lone = [whole_row(0, prompt="lone"), *(whole_row(0, prompt="many", reward=i / 1_000, response=f"r{i}") for i in range(1_000))]
    add_run(root, "run", lone)

    one, many = opened("groups", group=1), opened("groups", group=2, aspect="All members")

    assert "The group has one response: there is nothing to compare it with." in texts(one)
    assert not many.exception
    assert len(table(many)) == 1_000
    assert panes(many)[2:4] == ["r999", "r998"]


def test_which_rule_made_the_advantages(root: Path) -> None:
    """The rule is named, and a rollout that does not fit it stands in a list."""
    given = [{**one, "advantage": one["reward"] - sum(REWARDS[one["prompt"]]) / 4} for one in rows(3)]
    given[1]["advantage"] = 9.0
    add_run(root, "run", given)

    test = opened("groups", groups_show="Which rule made the advantages?")

    assert not test.exception
    assert "of 36 rollouts follow Dr. GRPO: 97.2 % fit it." in texts(test)
    assert with_column(test, "rollout").frame["rollout"].tolist() == ["rank_0.jsonl:2"]


def test_a_verifier_that_contradicts_itself(root: Path) -> None:
    """Equal responses with different rewards are counted and listed."""
    given = [
        whole_row(0, prompt="p", response=text, reward=reward) for text, reward in (("Yes", 1.0), ("yes ", 0.0), ("no", 0.0))
    ]
    add_run(root, "run", given)

    test = opened("groups", groups_show="Does the verifier contradict itself?")

    assert not test.exception
    assert "2 rollouts with an equal response in their group, 2 (100 %) rewarded otherwise" in texts(test)
    assert table(test)[["what", "equals", "least", "largest"]].to_numpy().tolist() == [["response", 2, 0.0, 1.0]]


def test_where_the_responses_part(root: Path) -> None:
    """A tree of tokens stands with means and entropies at its forks; a click on a row leads to the token."""
    given = [
        whole_row(0, prompt="p", response_tokens=["a", token], response=f"a{token}", entropies=[0.1, 0.7], reward=reward)
        for token, reward in (("x", 1.0), ("x", 1.0), ("y", 0.0), ("y", 0.0))
    ]
    cut = [
        {
            name: value[:2] if name in ("logprobs", "ref_logprobs", "values", "token_rewards") else value
            for name, value in one.items()
        }
        for one in given
    ]
    add_run(root, "run", cut)

    test = opened("groups", group=1, aspect="Where they part")

    assert not test.exception
    assert "4 responses compared by tokens: 1 fork; where reward differs most is marked." in texts(test)
    (tree,) = sent(test, "prefix_tree")
    assert [(row["parent"], row["text"], row["count"], row["mean"]) for row in tree["rows"]] == [
        (-1, "a", "4 responses", "0.500"),
        (0, "x", "2 responses", "1"),
        (0, "y", "2 responses", "0"),
    ]
    assert tree["rows"][0]["told"] == "explains 100 % of the reward's variance · branches 1 apart · entropy 0.700 at the fork"


def test_words_stand_where_there_are_no_tokens(root: Path) -> None:
    """Rows of text alone part by words, and the page says so."""
    add_run(root, "run", [{"step": 0, "prompt": "p", "response": f"the same {end}", "reward": 1.0} for end in ("a", "b")])
    test = opened("groups", group=1, aspect="Where they part")
    assert "2 responses compared by words, as the rows have no response_tokens: 1 fork." in texts(test)


def test_a_filter_leaves_groups_whole(root: Path) -> None:
    """Groups with a rollout that the filter leaves stand with all of their rollouts, and the page says so; one may be compared that it hides."""
    add_run(root, "run", rows(1))

    test = opened("groups", filter="response = 'sums 1 of 0'")
    hidden = opened("groups", filter="response = 'sums 1 of 0'", group=1, first="rank_0.jsonl:4")

    assert table(test)[["rollouts", "mean"]].to_numpy().tolist() == [[4.0, 0.5]]
    assert "1 group of 4 rollouts · those with a rollout that the filter leaves, each shown whole" in texts(test)
    assert linked(hidden, "first") == "rank_0.jsonl:4"
    assert not hidden.exception


def test_a_group_is_a_chip_of_the_filter(root: Path) -> None:
    """A click keeps every page to the group, or to its prompt at all steps."""
    add_run(root, "run", rows())
    test = opened("groups", step=1, group=2)
    test.button(key="Filter: this group").click().run()
    assert "group" in str(linked(test, "filter"))
    assert not test.exception
    assert "4 of 24" in "".join(json.dumps(one) for one in sent(test, "filter_bar"))


def with_discarded() -> list[dict[str, Any]]:
    """The groups of two steps, of the first of which the trainer discarded a response twice as good, and one without a reward."""
    more = [
        whole_row(step, prompt="sums", group_id="sums", reward=reward, response=f"out {step}", split="discarded")
        for step in range(2)
        for reward in (2.0, ...)
    ]
    return [*rows(), *more]


def test_what_was_discarded_of_a_group(root: Path) -> None:
    """It is marked beside the group's members, hollow in its strip, and in none of its numbers; its texts stand behind the others."""
    add_run(root, "run", rows())
    add_run(root, "beside", with_discarded())

    without, test = opened("groups", run="run", step=1), opened("groups", run="beside", step=1)

    assert not test.exception
    assert table(test).drop(columns="discarded").equals(table(without))
    assert table(test)["discarded"].tolist() == [2, 0, 0]
    (strips,) = sent(test, "group_strips")
    assert strips["meta"]["rows"][0]["text"] == "mean 0.500 · std 0.500 · 2 discarded"
    assert "hollow: discarded, in no number" in texts(test)
    members = opened("groups", run="beside", step=1, group=1, aspect="All members")
    assert "2 more responses of this group the trainer discarded" in texts(members)
    assert table(members)["discarded"].tolist() == ["", "", "", "", "discarded", "discarded"]
    assert panes(members)[-2:] == ["out 1"] * 2
    assert "no. 5 · discarded · reward 2" in texts(members)


def test_a_discarded_member_against_the_others(root: Path) -> None:
    """It can be chosen on either side of the comparison, is named as discarded, and the link keeps it."""
    add_run(root, "run", with_discarded())
    test = opened("groups", step=1, group=1)
    assert "only in the best, underlined" in texts(test)

    assert test.selectbox(key="choose_second").options[-2:] == ["no. 5, reward 2, discarded", "no. 6, reward –, discarded"]
    source = f"rank_0.jsonl:{len(rows()) + 3}"

    asked = opened("groups", step=1, group=1, second=source)

    assert not asked.exception
    assert "only in no. 5, discarded, underlined" in texts(asked)
    assert linked(asked, "second") == source


def test_a_lone_member_against_what_was_discarded(root: Path) -> None:
    """Of a group whose others were all discarded, the one that is left is compared with them."""
    add_run(
        root, "run", [whole_row(reward=1.0, group_id="a"), whole_row(reward=0.0, group_id="a", response="no", split="discarded")]
    )

    test = opened("groups", step=0, group=1)

    assert not test.exception
    assert "only in no. 2, discarded, underlined" in texts(test)


def test_discarded_rollouts_are_a_split_of_their_own(root: Path) -> None:
    """They can be looked at on every page, which says what they are; a link to one says where it is."""
    add_run(root, "run", with_discarded())

    for name, test in every_page(split="discarded", step=1):
        assert not test.exception, name
        assert "did not train on them: they are in no number of training" in texts(test), name
    listed = opened("responses", split="discarded", step=1)
    assert table(listed)["split"].tolist() == ["discarded"] * 2
    assert "discarded by the trainer" in texts(listed)
    assert "split" not in table(opened("responses", step=1))
    elsewhere = opened("responses", rollout="rank_0.jsonl:26")
    assert "is one that the trainer discarded: choose them under Split" in texts(elsewhere)
