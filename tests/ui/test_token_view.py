"""The token view's Python side: windows, what travels to the browser, which choice is in force, and the mount itself."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from board.analysis.tokens.alternatives import likeliest
from board.analysis.tokens.segments import SegmentNode
from board.schema import BY_TITLE
from board.ui.components.token_view import Choice, Notes, TokenViewPayload, build, read_pins, window, write_pins
from board.ui.components.token_view.payload import chosen

NAN = math.nan


def metric(payload: TokenViewPayload, name: str) -> dict[str, Any]:
    """What the payload says of one metric."""
    found: dict[str, Any] = next(entry for entry in payload.data["meta"]["metrics"] if entry["name"] == name)
    return found


@pytest.mark.parametrize(
    ("total", "start", "expected", "words"),
    [
        pytest.param(212, 0, (0, 212), "212 tokens", id="short response"),
        pytest.param(1, 0, (0, 1), "1 token", id="one token"),
        pytest.param(0, 0, (0, 0), "0 tokens", id="empty response"),
        pytest.param(2_000, 0, (0, 2_000), "2,000 tokens", id="exactly one window"),
        pytest.param(33_000, 2_500, (2_000, 4_000), "tokens 2,001–4,000 of 33,000", id="token inside the second window"),
        pytest.param(33_000, 32_999, (32_000, 33_000), "tokens 32,001–33,000 of 33,000", id="last, shorter window"),
        pytest.param(33_000, 99_999, (32_000, 33_000), "tokens 32,001–33,000 of 33,000", id="link beyond the end"),
        pytest.param(33_000, -5, (0, 2_000), "tokens 1–2,000 of 33,000", id="link before the start"),
    ],
)
def test_a_window_holds_the_token_asked_for(total: int, start: int, expected: tuple[int, int], words: str) -> None:
    """The window tiles the response, contains the token of the link or the nearest one, and says which tokens it is."""
    view = window(total, start, 2_000)
    assert (view.start, view.stop) == expected
    assert str(view) == words


@given(total=st.integers(0, 5_000), size=st.integers(1, 700))
def test_windows_tile_the_response(total: int, size: int) -> None:
    """Every token lies in exactly one window, whichever of its tokens is asked for."""
    tiles = [window(total, start, size) for start in range(0, max(total, 1), size)]
    assert [i for tile in tiles for i in range(total)[tile.slice]] == list(range(total))
    assert {tile.count for tile in tiles} == {len(tiles)}
    assert [tile.index for tile in tiles] == list(range(len(tiles)))
    assert all(window(total, i, size) == tiles[i // size] for i in range(0, total, 97))


@pytest.mark.parametrize(("total", "size"), [(10, 0), (-1, 5)], ids=["no size", "negative length"])
def test_a_window_of_nothing_is_refused(total: int, size: int) -> None:
    """A size or a length that makes no sense is the caller's error."""
    with pytest.raises(ValueError, match="no window"):
        window(total, 0, size)


def test_numbers_travel_as_float32_with_nan_for_missing() -> None:
    """Metrics are float32 columns without a single null, NaN and infinities as they are, whatever type they came in."""
    payload = build(["a", "b", "c"], {"kl": [0.1, NAN, math.inf], "reward hack": np.array([1, 2, 3])})
    table: pa.Table = payload.data["values"]
    assert table.schema.types == [pa.float32(), pa.float32()]
    assert [column.null_count for column in table.columns] == [0, 0]
    np.testing.assert_array_equal(table.column(0).to_numpy(), np.array([0.1, NAN, math.inf], dtype=np.float32))
    np.testing.assert_array_equal(table.column(1).to_numpy(), [1, 2, 3])


def test_numbers_beyond_float32_become_infinite_without_a_warning() -> None:
    """A float64 that float32 cannot hold is shown as infinite."""
    assert build(["a"], {"kl": [1e300]}).data["values"].column(0).to_pylist() == [math.inf]


def test_the_description_is_strict_json() -> None:
    """The JSON part holds no NaN, no infinity and no numpy scalar, even when every number of the rollout is one."""
    payload = build(["a"], {"kl": [NAN], "x": [-math.inf]}, ranges={"kl": (np.float64(0), np.float64(2)), "x": (0.0, NAN)})
    meta = json.loads(json.dumps(payload.data["meta"], allow_nan=False))
    assert meta == payload.data["meta"] | {"metrics": meta["metrics"]}
    assert [entry["range"] for entry in meta["metrics"]] == [[0.0, 2.0], None]


