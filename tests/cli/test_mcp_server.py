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
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from rows import add_run, row, write_run

from board.cli import mcp_server as server
from board.cli import mcp_server as serving
from board.cli.replies.root import Root

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


LONG = "x" * 400_000
HOSTILE: dict[str, list[dict[str, Any]]] = {
    "ids": [row(at, reward=1.0, group_id=f"{LONG}{at // 2}", sample_id=LONG, data_source=LONG) for at in range(8)],
    "names": [row(at, reward=1.0, **{f"{LONG[:20_000]}{one}": one for one in range(40)}) for at in range(4)],
    "columns": [
        row(at, reward=1.0, **{f"a_rather_long_name_of_a_column_{one}": one for one in range(2_000)}) for at in range(60)
    ],
    "texts": [row(at, reward=1.0, prompt=LONG, **{f"text {one}": LONG[:30_000] for one in range(40)}) for at in range(8)],
    "tokens": [row(at, response_tokens=[LONG, "b"], logprobs=[-1.0, -2.0], reward=1.0) for at in range(8)],
    "quotes": [row(at, reward=1.0, prompt='"\\\u0001\n中' * 20_000) for at in range(8)],
}


def asked_of(rows: list[dict[str, Any]], shard: str) -> list[tuple[str, dict[str, Any]]]:
    """Every question, with names that the run has."""
    run, own = {"run": "run"}, [name for name in rows[0] if name not in ("step", "response_tokens", "logprobs")][:100]
    return [
        *((name, run) for name in ("summary", "findings", "steps", "metrics", "rollouts")),
        ("runs", {}),
        ("steps", run | {"metrics": ["reward/mean"] * 90}),
        ("rollouts", run | {"top": 50, "columns": [name for name in own if len(name) < 1_000]}),
        ("rollout", run | {"step": 0}),
        ("extreme_tokens", run | {"rollout": f"{shard}:1", "metric": "logprob"}),
        ("query", run | {"sql": "SELECT * FROM rollouts"}),
    ]


def asked_of_any(shard: str) -> list[tuple[str, dict[str, Any]]]:
    """Questions whose length is the reader's, with names that nobody has."""
    run = {"run": "run"}
    return [
        ("query", run | {"sql": "SELECT repeat('y', 1000000) AS y, range(100000) AS r FROM rollouts"}),
        ("query", run | {"sql": f"SELECT {LONG[:19_000]} FROM rollouts"}),
        ("query", run | {"sql": f'SELECT 1 AS "{LONG[:19_000]}"'}),
        ("steps", run | {"metrics": ["reward/mean"] * 6_000}),
        ("steps", run | {"metrics": [LONG] * 90}),
        ("steps", run | {"metrics": [[LONG]] * 90}),
        ("rollouts", run | {"columns": [7] * 6_000}),
        ("rollouts", run | {"columns": ["nobody's"]}),
        ("rollouts", run | {"where": LONG}),
        ("rollout", run | {"rollout": LONG}),
        ("extreme_tokens", run | {"rollout": f"{shard}:1", "metric": "nobody's"}),
        ("summary", {"run": LONG}),
        ("summary", {"run": "n" * 9_000}),
        (LONG, run),
    ]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_answer_is_larger_than_it_may_be(hostile: str, tmp_path: Path) -> None:
    """Whatever a run holds and whatever is asked: an answer has 100 kB at most and says what is left out, an error has a few lines."""
    shard = f"{'s' * 240}.jsonl"
    write_run(tmp_path / "run", {shard: HOSTILE[hostile]})
    server = serving.server(tmp_path)
    was_cut = 0
    for name, arguments in [*asked_of(HOSTILE[hostile], shard), *(asked_of_any(shard) if hostile == "ids" else [])]:
        failed, text = said_by(server, name, arguments)
        assert len(text.encode()) <= (serving.MOST_ERROR * 4 if failed else serving.MOST_BYTES), name[:50]
        if not failed and (left := json.loads(text).get("left_out")):
            was_cut += 1
            assert left["characters"] + left["entries"] > 0
            assert "--json" in left["how"]
    assert was_cut or hostile == "quotes"  # of which every cell is short already


def said_by(server: Any, name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    """Whether a question failed, and what was said, by a server in this process."""
    try:
        answer: CallToolResult = asyncio.run(server.call_tool(name, arguments))
    except ToolError as error:
        return True, str(error)
    return False, "".join(part.text for part in answer.content if part.type == "text")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"version": 1, "a": [[["z" * 50] * 300] * 300] * 10}, id="deep lists"),
        pytest.param({"version": 1, "a": {f"{at}{'k' * 5_000}": at for at in range(500)}}, id="long keys"),
        pytest.param({"version": 1, **{str(at): "中" * 90 for at in range(2_000)}}, id="many fields"),
        pytest.param({"version": 1, "a": ["中" * 100_000]}, id="three bytes a character"),
    ],
)
def test_any_document_is_cut_to_size(document: dict[str, Any]) -> None:
    """However deep or wide: what is written fits, begins with the version and says that something is left out."""
    told = serving.bounded(document)
    assert len(json.dumps(told, ensure_ascii=False, indent=2).encode()) <= serving.MOST_BYTES
    assert next(iter(told)) == "version"
    assert told["left_out"]["characters"] + told["left_out"]["entries"] > 0


def test_a_small_answer_is_left_as_it_is() -> None:
    """What fits is told as before, without a word on what is left out."""
    document = {"version": 1, "a": ["x" * 90_000]}
    assert server.bounded(document) is document


def test_run_of_refused_rows_is_an_error(tmp_path: Path) -> None:
    """Where no row could be read every tool fails with the first reason and the guess, and tells of no zeros."""
    write_run(tmp_path / "run", {"a.jsonl": [{"question": "Q?", "model_answer": "I say so."}]})

    for name in ("summary", "steps", "metrics", "rollouts", "findings"):
        failed, text = said_by(serving.server(tmp_path), name, {"run": "run"})
        assert failed
        assert "1 line refused; the first reason: a.jsonl:1" in text
        assert 'response = "model_answer"' in text
