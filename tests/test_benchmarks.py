"""Tests of what the benchmark says: medians, goals and their verdicts, the report's place, and runs that are what their size says."""

import gzip
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import openers, parts, report, rollouts
from benchmarks.goals import GOALS, Goal, verdict
from benchmarks.machine import commit
from benchmarks.openers import OPENERS, cuts
from benchmarks.plan import Plan
from benchmarks.report import MeasuredPart
from benchmarks.sections import Section, figure, from_json, markdown, ratio, summary, to_json
from board import open_run

AT_MOST = Goal("time", 2, "s")
AT_LEAST = Goal("speed", 2, "×", at_least=True)
NEEDS = {"ujson_loop": "ujson", "polars": "polars", "polars_schema": "polars", "duckdb": "duckdb"}
"""What the extra `bench` brings, by way."""


@pytest.mark.parametrize(
    ("goal", "value", "said"),
    [
        (AT_MOST, 1.9, "met"),
        (AT_MOST, 2.0, "met"),
        (AT_MOST, 2.1, "not met"),
        (AT_MOST, float("inf"), "not met"),
        (AT_MOST, float("nan"), "not measured"),
        (AT_LEAST, 2.1, "met"),
        (AT_LEAST, 2.0, "met"),
        (AT_LEAST, 1.9, "not met"),
        (AT_LEAST, float("nan"), "not measured"),
    ],
)
def test_verdict(goal: Goal, value: float, said: str) -> None:
    """A figure on its limit keeps the goal, one beyond does not, and no number is no verdict."""
    assert verdict(goal, value) == said


def test_figures_are_medians_and_ratios_are_taken_within_a_round() -> None:
    """A round in which the machine was slow for both does not change their ratio."""
    found = ratio([2.0, 20.0, 4.4], [1.0, 10.0, 2.0])

    assert (found.value, found.low, found.high, found.rounds) == (2.0, 2.0, 2.2, 3)
    assert figure([3.0, 1.0, 2.0], "s").value == 2.0


def test_goals_stand_beside_their_figures() -> None:
    """The table says met or not met, the summary takes the worst figure and names what was not measured."""
    rows = (("Rewards", figure([2.1], "×", "first_view")), ("Tokens", figure([2.5], "×", "first_view")))
    section = Section("first_view", "First view", ("page", "against an empty page"), rows)

    assert "| Rewards | 2.1, goal ≤ 2.2 ×: **met** |" in markdown(section)
    assert "| Tokens | 2.5, goal ≤ 2.2 ×: **not met** |" in markdown(section)
    lines = summary([section]).splitlines()[2:]
    assert len(lines) == len(GOALS)
    assert "| ≤ 2.2 × | 2.5 × | First view, Tokens | **not met** |" in lines[0]
    assert all(line.endswith("| not measured |") for line in lines[1:])


def test_worst_of_what_should_be_much_is_the_least() -> None:
    """Where more is better, the smallest figure decides."""
    rows = tuple((size, figure([value], "×", "cold_polars")) for size, value in (("25 MB", 0.4), ("100 MB", 9.0)))

    assert "| 0.4 × | Cold open, 25 MB | **not met** |" in summary([Section("opening", "Cold open", ("size", "times"), rows)])


def part(*sections: Section, **about: object) -> MeasuredPart:
    """A part that was measured on no machine in particular."""
    nowhere = {"date": "", "commit": "", "minutes": 1, "load": ["", ""], "versions": {}, "plan": {}}
    return MeasuredPart(nowhere | {"machine": dict.fromkeys(("processor", "cores", "memory", "system"), "")} | about, sections)


def test_failure_is_in_the_report() -> None:
    """A part that failed stands in the report with its reason, and so does a cell that did."""
    opening = part(Section("opening", "Cold open", ("way", "s"), (("pandas", "failed: a|b\nc"),)))

    text = report.whole({"opening": opening, "viewers": part(Section("viewers", "V", failure="no"))})

    assert "| pandas | failed: a\\|b c |" in text
    assert "**Failed:** no" in text


