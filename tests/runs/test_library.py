"""board.runs.library: which folders are runs, which names may be opened, and that a run is loaded once for everybody."""

import threading
from pathlib import Path

import pytest
from rows import lines, row, write_run, write_shard

from board.cli.replies import metric_rows
from board.errors import RunNotFound
from board.runs.library import OPEN_RUNS, Library, current_fingerprint, holding, list_runs, resolve
from board.runs.opening import open_run
from board.runs.progress import Progress
from board.runs.run_listing import without_shelves

RUNS: dict[str, tuple[list[str], list[tuple[str, int]]]] = {
    "runs side by side": (["run_2/a.jsonl", "run_10/a.jsonl", "run_10/b.jsonl.gz"], [("run_2", 1), ("run_10", 2)]),
    "root with shards of its own": (["a.jsonl", "sub/b.jsonl"], [(".", 2)]),
    "root of steps": (["step_1/a.jsonl", "step_2/a.jsonl"], [(".", 2)]),
    "root of ranks in numbers": (["0/a.jsonl", "1/a.jsonl"], [(".", 2)]),
    "root of steps and something without shards": (["step_1/a.jsonl", "logs/x.txt"], [(".", 1)]),
    "root of a step and a run": (["step_1/a.jsonl", "other/a.jsonl"], [("other", 1), ("step_1", 1)]),
    "run of steps": (["run/step_1/a.jsonl", "run/step_2/a.jsonl"], [("run", 2)]),
    "run of steps and ranks": (["run/global_step_5/rank_0/a.jsonl", "run/global_step_5/rank_1/a.jsonl"], [("run", 2)]),
    "output folder of TRL": (["out/completions/completions_00001.parquet", "out/checkpoint-1/trainer_state.json"], [("out", 1)]),
    "root that TRL wrote to": (["completions/completions_00001.parquet"], [(".", 1)]),
    "dumps of slime": (["out/rollout_data/1.pt", "out/train_data/1.pt"], [("out", 2)]),
    "dumps of XTuner": (["out/train_rollout/train_rollout_1.jsonl", "out/eval_rollout/eval_rollout_1.jsonl"], [("out", 2)]),
    "a trainer's dump and something else": (
        ["out/completions/completions_00001.parquet", "out/other/a.jsonl"],
        [("out", 2), ("out/completions", 1), ("out/other", 1)],
    ),
    "folder of runs": (["ppo/seed_a/x.jsonl", "ppo/seed_b/x.jsonl"], [("ppo", 2), ("ppo/seed_a", 1), ("ppo/seed_b", 1)]),
    "runs at several depths": (
        ["exp/model/lr_1/seed_a/x.jsonl", "exp/model/lr_1/seed_b/x.jsonl", "exp/other/x.jsonl", "exp/model/lr_2/step_1/x.jsonl"],
        [
            ("exp", 4),
            ("exp/model", 3),
            ("exp/model/lr_1", 2),
            ("exp/model/lr_1/seed_a", 1),
            ("exp/model/lr_1/seed_b", 1),
            ("exp/model/lr_2", 1),
            ("exp/other", 1),
        ],
    ),
    "folder of runs, one without shards": (["ppo/seed_a/x.jsonl", "ppo/code/x.py"], [("ppo", 1), ("ppo/seed_a", 1)]),
    "run with shards of its own and below": (["run/a.jsonl", "run/extra/b.jsonl"], [("run", 2)]),
    "folder without shards": (["run/notes.txt", "good/a.jsonl"], [("good", 1), ("run", 0)]),
    "hidden folder": ([".cache/a.jsonl", "good/a.jsonl"], [("good", 1)]),
    "odd name": (['75_<b>name & "quotes" $x$/a.jsonl'], [('75_<b>name & "quotes" $x$', 1)]),
    "nothing": ([], []),
}


@pytest.mark.parametrize(("files", "expected"), RUNS.values(), ids=RUNS)
def test_runs_under_a_root(tmp_path: Path, files: list[str], expected: list[tuple[str, int]]) -> None:
    """The root itself when it is one run, else its folders in natural order; names open what they name."""
    for name in files:
        write_shard(tmp_path / name, [row()])

    found = list_runs(tmp_path)

    assert [(run.name, run.shards) for run in found] == expected
    assert all((run.bytes > 0) == (run.modified_ns > 0) == (run.shards > 0) for run in found)
    assert all(resolve(tmp_path, run.name).is_dir() for run in found)