def test_text_arrives_whole() -> None:
    """Tokens are Arrow text; those Arrow or the browser's decoder would spoil travel beside it as JSON literals."""
    tokens = ["<b>", "", "\ufeff", "\ufeffx", "a\ufeff", "\ud83d", "今日", "\u202e", "\0"]
    payload = build(tokens, {})
    odd = {int(i): json.loads(text) for i, text in payload.data["meta"]["odd"].items()}
    assert odd == {2: "\ufeff", 3: "\ufeffx", 5: "\ud83d"}
    assert payload.data["tokens"].schema.types == [pa.utf8()]
    assert [odd.get(i, text) for i, text in enumerate(payload.data["tokens"].column(0).to_pylist())] == tokens


@given(st.lists(st.text(st.characters(codec=None)), max_size=20))
def test_any_text_arrives_whole(tokens: list[str]) -> None:
    """No token, lone surrogates included, is lost or changed on its way."""
    data = build(tokens, {}).data
    odd = {int(i): json.loads(text) for i, text in data["meta"]["odd"].items()}
    assert [odd.get(i, text) for i, text in enumerate(data["tokens"].column(0).to_pylist())] == tokens


def test_masked_tokens_are_marked() -> None:
    """`counts` travels as ones and zeros; without it every token counts."""
    assert build(["a", "b"], {}, counts=[True, False]).data["counts"].column(0).to_pylist() == [1, 0]
    assert build(["a", "b"], {}).data["counts"].column(0).to_pylist() == [1, 1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"metrics": {"kl": [1.0]}}, r"kl has shape \(1,\)", id="short metric"),
        pytest.param({"metrics": {"kl": [[1.0, 2.0]]}}, r"kl has shape \(1, 2\)", id="metric of two dimensions"),
        pytest.param({"counts": [True] * 3}, r"counts has shape \(3,\)", id="long counts"),
        pytest.param({"start": 5, "total": 6}, "do not fit", id="window past the end"),
        pytest.param({"start": -1}, "do not fit", id="window before the start"),
    ],
)
def test_what_does_not_align_is_refused(change: dict[str, Any], reason: str) -> None:
    """An array that is not as long as the tokens is an error with its name, never a shifted picture."""
    arguments: dict[str, Any] = {"metrics": {"kl": [1.0, 2.0]}} | change
    with pytest.raises(ValueError, match=reason):
        build(["a", "b"], **arguments)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        pytest.param("kl", [0, 1], ("sequential", "high", None, "nats"), id="kl"),
        pytest.param("logprob", [-1, 0], ("sequential", "low", None, "nats"), id="logprob: unlikely tokens are loud"),
        pytest.param("prob", [0.2, 1], ("sequential", "low", (0.0, 1.0), "0 to 1"), id="probability has fixed ends"),
        pytest.param("log_ratio", [0.1, 0.2], ("diverging", "high", None, "nats"), id="log_ratio"),
        pytest.param("advantage", [1, 2], ("diverging", "high", None, "reward"), id="advantage"),
        pytest.param("surprise", [1, 2], ("sequential", "high", None, ""), id="unknown, positive"),
        pytest.param("surprise", [-1, 2], ("diverging", "high", None, ""), id="unknown, both signs"),
        pytest.param("surprise", [-1, -2], ("sequential", "low", None, ""), id="unknown, negative"),
        pytest.param("surprise", [NAN, NAN], ("sequential", "high", None, ""), id="unknown, no number"),
    ],
)
def test_a_metric_is_coloured_as_the_schema_says(name: str, values: list[float], expected: tuple[str, str, object, str]) -> None:
    """Scale, loud end, fixed ends and unit come from the schema; for unknown metrics from their signs."""
    entry = metric(build(["a", "b"], {name: values}), name)
    assert (entry["scale"], entry["loud"], entry["range"], entry["unit"]) == expected


POLES = {
    "probability": ("prob", {}, ("low probability", "high probability"), None),
    "log-ratio": ("log_ratio", {}, ("policy avoids", "policy prefers"), None),
    "kl beside its log-ratio": ("kl", {"log_ratio": [0.1]}, ("policy avoids", "policy prefers"), "log_ratio"),
    "kl alone has no side": ("kl", {}, ("low", "high"), None),
    "unknown, one sign": ("surprise", {}, ("low", "high"), None),
}


