"""Tests of the Hugging Face Hub, asked by its released client, against a small Hub on loopback that answers as the real one does."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import LARGE, TOKEN, Hub, hub_server
from huggingface_hub import constants
from rows import lines, token_row
from stores_asked import bytes_of, look

from board import open_run
from board.runs.library import list_runs
from board.sources.remote import addresses, listings, object_store
from board.sources.remote.object_store import Denied, ObjectStore, Passing, RemoteTrouble, Replaced, Vanished

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """An empty dataset on a Hub that the client is told of, as HF_ENDPOINT would."""
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(listings, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(listings, "COSTS", 0.0)
    with hub_server() as running:
        monkeypatch.setattr(constants, "ENDPOINT", running.endpoint)
        template = f"{running.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield running


def store(hub: Hub) -> ObjectStore:
    """As the board speaks with it."""
    return object_store.store_of(addresses.parsed(hub.address))


def test_listing(hub: Hub) -> None:
    """What lies below a prefix at any depth, over several pages; nothing where there is no such folder."""
    for at in range(10):
        hub.files[f"run/deep/{at}.jsonl"] = b"x" * at
    hub.files |= {"runner/x": b"y", "README.md": b"z"}
    key = "datasets/lab/runs"
    found = [*store(hub).objects(f"{key}/run")]
    assert {one.key: one.size for one in found} == {f"{key}/run/deep/{at}.jsonl": at for at in range(10)}
    assert {one.version for one in found} == {look(store(hub), one.key).version for one in found}
    assert len([*store(hub).objects(key)]) == 12
    assert [*store(hub).objects(f"{key}/none")] == []


@pytest.mark.parametrize("size", [10, LARGE * 3], ids=["in git", "in the storage"])
def test_ranges_of_one_version(hub: Hub, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A range of what was listed; of what another commit put in its place, nothing. The storage never sees the token."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.is_open = False
    first, second = bytes(range(size % 251)) * 2, bytes(reversed(range(size % 251))) * 2
    hub.files["a"] = first
    opened, key = store(hub), "datasets/lab/runs/a"
    found = look(opened, key)
    assert bytes_of(opened, found, 2, 7) == first[2:7]
    assert bytes_of(opened, found, 0, found.size) == first
    storage = [with_token for _, place, _, with_token in hub.asked if place.startswith("localhost")]
    assert storage == [False] * (2 if len(first) > LARGE else 0)
    hub.before_range = {"a": second}
    with pytest.raises(Replaced):
        bytes_of(opened, found, 2, 7)
    del hub.files["a"]
    with pytest.raises(Vanished):
        bytes_of(opened, found, 2, 7)
    with pytest.raises(Vanished):
        look(opened, key)


def test_a_file_that_became_shorter(hub: Hub) -> None:
    """A range behind its end is of another version."""
    hub.files["a"] = b"0123456789"
    found = look(store(hub), "datasets/lab/runs/a")
    hub.files["a"] = b"01"
    with pytest.raises(Replaced):
        bytes_of(store(hub), found, 5, 8)


def test_a_revision(hub: Hub) -> None:
    """Is part of the name, slashes of its own included, and of every key below."""
    hub.files["a"], hub.other_revision["default/0.parquet"] = b"main", b"converted"
    key = "datasets/lab/runs@refs/convert/parquet"
    (found,) = store(hub).objects(key)
    assert found.key == f"{key}/default/0.parquet"
    assert bytes_of(store(hub), found, 0, 4) == b"conv"
    (plain,) = store(hub).objects("datasets/lab/runs@main")
    assert (plain.key, bytes_of(store(hub), plain, 0, 4)) == ("datasets/lab/runs@main/a", b"main")
    hub.files = {"deep/b@c": b"an at in a name"}
    (odd,) = store(hub).objects("datasets/lab/runs/deep")
    assert bytes_of(store(hub), odd, 3, 5) == b"at"


def test_refusals(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is known for what it is; none repeats the token."""
    hub.files["a"] = b"x"
    hub.is_open = False
    for token in ("", "hf_" + "b" * 34):
        monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(Denied, match="credentials") as refused:
            [*store(hub).objects("datasets/lab/runs")]
        assert "hf_" not in str(refused.value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    found = look(store(hub), "datasets/lab/runs/a")
    hub.status = 403
    with pytest.raises(Denied):
        bytes_of(store(hub), found, 0, 1)
    hub.status = 0
    for key in ("datasets/lab/other", "datasets/lab/runs@never"):
        with pytest.raises(Vanished):
            [*store(hub).objects(key)]
    for key in ("datasets", "datasets/lab", "lab"):
        with pytest.raises(RemoteTrouble, match="no repository"):
            [*store(hub).objects(key)]


def test_a_hub_that_is_busy_or_gone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is tried again, and then said to give no answer."""
    monkeypatch.setattr(object_store, "MOST_TRIES", 2)
    hub.files["a"] = b"x"
    opened, found = store(hub), look(store(hub), "datasets/lab/runs/a")
    hub.status = 503
    hub.asked.clear()
    with pytest.raises(Passing):
        [*opened.objects("datasets/lab/runs")]
    assert sum(place.endswith("/api/datasets/lab/runs") for _, place, _, _ in hub.asked) == 2
    with pytest.raises(Passing):
        bytes_of(opened, found, 0, 1)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(Passing):
        look(store(hub), "datasets/lab/runs/a")


def test_a_hub_without_ranges(hub: Hub) -> None:
    """A whole file where a part was asked for is no answer."""
    hub.files["a"] = b"0123456789"
    hub.ranges = False
    found = look(store(hub), "datasets/lab/runs/a")
    with pytest.raises(RemoteTrouble, match="no ranges"):
        bytes_of(store(hub), found, 2, 7)
    assert bytes_of(store(hub), found, 0, 10) == b"0123456789"


def test_a_run(hub: Hub) -> None:
    """Is listed, opened, followed as it grows, and stays as it was read when it is gone or refused."""
    rows = [token_row(step, reward=step * 0.5) for step in range(30)]
    hub.files["exp/one/rank_0.jsonl"] = lines(rows[:20])
    hub.files["exp/one/config.yaml"] = b"lr: 0.5\n"
    root = listings.mounted(f"{hub.address}/exp")
    assert [(run.name, run.shards) for run in list_runs(root)] == [("one", 1)]
    assert list(open_run(root / "one", within=root).frame["reward"]) == [step * 0.5 for step in range(20)]
    hub.files["exp/one/rank_0.jsonl"] = lines(rows)
    listings.refresh(root, wait=True)
    assert len(open_run(root / "one", within=root).frame) == 30
    hub.is_open = False
    listings.refresh(root, wait=True)
    assert any("credentials" in said for said in listings.troubles(root))
    assert len(open_run(root / "one", within=root).frame) == 30
    hub.is_open, hub.files = True, {"README.md": b""}
    listings.refresh(root, wait=True)
    assert any("Gone from hf://datasets/lab/runs/exp" in said for said in listings.troubles(root))


def test_by_its_usual_settings(hub: Hub, tmp_path: Path) -> None:
    """A command finds the Hub and the token as the client's own tools do."""
    hub.is_open = False
    hub.files["run/rank_0.jsonl"] = lines([token_row(step) for step in range(5)])
    environment = os.environ | {"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN, "PYTHONPATH": str(REPOSITORY)}
    said = subprocess.run(
        [sys.executable, "-m", "board", "summary", f"{hub.address}/run", "--json"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["rollouts"] == 5
    assert TOKEN not in said.stdout + said.stderr