def test_parts_that_are_not_measured_again_stay(tmp_path: Path) -> None:
    """What is kept holds each part with its own date, in the order of the parts; one that the benchmark no longer has goes."""
    kept = tmp_path / "results.json"
    old = {
        "readers": part(Section("readers", "R"), date="May"),
        "gone": part(),
        "opening": part(Section("opening", "O"), date="May"),
    }
    report.write(old, kept)

    report.write(report.read(kept) | {"opening": part(Section("opening", "O"), date="June")}, kept)
    text = report.whole(report.read(kept))

    assert list(report.read(kept)) == ["opening", "readers"]
    assert re.findall(r"Measured: (\w+)|^### (\w)", text, re.MULTILINE) == [("June", ""), ("", "O"), ("May", ""), ("", "R")]
    assert report.read(tmp_path / "none.json") == {}


def test_plan_is_told_where_it_differs() -> None:
    """The report names the sizes that are not the command's own, as they were asked for."""
    asked = json.loads(json.dumps(Plan(megabytes=(7,)).__dict__))

    assert "- Plan: megabytes [7]\n" in report.whole({"opening": part(plan=asked)})
    assert "- Plan: as the command has it\n" in report.whole({"opening": part(plan=Plan().__dict__)})


def test_commit_names_the_checkout(tmp_path: Path) -> None:
    """What was measured is found again: by its commit, with a plus where files differ from it."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    assert commit(tmp_path) == "unknown"
    for did in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        (tmp_path / "file").write_text("first")
        subprocess.run([*git, *did], check=True)
    clean = commit(tmp_path)
    (tmp_path / "file").write_text("changed")

    assert re.fullmatch("[0-9a-f]{7,}", clean)
    assert commit(tmp_path) == f"{clean}+"


def test_sections_survive_json() -> None:
    """What a part's process writes is what the report reads."""
    section = Section("opening", "Cold", ("a", "b"), (("x", figure([1.0, 2.0], "s", "warm_1gb")), ("y", "")), "note", "", 1.5)

    assert from_json(json.loads(json.dumps(to_json(section)))) == section


def test_report_goes_between_the_markers() -> None:
    """What is written by hand around the results stays, run after run."""
    text = f"by hand\n{report.START}\nold\n{report.END}\nafter\n"

    once = report.between_markers(text, "new")

    assert once == f"by hand\n{report.START}\n\nnew\n\n{report.END}\nafter\n"
    assert report.between_markers(once, "new") == once


@pytest.mark.parametrize("text", ["", report.START, report.END + report.START, f"{report.START}{report.START}{report.END}"])
def test_report_needs_both_markers(text: str) -> None:
    """A README without its place for the results is an error, not an overwrite."""
    with pytest.raises(ValueError, match="each once"):
        report.between_markers(text, "new")


def test_readme_has_a_place_for_the_results() -> None:
    """The file that is committed has the markers that the command looks for."""
    readme = Path(report.__file__).with_name("README.md").read_text(encoding="utf-8")

    assert report.between_markers(readme, "new").count("new")


def test_what_is_reported_was_measured() -> None:
    """No part of the report that is committed broke off."""
    assert "**Failed:**" not in Path(report.__file__).with_name("README.md").read_text(encoding="utf-8")


def test_every_goal_is_measured_by_a_part() -> None:
    """No goal is without a figure that names it."""
    sources = "".join(
        path.read_text(encoding="utf-8") for path in Path(report.__file__).parent.rglob("*.py") if path.stem != "goals"
    )

    assert [key for key in GOALS if f'"{key}"' not in sources] == []


@pytest.mark.parametrize("name", parts.PARTS)
def test_parts_can_be_run(name: str) -> None:
    """Each part of the command has something that measures it."""
    pytest.importorskip("playwright")

    assert callable(parts.sections_of(name))


def test_plan_survives_json() -> None:
    """A part measures the plan that was asked for."""
    plan = Plan(megabytes=(1, 2), rollouts=(5,), rounds=2)

    assert parts.plan_from(json.loads(json.dumps(plan.__dict__))) == plan