@pytest.mark.parametrize(("name", "others", "poles", "side"), POLES.values(), ids=POLES)
def test_the_ends_of_a_scale_have_names(
    name: str, others: dict[str, list[float]], poles: tuple[str, str], side: str | None
) -> None:
    """The legend can say what a small and a large number mean; a KL takes its side from the log-ratio, where there is one."""
    entry = metric(build(["a"], {name: [0.5]} | others), name)
    assert (entry["poles"], entry["side"]) == (poles, side)
    assert entry["scale"] == ("diverging" if side or name == "log_ratio" else "sequential")


def test_every_declared_token_metric_names_its_ends() -> None:
    """None of them leaves the reader to guess which end of its colours is low."""
    metrics = [column for column in BY_TITLE.values() if column.kind == "token_metric" and column.name != "loss_mask"]
    assert [column.name for column in metrics if not all(column.poles)] == []


def test_a_given_range_wins() -> None:
    """The page may fix the colour scale, also of a probability."""
    assert metric(build(["a"], {"prob": [0.5]}, ranges={"prob": (0.4, 0.6)}), "prob")["range"] == (0.4, 0.6)


def test_no_tokens_and_no_metrics_make_a_payload() -> None:
    """An empty response and a row without metrics are drawn like any other."""
    empty = build([], {"kl": []}).data
    assert (empty["meta"]["n"], empty["tokens"].num_rows) == (0, 0)
    bare = build(["a"], {}).data
    assert (bare["meta"]["metrics"], "values" in bare) == ([], False)


def test_the_stamp_names_the_content() -> None:
    """The same content has the same stamp, and any change of it another."""
    base: dict[str, Any] = {"tokens": ["a", "b"], "metrics": {"kl": [0.0, 1.0]}, "start": 0, "total": 9}
    changes: list[dict[str, Any]] = [
        {"tokens": ["a", "c"]}, {"tokens": ["ab", ""]}, {"metrics": {"kl": [0.0, 2.0]}}, {"metrics": {"value": [0.0, 1.0]}},
        {"start": 2}, {"total": 10}, {"counts": [True, False]}, {"height": 300}, {"key": "other"},
    ]  # fmt: skip
    stamps = [build(**base | change).stamp for change in [{}, {}, *changes]]
    assert stamps[0] == stamps[1]
    assert len(set(stamps)) == len(changes) + 1


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        pytest.param(None, Choice("kl", 7), id="nothing reported"),
        pytest.param({"metric": "value", "pinned": 5}, Choice("value", 5), id="a click"),
        pytest.param({"metric": "value", "pinned": None}, Choice("value", None), id="unpinned"),
        pytest.param({"metric": "value", "pinned": 40}, Choice("value", 40), id="a pin in another window stays"),
        pytest.param(
            {"metric": "value", "pinned": 5, "stamp": "other"}, Choice("value", 7), id="a click on tokens that have left"
        ),
        pytest.param({"metric": "nonsense", "pinned": 99}, Choice("kl", None), id="unknown metric, token outside"),
        pytest.param({"metric": ["kl"], "pinned": True}, Choice("kl", None), id="wrong types"),
        pytest.param("kl", Choice("kl", 7), id="not a choice at all"),
        pytest.param({"metric": "kl", "pinned": 7, "scale": "fixed:-1.5:2e-3"}, Choice("kl", 7, "fixed:-1.5:2e-3"), id="a range"),
        pytest.param({"metric": "kl", "pinned": 7, "scale": "fixed:x:y"}, Choice("kl", 7), id="a range that is none"),
        pytest.param({"metric": "kl", "pinned": 7, "others": [3, 40]}, Choice("kl", 7, None, (3, 40)), id="several pins"),
        pytest.param({"metric": "kl", "pinned": None, "others": [3]}, Choice("kl", None), id="others beside no pin"),
        pytest.param(
            {"metric": "kl", "pinned": 7, "others": [7, 3, 3, -1, 50, True, "4", 1.0]}, Choice("kl", 7, None, (3,)), id="odd"
        ),
        pytest.param(
            {"metric": "kl", "pinned": 7, "others": list(range(20))}, Choice("kl", 7, None, (0, 1, 2, 3, 4)), id="too many"
        ),
        pytest.param({"metric": "kl", "pinned": 7, "others": "123"}, Choice("kl", 7), id="others of a wrong type"),
        pytest.param({"metric": "kl", "pinned": 7, "scale": ["log"]}, Choice("kl", 7), id="a range of a wrong type"),
        pytest.param({"metric": "kl", "pinned": 7, "scale": "step"}, Choice("kl", 7, "step"), id="the step's range"),
        pytest.param({"metric": "kl", "pinned": 7, "window": "5-9"}, Choice("kl", 7, window="5-9"), id="a window"),
        pytest.param({"metric": "kl", "pinned": 7, "window": "5-99"}, Choice("kl", 7, window="5-49"), id="a window too long"),
        pytest.param({"metric": "kl", "pinned": 7, "window": "all"}, Choice("kl", 7, window="all"), id="everything"),
        pytest.param({"metric": "kl", "pinned": 7, "window": "9-5"}, Choice("kl", 7), id="a window that is none"),
        pytest.param({"metric": "kl", "pinned": 7, "window": [5, 9]}, Choice("kl", 7), id="a window of a wrong type"),
        pytest.param(
            {"metric": "kl", "window": "5-9", "stamp": "other"}, Choice("kl", 7), id="a window of tokens that have left"
        ),
    ],
)
def test_a_report_is_believed_only_where_it_makes_sense(reported: object, expected: Choice) -> None:
    """What comes from the browser replaces what the page asked for, checked against the rollout."""
    payload = build(["a"] * 4, {"kl": [0.0] * 4, "value": [0.0] * 4}, start=4, total=50)
    assert chosen(reported, Choice("kl", 7), payload) == expected


