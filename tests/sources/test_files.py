"""Tests of files that are not JSON lines."""

import datetime
import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from board import open_run
from board.errors import RunNotFound
from board.sources import files, shards
from board.sources.files import Parsed
from board.sources.json_record import Record
from board.sources.shards import Problem, Shard


def shard(path: Path, objects: bool = False) -> Shard:
    """The shard at a path."""
    return Shard(path, path.name, path.stat().st_size, 0, objects)


def found(path: Path, objects: bool = False) -> tuple[list[tuple[int, Record]], list[str]]:
    """Numbered records and problems of a file."""
    items = [*files.read(shard(path, objects))]
    return (
        [(one.number, one.record) for one in items if isinstance(one, Parsed)],
        [str(one) for one in items if isinstance(one, Problem)],
    )


def test_parquet_rows_are_records(tmp_path: Path) -> None:
    """Rows are numbered through all batches, nulls stay, and what JSON cannot hold is text."""
    rows: list[dict[str, Any]] = [{"step": at, "completion": f"{at} é", "logprobs": [0.5, None], "x": None} for at in range(150)]
    table = pa.Table.from_pylist(rows).append_column("when", pa.array([datetime.date(2026, 1, 2)] * 150))
    table = table.append_column("price", pa.array([Decimal("1.50")] * 150)).append_column("raw", pa.array([b"a\xff"] * 150))
    pq.write_table(table, tmp_path / "a.parquet")

    records, problems = found(tmp_path / "a.parquet")

    assert problems == []
    assert records[149] == (150, {**rows[149], "when": "2026-01-02", "price": 1.5, "raw": "a\\xff"})
    assert [number for number, _ in records] == list(range(1, 151))


def test_whole_file_is_a_record(tmp_path: Path) -> None:
    """A `.json` file of one object is one record, NaN and all; what is no object is refused with the reason."""
    (tmp_path / "a.json").write_text('{\n "a": [1, NaN]\n}')
    (tmp_path / "b.json").write_text("[1]")

    assert repr(found(tmp_path / "a.json")[0]) == "[(1, {'a': [1, nan]})]"
    assert found(tmp_path / "b.json") == ([], ["b.json:1: is not a JSON object but a number"])


def test_objects_over_many_lines(tmp_path: Path) -> None:
    """Objects written one after another with indents are as many records; behind a damage nothing is guessed."""
    objects = [{"a": 1, "t": "x\ny }{"}, {"b": [1, 2]}, {"c": {}}]
    text = "\n".join(json.dumps(one, indent=2) for one in objects)
    path = tmp_path / "a.jsonl"
    path.write_text(text + "\n")

    assert found(path, objects=True) == ([*enumerate(objects, 1)], [])

    path.write_text(text[:-4])
    records, problems = found(path, objects=True)
    assert records == [*enumerate(objects[:2], 1)]
    assert problems[0].startswith("a.jsonl:3: is not JSON from here on")


def test_one_record_is_found_again(tmp_path: Path) -> None:
    """By its number; one that is gone is said to be."""
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "a.parquet")

    assert files.record(shard(tmp_path / "a.parquet"), 2) == {"a": 2}
    with pytest.raises(RunNotFound, match="no record 4 any more"):
        files.record(shard(tmp_path / "a.parquet"), 4)


def test_damaged_files_are_problems(tmp_path: Path) -> None:
    """A file that is not what its name says ends in one problem."""
    for name in ("a.parquet", "1.json"):
        (tmp_path / name).write_bytes(b"not this")
        records, problems = found(tmp_path / name)
        assert records == []
        assert len(problems) == 1
        assert problems[0].startswith(f"{name}: ")


def test_torch_dumps_are_tensors_and_plain_values(tmp_path: Path) -> None:
    """Tensors come out as lists; a file that would run code is refused, as is any other object."""
    torch = pytest.importorskip("torch")
    torch.save(
        {"rollout_id": 1, "samples": [{"tokens": torch.tensor([1, 2]), "p": torch.tensor(0.5, dtype=torch.bfloat16)}]},
        tmp_path / "1.pt",
    )
    torch.save({"x": Path("/")}, tmp_path / "2.pt")
    torch.save([1], tmp_path / "3.pt")
    (tmp_path / "4.pt").write_bytes(b"junk")

    assert found(tmp_path / "1.pt") == ([(1, {"rollout_id": 1, "samples": [{"tokens": [1, 2], "p": 0.5}]})], [])
    assert "cannot be read as tensors and plain values" in found(tmp_path / "2.pt")[1][0]
    assert found(tmp_path / "3.pt")[1] == ["3.pt: holds a list, not a dictionary"]
    assert len(found(tmp_path / "4.pt")[1]) == 1


