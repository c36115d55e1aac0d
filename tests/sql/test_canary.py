"""Every place where a reader's text becomes SQL, tried with statements that would read a file: no word of the file comes back."""

import ast
import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from indexed import indexed
from opened_pages import every_page, opened
from rows import row, write_run

from board import open_run
from board.cli.main import main
from board.cli.mcp_server import RunTools
from board.cli.replies.query import query
from board.cli.replies.root import Root
from board.errors import BoardError
from board.runs.indexed.slices import SETTING
from board.runs.run import Run
from board.settings import saved
from board.sql import index_query
from board.sql.chips import parsed
from board.sql.sandbox_table import STORED
from board.sql.sandbox_worker import answer

REPOSITORY = Path(__file__).parents[2]

CANARY = "zebrafinch"
"""What the file says, what it is called, and what a variable of the environment holds."""

READS = {
    "read_csv": "read_csv('{folder}/*.csv', header=false)",
    "names of columns": "read_csv('{folder}/*.csv', header=true)",
    "read_text": "(SELECT content FROM read_text('{folder}/*.csv'))",
    "read_blob": "(SELECT content::VARCHAR FROM read_blob('{folder}/*.csv'))",
    "glob": "glob('{folder}/*')",
    "parquet_scan": "parquet_scan('{folder}/*.parquet')",
    "read_json": "read_json('{folder}/*.json')",
    "a file in quotes": "'{folder}/*.csv'",
    "query": "query('FROM read_text(''{folder}/*.csv'')')",
    "query, where files are open": (
        "query(if(current_setting('enable_external_access')::VARCHAR = 'true', "
        "'SELECT columns(''qqqq'') FROM read_csv(''{folder}/*.csv'', header=true)', 'SELECT 1 AS a'))"
    ),
    "query_table": "query_table(['{folder}/*.csv'])",
    "quotes in quotes": "query('FROM query(''SELECT content FROM read_text(''''{folder}/*.csv'''')'')')",
    "pivot": "(PIVOT (FROM read_text('{folder}/*.csv')) ON size IN (1, 2, 3) USING max(content))",
    "SQL in JSON": "json_execute_serialized_sql(json_serialize_sql('SELECT content FROM read_text(''{folder}/*.csv'')'))",
    "sniff_csv": "sniff_csv('{folder}/known.csv')",
}
"""What stands behind FROM."""

SHAPES = {
    "a row": "SELECT 0 AS step, 1.0 AS value, t::VARCHAR AS name FROM {read} AS t",
    "a name that is missed": "SELECT columns('qqqq') FROM {read} AS t",
}
CONDITIONS = {
    "a text that is no number": "reward > (SELECT max(t::VARCHAR)::INT FROM {read} AS t) * 0 - 1",
    "a name that is missed": "reward > (SELECT count(columns('qqqq')) FROM {read} AS t) * 0 - 1",
    "a number of rows": "reward > (SELECT count(*) FROM {read} AS t) * 0 - 1",
}

