"""An index of very many short rollouts, opened as a sample: what it takes to make, and what pages ask of it then.

Each is a process of its own, `python -m benchmarks.scale INDEX index RUN` and `... INDEX look SLICE_ROLLOUTS`. Figures are given
as they passed and in processor time, which a machine that others use changes least.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure

REPOSITORY: Final = Path(__file__).resolve().parent.parent
COLUMNS: Final = ("what", "seconds", "processor seconds", "of them a rollout (µs)", "found")
PER_STEP: Final = 2_048
SHARDS: Final = 8
WORDS: Final = 5_000
SLICE_SHARE: Final = 5
"""So many times more rollouts than are opened at once."""
TIMEOUT_SECONDS: Final = 3_600

Found = dict[str, Any]


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """A table of how the index is made, and one of what is asked of it."""
    rows = round(plan.scale_millions * 1e6)
    say(f"scale: writing {rows:,} rollouts")
    size = write(place / "run", rows)
    say(f"scale: indexing {size / 1e6:,.0f} MB")
    index = place / "index"
    made = _alone(index, place, "index", str(place / "run"))
    held = _bytes(index)
    listed = [_row(made, "parsed and indexed by two processes", rows)]
    listed += [("on the disk", "", "", "", f"{held / 1e6:,.0f} MB, {held / rows:,.0f} bytes a rollout")]
    title = f"An index of {rows:,} rollouts of 2 to 4 tokens ({size / 1e6:,.0f} MB in {SHARDS} shards)"
    yield Section("scale", title, COLUMNS, tuple(listed), f"Peak memory of the process that sums up: {made['peak']:,.0f} MB.")
    say("scale: looking")
    looked = _alone(index, place, "look", str(rows // SLICE_SHARE))
    note = (
        f"Where {rows // SLICE_SHARE:,} rollouts are opened at once. Peak memory of all of it together: {looked['peak']:,.0f} MB."
    )
    yield Section(
        "scale",
        "What is asked of it, opened as a sample",
        COLUMNS,
        tuple(_row(one, one["what"], 0) for one in looked["looks"]),
        note,
    )


def _row(found: Found, what: str, rows: int) -> tuple[Cell, ...]:
    each = figure([1e6 * found["processor"] / rows], "µs") if rows and found["processor"] else ""
    processor = figure([found["processor"]], "s") if found["processor"] else ""
    return what, figure([found["seconds"]], "s"), processor, each, str(found.get("found", ""))


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write(folder: Path, rows: int) -> int:
    """A run of so many short rollouts, in groups of eight, whose words drift and of which few are rare; its bytes."""
    folder.mkdir()
    dice = np.random.default_rng(7)
    words = np.array([f" w{at}" for at in range(WORDS)])
    shards = [(folder / f"rank_{rank}.jsonl").open("wb") for rank in range(SHARDS)]
    try:
        for first in range(0, rows, PER_STEP):
            step, count = first // PER_STEP, min(PER_STEP, rows - first)
            lengths = dice.integers(2, 5, count)
            own = words[np.minimum(dice.zipf(1.3, int(lengths.sum())) - 1 + step // 50, WORDS - 1)]
            logprobs = -dice.gamma(0.6, 0.8, int(lengths.sum())).round(4)
            drift = dice.normal(0, 0.05, int(lengths.sum())).round(4)
            rewards = (dice.random(count) < 0.3 + 0.4 * first / rows).astype(float)
            bounds = np.concatenate([[0], np.cumsum(lengths)]).tolist()
            for at in range(count):
                some = slice(bounds[at], bounds[at + 1])
                tokens, held = own[some].tolist(), logprobs[some]
                line = {
                    "step": step,
                    "prompt": f"Add {at // 8} and {step}.",
                    "response": "".join(tokens),
                    "response_tokens": tokens,
                    "logprobs": held.tolist(),
                    "ref_logprobs": (held - drift[some]).round(4).tolist(),
                    "reward": float(rewards[at]),
                    "data_source": "math" if at % 3 else "code",
                }
                shards[at * SHARDS // count].write(orjson.dumps(line) + b"\n")
    finally:
        for shard in shards:
            shard.close()
    return sum(path.stat().st_size for path in folder.iterdir())


def _alone(index: Path, place: Path, *arguments: str) -> Found:
    """Raises RuntimeError with the last line of what went wrong."""
    environment = os.environ | {"RL_BOARD_CACHE": str(place / "cache"), "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.scale", str(index), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        raise RuntimeError(f"{arguments[0]}: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _processor() -> float:
    """Seconds of this process and of those that it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def _peak() -> float:
    """MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def timed(what: str, do: Callable[[], Any], told: Callable[[Any], object] = lambda _: "") -> Found:
    """What something takes, and a word on what it gave."""
    began, before = time.perf_counter(), _processor()
    gave = do()
    return {"what": what, "seconds": time.perf_counter() - began, "processor": _processor() - before, "found": str(told(gave))}


def indexed(index: Path, run: str) -> Found:
    """In a process of its own: the run made into an index by two processes."""
    from board.cli.indexing import building, target
    from board.cli.indexing.engines import LocalEngine

    def made() -> None:
        with target.opened(run, index) as goal:
            result = building.build(goal, LocalEngine(2))
        assert not result.failed

    return {**timed("index", made), "peak": _peak()}


def looked(index: Path, most: int) -> Found:
    """In a process of its own: the index opened as a sample, and what pages ask of it, one after the other."""
    os.environ["RL_BOARD_SLICE_ROLLOUTS"] = str(most)
    from board import open_run

    found: list[Found] = []

    def look(what: str, do: Callable[[], Any], told: Callable[[Any], object] = lambda _: "") -> Any:
        gave: list[Any] = []
        found.append(timed(what, lambda: gave.append(do()), lambda _: told(gave[0])))
        return gave[0]

    run = look("open", lambda: open_run(index), lambda one: f"{len(one.frame):,} of {one.rollout_count:,}")
    _frame_looks(run, look)
    _token_looks(run, look)
    _search_looks(run, look)
    _finding_looks(run, look)
    return {"looks": found, "peak": _peak()}


Look = Callable[..., Any]


def _frame_looks(run: Any, look: Look) -> None:
    from board.analysis.steps.step_metrics import computable, of_step_alone, per_step_values
    from board.sql import index_query
    from board.sql.chips import parsed

    look(
        "every curve",
        lambda: per_step_values(run, [*filter(of_step_alone, computable(run))]),
        lambda one: f"{one.shape[1]} of {len(one):,} steps",
    )
    middle = int(run.steps[len(run.steps) // 2])
    whole = look(
        "a step, and the one before",
        lambda: run.at_step(middle),
        lambda one: f"{int((one.frame['step'] == middle).sum()):,} rollouts",
    )
    other = next(int(key) for key in whole.of_steps(middle, middle).frame.index if key not in run.frame.index)
    source = whole.rollout(other).source
    look("a rollout by its link", lambda: run.at_step(run.step_of(source)).rollout(other))
    filters = {
        "one that leaves many": "reward > 0.5",
        "one that leaves few": f"step BETWEEN {middle} AND {middle + 9} AND reward > 0.5",
    }
    for said, condition in filters.items():
        look(
            f"a filter, {said}",
            lambda held=condition: index_query.filtered(run, [*parsed(held)], "bench"),
            lambda one: f"{one.rollout_count:,}",
        )
    query = "SELECT step, avg(reward) AS mean FROM rollouts GROUP BY step ORDER BY step"
    look("the mean reward of each step by SQL", lambda: index_query.answer(run, query), lambda one: f"{one.num_rows:,} steps")


def _token_looks(run: Any, look: Look) -> None:
    from board.analysis.texts import phrases, vocabulary
    from board.analysis.tokens import token_histogram

    trained = run.trained
    look(
        "vocabulary of the sample",
        lambda: vocabulary.vocabulary(trained),
        lambda one: f"{len(one.names):,} tokens, {one.total:,} times",
    )
    look(
        "KL of its tokens: spread, profile, worst ones",
        lambda: token_histogram.count_tokens(trained, "kl"),
        lambda one: f"{int(one.in_bins.sum()):,} tokens",
    )
    look(
        "phrases of the sample",
        lambda: phrases.of_run(trained),
        lambda one: f"{len(one.listed)} of {len(one.keys):,} rollouts",
    )


def _search_looks(run: Any, look: Look) -> None:
    from board.analysis.texts.text_search import SearchText, count_hits

    wanted, trained = SearchText(" w432"), run.trained
    look(
        "a search of the sample",
        lambda: count_hits(trained, wanted, ("response",)),
        lambda one: f"{int((one > 0).sum().iloc[0]):,} rollouts",
    )


def _finding_looks(run: Any, look: Look) -> None:
    from board.findings import scan

    look("findings, in the sample", lambda: scan.find_all(run, {}), lambda one: f"{len(one.findings)} found")


def main(arguments: Sequence[str]) -> Found:
    """What the command line asks for."""
    index, what, value = Path(arguments[0]), arguments[1], arguments[2]
    return indexed(index, value) if what == "index" else looked(index, int(value))


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
