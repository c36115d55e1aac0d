"""Write `docs/scripts.md` and the shipped JSON Schema from the replies: `python docs/scripts.py`. A test compares both."""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter

REPOSITORY: Final = Path(__file__).parents[1]
PAGE: Final = REPOSITORY / "docs" / "scripts.md"
SCHEMA: Final = REPOSITORY / "board" / "cli" / "replies" / "replies.schema.json"

sys.path.insert(0, str(REPOSITORY))

from board.cli.replies import contract  # noqa: E402
from board.cli.replies.contract import REPLIES, VERSION  # noqa: E402

GIVEN_BY: Final = {
    "SummaryReply": ("summary RUN", "run.summary()"),
    "StepsReply": ("steps RUN [--metric KEY]...", 'run.step_rows(["kl/k3_mean"])'),
    "RolloutsReply": (
        "rollouts RUN [--where SQL] [--sort [-]COLUMN] [--top N] [--columns NAMES]",
        'run.rollouts(where="reward > 2", sort="-reward", top=5)',
    ),
    "RolloutReply": (
        "show RUN [--step N] [--rollout SHARD:LINE] [--tokens] [--extremes METRIC]",
        'run.show("rank_0.jsonl:7", extremes_of="kl")',
    ),
    "MetricsReply": ("metrics RUN [--curve KEY]...", 'run.metrics(["reward/mean"])'),
    "QueryReply": ("", 'run.query("SELECT step, avg(reward) FROM rollouts GROUP BY ALL")'),
    "RunsReply": ("", ""),
}
"""Reply → the command and the call in Python that give it; without either, it is for agents."""

HEAD: Final = """# For scripts

[中文](zh-CN/scripts.md)

What the pages show is also available in a terminal, in Python and [to agents](agents.md). Each command prints a table, or one JSON object with
`--json`:

```bash
rl-logging-board summary RUN
rl-logging-board steps RUN --metric reward/mean --metric kl/k3_mean
rl-logging-board rollouts RUN --where "step >= 18 AND reward > 2" --sort -reward --top 5 --columns reward,valid_reward,response
rl-logging-board show RUN --step 18 --extremes kl            # the rollout of the step with the highest reward, and its most extreme tokens
rl-logging-board metrics RUN --curve reward/mean --json
```

- A list of rollouts is streamed: it may be larger than memory, and is one JSON object once complete.
- `--where` is the pages' filter, a condition in SQL over [the columns](row.md) and texts, which `summary` lists.
- A number that is missing or not finite is `null`. Positions of tokens count from 0, lines from 1.
- Exit statuses and errors are those of [every command](cli.md); with `--json` errors are JSON, too.
- The format has a version (1). New fields do not change it; removed fields and changed meanings do. The JSON Schema (draft 2020-12) is
  `board/cli/replies/replies.schema.json`, installed with the package.

In Python the same replies are dataclasses of `board.cli.replies.contract`; `document(reply)` is what `--json` prints:

```python
from board import open_run

run = open_run("rollout_samples/tiny_ppo_hacked")
run.summary().reward
run.rollouts(where="step >= 18 AND reward > 2", sort="-reward", top=5).rollouts[0].rollout
run.show(step=18, extremes_of="kl").tokens[0].token
run.findings().findings[0].effect
```

`findings`, `check` and `compare` have their own formats:
[findings](cli.md#findings), [check](cli.md#check-a-run), [compare](cli.md#compare-two-runs).

## In a notebook

The same run gives its rollouts as a pandas frame and as arrays, without importing Streamlit:

```python
run.frame.groupby("step")["reward"].mean()       # numbers: a row per rollout, ordered by step, shard, line
run.rollout(run.frame.index[0])["logprobs"]      # token arrays: float32, NaN where missing
run.report.problems                              # what could not be read, with shard, line and reason

from board import figures                        # Plotly figures of a run

figures.reward_curve(run)
figures.metric(run, "kl/k3_mean")
```
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_section(reply) for reply in REPLIES)])


def schema() -> str:
    """The JSON Schema of all replies."""
    definitions: dict[str, Any] = {}
    for reply in REPLIES:
        made = TypeAdapter(reply).json_schema(mode="serialization", ref_template="#/$defs/{model}")
        definitions |= made.pop("$defs", {})
        made["properties"] = {"version": {"const": VERSION}, **made["properties"]}
        made["required"] = ["version", *made["required"]]
        definitions[reply.__name__] = made
    for name, made in definitions.items():
        shape = getattr(contract, name)
        made["description"] = inspect.getdoc(shape)
        for field, sentence in _sentences(shape).items():
            made["properties"][field]["description"] = sentence
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Replies of RL Logging Board",
        "anyOf": [{"$ref": f"#/$defs/{reply.__name__}"} for reply in REPLIES],
        "$defs": dict(sorted(definitions.items())),
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _section(reply: type) -> str:
    command, python = GIVEN_BY[reply.__name__]
    quoted = [f"`{command}`" if command else "", f"`{python}`" if python else ""]
    sources = " or ".join(filter(None, quoted)) or "the agents' tool `runs`"
    lines = [
        f"## {reply.__name__}",
        "",
        f"{inspect.getdoc(reply)} Returned by {sources}.",
        "",
        "| field | type | meaning |",
        "|---|---|---|",
    ]
    return "\n".join([*lines, "| `version` | integer | 1 |", *_rows(reply, ""), ""])


def _rows(shape: type, prefix: str) -> Iterator[str]:
    sentences, types = _sentences(shape), get_type_hints(shape)
    for field in fields(shape):
        inner = next(filter(is_dataclass, [types[field.name], *get_args(types[field.name])]), None)
        meaning = sentences.get(field.name, "" if inner is None else inspect.getdoc(inner) or "")
        yield f"| `{prefix}{field.name}` | {_kind(types[field.name])} | {meaning.replace('|', chr(92) + '|')} |"
        if isinstance(inner, type):
            yield from _rows(inner, f"{prefix}{field.name}.")


def _kind(hint: Any) -> str:
    made = TypeAdapter(hint).json_schema(mode="serialization")
    names = [one.get("type", "object") for one in made.get("anyOf", [made])]
    return " or ".join(dict.fromkeys("number" if name == "number" else str(name) for name in names))


def _sentences(shape: type) -> dict[str, str]:
    """Field → the sentence below it."""
    body = ast.parse(inspect.getsource(shape)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[ast.unparse(field.target)] = inspect.cleandoc(str(below.value.value))
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    SCHEMA.write_text(schema(), encoding="utf-8")
