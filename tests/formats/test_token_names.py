"""Tests of token ids as tokens and text."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows import write_run
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from board import open_run
from board.cli.main import main
from board.errors import BoardError
from board.formats.token_names import load, named

WORDS = {"Ġthe": 0, "Ġcat": 1, "å": 2, "¨": 3, "ģ": 4, "</s>": 5}


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """A byte-level tokenizer of six tokens."""
    made = Tokenizer(models.BPE(WORDS, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["</s>"])
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_ids_get_names_and_text(tokenizer_file: Path) -> None:
    """Tokens keep the names of their bytes, which the token view reads; response and prompt are decoded, special tokens kept."""
    found = named({"response_token_ids": [0, 2, 3, 4, 5, 77], "prompt_token_ids": [1]}, load(str(tokenizer_file)))

    assert found["response_tokens"] == ["Ġthe", "å", "¨", "ģ", "</s>", " 77"]
    assert found["response"] == " the威</s>"
    assert found["prompt"] == " cat"


GIVEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ids alone": ({"response_token_ids": [3, 4]}, {"response_token_ids": [3, 4], "response_tokens": [" 3", " 4"]}),
    "tokens are there": (
        {"response_token_ids": [3], "response_tokens": ["a"]},
        {"response_token_ids": [3], "response_tokens": ["a"]},
    ),
    "no ids": ({"response": "x"}, {"response": "x"}),
    "no list": ({"response_token_ids": "3 4"}, {"response_token_ids": "3 4"}),
    "no ids in the list": ({"response_token_ids": [3, -1]}, {"response_token_ids": [3, -1]}),
    "true is no id": ({"response_token_ids": [True]}, {"response_token_ids": [True]}),
    "prompt ids": ({"prompt_token_ids": [1]}, {"prompt_token_ids": [1]}),
}


@pytest.mark.parametrize(("given", "expected"), GIVEN.values(), ids=GIVEN)
def test_without_a_tokenizer_ids_are_shown(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Each id as digits, and no text is made up; what is there already stays."""
    assert named(given, None) == expected


def test_text_that_is_there_stays(tokenizer_file: Path) -> None:
    """The trainer's own text is never replaced by a decoded one."""
    given = {"response_token_ids": [0], "response": "own", "prompt_token_ids": [1], "prompt": "own too"}

    assert named(given, load(str(tokenizer_file))) == given | {"response_tokens": ["Ġthe"]}


def test_run_of_ids_opens_with_and_without(tokenizer_file: Path) -> None:
    """Either way the run opens; a tokenizer given later, or another one, is not answered from what was kept for the first."""
    folder = write_run(
        tokenizer_file.parent / "run", {"a.jsonl": [{"step": 0, "response_token_ids": [0, 1], "logprobs": [-1.0, -2.0]}]}
    )

    assert open_run(folder).rollout(0).tokens == [" 0", " 1"]
    with_names = open_run(folder, tokenizer=tokenizer_file)
    assert (with_names.rollout(0).tokens, with_names.rollout(0)["response"]) == (["Ġthe", "Ġcat"], " the cat")

    other = json.loads(tokenizer_file.read_text())
    other["model"]["vocab"] = {"Ġa": 0, "Ġb": 1, "</s>": 5}
    tokenizer_file.write_text(json.dumps(other))
    os.utime(tokenizer_file, (2e9, 2e9))
    assert open_run(folder, tokenizer=tokenizer_file).rollout(0).tokens == ["Ġa", "Ġb"]


def test_file_that_is_no_tokenizer(tmp_path: Path) -> None:
    """It is said, by name."""
    (tmp_path / "tokenizer.json").write_text("{}")
    write_run(tmp_path / "run", {"a.jsonl": [{"step": 0, "response_token_ids": [0]}]})

    with pytest.raises(BoardError, match=r"tokenizer\.json is not a tokenizer\.json"):
        open_run(tmp_path / "run", tokenizer=tmp_path / "tokenizer.json")
    with pytest.raises(BoardError, match="cannot be read: No such file"):
        open_run(tmp_path / "run", tokenizer=tmp_path / "none.json")


def test_convert_writes_the_names(tokenizer_file: Path) -> None:
    """The command takes a tokenizer, so that what it writes can be read without one."""
    folder = write_run(tokenizer_file.parent / "run", {"a.jsonl": [{"step": 0, "response_token_ids": [0, 1]}]})
    out = tokenizer_file.parent / "out"

    done = CliRunner().invoke(main, ["convert", str(folder), str(out), "--tokenizer", str(tokenizer_file)])

    assert done.exit_code == 0, done.output
    assert json.loads((out / "a.jsonl").read_bytes())["response"] == " the cat"
