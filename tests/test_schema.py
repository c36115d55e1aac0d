"""board.schema: every column is declared once, fully, and can be found by name and by title."""

import pytest

from board import schema
from board.schema import Column

DECLARED = (*schema.NATIVE, *schema.DERIVED_TOKEN_METRICS)


def test_names_and_titles_are_unique() -> None:
    """No two columns share a name, no two a title, and no title is another column's name."""
    assert len({column.name for column in DECLARED}) == len(DECLARED)
    assert len({column.title for column in DECLARED}) == len(DECLARED)
    assert all(schema.BY_NAME[column.title] is column for column in DECLARED if column.title in schema.BY_NAME)


@pytest.mark.parametrize("column", DECLARED, ids=lambda column: column.name)
def test_every_column_has_a_meaning_that_reads_in_a_line(column: Column) -> None:
    """A phrase: no capital, no full stop, not too long for a help text; a table cell can hold it."""
    assert 10 <= len(column.meaning) <= 90
    assert not column.meaning[0].isupper()
    assert not column.meaning.endswith(".")
    assert "\n" not in column.meaning
    assert "|" not in column.meaning


@pytest.mark.parametrize("column", DECLARED, ids=lambda column: column.name)
def test_names_are_plain(column: Column) -> None:
    """As a JSON key and a pandas column."""
    assert column.name.isidentifier()
    assert column.name.islower()
    assert column.title.isidentifier()
    assert column.title.islower()


@pytest.mark.parametrize("column", [one for one in DECLARED if one.kind in ("number", "token_metric")], ids=lambda one: one.name)
def test_every_number_has_a_unit(column: Column) -> None:
    """A number without a unit cannot be read."""
    assert column.unit


@pytest.mark.parametrize(
    "column", [one for one in DECLARED if one.kind not in ("number", "token_metric", "alternatives")], ids=lambda one: one.name
)
def test_nothing_else_has_a_unit_or_a_scale(column: Column) -> None:
    """Texts and ids have neither."""
    assert column.unit == ""
    assert column.scale == "sequential"


def test_only_the_step_is_required() -> None:
    """A response may come as text or as tokens, so neither is required on its own."""
    assert [column.name for column in DECLARED if column.required] == ["step"]


def test_derived_metrics_are_token_metrics() -> None:
    """They are aligned with the tokens as the native ones are."""
    assert {column.kind for column in schema.DERIVED_TOKEN_METRICS} == {"token_metric"}


KINDS = {
    "step": ("step",),
    "tokens": (schema.TOKENS,),
    "alternatives": (schema.ALTERNATIVES,),
    "id": ("group_id", "prompt_id", "sample_id", "data_source", "split", "rank"),
    "number": ("reward", "prompt_length", "ref_reward", "valid_reward", "ref_valid_reward"),
    "text": ("prompt", "response", "ref_response", "ground_truth"),
}


@pytest.mark.parametrize(("kind", "expected"), KINDS.items(), ids=KINDS)
def test_names_by_kind(kind: schema.Kind, expected: tuple[str, ...]) -> None:
    """In declared order."""
    assert schema.names(kind) == expected


def test_kinds_together_are_all_native_columns() -> None:
    """No column is of a kind that nobody reads."""
    listed = [
        *KINDS["step"],
        *KINDS["tokens"],
        *KINDS["alternatives"],
        *schema.IDS,
        *schema.NUMBERS,
        *schema.TEXTS,
        *schema.TOKEN_METRICS,
    ]

    assert sorted(listed) == sorted(column.name for column in schema.NATIVE)


TITLES = {
    "labelled": ("logprobs", "logprob", "nats"),
    "own name": ("reward", "reward", "reward"),
    "derived": ("kl", "kl", "nats"),
    "without unit": ("prompt", "prompt", ""),
    "unknown": ("nobody_knows", "nobody_knows", ""),
    "title is not looked up as a name": ("entropy", "entropy", ""),
}


@pytest.mark.parametrize(("name", "title", "unit"), TITLES.values(), ids=TITLES)
def test_titles_and_units(name: str, title: str, unit: str) -> None:
    """Of a declared column its own; an unknown one keeps its name and has no unit."""
    assert (schema.title(name), schema.unit(name)) == (title, unit)


def test_columns_can_be_found_by_title() -> None:
    """What the screen says leads back to the column."""
    assert all(schema.BY_TITLE[column.title] is column for column in DECLARED)
    assert schema.BY_TITLE["entropy"].name == "entropies"


ORDERS = {
    "logprob": "lowest",
    "ref_logprob": "lowest",
    "rollout_logprob": "lowest",
    "prob": "lowest",
    "ref_prob": "lowest",
    "log_ratio": "magnitude",
    "token_reward": "magnitude",
    "value": "magnitude",
    "advantage": "magnitude",
    "kl": "highest",
    "entropy": "highest",
    "nobody knows": "highest",
}


@pytest.mark.parametrize(("metric", "order"), ORDERS.items(), ids=ORDERS)
def test_what_is_extreme_for_a_metric(metric: str, order: str) -> None:
    """The unlikely token, the one far from zero, or the largest."""
    assert schema.extreme(metric) == order
    assert metric in schema.BY_TITLE or metric == "nobody knows"
