"""Tests of runs that lie elsewhere: opened over S3 and over the web they are the runs that they are on this machine."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from indexed import assert_same as assert_index_same
from range_server import RangeServer, range_server
from rows import compressed, lines, token_row
from s3_server import Bucket, cutting_proxy

from board import open_run
from board.cli.main import main
from board.errors import ArgumentRefused, RunNotFound
from board.runs.library import current_fingerprint, list_runs
from board.runs.loading.background_load import BackgroundLoad
from board.runs.parsing import range_parsing
from board.runs.run import Run
from board.runs.summaries.run_summaries import SummaryOrder, SummaryProcess
from board.sources import settings_files
from board.sources.remote import listings, object_store


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists at every look, and waits little."""
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(listings, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(listings, "COSTS", 0.0)


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A root with runs of several kinds of files, and settings beside one of them."""
    root = tmp_path / "root"
    for name in ("plain", "packed", "table"):
        (root / name).mkdir(parents=True)
    rows = [[token_row(step, reward=step * 0.5 + rank) for step in range(40)] for rank in range(3)]
    for rank, own in enumerate(rows):
        (root / "plain" / f"rank_{rank}.jsonl").write_bytes(lines(own))
        (root / "packed" / f"rank_{rank}.jsonl.gz").write_bytes(compressed(lines(own), "x.jsonl.gz"))
    pq.write_table(pa.Table.from_pylist(rows[0]), root / "table" / "part.parquet")
    (root / "plain" / "config.yaml").write_text("lr: 0.5\n")
    (root / "plain" / "state.json").write_text('{"no": "rollouts"}')
    return root


@pytest.fixture
def web(local: Path) -> Iterator[RangeServer]:
    """A web server of that root."""
    with range_server(local) as server:
        yield server


def filled(bucket: Bucket, local: Path) -> str:
    """The address of the root in a bucket."""
    for path in local.rglob("*"):
        if path.is_file():
            bucket.put(f"exp/{path.relative_to(local).as_posix()}", path.read_bytes())
    return f"{bucket.address}/exp"


def assert_same(remote: Path, local: Path) -> None:
    """Both list the same runs, which open as the same rollouts."""
    names = [run.name for run in list_runs(local)]
    assert [(run.name, run.shards, run.bytes) for run in list_runs(remote)] == [
        (run.name, run.shards, run.bytes) for run in list_runs(local)
    ]
    for name in names:
        there, here = open_run(remote / name, within=remote), open_run(local / name)
        pd.testing.assert_frame_equal(there.frame, here.frame)
        assert there.report.problems == here.report.problems
        assert there.rollout(7)["logprobs"].tolist() == here.rollout(7)["logprobs"].tolist()


def test_over_s3(bucket: Bucket, local: Path) -> None:
    """Every kind of file, the list of runs and the settings beside one."""
    root = listings.mounted(filled(bucket, local))
    assert_same(root, local)
    (settings,) = settings_files.find_settings(root / "plain", root)
    assert settings.values == {"lr": 0.5}


def test_over_the_web(web: RangeServer, local: Path) -> None:
    """The same, each byte once, as one process reads them and little is held."""
    assert_same(listings.mounted(web.address), local)
    assert web.files_sent() <= sum(path.stat().st_size for path in local.rglob("*") if path.is_file())


def test_by_processes(web: RangeServer, local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that parse fetch what they parse, beside a few places that this process looks at."""
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", 0)
    assert len(open_run(f"{web.address}/plain").frame) == 120
    assert web.files_sent() <= 2 * sum(path.stat().st_size for path in (local / "plain").iterdir())


def test_an_index_that_lies_elsewhere(web: RangeServer, local: Path) -> None:
    """Opens as the run it was made of, row for row, and what is fetched is no more than there is."""
    here = open_run(local / "plain")
    made = CliRunner().invoke(main, ["index", str(local / "plain"), "--out", str(local / "indexed")])
    assert made.exit_code == 0, made.output
    folder = local / "indexed"
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    before = web.files_sent()
    there = open_run(f"{web.address}/indexed")
    assert_index_same(there, here)
    assert there.rollout(there.frame.index[7])["logprobs"].tolist() == here.rollout(here.frame.index[7])["logprobs"].tolist()
    assert web.files_sent() - before <= size
    assert there.report.mended == []


def test_nothing_secret_is_kept(bucket: Bucket, local: Path) -> None:
    """No file of the cache has the credentials in it."""
    open_run(f"{filled(bucket, local)}/plain")
    secret = os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    kept = [path for path in Path(os.environ["RL_BOARD_CACHE"]).rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if secret in path.read_bytes()]
    assert [path for path in kept if path.stat().st_mode & 0o077 and "files" not in path.parts and not _is_closed(path)] == []


def _is_closed(path: Path) -> bool:
    """Whether a folder above it keeps others out."""
    return any(above.stat().st_mode & 0o077 == 0 for above in path.parents if above.is_relative_to(os.environ["RL_BOARD_CACHE"]))


def test_names_that_lead_out(bucket: Bucket) -> None:
    """Objects called as ways out are files of the run, under names that show what they are."""
    for key in ("../../evil.jsonl", "a//b.jsonl", "x\\..\\y.jsonl", "tab\there.jsonl", "d", "d/e.jsonl"):
        bucket.put(f"exp/{key}", lines([token_row(1)]))
    folder = listings.mounted(f"{bucket.address}/exp")
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert found == ["%2E%2E/%2E%2E/evil.jsonl", "a/%2F/b.jsonl", "d%2F%2F", "d/e.jsonl", "tab%09here.jsonl", "x%5C..%5Cy.jsonl"]
    assert len(open_run(folder).frame) == 5
    assert not [path for path in folder.parent.rglob("evil.jsonl") if not path.is_relative_to(folder)]


def test_a_live_run(web: RangeServer, local: Path) -> None:
    """A run that grows looks changed, and opened again has the new rollouts; of what was there little is fetched again."""
    shard = local / "plain" / "rank_0.jsonl"
    root = listings.mounted(web.address)
    run = open_run(root / "plain", within=root)
    shard.write_bytes(shard.read_bytes() + lines(token_row(step) for step in range(40, 60)))
    (local / "plain" / "rank_9.jsonl").write_bytes(lines([token_row(7)]))
    assert changed(run, root)
    again = open_run(root / "plain", within=root)
    assert len(again.frame) == len(run.frame) + 21


def test_a_run_that_was_read_has_not_changed(web: RangeServer) -> None:
    """To fetch its bytes changes nothing that it is known by: it is not loaded again, and a later open parses and fetches nothing."""
    root = listings.mounted(web.address)
    run = open_run(root / "plain", within=root)
    assert current_fingerprint(root / "plain", root) == run.fingerprint
    kept = {path: path.stat().st_mtime_ns for path in parts_kept()}
    listings.refresh(root, wait=True)
    listings._mounts[root.parent]._held.clear()
    before = web.files_sent()
    assert open_run(root / "plain", within=root).fingerprint == run.fingerprint
    assert web.files_sent() == before
    assert {path: path.stat().st_mtime_ns for path in parts_kept()} == kept


def parts_kept() -> list[Path]:
    """The files of parts in the cache."""
    return [*Path(os.environ["RL_BOARD_CACHE"]).glob("v-*/**/*.arrow")]


def changed(run: Run, root: Path) -> bool:
    """Whether a look within a few seconds finds the run changed: the looks list in the background."""
    until = time.monotonic() + 20
    while current_fingerprint(run.location, root) == run.fingerprint:
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_credentials_expire_while_it_is_read(web: RangeServer, local: Path) -> None:
    """What was read is there, what was not is a problem with its reason, and the next load goes on."""
    root = listings.mounted(web.address)
    rows = len(open_run(root / "plain", within=root).frame)
    (local / "plain" / "rank_9.jsonl").write_bytes(lines(token_row(step) for step in range(5)))
    listings.refresh(root, wait=True)
    web.status = 403
    run = open_run(root / "plain", within=root)
    assert len(run.frame) == rows
    assert any("rank_9.jsonl: cannot be read: the server refuses it (403)" in str(one) for one in run.report.problems)
    assert any("refuses it (403)" in sentence for sentence in run.report.noted)
    web.status = 0
    assert len(open_run(root / "plain", within=root).frame) == rows + 5


def test_s3_refuses_while_it_is_read(bucket: Bucket, local: Path) -> None:
    """Credentials that S3 takes no more: what was read stays, with a sentence; once they are taken again the board goes on."""
    root = listings.mounted(filled(bucket, local))
    rows = len(open_run(root / "plain", within=root).frame)
    bucket.put("exp/plain/rank_9.jsonl", lines(token_row(step) for step in range(5)))
    listings.refresh(root, wait=True)
    try:
        bucket.refuse(everybody=True)
        run = open_run(root / "plain", within=root)
        assert len(run.frame) == rows
        assert any("the store refuses the credentials" in sentence for sentence in run.report.noted)
        assert any("rank_9.jsonl: cannot be read: the store refuses" in str(one) for one in run.report.problems)
    finally:
        bucket.refuse(everybody=False)
    assert len(open_run(root / "plain", within=root).frame) == rows + 5


def test_s3_with_cut_connections(bucket: Bucket, local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that end in the middle, of lists and of objects, are asked for again."""
    address = filled(bucket, local)
    bucket.put("exp/plain/rank_0.jsonl", lines(token_row(step, prompt="p" * 3000) for step in range(300)))
    with cutting_proxy(bucket.endpoint, [300, 50, 0, 1000, 70_000, 200_000]) as door:
        monkeypatch.setenv("AWS_ENDPOINT_URL", door)
        run = open_run(f"{address}/plain")
    assert len(run.frame) == 300 + 80
    assert run.report.problems == []


def test_its_summary_is_made_by_another_process(web: RangeServer, local: Path) -> None:
    """Which fetches the few places that it looks at: all of so small files."""
    root = listings.mounted(web.address)
    process = SummaryProcess()
    told = process.ask(SummaryOrder(root / "plain", root))
    process.end()
    assert (told.trouble, told.rollouts, told.last_step) == ("", 120, 39)
    assert len(open_run(root / "plain", within=root).frame) == 120
    assert web.files_sent() <= 2 * sum(path.stat().st_size for path in (local / "plain").iterdir())


def test_a_vanished_shard_stays(web: RangeServer, local: Path) -> None:
    """Its rollouts are shown, and a sentence says that it is gone."""
    root = listings.mounted(web.address)
    rows = len(open_run(root / "plain", within=root).frame)
    (local / "plain" / "rank_1.jsonl").unlink()
    listings.refresh(root, wait=True)
    run = open_run(root / "plain", within=root)
    assert len(run.frame) == rows
    assert any(sentence.startswith("Gone from http://") for sentence in run.report.noted)


def test_readable_while_it_loads(web: RangeServer, local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rollouts are a thin sample of all of the run, fetched before the rest."""
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", 0)
    big = local / "big"
    big.mkdir()
    for rank in range(2):
        (big / f"rank_{rank}.jsonl").write_bytes(lines(token_row(step, prompt="p" * 5000) for step in range(800)))
    total = sum(path.stat().st_size for path in big.iterdir())
    published: list[tuple[Run, int]] = []
    root = listings.mounted(web.address)
    web.seconds = 0.05
    load = BackgroundLoad(
        {"location": root / "big", "within": root}, lambda run: published.append((run, web.files_sent())), lambda: None
    )
    load.begin()
    load.wait()
    first, sent = published[0]
    assert first.reading is not None
    assert sent < total
    assert first.steps[0] < 100
    assert first.steps[-1] > 700
    assert len(published[-1][0].frame) == 1600
    assert web.files_sent() <= 2 * total  # of so small a run the sample takes nearly all


@pytest.mark.parametrize("address", ["ftp://host/x", "s3://a:b@bucket/x", "https://host/x?token=y"])
def test_refused_addresses(address: str) -> None:
    """`open_run` says what it does not open."""
    with pytest.raises(ArgumentRefused):
        open_run(address)


def test_nothing_there(bucket: Bucket) -> None:
    """An empty prefix, and a bucket that nobody made."""
    with pytest.raises(RunNotFound, match="Nothing lies under"):
        open_run(f"{bucket.address}/none")
    with pytest.raises(RunNotFound, match="the store has nothing there"):
        open_run("s3://nobody-made-this/x")
