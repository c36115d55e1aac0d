"""Tests of the TOML text of a mapping."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import MappingRefused
from board.formats.contract import Head
from board.formats.mapping import NAMES, Constant, FromPath, HandMapping, Key
from board.formats.mapping_file import parse, write
from board.schema import TOKEN_METRICS

TEXT = """
[fields]
step = { from = "path" }
prompt = "input"
response = "output.text"
data_source = { constant = "gsm8k" }
loss_mask = "mask"

[[reward_parts]]
key = "scores.accuracy"
weight = 0.5

[[reward_parts]]
key = "scores.format"

[arrays]
cover = "prompt and response"
"""

GRADED = """
rows = "results.*.samples"

[fields]
step = { constant = 0 }
response = "text"
reward = "grade"

[reward]
values = { C = 1, I = 0.0 }
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GRADED, id="table"),
        pytest.param("reward.values = { C = 1, I = 0 }" + GRADED.partition("[reward]")[0], id="first"),
        pytest.param(
            GRADED.partition("[reward]")[0].replace('reward = "grade"', 'reward = { key = "grade", values = { C = 1, I = 0 } }'),
            id="beside the key",
        ),
        pytest.param(
            GRADED.partition("[reward]")[0].replace('reward = "grade"', 'reward.key = "grade"\nreward.values = { C = 1, I = 0 }'),
            id="with dots",
        ),
    ],
)
def test_rows_and_values_of_a_reward(text: str) -> None:
    """A mapping says where the rows of a large object are, and which numbers the texts of a reward stand for."""
    fields: dict[str, Any] = {"step": Constant(0), "response": Key("text"), "reward": Key("grade")}
    found = HandMapping(fields, rows="results.*.samples", reward_values={"C": 1.0, "I": 0.0})

    assert parse(text) == found
    assert parse(write(found)) == found


def test_parse() -> None:
    """The text says where each field is from, what the reward sums, and what the arrays cover."""
    found = parse(TEXT)

    assert found == HandMapping(
        {
            "step": FromPath(),
            "prompt": Key("input"),
            "response": Key("output.text"),
            "data_source": Constant("gsm8k"),
            "loss_mask": Key("mask"),
        },
        (("scores.accuracy", 0.5), ("scores.format", 1.0)),
        whole_sequence=True,
    )


keys = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
"""Any text but lone surrogates, which no file of UTF-8 holds."""
scalars = [name for name in NAMES if name not in TOKEN_METRICS and name != "step"]
steps = st.builds(Key, keys.map("s".__add__)) | st.just(FromPath()) | st.builds(Constant, st.integers(0, 2**62))


@st.composite
def mappings(draw: st.DrawFn) -> HandMapping:
    """Any mapping that can be written: each key is of one kind."""
    fields: dict[str, Any] = {"step": draw(steps), "response": Key("r" + draw(keys))}
    for name in draw(st.lists(st.sampled_from(scalars), unique=True, max_size=6)):
        fields[name] = Key("t" + draw(keys))
    for name in draw(st.lists(st.sampled_from(TOKEN_METRICS), unique=True, max_size=4)):
        fields[name] = Key("m" + draw(keys))
    if draw(st.booleans()):
        fields |= {"data_source": Constant(draw(keys)), "ref_reward": Constant(draw(st.floats(allow_nan=False)))}
    parts = () if "reward" in fields else tuple(draw(st.lists(st.tuples(keys.map("p".__add__), st.floats(-9, 9)), max_size=3)))
    pads = draw(st.lists(keys.filter(str.strip), max_size=2).map(tuple))
    return HandMapping(fields, parts, "loss_mask" in fields and draw(st.booleans()), pads)