HOLDING: dict[str, tuple[str, str | None]] = {
    "its trainer's dump": ("out/completions", "out"),
    "deep below": ("out/completions/old", "out"),
    "not there": ("out/elsewhere", None),
    "a run": ("out", None),
    "no run": ("other/completions", None),
    "below a folder without shards": ("empty/completions", None),
    "above the root": ("out/../..", None),
}


@pytest.mark.parametrize(("asked", "expected"), HOLDING.values(), ids=HOLDING)
def test_a_folder_that_was_a_run_belongs_to_one(tmp_path: Path, asked: str, expected: str | None) -> None:
    """A link to a part of a run, which older boards listed, leads to the run."""
    write_shard(tmp_path / "out/completions/completions_00001.parquet", [row()])
    for folder in ("out/completions/old", "other/completions", "empty/completions"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)

    assert holding(list_runs(tmp_path), tmp_path, asked) == expected


def test_linked_folders_are_no_runs(tmp_path: Path) -> None:
    """They may lead out of the root, or in circles."""
    write_run(tmp_path / "run", {"a.jsonl": [row()]})
    (tmp_path / "latest").symlink_to("run")

    assert [run.name for run in list_runs(tmp_path)] == ["run"]


def test_root_that_is_not_there_is_said(tmp_path: Path) -> None:
    """One sentence, not a traceback."""
    with pytest.raises(RunNotFound, match="No folder 'missing'"):
        list_runs(tmp_path / "missing")


@pytest.mark.parametrize("name", [".", "run", "run/step_1", "latest", "run/../run", 'a <b> "q" $x$'])
def test_folders_under_the_root_can_be_named(tmp_path: Path, name: str) -> None:
    """By exactly their name, links within the root included."""
    for folder in ("run/step_1", 'a <b> "q" $x$'):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "latest").symlink_to("run")

    assert resolve(tmp_path, name).samefile(tmp_path / name)


ELSEWHERE = {
    "parent": "..",
    "sibling": "../outside",
    "sibling whose name begins like the root": "../root2",
    "through a run": "run/../../outside",
    "absolute": "/etc",
    "absolute within the root": "{root}/run",
    "link that leads out": "out",
    "below a link that leads out": "out/run",
    "missing": "nothing",
    "a file": "file.jsonl",
    "below a file": "file.jsonl/x",
    "with a zero byte": "run\0",
    "far too long": "x" * 300,
    "long beyond paths": "x/" * 5_000,
    "link to itself": "circle",
    "backslashes": "..\\outside",
    "encoded": "%2e%2e/outside",
    "home": "~",
}


@pytest.mark.parametrize("name", ELSEWHERE.values(), ids=ELSEWHERE)
def test_nothing_else_can_be_named(tmp_path: Path, name: str) -> None:
    """Whatever a link asks for, only folders under the root are there; the refusal does not tell why."""
    root = tmp_path / "root"
    for folder in (root / "run", tmp_path / "outside/run", tmp_path / "root2"):
        folder.mkdir(parents=True)
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "circle").symlink_to("circle")
    (root / "file.jsonl").write_text("")
    asked = name.format(root=root) if "{" in name else name

    with pytest.raises(RunNotFound) as refusal:
        resolve(root, asked)

    assert str(refusal.value) == f"There is no run {asked!r} under this root: choose one from the list."


LOGS = {
    "beside": ("metrics.jsonl", True),
    "beside, flat": ("metrics.jsonl", False),
    "beside, named after the experiment": ("exp.jsonl", True),
    "in a folder of logs": ("logs/exp.jsonl", True),
    "in a folder of logs, flat": ("logs/metrics.jsonl", False),
    "in a folder of a project": ("project/exp.jsonl", True),
    "in a folder below": ("file_logger/project/exp.jsonl", True),
}
"""Where a log lies, and whether its metrics are under a key as verl writes them."""


