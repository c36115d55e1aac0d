"""What travels to the browser for a scatter, and what comes back from it."""

import json
import math
from typing import Any

import numpy as np
import pytest

from board.analysis.stats.scatter_points import COLUMNS, ROWS, ScatterPoints, scatter_points
from board.ui.components.scatter import Names, corners, picture

NAMES = Names("length", "reward <b>", "")


def of(x: list[float], y: list[float], color: list[float] | None = None) -> ScatterPoints:
    """The points of these numbers."""
    third = None if color is None else np.array(color)
    return scatter_points(np.array(x), np.array(y), third, log_x=False, log_y=False)


def test_points_travel_as_places() -> None:
    """A float32 of each; what is said of them is JSON, in words for who does not see them."""
    sent = picture(of([0, 10, 20], [1, 1, 3], [math.nan, -1, 2]), Names("length", "reward", "KL"))

    meta, numbers = sent.data["meta"], sent.data["numbers"]
    assert json.loads(json.dumps(meta, allow_nan=False)) == meta
    assert [str(kind) for kind in numbers.schema.types] == ["float"] * 3
    assert numbers["x"].to_pylist() == pytest.approx([0.6 / 21.2, 0.5, 20.6 / 21.2])
    assert numbers["color"].null_count == 0
    assert (meta["kind"], meta["color"]["label"]) == ("points", "KL")
    assert meta["color"]["low"] == -meta["color"]["high"]
    assert meta["said"] == "reward against length of 3 rollouts: the first from 1 to 3, the second from 0 to 20."


def test_very_many_travel_as_their_density() -> None:
    """Cells in place of points, however many rollouts there are; none is lost."""
    sent = picture(of(list(range(50)), [0.0] * 50), NAMES, most=20)

    assert (sent.data["meta"]["kind"], sent.data["numbers"].num_rows) == ("density", ROWS * COLUMNS)
    assert sum(sent.data["numbers"]["count"].to_pylist()) == 50
    assert sent.data["meta"]["color"] is None


def test_the_stamp_tells_pictures_apart() -> None:
    """The browser draws anew where it changes: for other points, other names, and not for the same again."""
    stamps = [picture(*one).data["meta"]["stamp"] for one in ((of([1, 2], [3, 4]), NAMES), (of([1, 2], [4, 3]), NAMES))]
    again = picture(of([1, 2], [3, 4]), NAMES).data["meta"]["stamp"]
    named = picture(of([1, 2], [3, 4]), Names("x", "y", "")).data["meta"]["stamp"]

    assert len({*stamps, named}) == 3
    assert again == stamps[0]


def test_nothing_to_draw() -> None:
    """No rollout has both numbers: there is a picture, of none."""
    sent = picture(of([math.nan], [1.0]), NAMES)

    assert (sent.data["numbers"].num_rows, sent.data["meta"]["said"]) == (0, "reward <b> against length of 0 rollouts.")


def test_prompts_in_place_of_rollouts() -> None:
    """What a dot is, its texts as they are, and the line of equal numbers from corner to corner of one axis for both."""
    both = scatter_points(np.array([0.0, 4]), np.array([1.0, 2]), np.array([1.0, -1]), log_x=False, log_y=False, one_axis=True)
    colors = ("#000000", "#ffffff")

    meta = picture(both, Names("A", "B", "", dot="prompt"), labels=["<b>p</b>"], sides=colors, areas=False).data["meta"]

    assert both.x_axis == both.y_axis
    assert meta["said"].startswith("B against A of 2 prompts")
    assert (meta["dot"], meta["labels"], meta["areas"]) == ("prompt", ["<b>p</b>"], False)
    assert meta["diagonal"] == [[0.0, 0.0], [1.0, 1.0]]
    assert (meta["color"]["label"], meta["color"]["stops"][::2]) == ("", [*colors])
    dense = picture(both, Names("A", "B", ""), most=1, labels=["p", "q"]).data["meta"]
    assert (dense["labels"], dense["diagonal"]) == ([], None)


LOW = 5 - 0.03 * 15
"""Where an axis of numbers from 5 to 20 begins."""

DIAGONALS: dict[str, tuple[list[float], list[float], list[list[float]] | None]] = {
    "axes that meet in part": ([0, 10], [5, 20], [[(LOW + 0.3) / 10.6, 0.0], [1.0, (10.3 - LOW) / 15.9]]),
    "axes that do not": ([0, 1], [5, 6], None),
}


@pytest.mark.parametrize("name", DIAGONALS)
def test_equal_numbers_on_two_axes(name: str) -> None:
    """The line stands where both axes have the number."""
    x, y, expected = DIAGONALS[name]

    drawn = picture(of(x, y), NAMES, sides=("#000000", "#ffffff")).data["meta"]["diagonal"]

    assert (drawn is None) == (expected is None)
    assert np.array(drawn or []) == pytest.approx(np.array(expected or []))


SENT: dict[str, tuple[Any, list[tuple[float, float]]]] = {
    "a box": ([0.1, 0.2, 0.5, 0.9], [(0.1, 0.2), (0.5, 0.9)]),
    "a lasso": ([[0, 0], [1, 0], [0.5, 1]], [(0, 0), (1, 0), (0.5, 1)]),
    "beyond the axes": ([[-3, 0.5], [7, 0.5]], [(0, 0.5), (1, 0.5)]),
    "nothing": (None, []),
    "a text": ("1, 2", []),
    "texts in it": (["1; DROP", 2], []),
    "not finite": ([[math.nan, 1], [math.inf, 2]], []),
    "a missing coordinate": ([[None, None]], []),
    "three coordinates": ([[1, 2, 3], [1, 2, 3]], []),
    "an odd number": ([1, 2, 3], []),
    "far too many": ([[0.5, 0.5]] * 5_000, []),
    "lists in lists": ([[[1], [2]]], []),
}


@pytest.mark.parametrize("name", SENT)
def test_what_a_browser_sends_is_checked(name: str) -> None:
    """Only pairs of numbers become corners, kept within the axes."""
    given, expected = SENT[name]

    assert corners(given) == expected