@given(st.lists(st.integers(0, 10**11), max_size=5, unique=True))
def test_pins_survive_the_link(pins: list[int]) -> None:
    """What is written into a link is read back."""
    assert list(read_pins(write_pins(pins))) == pins


@given(st.text() | st.text("0123456789,") | st.none() | st.integers())
def test_no_link_breaks_the_pins(text: object) -> None:
    """Anything a link may say gives at most five different positions."""
    pins = read_pins(text)
    assert len(set(pins)) == len(pins) <= 5
    assert all(pin >= 0 for pin in pins)


def test_ids_and_alternatives_travel_beside_the_tokens() -> None:
    """They are tables of their own, only where a row has them, and part of what the stamp names."""
    lists = pa.array(
        [[{"token": "<b>", "logprob": -0.5}], None],
        pa.large_list(pa.struct([("token", pa.large_string()), ("logprob", pa.float32())])),
    )
    few = likeliest(lists, ["<b>", "c"], np.arange(2))
    bare, whole = build(["a", "b"], {}), build(["a", "b"], {}, ids=[5, -1], alternatives=few)
    assert bare.stamp != whole.stamp
    assert not {"ids", "likeliest", "likeliest_of"} & bare.data.keys()
    assert whole.data["ids"].column(0).to_pylist() == [5, -1]
    assert whole.data["ids"].schema.types == [pa.int32()]
    assert whole.data["likeliest"].to_pylist() == [{"token": "<b>", "logprob": -0.5}]
    assert whole.data["likeliest_of"].to_pydict() == {"ends": [1, 1], "listed": [1, 0], "sampled": [0, -1]}
    with pytest.raises(ValueError, match=r"ids has shape \(1,\)"):
        build(["a", "b"], {}, ids=[5])


def test_the_asked_for_range_stays_until_the_reader_takes_another() -> None:
    """A link's range is kept when the reader pins a token, and gives way to the reader's own."""
    payload = build(["a"], {"kl": [0.0]})
    assert chosen({"metric": "kl", "pinned": 0}, Choice("kl", None, "hold:0:2.5"), payload).scale == "hold:0:2.5"
    assert chosen({"metric": "kl", "pinned": 0, "scale": "log"}, Choice("kl", None, "hold:0:2.5"), payload).scale == "log"
    assert chosen(None, Choice("kl", None, "nonsense"), payload).scale is None


def test_the_asked_for_window_stays_until_the_reader_takes_another() -> None:
    """A link's window is kept when the reader pins a token; everything is a choice of its own, and no window leaves it to the reader."""
    payload = build(["a"] * 20, {"kl": [0.0] * 20})
    assert chosen({"metric": "kl", "pinned": 0}, Choice("kl", None, window="3-9"), payload).window == "3-9"
    assert chosen({"metric": "kl", "window": "all"}, Choice("kl", None, window="3-9"), payload).window == "all"
    assert chosen(None, Choice("kl", None, window="30-40"), payload).window is None