@pytest.mark.parametrize("at", ["run", "below/run", "."])
@pytest.mark.parametrize(("log", "nested"), LOGS.values(), ids=LOGS)
def test_rollouts_and_a_log_of_metrics_are_one_run(tmp_path: Path, log: str, at: str, nested: bool) -> None:
    """Wherever in the run's folder its trainer logs metrics, in the list it is no run beside it, and they are the run's own."""
    metrics = [{"actor/loss": 0.1, "critic/score/mean": 0.5}] * 3
    rows = [{"step": step, **({"data": one} if nested else one)} for step, one in enumerate(metrics, 1)]
    verl = {"input": "q", "output": "a", "gts": "a", "score": 1.0}
    shards = {f"rollouts/{step}.jsonl": [{**verl, "step": step}] * 2 for step in (1, 2)}
    shards |= {"validation_data/2.jsonl": [{**verl, "step": 2}]}
    write_run(tmp_path / at, {**shards, log: rows})

    assert [one.name for one in without_shelves(list_runs(tmp_path))] == [at]
    run = open_run(tmp_path / at, within=tmp_path)
    assert (len(run.frame), [*run.report.skipped]) == (5, [log])
    logged = metric_rows.metrics(run, at, within=tmp_path).logged
    assert logged is not None
    assert {one.name for one in logged.scalars} == {"actor/loss", "critic/score/mean"}


def test_a_folder_of_other_rollouts_is_no_log(tmp_path: Path) -> None:
    """Two runs, one of which lies in a folder with a name of a part, stay two."""
    write_run(
        tmp_path / "exp", {"rollouts/1.jsonl": [row()], "other/1.jsonl": [row()], "logs/exp.jsonl": [{"step": 1, "a": 2.0}]}
    )
    assert {"exp/rollouts", "exp/other"} <= {one.name for one in without_shelves(list_runs(tmp_path))}


def test_a_log_makes_one_run_of_the_folders_beside_it(tmp_path: Path) -> None:
    """Rollouts of training and of validation are of the run whose metrics lie beside them, whatever their folders are called."""
    write_run(tmp_path / "run", {"gen/1.jsonl": [row(1)], "check/1.jsonl": [row(1)], "metrics.jsonl": [{"step": 1, "a": 2.0}]})
    assert [one.name for one in without_shelves(list_runs(tmp_path))] == ["run"]


def test_logs_of_several_runs_make_no_run_of_them(tmp_path: Path) -> None:
    """The folder that holds runs and the log of each is not one run of all of them."""
    logs = {f"project/{name}.jsonl": [{"step": 1, "a": 2.0}] for name in ("one", "two")}
    write_run(tmp_path, {**logs, "project/one/rollouts/1.jsonl": [row(1)], "project/two/rollouts/1.jsonl": [row(1)]})
    for root, prefix in ((tmp_path, "project/"), (tmp_path / "project", "")):
        assert [one.name for one in without_shelves(list_runs(root))] == [f"{prefix}one", f"{prefix}two"]


def test_root_may_itself_be_a_link(tmp_path: Path) -> None:
    """What the operator chose as root is the root."""
    write_run(tmp_path / "real/run", {"a.jsonl": [row()]})
    (tmp_path / "link").symlink_to("real")

    assert resolve(tmp_path / "link", "run").samefile(tmp_path / "real/run")
    assert [run.name for run in list_runs(tmp_path / "link")] == ["run"]


def test_two_readers_load_a_run_once(tmp_path: Path) -> None:
    """Who comes while it is loaded shares the load and gets the very same run."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row(step) for step in range(200)]})
    library, got = Library(), []

    def open_it() -> None:
        got.append(library.open(run, tmp_path))

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(got) == 4
    assert len({id(one) for one in got}) == 1
    assert library.peek(run) is got[0]


def test_a_stuck_reader_holds_up_nobody(tmp_path: Path) -> None:
    """While one who waits for a run does not go on, its load does, and another run opens and is refreshed."""
    stuck = write_run(tmp_path / "stuck", {"a.jsonl": [row(step) for step in range(3)]})
    other = write_run(tmp_path / "other", {"a.jsonl": [row(7)]})
    library, entered, released = Library(), threading.Event(), threading.Event()

    def wait(_: Progress) -> None:
        entered.set()
        assert released.wait(60)

    loading = threading.Thread(target=lambda: library.open(stuck, tmp_path, progress=wait))
    loading.start()
    assert entered.wait(60)
    done = threading.Event()

    def read_the_other() -> None:
        opened = library.open(other, tmp_path)
        assert library.open(stuck, tmp_path).steps.tolist() == [0, 1, 2]
        library.refresh(opened, tmp_path)
        if library.peek(other) is not opened:
            done.set()

    reading = threading.Thread(target=read_the_other, daemon=True)
    reading.start()
    reading.join(60)
    held_up = not done.is_set()
    released.set()
    loading.join()

    assert not held_up
    run = library.peek(stuck)
    assert run is not None
    assert run.steps.tolist() == [0, 1, 2]


def test_peek_never_loads(tmp_path: Path) -> None:
    """A run that is not open is None; other pads are another load."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row()]})
    library = Library()

    assert library.peek(run) is None
    opened = library.open(run, tmp_path)
    assert library.peek(run) is opened
    assert library.peek(run, ["~"]) is None
    assert library.open(run, tmp_path, ["~"]) is not opened


