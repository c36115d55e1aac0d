"""From a name in a log to its metric and back: families, what trainers put around names, and names of nobody."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.metrics.declared import DIALECTS, METRICS, name_of, resolve, resolve_any
from board.metrics.declared.contract import PLACES

FAMILIES = [(dialect, name, key) for dialect, table in DIALECTS.items() for name, key in table.names.items() if "{" in name]

WRAPPED = {
    "TRL through TensorBoard": ("trl", "train/objective/kl", "kl/k1_sum_mean"),
    "TRL's learning rate through W&B": ("trl", "train/lr", "optimiser/learning_rate"),
    "GRPO's KL through TensorBoard": ("trl-grpo", "train/kl", "kl/k3_mean"),
    "GRPO's reward function": ("trl-grpo", "train/rewards/digits/mean", "reward/component/{name}/mean"),
    "GRPO's evaluation": ("trl-grpo", "eval/reward", "evaluation/mean"),
    "GRPO's evaluation in its own log": ("trl-grpo", "eval_reward", "evaluation/mean"),
    "GRPO's KL of an evaluation": ("trl-grpo", "eval/kl", "evaluation/kl/k3_mean"),
    "verl through transformers": ("verl", "train/critic/score/mean", "reward/mean"),
    "verl's evaluation": ("verl", "eval/critic/score/max", "evaluation/max"),
    "verl's data source, of an evaluation": ("verl", "eval/gdpo/format/mean", "evaluation/reward/component/{name}/mean"),
    "re-grpo's KL of an evaluation": ("re-grpo", "eval/rollouts/kl_mean", "evaluation/kl/k3_padded_mean"),
    "ROLL's sum over ranks, in training": ("roll", "train/actor/pg_loss@sum", "loss/policy"),
    "the board's own, of an evaluation": ("board", "eval/length/mean", "evaluation/length/mean"),
    "ROLL's sum over ranks": ("roll", "actor/pg_loss@sum", "loss/policy"),
    "ROLL's largest over ranks": ("roll", "actor/ratio_max@max", "update/ratio_max"),
    "pushed by the board": ("board", "board/reward/mean", "reward/mean"),
    "another phase than ROLL's seven": ("roll", "time/my_phase/total", "time/{phase}/total"),
    "another phase's memory": (
        "roll",
        "memory/my_phase/start/offload/allocated/0",
        "memory/{phase}/{when}/{state}/allocated/{device}",
    ),
    "ROLL's worker before its phase": ("roll", "time/actor_train/train_step/total", "time/{phase}/total"),
}

STRANGERS = {
    "nothing": "",
    "of no trainer": "train/wisdom",
    "of no trainer's evaluation": "eval/wisdom",
    "an evaluation of an evaluation": "eval/eval/kl",
    "with another prefix": "my_run/objective/kl",
    "with a prefix twice": "train/train/objective/kl",
    "a phase below two workers": "time/a/b/dream/total",
    "cut off": "memory/train_step/start/onload/allocated",
    "device with a slash": "memory/train_step/start/onload/allocated/a/b",
    "empty place": "ddp/",
    "a number that is none": "val-core/math/acc/mean@k",
    "case": "Critic/Score/Mean",
    "more before": "x actor/lr",
    "more behind": "actor/lr ",
    "a family as it is written": "time/{phase}/total",
}


@pytest.mark.parametrize(("dialect", "name", "key"), WRAPPED.values(), ids=WRAPPED)
def test_what_a_trainer_puts_around_its_names_is_taken_off(dialect: str, name: str, key: str) -> None:
    """A name is found though the trainer's own logging put its prefix before it or its suffix after it."""
    found = resolve(dialect, name)
    anywhere = resolve_any(name)

    assert found is not None
    assert anywhere is not None
    assert found[0].key == anywhere[1].key == key