def test_an_unknown_metric_becomes_the_first() -> None:
    """A link may name a metric this rollout lacks: the first one is shown, or none when there is none."""
    assert chosen(None, Choice("gone", None), build(["a"], {"kl": [0.0], "value": [0.0]})) == Choice("kl", None)
    assert chosen(None, Choice("kl", 3), build(["a"], {})) == Choice("", 3)


PAGE = """
import numpy as np
import streamlit as st
from board.ui.components.token_view import show

result = show(["a", "b", "c"], {"kl": np.array([0.0, np.nan, 2.0]), "value": np.zeros(3)}, start=10, total=33,
              metric=st.query_params.get("metric", ""), pinned=int(st.query_params.get("token", 11)), key="tokens")
st.text(f"{result.metric} {result.pinned}")
"""


def run_page(tmp_path: Path) -> AppTest:
    """A page of one token view."""
    script = tmp_path / "page.py"
    script.write_text(PAGE, encoding="utf-8")
    return AppTest.from_file(str(script), default_timeout=60).run()


def test_marks_travel_as_places_among_the_tokens_that_are_sent() -> None:
    """Segments and the largest of the KL are cut down to the window; what lies outside of it is left out."""
    stretches = [SegmentNode(0, 4, 0, "think"), SegmentNode(4, 9, 0, "answer"), SegmentNode(9, 12, 0, "text")]
    notes = Notes(stretches, top_five=[7, 2], top_percent=[7], shown=np.array([3, 5, 6, 7]))
    meta = build(["a"] * 4, {}, notes=notes).data["meta"]
    assert meta["segments"] == [[0, 1, 0, "think"], [1, 4, 0, "answer"]]
    assert meta["top"] == {"five": [3], "percent": [3]}
    assert json.loads(json.dumps(build(["a"], {}, notes=Notes(top_five=[0])).data["meta"]))["top"]["five"] == [0]


@pytest.mark.parametrize(("told", "expected"), [("word", "word"), ("letter", "token"), (7, "token"), (None, "token")])
def test_only_a_granularity_there_is_is_believed(told: object, expected: str) -> None:
    """What the browser reports of the granularity is checked like the rest."""
    payload = build(["a"], {"kl": [0.0]})
    assert chosen({"granularity": told}, Choice("kl", None, granularity="token"), payload).granularity == expected


def sent(page: AppTest, key: str) -> dict[str, Any]:
    """What a component of the page sends to the browser: JSON with its Arrow tables in place."""
    proto = page.get_by_key(key).proto
    if proto.WhichOneof("data") == "json":
        plain: dict[str, Any] = json.loads(proto.json)
        return plain
    data: dict[str, Any] = json.loads(proto.mixed.json)
    for name, value in data.items():
        if "__streamlit_arrow_ref__" in value:
            data[name] = pa.ipc.open_stream(proto.mixed.arrow_blobs[value["__streamlit_arrow_ref__"]].data).read_all()
    return data


def test_the_page_sends_tokens_and_choice_apart(tmp_path: Path) -> None:
    """The view gets text and numbers, and nothing of the choice; the other component a few bytes with the same stamp."""
    page = run_page(tmp_path)
    assert not page.exception
    view = sent(page, "tokens")
    assert view["tokens"].column(0).to_pylist() == ["a", "b", "c"]
    np.testing.assert_array_equal(view["values"].column(0).to_numpy(), [0, NAN, 2])
    assert (view["meta"]["start"], view["meta"]["total"]) == (10, 33)
    assert sent(page, "tokens.choice") == {
        "key": "tokens",
        "stamp": view["meta"]["stamp"],
        "metric": "kl",
        "pinned": 11,
        "scale": None,
        "window": None,
        "granularity": None,
        "others": [],
    }
    assert page.text[0].value == "kl 11"


def test_a_choice_changes_nothing_but_the_few_bytes(tmp_path: Path) -> None:
    """A click in the view and a link both leave the big payload as it was, byte for byte."""
    page = run_page(tmp_path)
    before = page.get_by_key("tokens").proto.mixed.SerializeToString()
    page.session_state["tokens"] = {"choice": {"metric": "value", "pinned": 12}}
    page.run()
    assert page.text[0].value == "value 12"
    assert page.get_by_key("tokens").proto.mixed.SerializeToString() == before
    page.query_params["metric"] = "value"
    page.query_params["token"] = "10"
    page.run()
    assert page.get_by_key("tokens").proto.mixed.SerializeToString() == before
    assert sent(page, "tokens.choice")["metric"] == "value"