def test_the_run_looked_at_longest_ago_is_forgotten(tmp_path: Path) -> None:
    """So many runs stay in memory, and opening one again keeps it young."""
    runs = [write_run(tmp_path / f"run_{number}", {"a.jsonl": [row()]}) for number in range(OPEN_RUNS + 1)]
    library = Library()
    for run in runs[:OPEN_RUNS]:
        library.open(run, tmp_path)
    library.open(runs[0], tmp_path)

    library.open(runs[OPEN_RUNS], tmp_path)

    assert [library.peek(run) is not None for run in runs] == [True, False] + [True] * (OPEN_RUNS - 1)


def test_refreshed_run_is_read_again(tmp_path: Path) -> None:
    """Refreshing opens the run that was seen as it is now; other variants and runs stay, and a second reader's wish changes nothing."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row()]})
    other = write_run(tmp_path / "other", {"a.jsonl": [row()]})
    library = Library()
    loaded, kept = library.open(run, tmp_path), library.open(other, tmp_path)
    variant = library.open(run, tmp_path, ["~"])
    with (run / "a.jsonl").open("ab") as file:
        file.write(lines([row(1)]))

    assert library.open(run, tmp_path) is loaded
    library.refresh(loaded, tmp_path)

    fresh = library.peek(run)
    assert fresh is not None
    assert fresh.steps.tolist() == [0, 1]
    assert (library.peek(run, ["~"]), library.peek(other)) == (variant, kept)
    library.refresh(loaded, tmp_path)
    assert library.peek(run) is fresh


def test_failed_load_leaves_the_library_usable(tmp_path: Path) -> None:
    """An empty folder is an error for its reader only."""
    (tmp_path / "empty").mkdir()
    run = write_run(tmp_path / "run", {"a.jsonl": [row()]})
    library = Library()

    with pytest.raises(RunNotFound):
        library.open(tmp_path / "empty", tmp_path)

    assert library.peek(tmp_path / "empty") is None
    assert library.open(run, tmp_path).report.rows == 1


def test_library_reads_links_within_the_root(tmp_path: Path) -> None:
    """A run may hold links to shards elsewhere under the root, not outside."""
    outside = write_shard(tmp_path / "secret.jsonl", [row(9)])
    write_shard(tmp_path / "root/other/x.jsonl", [row(7)])
    run = write_run(tmp_path / "root/run", {"a.jsonl": [row()]})
    (run / "b.jsonl").symlink_to("../other/x.jsonl")
    (run / "c.jsonl").symlink_to(outside)

    open_run(run, within=tmp_path / "root")  # what is cached is opened whole, however busy the machine

    opened = Library().open(run, tmp_path / "root")

    assert opened.steps.tolist() == [0, 7]
    assert [problem.shard for problem in opened.report.problems] == ["c.jsonl"]


def test_growing_run_has_another_fingerprint(tmp_path: Path) -> None:
    """So that the screen can say the run has grown since it was loaded."""
    run = write_run(tmp_path / "run", {"a.jsonl": [row()]})
    opened = Library().open(run, tmp_path)
    assert current_fingerprint(run, tmp_path) == opened.fingerprint

    write_shard(run / "b.jsonl", [row(1)])

    assert current_fingerprint(run, tmp_path) != opened.fingerprint