@given(mappings())
def test_written_text_is_read_back(mapping: HandMapping) -> None:
    """Whatever the keys hold, quotes, dots, line ends or signs of any script, text and mapping say the same."""
    assert parse(write(mapping)) == mapping


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever a file holds ends in a mapping or in a reason that names the file."""
    with pytest.raises(MappingRefused, match=r"^my\.toml"):
        parse(text, "my.toml")


JUNK = (
    "5",
    "true",
    "nan",
    '"x"',
    "[]",
    "{}",
    "[{}]",
    "{ constant = [] }",
    "{ constant = nan }",
    "{ from = 1 }",
    "2026-01-01",
    "[" * 5000,
)
ENTRIES = [line for line in TEXT.splitlines() if "=" in line]


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: junk[:20])
def test_any_value_is_read_or_refused(entry: str, junk: str) -> None:
    """One wrong value anywhere ends in a mapping or in a reason, never in a failure."""
    with contextlib.suppress(MappingRefused):
        assert parse(TEXT.replace(entry, f"{entry.partition('=')[0]} = {junk}")) is not None


FIELDS = '[fields]\nstep = "s"\nresponse = "r"\n'
REFUSED: dict[str, tuple[str, str]] = {
    "not TOML": ("[fields\n", "rollouts.toml is not TOML: .*line 1"),
    "one name of very many parts": ("a" + ".a" * 50_000 + " = 1", "rollouts.toml has more than 20,000 dots, or 2,000 in a line"),
    "names of many parts": ("\n".join(f"k{at}{'.a' * 100} = 1" for at in range(500)), "more than 20,000 dots"),
    "a number of very many digits": (FIELDS + "number = " + "9" * 60_000, "rollouts.toml is not TOML: Exceeds the limit"),
    "empty": ("", r"\[fields\] has no step; write step"),
    "no response": ('[fields]\nstep = "s"\n', r"\[fields\] has nothing that was sampled; write one of \"response\""),
    "a table that is unknown": (
        FIELDS + "[field]\n",
        'the file has "field", which is unknown; perhaps fields. Allowed: pads, rows, each, fields, reward_parts',
    ),
    "pads that are no list": ('pads = "<x>"\n' + FIELDS, r"pads is .<x>., not a list of tokens; write pads = "),
    "an empty pad": ('pads = [" "]\n' + FIELDS, "not a list of tokens"),
    "a name that is unknown": (
        FIELDS + 'promt = "p"\n',
        r'\[fields\] has "promt", which is unknown; perhaps prompt. Allowed: step, prompt',
    ),
    "a field that is a number": (
        '[fields]\nstep = 5\nresponse = "r"\n',
        r"\[fields\] step is 5; it may be a key in quotes, or { constant",
    ),
    "rows that are no key": (FIELDS.replace("[fields]", "rows = 5\n[fields]"), "rows is 5, not a key in quotes"),
    "a value that is no number": (
        FIELDS + "[reward]\nvalues = { C = true }\n",
        r'\[reward\] values has "C" as true, not a number',
    ),
    "an empty key": ('[fields]\nstep = "s"\nresponse = ""\n', r'\[fields\] response is ""; it may be a key in quotes'),
    "a list": (FIELDS + 'prompt = ["p"]\n', r'\[fields\] prompt is \["p"\]'),
    "a date": (FIELDS + "prompt = 2026-01-01\n", r'\[fields\] prompt is "2026-01-01"'),
    "a constant of the wrong type": (
        FIELDS + 'reward = { constant = "high" }\n',
        r"it may be a key in quotes, or { constant = <number> }",
    ),
    "true as a constant": (FIELDS + "reward = { constant = true }\n", r"\[fields\] reward is"),
    "a constant per token": (
        FIELDS + "logprobs = { constant = 0.0 }\n",
        r"\[fields\] logprobs is .*; it may be a key in quotes$",
    ),
    "prompts from the path": (FIELDS + 'prompt = { from = "path" }\n', r"\[fields\] prompt is"),
    "from elsewhere": ('[fields]\nstep = { from = "name" }\nresponse = "r"\n', r'or { from = "path" }'),
    "fields that are no table": ("fields = 1\n", r"fields is 1, not a table; write \[fields\]"),
    "reward twice": (FIELDS + 'reward = "x"\n[[reward_parts]]\nkey = "a"\n', "keep one of them"),
    "parts that are no list": (FIELDS + '[reward_parts]\nkey = "a"\n', r"write \[\[reward_parts\]\] before each key"),
    "a part without a key": (FIELDS + "[[reward_parts]]\nweight = 1\n", r"\[\[reward_parts\]\] key is missing"),
    "a weight that is text": (FIELDS + '[[reward_parts]]\nkey = "a"\nweight = "1"\n', 'weight of "a" is "1", not a number'),
    "a weight without end": (FIELDS + '[[reward_parts]]\nkey = "a"\nweight = inf\n', 'weight of "a" is Infinity, not a number'),
    "an entry of a part": (FIELDS + '[[reward_parts]]\nkey = "a"\nweigth = 1\n', "perhaps weight"),
    "a cover that is unknown": (
        FIELDS + '[arrays]\ncover = "all"\n',
        r'\[arrays\] cover is "all"; it may be "prompt and response", "response"',
    ),
    "a cover that is a list": (FIELDS + "[arrays]\ncover = []\n", r"\[arrays\] cover is \[\]"),
    "a cover without a mask": (FIELDS + '[arrays]\ncover = "prompt and response"\n', "needs loss_mask"),
    "one key for two kinds": (FIELDS + 'logprobs = "r"\n', '"r" is logprobs, a number per token, and cannot be response too'),
    "an array as a part": (FIELDS + 'values = "v"\n[[reward_parts]]\nkey = "v"\n', '"v" is values, .* and cannot be'),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused_with_what_may_stand_there(text: str, reason: str) -> None:
    """An error says which entry of which file, and what is allowed in its place."""
    with pytest.raises(MappingRefused, match=reason):
        parse(text)


def test_pads_alone_map_nothing() -> None:
    """A file that names pads and no field goes with any format."""
    mapping = parse('pads = ["<|extra_0|>", "7"]\n')

    assert mapping == HandMapping({}, pads=("<|extra_0|>", "7"))
    assert not mapping.recognise(Head("a.jsonl", ({"step": 1, "response": "x"},)))
