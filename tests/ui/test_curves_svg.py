"""A saved picture of a panel is sound XML that says its texts letter for letter, whatever they hold."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

NODE = shutil.which("node") or ""
SOURCE = Path(__file__).parents[2] / "board/ui/components/curves/svg.js"
SVG = "{http://www.w3.org/2000/svg}"

DRAW = f"""
import {{ svgOf }} from {json.dumps(SOURCE.as_uri())};
const texts = JSON.parse(await new Response(process.stdin).text());
const floats = (...values) => Float64Array.from(values);
const curve = (name, color) => ({{ name, color, dash: [], width: 2, steps: floats(0, 1), values: floats(0, 1) }});
const drawn = texts.map((text) => svgOf({{
  key: "k", title: text, unit: text, drawn: text, log: false, runs: false, axis: "step", healthy: null, departure: null, fromZero: false,
  curves: [curve(text, "#12908a"), curve("other", text)],
}}, [0, 1]));
console.log(JSON.stringify(drawn));
"""

TEXTS = {
    "markup": "<b>&amp;</b> <script>alert(1)</script>",
    "end of a section": "]]> --> ?> </svg></title>",
    "quotes": '"\'` onload="x" \'',
    "an entity": "&lt; &#0; &nbsp; &x;",
    "Chinese and emoji": "奖励曲线 🤗 é",
    "from right to left": "\u202etfel\u202c",
    "half of a pair": "a\ud83d b",
    "other half first": "\ude00\ud83d",
    "nothing": "",
} | {
    f"U+{first:04X} to U+{first + 63:04X}": "".join(map(chr, range(first, first + 64)))
    for first in (*range(0, 0x400, 64), 0xFFC0)
}

NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def spaced(text: str) -> str:
    """As an XML parser hands it on: every line end is one line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.skipif(not NODE, reason="Node is not installed")
def test_any_text_is_sound_xml() -> None:
    """It is parsed, it has the elements it has for plain texts and no more, and its titles are the texts, but for what XML cannot hold."""
    command = [NODE, "--input-type=module", "-e", DRAW]
    asked = json.dumps([*TEXTS.values(), "plain"])
    done = subprocess.run(command, input=asked, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    *drawn, plain = json.loads(done.stdout)
    tags = [element.tag for element in ElementTree.fromstring(plain.encode()).iter()]

    for name, picture in zip(TEXTS, drawn, strict=True):
        root = ElementTree.fromstring(picture.encode())
        titles = [element.text or "" for element in root.iter(f"{SVG}title")]
        known = NOT_IN_XML.sub("\ufffd", TEXTS[name])
        assert [element.tag for element in root.iter()] == tags, name
        assert titles == [spaced(known), spaced(known), "other"], name