def test_a_trainers_name_means_the_same_wherever_it_is_looked_up() -> None:
    """Among all trainers' names, families filled in, none means another metric where the trainer is not known: ROLL's critic/error did."""
    filling = dict.fromkeys(PLACES, "x") | {"when": "start", "state": "offload", "n": "3"}
    names = [
        (dialect, re.sub(r"{(\w+)}", lambda place: filling[place[1]], name))
        for dialect, table in DIALECTS.items()
        for name in table.names
        if dialect != "board"
    ]

    differing = {
        (dialect, prefix + name): (alone[0].key if alone else None, anywhere[1].key if anywhere else None)
        for dialect, name in names
        for prefix in ("", "train/")
        if (alone := resolve(dialect, prefix + name)) is None
        or (anywhere := resolve_any(prefix + name)) is None
        or alone != anywhere[1:]
    }

    assert len(names) > 250
    assert differing == {}


@pytest.mark.parametrize("name", STRANGERS.values(), ids=STRANGERS)
def test_name_of_nobody_is_nobodys(name: str) -> None:
    """A name that no trainer gives leads nowhere, however near it comes."""
    assert resolve_any(name) is None
    assert [dialect for dialect in DIALECTS if resolve(dialect, name)] == []


@given(st.data())
def test_a_name_of_a_family_gives_back_its_places(data: st.DataObject) -> None:
    """Whatever stands for the placeholders, the name resolves to a metric, and the name put together again is the same."""
    dialect, template, _ = data.draw(st.sampled_from(FAMILIES))
    places = {place: data.draw(st.from_regex(PLACES[place], fullmatch=True)) for place in re.findall(r"\{(\w+)\}", template)}
    name = template.format(**places)

    found = resolve(dialect, name)

    assert found is not None
    metric, read = found
    spellings = [other for other, key in DIALECTS[dialect].names.items() if key == metric.key]
    assert name in [spelling.format(**read) for spelling in spellings if set(re.findall(r"\{(\w+)\}", spelling)) == set(read)]


@given(st.text(max_size=40))
def test_any_text_resolves_alike_with_and_without_a_trainer(name: str) -> None:
    """A name is known to the catalogue exactly if it is known to a dialect."""
    alone = [dialect for dialect in DIALECTS if resolve(dialect, name)]

    assert (resolve_any(name) is not None) == bool(alone)


def test_exact_name_comes_before_a_family() -> None:
    """verl's time of the whole step is the step's time, though the family of its stages would hold it too."""
    step = resolve("verl", "timing_s/step")
    stage = resolve("verl", "timing_s/gen")

    assert step is not None
    assert stage is not None
    assert (step[0].key, stage[0].key) == ("time/step", "time/stage/{path}")
    assert resolve_any("timing_s/step") == ("verl", *step)
    assert resolve_any("timing_s/gen") == ("verl", *stage)


def test_places_with_slashes_are_read_whole() -> None:
    """A data source may hold a slash, as names of data sets do."""
    found = resolve("verl", "val-core/openai/gsm8k/acc/best@8/mean")

    assert found is not None
    assert found[1] == {"path": "openai/gsm8k/acc", "n": "8"}


def test_first_name_of_a_metric() -> None:
    """A metric is called by the first name its dialect lists, and by none where the dialect does not have it."""
    assert name_of("verl", "kl/k1_rollout_mean") == "actor/reward_kl_penalty"
    assert name_of("roll", "time/{phase}/total") == "time/{phase}/total"
    assert name_of("trl", "groups/count") is None


def test_unknown_dialect_is_an_error() -> None:
    """Asking in a dialect there is not is a mistake of the caller, not an unknown name."""
    with pytest.raises(KeyError):
        resolve("nobody", "reward/mean")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_name_leads_back(dialect: str) -> None:
    """The name a dialect gives a metric is one that leads to this metric."""
    table = DIALECTS[dialect]

    for key in METRICS:
        name = name_of(dialect, key)
        assert name is None or table.names[name] == key
