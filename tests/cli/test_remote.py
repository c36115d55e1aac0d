"""Tests of commands on runs that lie elsewhere: an address is taken wherever a folder is, and no secret in one is ever said."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from asked import ran
from range_server import RangeServer, range_server
from rows import lines, token_row
from servers import Serve

SECRET = "hunter2"


@pytest.fixture
def web(tmp_path: Path) -> Iterator[RangeServer]:
    """A web server of a root with two runs."""
    for name in ("a", "b"):
        (tmp_path / "root" / name).mkdir(parents=True)
        rows = (token_row(step, prompt=f"p{step}", reward=float(name == "b")) for step in range(30))
        (tmp_path / "root" / name / "rank_0.jsonl").write_bytes(lines(rows))
    with range_server(tmp_path / "root") as server:
        yield server


def test_commands_take_addresses(web: RangeServer, tmp_path: Path) -> None:
    """Each does what it does of a folder, and names the run by its address."""
    a, b = f"{web.address}/a", f"{web.address}/b"
    assert json.loads(ran("check", a, "--json").output)["run"] == a
    assert a in ran("compare", a, b).output
    assert json.loads(ran("summary", a, "--json").output)["run"] == a
    assert ran("export", a, tmp_path / "out.csv").exit_code == 0
    assert ran("convert", a, tmp_path / "out").exit_code == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 31
    assert "pushed" in (pushed := ran("push", a, "--to", "stdout")).output.lower() or pushed.exit_code == 0


@pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["findings"], ["serve"]])
@pytest.mark.parametrize("address", [f"s3://me:{SECRET}@bucket/run", f"https://host/run?X-Amz-Signature={SECRET}"])
def test_secrets_are_refused_and_not_repeated(command: list[str], address: str) -> None:
    """The command ends as one whose arguments cannot be used."""
    ended = ran(*command, address)
    assert ended.exit_code == 2
    assert SECRET not in ended.output
    assert "credentials" in ended.output


@pytest.mark.parametrize("address", ["ftp://host/run", "http://127.0.0.1:9/none"])
def test_what_cannot_be_opened(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence, and exit status 2."""
    monkeypatch.setattr("board.sources.remote.object_store.MOST_TRIES", 1)
    ended = ran("check", address)
    assert ended.exit_code == 2
    assert "Traceback" not in ended.output


def test_serve(web: RangeServer, serve: Serve) -> None:
    """The server starts on an address."""
    address = serve(web.address)
    with urlopen(address, timeout=60) as answer:
        assert answer.status == 200
