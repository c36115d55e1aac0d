"""The KL that one token holds: found where an end token leaves the reference, with that token; silent where the KL is spread, or always so."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.apart import KL_CONCENTRATED as KIND

STEPS, ONSET, LENGTH = 12, 5, 40


def rows(onset: int = ONSET, far: float = 4.0, last: int = STEPS, **fields: Any) -> list[dict[str, Any]]:
    """Ten rollouts a step of which from `onset` to `last` the end token of seven is far from the reference; else all tokens differ a little."""
    dice = np.random.default_rng(4)
    found = []
    for step in range(STEPS):
        for at in range(10):
            own = dice.normal(-1, 0.3, LENGTH)
            reference = own - dice.normal(0, 0.25, LENGTH)
            if onset <= step <= last and at < 7:
                reference[-1] = own[-1] - far
            tokens = [*(f"w{number}" for number in dice.integers(0, 50, LENGTH - 1)), "<end>"]
            arrays = {"logprobs": own.tolist(), "ref_logprobs": reference.tolist()}
            found.append({"step": step, "prompt": f"p{at}", "response_tokens": tokens, "response": "x"} | arrays | fields)
    return found


@pytest.mark.parametrize("last", [STEPS - 1, ONSET + 3])
def test_an_end_token(last: int, tmp_path: Path) -> None:
    """From its first step to its last, with the token by name; what is shown is the end token of rollouts in which it is far."""
    run = rows(last=last)
    found = one(asked(KIND, tmp_path, run))
    assert (found.first_step, found.last_step) == (ONSET, last)
    assert "“<end>”" in found.effect
    assert found.measured == pytest.approx(0.7, abs=0.05)
    assert {position for _, position in found.tokens} == {LENGTH - 1}
    assert all(ONSET <= run[key]["step"] <= last and key % 10 < 7 for key in found.rollouts)


def test_one_token_of_a_step(tmp_path: Path) -> None:
    """A single token that holds a step's KL is found in each of the steps that have one, with its place."""
    run = rows(onset=STEPS)
    for at in (57, 61, 74):
        run[at]["ref_logprobs"][3] = run[at]["logprobs"][3] - 300
    found = one(asked(KIND, tmp_path, run))
    assert (found.first_step, found.last_step, sorted(found.tokens)) == (5, 7, [(57, 3), (61, 3), (74, 3)])


def test_without_tokens(tmp_path: Path) -> None:
    """Where nobody names the tokens it is the last."""
    assert "the last token" in one(asked(KIND, tmp_path, rows(response_tokens=None))).effect


@pytest.mark.parametrize("given", [{"far": 0.1}, {"onset": 0}])
def test_no_change(given: dict[str, Any], tmp_path: Path) -> None:
    """A KL that is spread, and one that was held by the end token from the beginning."""
    assert silent(asked(KIND, tmp_path, rows(**given)))


def test_cannot_tell(tmp_path: Path) -> None:
    """A policy that is still the reference."""
    still = [one | {"ref_logprobs": one["logprobs"]} for one in rows()]
    assert isinstance(asked(KIND, tmp_path, still), CannotTell)