def lines(folder: Path) -> Counter[bytes]:
    """All rows of a run."""
    return Counter(line for shard in rollouts.shards(folder) for line in shard.read_bytes().splitlines())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A small run."""
    rollouts.write(tmp_path / "run", 0, tokens=8, rows=96)
    return tmp_path / "run"


def test_one_seed_writes_one_run(tmp_path: Path, run: Path) -> None:
    """Two measurements of one size are of the same bytes."""
    rollouts.write(tmp_path / "again", 0, tokens=8, rows=96)

    assert lines(run) == lines(tmp_path / "again")
    assert lines(run).total() == 96


@pytest.mark.parametrize("count", [1, 3, 8])
def test_regrouped_run_has_the_same_rows(tmp_path: Path, run: Path, count: int) -> None:
    """The comparison of one shard with eight is of the same rows, in shards of nearly one size."""
    rollouts.regrouped(run, tmp_path / "other", count)

    assert lines(tmp_path / "other") == lines(run)
    sizes = [shard.stat().st_size for shard in rollouts.shards(tmp_path / "other")]
    assert len(sizes) == count
    assert max(sizes) - min(sizes) < 3 * max(map(len, lines(run)))


def test_multiplied_run_has_new_steps(tmp_path: Path, run: Path) -> None:
    """Growth is of rows that are new to the board: no copy repeats a step."""
    rollouts.multiplied(run, tmp_path / "more", 3)

    frame = open_run(tmp_path / "more").frame
    assert frame["step"].value_counts().to_dict() == dict.fromkeys(range(9), 32)
    assert open_run(tmp_path / "more").report.problems == []


def test_appended_step_is_whole(run: Path) -> None:
    """What is appended is one step more of so many rollouts, dealt to the shards."""
    before = len(open_run(run).frame)

    rollouts.append(run, 1_000, 10)

    frame = open_run(run).frame
    assert len(frame) == before + 10
    assert (frame["step"] == 1_000).sum() == 10
    assert frame[frame["step"] == 1_000]["shard"].value_counts().tolist() == [5, 5]


def test_compressed_run_is_the_run(tmp_path: Path, run: Path) -> None:
    """The gzipped run decompresses to the plain one."""
    rollouts.compressed(run, tmp_path / "packed")

    packed = [gzip.decompress(shard.read_bytes()) for shard in rollouts.shards(tmp_path / "packed")]
    assert packed == [shard.read_bytes() for shard in rollouts.shards(run)]


@given(sizes=st.lists(st.integers(2, 60), min_size=1, max_size=20), piece=st.integers(1, 100))
def test_cuts_hold_every_line_once(tmp_path_factory: pytest.TempPathFactory, sizes: list[int], piece: int) -> None:
    """The floor parses each row once, whatever the pieces."""
    shard = tmp_path_factory.mktemp("cuts") / "rank_0.jsonl"
    shard.write_bytes(b"".join(b"[" + b"1" * (size - 2) + b"]\n" if size > 2 else b"1\n" for size in sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openers, "PIECE_BYTES", piece)
        pieces = cuts(shard)
    assert sum(openers.parsed(cut) for cut in pieces) == len(sizes)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", OPENERS)
def test_ways_find_every_row(tmp_path: Path, run: Path, name: str, packed: bool) -> None:
    """No way is faster because it reads less."""
    pytest.importorskip(NEEDS.get(name, "orjson"))
    if packed:
        rollouts.compressed(run, tmp_path / "packed")

    assert openers.rows(OPENERS[name]()(tmp_path / "packed" if packed else run)) == 96


def test_rows_are_as_a_trainer_writes_them(run: Path) -> None:
    """Arrays are as long as the tokens, and the response is its tokens."""
    for line in lines(run):
        row = orjson.loads(line)
        assert "".join(row["response_tokens"]) == row["response"]
        assert {len(row[name]) for name in openers.ARRAYS} == {len(row["response_tokens"])}
