"""The server for agents, asked by the protocol's own client over a process's standard input and output."""

import asyncio
import json
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from asked import asked_run
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from rows import add_run, row

from board.agents import server as serving
from board.replies.root import Root

REPOSITORY = Path(__file__).parents[2]


def talk(root: Path, *questions: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """Whether each question failed, and what was said."""

    async def ask() -> list[tuple[bool, str]]:
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "board", "mcp", str(root)], env=environment)
        async with Client(stdio_client(parameters)) as client:
            answers = [await client.call_tool(name, arguments) for name, arguments in questions]
        return [(bool(one.is_error), "".join(part.text for part in one.content if part.type == "text")) for one in answers]

    return _run(ask())


def _run(waited: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(waited, 120))


def test_an_agent_finds_its_way(tmp_path: Path) -> None:
    """From the runs to one, its steps, its rollouts, a token; every answer is the document that `--json` prints."""
    asked_run(tmp_path, "run")
    run = {"run": "run"}

    said = talk(
        tmp_path,
        ("runs", {}),
        ("summary", run),
        ("steps", run | {"metrics": ["reward/mean"], "first": 1}),
        ("metrics", run),
        ("rollouts", run | {"where": "reward > 2", "columns": ["response"]}),
        ("rollout", run | {"step": 1}),
        ("extreme_tokens", run | {"rollout": "rank_0.jsonl:8", "metric": "kl", "top": 1}),
        ("query", run | {"sql": "SELECT count(*) AS n FROM rollouts"}),
        ("findings", run),
    )

    assert [failed for failed, _ in said] == [False] * 9
    runs, summary, steps, metrics, rollouts, rollout, tokens, query, findings = (json.loads(text) for _, text in said)
    assert {one["version"] for one in (runs, summary, steps, metrics, rollouts, rollout, tokens, query, findings)} == {1}
    assert [one["run"] for one in runs["runs"]] == ["run"]
    assert summary["rollouts"] == 8
    assert [one["step"] for one in steps["steps"]] == [1]
    assert "reward/mean" in [one["key"] for one in metrics["metrics"]]
    assert rollouts["rollouts"][0]["values"] == {"response": "r13 中文"}
    assert rollout["rollout"] == "rank_0.jsonl:8"
    assert [one["position"] for one in tokens["tokens"]] == [1]
    assert query["rows"] == [[8]]
    assert findings["looked_for"]


def test_nothing_is_told_that_is_not_under_the_root(tmp_path: Path) -> None:
    """Names that lead out, files behind SQL, rollouts that are not there: each is refused in a sentence, and the server goes on."""
    asked_run(tmp_path / "root", "run")
    asked_run(tmp_path, "outside")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("summary", {"run": "../outside"}),
        ("summary", {"run": str(tmp_path / "outside")}),
        ("query", {"run": "run", "sql": "SELECT * FROM read_text('/etc/passwd')"}),
        ("query", {"run": "run", "sql": "COPY rollouts TO '/tmp/x'"}),
        ("rollout", {"run": "run", "rollout": "../../etc/passwd:1"}),
        ("rollouts", {"run": "run", "top": 10**9}),
        ("runs", {}),
    ]

    *refused, last = talk(tmp_path / "root", *asked)

    assert [failed for failed, _ in refused] == [True] * 6
    assert not any("root:" in text for _, text in refused)
    assert not last[0]


def test_answers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the texts and the run: texts and lists are cut, and it is told."""
    add_run(tmp_path, "run", [row(step, response="word " * 20_000, reward=float(step)) for step in range(300)])
    monkeypatch.setattr(serving, "MOST_ROWS", 5)
    tools = serving.RunTools(Root(tmp_path))

    rollout, steps = tools.rollout("run", step=7), tools.steps("run")
    listed = tools.rollouts("run", top=serving.MOST_ROLLOUTS, columns=["response"])
    answered = tools.query("run", "SELECT response FROM rollouts")

    assert rollout["cut"] == {"response": 100_000}
    assert len(rollout["texts"]["response"]) == serving.LONGEST_TEXT
    assert (len(steps["steps"]), steps["more"], steps["steps"][-1]["step"]) == (serving.MOST_STEPS, 100, 299)
    assert max(len(one["values"]["response"]) for one in listed["rollouts"]) == serving.LONGEST_CELL + 1
    assert (len(answered["rows"]), answered["cut"]) == (5, True)
    assert max(len(json.dumps(one)) for one in (rollout, steps, listed, answered)) < 200_000
