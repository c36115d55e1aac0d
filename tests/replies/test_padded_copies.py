"""A run and its padded copy are one run: the same numbers, lists and texts in every reply."""

import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from golden_replies import PARTNERS, differences, replies
from padded_copies import NAMED, place

from board.cli.main import main
from board.settings import run_choices

SHOWN = 10
SIZES = ("bytes", "rate")
"""What is of the files, and not of what they hold."""

COPIES = [
    pytest.param("ppo", NAMED, "right", "padded", id="ppo-right-named"),
    pytest.param("ppo", "<PAD>", "left", "bare", id="ppo-left-arrays-without-padding", marks=pytest.mark.slow),
    pytest.param("grpo", "<|finetune_right_pad_id|>", "both", "masked", id="grpo-both-masked"),
    pytest.param("ppo", NAMED, "both", "mask", id="ppo-both-named-mask-without-tokens", marks=pytest.mark.slow),
    pytest.param("grpo", NAMED, "left", "none", id="grpo-left-named-texts-alone", marks=pytest.mark.slow),
    pytest.param("agent", NAMED, "both", "padded", id="agent-both-named"),
    pytest.param("evaluation", "[PAD]", "both", "none", id="evaluation-both", marks=pytest.mark.slow),
]


def without_sizes(answer: Any) -> Any:
    """The answer without what is of the files."""
    if isinstance(answer, dict):
        return {key: without_sizes(value) for key, value in answer.items() if key not in SIZES}
    return [without_sizes(one) for one in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize(("name", "pad", "side", "arrays"), COPIES)
def test_a_padded_copy_gives_the_same_replies(tmp_path: Path, name: str, pad: str, side: str, arrays: str) -> None:
    """Padding is no text and no token, anywhere: on either side, of any token, with arrays that are padded too or are not."""
    for one in (name, PARTNERS[name]):
        kind = arrays if one == name else "padded"
        place(tmp_path / "plain", one, kind, None)
        place(tmp_path / "copy", one, kind, (pad, side))

    plain, copy = (dict(replies(tmp_path / folder, name)) for folder in ("plain", "copy"))

    assert sorted(copy) == sorted(plain)
    found = [
        line for one in plain for line in islice(differences(without_sizes(plain[one]), without_sizes(copy[one]), one), SHOWN)
    ]
    assert not found, "\n".join(found[:SHOWN])


QUESTIONS = [
    *("summary", "steps", "metrics", "rollouts", "show --step 1", "findings", "check"),
    *("compare RUN", "push --to stdout --format jsonl --quiet 0"),
]


def asked(question: str, run: Path, *options: str) -> str:
    """What a command prints of a run."""
    command, *rest = question.split()
    given = [str(run) if one == "RUN" else one for one in rest]
    return CliRunner().invoke(main, [command, str(run), *given, *options]).stdout


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_command_takes_pads(tmp_path: Path, question: str) -> None:
    """--pad names what rollouts.toml names in other runs: with either the reply is that of the run without padding."""
    place(tmp_path / "plain", "ppo", "padded", None)
    place(tmp_path / "copy", "ppo", "padded", (NAMED, "both"))
    plain, copy = (tmp_path / folder / "ppo" for folder in ("plain", "copy"))
    expected = asked(question, plain)
    assert expected

    by_file = asked(question, copy)
    (copy / "rollouts.toml").unlink()
    unnamed, by_option = asked(question, copy), asked(question, copy, "--pad", NAMED)

    if question == "summary":  # commands open a run in one way
        run_choices.save_pads(copy, (NAMED,))
        assert _said(asked(question, copy)) == _said(expected)

    assert len({_said(one) for one in (expected, by_file, by_option)}) == 1
    assert _said(unnamed) != _said(expected)


def _said(printed: str) -> str:
    """What was printed, without paths and sizes of files."""
    return re.sub(r"/\S+/(plain|copy)/|[0-9.,]+ [kM]?B\b", "", printed)