STATEMENTS = {
    "copy": "COPY (SELECT 1) TO '{folder}/made'",
    "copy inside": "WITH a AS (COPY (SELECT 1) TO '{folder}/made') SELECT * FROM a",
    "attach": "ATTACH '{folder}/made' AS made",
    "import": "IMPORT DATABASE '{folder}'",
    "pragma": "PRAGMA import_database('{folder}')",
    "install": "INSTALL httpfs",
    "load": "LOAD '{folder}/known.csv'",
    "macro": "CREATE MACRO rows() AS TABLE FROM read_text('{folder}/*.csv')",
    "two": "SELECT 1; SELECT content FROM read_text('{folder}/*.csv')",
    "getenv": "SELECT getenv('BIRD')",
    "a bracket closed by an escape": "SELECT 1 WHERE (e'\\''); COPY (SELECT 1) TO '{folder}/made'; SELECT (1 --')",
    "set": "SET enable_external_access = true",
    "pivot without values": "PIVOT read_csv('{folder}/*.csv', header=false) ON column0 USING count(*)",
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A folder of files that hold the canary and are named after it, which nothing changes."""
    folder = tmp_path / "world"
    folder.mkdir()
    for name in (f"{CANARY}.csv", "known.csv"):
        (folder / name).write_text(f"{CANARY}\n{CANARY}\n")
    (folder / f"{CANARY}.json").write_text(json.dumps({CANARY: CANARY}))
    (folder / "schema.sql").write_text(f"SELECT {CANARY} FROM {CANARY};")
    (folder / "load.sql").write_text("")
    pd.DataFrame({CANARY: [CANARY]}).to_parquet(folder / f"{CANARY}.parquet")
    monkeypatch.setenv("BIRD", CANARY)
    before = sorted(folder.iterdir())
    yield {"folder": str(folder)}
    assert sorted(folder.iterdir()) == before


def payloads(shapes: dict[str, str], world: dict[str, str]) -> list[str]:
    """Each of these shapes with each of READS."""
    return [shape.format(read=read).format(**world) for shape in shapes.values() for read in READS.values()]


@pytest.mark.parametrize("read", READS)
def test_an_open_database_would_tell(read: str, world: dict[str, str]) -> None:
    """Each of the statements brings the canary where DuckDB is as it comes, so that its silence says something."""
    said: list[object] = []
    for shape in SHAPES.values():
        try:
            said += duckdb.connect().sql(shape.format(read=READS[read]).format(**world)).fetchall()
        except duckdb.Error as error:
            said.append(str(error))
    assert CANARY in str(said)


def stored_table(folder: Path, where: str = "") -> pa.Table:
    """What the worker is sent to ask a file of Parquet, whose rows a condition of the reader's may choose."""
    path = folder / "rows.parquet"
    pd.DataFrame({"rollout": np.arange(3), "frame/reward": [0.0, 1.0, 2.0], "frame/step": 0}).to_parquet(path)
    columns = {"rollout": "rollout", "reward": '"frame/reward"', "step": '"frame/step"'}
    told = {"paths": [str(path)], "columns": columns, "where": where}
    return pa.table({}).replace_schema_metadata({STORED: json.dumps(told).encode()})


def worker_says(table: pa.Table, query: str) -> str:
    """All that comes back for a query."""
    found = answer(table, query, {"seconds": 5, "memory": 256_000_000, "rows": 100, "bytes": 1_000_000, "threads": 1})
    return f"{found.to_pydict()} {found.schema.metadata}"


PLAIN = pa.table({"rollout": [0, 1], "reward": [0.0, 1.0], "step": [0, 0]})

WAYS: dict[str, Callable[[Path, str, str], str]] = {
    "a query of a table in memory": lambda folder, query, where: worker_says(PLAIN, query),
    "a condition of a table in memory": lambda folder, query, where: worker_says(PLAIN, f"FROM rollouts WHERE (\n{where}\n)"),
    "a query of stored files": lambda folder, query, where: worker_says(stored_table(folder), query),
    "a condition of stored files": lambda folder, query, where: worker_says(
        stored_table(folder), f"FROM rollouts WHERE (\n{where}\n)"
    ),
    "the filter of stored files": lambda folder, query, where: worker_says(stored_table(folder, where), "FROM rollouts"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_worker_tells_nothing(way: str, world: dict[str, str], tmp_path: Path) -> None:
    """No statement makes the process that answers queries read, name or write a file, in whatever place of its order it stands."""
    others = [one.format(**world) for one in STATEMENTS.values()]
    queries = [*payloads(SHAPES, world), *others]
    conditions = [*payloads(CONDITIONS, world), *(f"true); {one} --" for one in others), *others]
    for at in range(max(len(queries), len(conditions))):
        said = WAYS[way](tmp_path, queries[at % len(queries)], conditions[at % len(conditions)])
        assert CANARY not in said.replace(world["folder"], ""), (queries[at % len(queries)], conditions[at % len(conditions)])


def test_the_filter_of_stored_files_is_one_condition(tmp_path: Path) -> None:
    """A condition that ends its statement and begins another is refused, and one with a subquery looks at all rollouts."""
    assert "2 statements" in worker_says(stored_table(tmp_path, "true; DROP VIEW whole"), "SELECT 1")
    above = stored_table(tmp_path, "reward >= (SELECT avg(reward) FROM rollouts)")
    assert "'n': [2]" in worker_says(above, "SELECT count(*) AS n FROM rollouts")


ENTRIES = {
    "board/cli/commands/export.py": "the option --where of `export`",
    "board/cli/replies/query.py": "tools for agents, and a filtered index",
    "board/cli/replies/rollouts.py": "the option --where of `rollouts`, and tools for agents",
    "board/ui/frame/filter_bar.py": "the filter of every page, named ones too",
    "board/ui/pages/metrics/sql_editor.py": "custom metrics, written and saved",
}
"""The modules that ask DuckDB in a reader's words; the tests below go through each."""

ASKING = {"answered", "matching", "left_by", "evaluate", "index_query"}


def test_these_are_all_entries() -> None:
    """One module imports DuckDB, and no module beside those that are tried here asks it anything."""
    importing, asking = set(), set()
    for path in (REPOSITORY / "board").rglob("*.py"):
        name = path.relative_to(REPOSITORY).as_posix()
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "duckdb" in text or "board.sql" in text else ():
            if isinstance(node, ast.Import) and any(one.name.split(".")[0] == "duckdb" for one in node.names):
                importing.add(name)
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "duckdb":
                importing.add(name)
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").startswith("board.sql")
                and any(one.name in ASKING for one in node.names)
            ):
                asking.add(name)
    assert importing == {"board/sql/sandbox_worker.py"}
    assert {one for one in asking if not one.startswith("board/sql/")} == {*ENTRIES}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run, and its index at lowered bounds: it is larger than memory, and most filters leave too many to show."""
    folder = tmp_path / "root"
    rows = [row(step, reward=float(one), prompt=f"{step}.{one % 3}") for step in range(10) for one in range(6)]
    run = write_run(folder / "run", {"a.jsonl": rows})
    indexed(run, folder / "index")
    monkeypatch.setenv(SETTING, "20")
    monkeypatch.setenv("RL_BOARD_ROOT", str(folder))
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))
    return folder


def strongest(shapes: dict[str, str], world: dict[str, str]) -> list[str]:
    """Of all the statements one that always reads, and one that reads where files are open alone and else is good."""
    always, sometimes = READS["names of columns"], READS["query, where files are open"]
    chosen = (
        [*shapes.values()][-2].format(read=always),
        [*shapes.values()][-1 if shapes is CONDITIONS else 0].format(read=sometimes),
    )
    return [one.format(**world) for one in chosen]


def said_by(ask: Callable[[], Any]) -> str:
    """What is answered, or why nothing is."""
    try:
        return str(ask())
    except (BoardError, OSError) as error:
        return str(error)


@pytest.mark.parametrize("name", ["run", "index"])
def test_commands_tell_nothing(name: str, root: Path, world: dict[str, str], tmp_path: Path) -> None:
    """Every command that takes a condition, in whatever option, prints and writes no word of the file."""
    runner, tried = CliRunner(), set()
    (tmp_path / "out").mkdir()
    for command, what in main.commands.items():
        options = [
            one for one in what.params if isinstance(one, click.Option) and one.name in ("where", "filter", "sql", "query")
        ]
        for option in options:
            tried.add(command)
            for at, condition in enumerate(strongest(CONDITIONS, world)):
                out = tmp_path / "out" / f"{command}{at}.jsonl"
                places = [one.name for one in what.params if isinstance(one, click.Argument)]
                given = [str(root / name) if one == "run" else str(out) for one in places]
                for more in [[], ["--layout", "run"]] if command == "export" else [[]]:
                    said = runner.invoke(main, [command, option.opts[0], condition, *given, *more])
                    assert CANARY not in said.output + str(said.exception)
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any(CANARY in path.read_text() for path in written)
    assert tried >= {"rollouts", "export"}


@pytest.mark.parametrize("name", ["run", "index"])
def test_tools_for_agents_tell_nothing(name: str, root: Path, world: dict[str, str]) -> None:
    """Every tool, given statements wherever it takes text, answers and refuses without a word of the file."""
    tools = RunTools(Root(root))
    for tool, function in vars(RunTools).items():
        if tool.startswith("_"):
            continue
        for text in inspect.signature(function).parameters.keys() - {"self", "run", "step", "first", "top"}:
            for said in strongest(SHAPES if text == "sql" else CONDITIONS, world):
                given: Any = [said] if text in ("columns", "metrics") else said
                others = {"rollout": "a.jsonl:1", "metric": "kl"} if tool == "extreme_tokens" else {}
                assert CANARY not in said_by(lambda: getattr(tools, tool)(**{"run": name, **others, text: given}))  # noqa: B023


def test_an_index_that_is_filtered_tells_nothing(root: Path, world: dict[str, str]) -> None:
    """A condition that leaves too many to show stays in every later question, and is as harmless there."""
    index: Run = open_run(root / "index")
    assert index.slice is not None
    for condition in strongest(CONDITIONS, world):

        def ask(wanted: str = condition) -> object:
            left = index_query.filtered(index, parsed(wanted), "left")
            return query(left, "SELECT count(*) FROM rollouts"), left.at_step(3).frame

        assert CANARY not in said_by(ask)


@pytest.mark.parametrize("name", ["run", "index"])
def test_pages_tell_nothing(name: str, root: Path, world: dict[str, str]) -> None:
    """No page over a filter, or with a search, says a word of the file; the first shows what DuckDB has to say."""
    told = []
    for condition in strongest(CONDITIONS, world):
        pages = [*every_page(run=name, step=3, filter=condition, q=condition, search_in="prompt")]
        told.append("file system operations are disabled" in shown(pages[0][1]))
        for page, test in pages:
            assert CANARY not in shown(test), page
    assert told == [True, False]


@pytest.mark.parametrize("name", ["run", "index"])
def test_the_editor_tells_nothing(name: str, root: Path, world: dict[str, str]) -> None:
    """A custom metric that was written, or saved and named by a link, over a filter or not, says no word of the file."""
    for at, text in enumerate(strongest(SHAPES, world)):
        saved.save_query(f"q{at}", text)
        saved.save_filter(f"f{at}", strongest(CONDITIONS, world)[at])
        for where in ("", strongest(CONDITIONS, world)[1]):
            test = opened("metrics", run=name, step=3, sql="true", sql_saved=f"q{at}", filter=where)
            assert test.text_area(key="sql_query").value == text
            assert CANARY not in shown(test)
            test.text_area(key="sql_query").set_value(f"{text} -- again")
            assert CANARY not in shown(test.button(key="sql_run").click().run())


def shown(test: Any) -> str:
    """All that the browser is sent for a page, and what failed."""
    return "".join(str(one.proto) for one in test.main) + str(test.exception)
