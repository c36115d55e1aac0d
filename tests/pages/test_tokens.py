"""The Tokens page by AppTest: what it says of a rollout besides its tokens, and what its list of extreme tokens reveals."""

from pathlib import Path
from typing import Any

import pytest
from drawn_tables import tables
from opened_pages import ENTRY
from streamlit.testing.v1 import AppTest

SAMPLES = ENTRY.parent / "rollout_samples"
HACKED = {"run": "tiny_ppo_hacked", "step": 79, "rollout": "rank_0.jsonl.gz:1897"}


def opened(root: Path, monkeypatch: pytest.MonkeyPatch, **place: Any) -> AppTest:
    """The Tokens page as a link opens it."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(root))
    test = AppTest.from_file(str(ENTRY), default_timeout=120)
    for name, value in place.items():
        test.query_params[name] = str(value)
    return test.switch_page("board/ui/pages/tokens/tokens.py").run()


def said(test: AppTest) -> str:
    """Everything the page says in plain text."""
    return "\n".join(str(element.value) for element in [*test.text, *test.caption, *test.markdown])


ORDERS: dict[str, tuple[dict[str, str], list[str], str]] = {
    "at first": ({}, [",", ",", ",", "·hair", ",", ","], "prefers"),
    "by k3, the avoided one first": ({"extreme": "kl"}, ["·without", ",", ","], "avoids"),
    "by k3, those that the policy prefers": ({"extreme": "kl", "extreme_side": "policy prefers"}, [",", ",", ","], "prefers"),
    "by log-ratio, those that it avoids": ({"extreme_side": "policy avoids"}, ["·without"], "avoids"),
}


@pytest.mark.parametrize(("choices", "tokens", "policy"), ORDERS.values(), ids=ORDERS)
def test_the_list_of_extreme_tokens_reveals_the_hack(
    monkeypatch: pytest.MonkeyPatch, choices: dict[str, str], tokens: list[str], policy: str
) -> None:
    """Step 79 of the hacked run was paid for commas: they come first unless k3 is asked for, and each row says its side."""
    table = tables(opened(SAMPLES, monkeypatch, **HACKED, **choices))[-1].frame
    assert table["token"].tolist()[: len(tokens)] == tokens
    assert table["policy"].tolist()[0] == policy