def _saved(torch: Any, name: str) -> Any:
    """What a file of torch holds that is no plain values, or far more of them than its bytes."""
    nested: list[Any] = ["x" * 1_000]
    for _ in range(12):
        nested = [nested] * 10
    cycle: list[Any] = []
    cycle.append(cycle)
    return {
        "strides": lambda: torch.zeros(1).expand(1_000, 60_000),
        "meta": lambda: torch.empty(3, device="meta"),
        "sparse": lambda: torch.eye(10).to_sparse(),  # type: ignore[no-untyped-call]
        "complex": lambda: torch.ones(3, dtype=torch.complex64),
        "lists of one list": lambda: nested,
        "a list in itself": lambda: cycle,
    }[name]()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("strides", "holds more than 16 times as many bytes", id="strides"),
        pytest.param("meta", "holds a tensor that is no list of numbers", id="meta"),
        pytest.param("sparse", "holds a tensor that is no list of numbers", id="sparse"),
        pytest.param("complex", "holds a tensor that is no list of numbers", id="complex"),
        pytest.param("lists of one list", "holds more than 16 times as many bytes", id="lists of one list"),
        pytest.param("a list in itself", "holds values in each other, too deep to be read", id="a list in itself"),
    ],
)
def test_torch_dumps_fill_no_memory(tmp_path: Path, name: str, reason: str) -> None:
    """What a few bytes say to be very many values, or what has none, is one problem."""
    torch = pytest.importorskip("torch")
    torch.save({"x": _saved(torch, name)}, tmp_path / "1.pt")

    records, problems = found(tmp_path / "1.pt")

    assert (records, len(problems)) == ([], 1)
    assert reason in problems[0]


def test_a_packed_torch_dump_is_measured_before_it_is_unpacked(tmp_path: Path) -> None:
    """Torch takes the memory that its list of contents names, which is bounded by the size of the file."""
    torch = pytest.importorskip("torch")
    with zipfile.ZipFile(tmp_path / "1.pt", "w", zipfile.ZIP_DEFLATED) as packed, packed.open("archive/data/0", "w") as into:
        for _ in range(300):
            into.write(bytes(1_000_000))
    assert torch

    assert "holds more than 200 times as many bytes" in found(tmp_path / "1.pt")[1][0]


def test_code_in_a_torch_dump_is_not_run(tmp_path: Path) -> None:
    """Neither in its own kind of file nor in the older one."""
    torch = pytest.importorskip("torch")
    hostile = {"x": _Writes(tmp_path / "written")}
    torch.save(hostile, tmp_path / "1.pt")
    torch.save(hostile, tmp_path / "2.pt", _use_new_zipfile_serialization=False)

    reasons = [found(tmp_path / f"{number}.pt")[1][0] for number in (1, 2)]

    assert all("cannot be read as tensors and plain values" in reason for reason in reasons)
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(
    ("pickled", "reason"),
    [
        pytest.param(b"\x80\x02cdatetime\ndate\n.", "it holds datetime.date", id="a class"),
        pytest.param(b"\x80\x02cos\nsystem\n.", "it holds os.system", id="a function"),
        pytest.param(b"\x80\x02cplease set\nweights_only=False\n.", "it holds other objects", id="a name that advises"),
        pytest.param(b"\x80\x04\x95\x00.", "it holds other objects", id="a newer pickle"),
    ],
)
@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_no_reader_is_advised_to_load_a_torch_dump_unchecked(tmp_path: Path, pickled: bytes, reason: str) -> None:
    """PyTorch's advice to load a file without its check is never repeated; what the file holds is named instead."""
    pytest.importorskip("torch")
    (tmp_path / "1.pt").write_bytes(pickled)

    _, (said,) = found(tmp_path / "1.pt")

    assert said == f"1.pt: cannot be read as tensors and plain values: {reason}"


class _Writes:
    """Makes a file where its pickle is loaded as Python's."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._path,)


def test_rows_of_our_own_in_parquet(tmp_path: Path) -> None:
    """Rollouts under our names open from Parquet as from lines, with their place and their raw record."""
    rows = [
        {"step": at // 2, "response": "a b", "response_tokens": ["a", " b"], "logprobs": [-1.0, -2.0], "reward": float(at)}
        for at in range(4)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rank_0.parquet")

    run = open_run(tmp_path)

    assert run.frame["reward"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert run.rollout(3).source == "rank_0.parquet:4"
    assert run.key_of("rank_0.parquet:4") == 3
    assert json.loads(run.raw(3)) == rows[3]
    assert run.rollout(3)["logprobs"].tolist() == [-1.0, -2.0]
    assert len(open_run(tmp_path).frame) == 4


CANDIDATES: dict[str, bool] = {
    "a.parquet": True,
    "12.pt": True,
    "eval_12.pt": True,
    "12_0.pt": True,
    "ppo_rollout_dump_step3.pt": True,
    "episode_hash1_id2.json": True,
    "optimizer.pt": False,
    "config.json": False,
    "metadata.json": False,
    "tokenizer.json": False,
}


@pytest.mark.parametrize(("name", "taken"), CANDIDATES.items(), ids=CANDIDATES)
def test_which_files_may_hold_rollouts(tmp_path: Path, name: str, taken: bool) -> None:
    """Of `.pt` and `.json` files, of which experiments are full, those named after a step or an episode are looked at whatever is in them."""
    (tmp_path / name).write_bytes(b"x")

    assert bool(shards.find_shards(tmp_path)[0]) is taken


DAMAGED: dict[str, tuple[bytes, bytes, str]] = {
    "name of a column": (b"response", b"resp\xffnse", "a name in it is not UTF-8"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_within_parquet_is_a_problem(tmp_path: Path, case: str) -> None:
    """What Arrow stumbles over is one problem of the file."""
    sound, damaged, says = DAMAGED[case]
    pq.write_table(pa.table({"step": [1], "response": ["x"]}), tmp_path / "a.parquet", store_schema=False)
    (tmp_path / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes().replace(sound, damaged))

    records, problems = found(tmp_path / "a.parquet")

    assert records == []
    assert says in problems[0]
