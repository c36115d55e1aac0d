"""Tokens read without a tokenizer, and that Python and the browser read them alike."""

import json
import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.serving.component_scripts import SOURCES
from board.text.token_decoding import Unit, bytes_of, codec_of, codec_of_several, decoded, spell, token_text

LETTERS = [
    next(letter for letter in map(chr, range(0x200)) if bytes_of("byte-level", letter) == bytes([byte])) for byte in range(256)
]
NODE = shutil.which("node") or ""

CODECS = {
    "byte-level names": (["The", "Ġcat", "Ġsat", ".", "Ċ"], "byte-level"),
    "a special token outside the alphabet": (["Ġa", "Ġb", "<｜end▁of▁sentence｜>"], "byte-level"),
    "sentencepiece": (["▁The", "▁cat", "<0x0A>"], "sentencepiece"),
    "plain text": (["The", " cat", "\n"], "plain"),
    "plain text that speaks of Ġ": (["What", " is", "Ġ", "Ġthe"], "plain"),
    "French without a space": (["caf", "é", "déjà"], "plain"),
    "half of a character": (["Ġa", "Ġb", "\ud83d"], "plain"),
    "a byte order mark": (["Ġa", "Ġb", "\ufeff"], "plain"),
    "nothing": ([], "plain"),
}


@pytest.mark.parametrize(("tokens", "wanted"), CODECS.values(), ids=CODECS)
def test_how_tokens_name_their_bytes(tokens: list[str], wanted: str) -> None:
    """Encoded only where all tokens fit and several bear the marks."""
    assert codec_of(tokens) == wanted


def test_responses_tell_together_how_tokens_name_their_bytes() -> None:
    """One that bears no marks is read as those that do; where none does, tokens are text."""
    telling, short = ["The", "Ġcat", "Ġsat"], ["Ã¼"]

    assert codec_of_several([short, telling]) == "byte-level"
    assert codec_of_several([telling, ["▁The", "▁cat"], ["Ġa", "Ġb"]]) == "byte-level"
    assert codec_of_several([short, ["a", " b"]]) == codec_of_several([]) == "plain"


def byte_level(text: str, ends: list[int]) -> list[str]:
    """Byte-level names of a text cut after these numbers of bytes."""
    data = text.encode()
    cuts = [0, *sorted({min(end, len(data)) for end in ends}), len(data)]
    return ["".join(LETTERS[byte] for byte in data[a:b]) for a, b in pairwise(cuts)]


@given(text=st.text(st.characters(codec="utf-8")), ends=st.lists(st.integers(0, 40), max_size=6))
def test_a_text_is_whole_however_its_bytes_are_cut(text: str, ends: list[int]) -> None:
    """Each character is read once, by the token that has its first share."""
    tokens = byte_level(text, ends)
    units = [unit for at in range(len(tokens)) for unit in spell("byte-level", tokens, at)]
    assert "".join(unit.text for unit in units if unit.part == 0) == text
    assert not any(unit.broken for unit in units)


@given(st.lists(st.text(max_size=6), min_size=1, max_size=6))
def test_plain_tokens_are_their_own_text(tokens: list[str]) -> None:
    """What is not encoded is not changed."""
    assert [token_text("plain", tokens, at) for at in range(len(tokens))] == tokens


def test_what_a_table_shows() -> None:
    """A share of a character says so, a lost byte is named, and a name alone is read by itself."""
    tokens = byte_level("今", [1, 2])
    assert [token_text("byte-level", tokens, at) for at in range(3)] == [f"今 ({part} of 3)" for part in (1, 2, 3)]
    assert spell("byte-level", tokens, 1) == [Unit("今", 1, 3)]
    assert [token_text("byte-level", tokens[:1], 0), decoded("byte-level", tokens[0])] == ["\\xE4", tokens[0]]
    assert [decoded("byte-level", name) for name in ("Ġcat", " cat", "今", "")] == [" cat", " cat", "今", ""]
    assert [decoded("sentencepiece", name) for name in ("▁the", "<0x0A>", "é", "<|im_end|>")] == [" the", "\n", "é", "<|im_end|>"]


COMPARE = """
import { codecOf, bytesOf, spell } from "./board/token_view/bytes.js";
import { readFileSync } from "node:fs";
const read = (tokens) => {
  const fragile = (token) => token.startsWith("\\ufeff") || /\\p{Cs}/u.test(token);
  const texts = { n: tokens.length, at: (i) => tokens[i], anyOdd: tokens.some(fragile), hasByte: () => tokens.some((t) => t.includes(" ")) };
  const codec = codecOf(texts);
  const bytes = (i) => bytesOf(codec, tokens[i]);
  const lost = ({ glyph, part, parts, bad }) => glyph !== undefined ? [glyph, part, parts] : [bad, -1, 0];
  const unit = (found) => found.text !== undefined ? [found.text, 0, 1] : lost(found);
  const units = (i) => codec === "plain" ? [{ text: tokens[i] }] : spell(bytes, tokens.length, i);
  return [codec, tokens.map((_, i) => units(i).map(unit))];
};
const cases = JSON.parse(readFileSync("cases.json", "utf8"));
process.stdout.write(JSON.stringify(cases.map(read)));
"""


def cases() -> list[list[str]]:
    """Responses of all kinds: text cut anywhere, any bytes, sentencepiece, specials, mixtures."""
    draw = random.Random(7)
    found = [tokens for tokens, _ in CODECS.values() if "half" not in str(tokens)]
    texts = ["今日は良い天気", " the cat\n sat", "naïve é 👍🏽👨\u200d👩\u200d👧", "\u202eabc\ufeff", "a" * 9, "é", ""]
    parts = ["▁the", "<0xE4>", "<0xBB>", "<0x8A>", "<0x0A>", "Ġ", "Ċ", "<|im_end|>", "<｜end｜>", "<0x>", "<|a\n|>", "x", "é", ""]
    for _ in range(150):
        text = "".join(draw.choices(texts, k=3))
        found.append(byte_level(text, [draw.randrange(60) for _ in range(8)]))
        found.append(["".join(LETTERS[byte] for byte in draw.randbytes(draw.randrange(4))) for _ in range(9)])
        found.append(draw.choices(parts, k=9))
        found.append([*draw.choices(parts[:5], k=6), draw.choice(["今", "e\u0301", "Ġ"])])
    return found


@pytest.mark.skipif(not NODE, reason="Node is not installed")
def test_python_and_the_browser_read_alike(tmp_path: Path) -> None:
    """Codec, texts, shares and lost bytes of hundreds of responses are the same on both sides."""
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    ignored = shutil.ignore_patterns("*.py", "__pycache__")
    shutil.copytree(SOURCES / "token_view", tmp_path / "board" / "token_view", ignore=ignored)
    (tmp_path / "compare.mjs").write_text(COMPARE, encoding="utf-8")
    given_cases = cases()
    (tmp_path / "cases.json").write_text(json.dumps(given_cases), encoding="utf-8")
    done = subprocess.run([NODE, "compare.mjs"], cwd=tmp_path, capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout) == [ours(tokens) for tokens in given_cases]


def ours(tokens: list[str]) -> list[Any]:
    """The same in Python, as the script above writes it."""
    codec = codec_of(tokens)
    written = [[as_written(unit) for unit in spell(codec, tokens, at)] for at in range(len(tokens))]
    return [codec, written]


def as_written(unit: Unit) -> list[Any]:
    """A unit as JavaScript's are written: a lost byte by its number."""
    return [int(unit.text[2:], 16), -1, 0] if unit.broken else [unit.text, unit.part, unit.parts]
