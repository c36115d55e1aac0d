"""Every reply about three bundled and five generated runs, as JSON, and where it differs from what was committed.

`PYTHONPATH=.:tests/helpers python -m golden_replies` writes `tests/golden/replies/` anew; names of runs after it: these alone.
A commit that changes a file there says in its message why the reply changed.
"""

import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner
from generated_runs import RUNS, digest, write_generated

from board.cli.main import main
from board.cli.mcp_server import RunTools
from board.cli.replies.root import Root

REPOSITORY: Final = Path(__file__).parents[2]
GOLDEN: Final = REPOSITORY / "tests" / "golden" / "replies"
INPUTS: Final = GOLDEN / "inputs.json"
"""Name of a generated run → hash of its files: tells a generator that changed from a board that changed."""

BUNDLED: Final = ("tiny_ppo_eval", "tiny_ppo_hacked", "tiny_ppo_rhyme")
PARTNERS: Final = {
    "tiny_ppo_eval": "tiny_ppo_rhyme",
    "tiny_ppo_hacked": "tiny_ppo_rhyme",
    "tiny_ppo_rhyme": "tiny_ppo_hacked",
    "ppo": "grpo",
    "grpo": "evaluation",
    "agent": "ppo",
    "long": "ppo",
    "evaluation": "ppo",
}
"""Run → the one that `compare` sets against it. All runs that replies are committed of."""

PUSHED_EVERY: Final = 30
"""Of a long run so many steps lie between two whose pushed numbers are committed: all of them would be megabytes."""
FEW_STEPS: Final = 12
REL, ABS = 1e-9, 1e-12
LINE: Final = 120


def place_runs(root: Path, *names: str) -> None:
    """Write or copy the runs of these names, and those they are compared with, into the root."""
    for name in {*names, *(PARTNERS[one] for one in names)}:
        if name in RUNS:
            write_generated(root, name)
        else:
            shutil.copytree(REPOSITORY / "rollout_samples" / name, root / name)


def replies(root: Path, name: str) -> Iterator[tuple[str, Any]]:
    """(Name of the reply, what was answered) for every question about one run under the root."""
    for reply, answer in (*_of_commands(root, name), *_of_tools(root, name)):
        yield reply, without_the_machine(answer, root)


def without_the_machine(answer: Any, root: Path) -> Any:
    """The answer without what differs from machine to machine: the root's path, and when a file was written (`modified`)."""
    if isinstance(answer, dict):
        return {
            key: "<time>" if key in ("modified", "written") else without_the_machine(value, root) for key, value in answer.items()
        }
    if isinstance(answer, list):
        return [without_the_machine(one, root) for one in answer]
    return answer.replace(f"{root}/", "") if isinstance(answer, str) else answer


def _of_commands(root: Path, name: str) -> Iterator[tuple[str, Any]]:
    run = str(root / name)
    yield "summary", _printed("summary", run, "--json")
    yield "steps", _printed("steps", run, "--json")
    yield "metrics", _printed("metrics", run, "--json")
    yield "rollouts", _printed("rollouts", run, "--json", "--sort", "-reward", "--top", "5")
    step = "10" if name == "tiny_ppo_eval" else "1"  # the second of that run's steps
    yield "show", _printed("show", run, "--json", "--step", step, *(() if name == "long" else ("--tokens",)))
    yield "findings", _printed("findings", run, "--json")
    yield "check", _printed("check", run, "--json")
    yield "compare", _printed("compare", run, str(root / PARTNERS[name]), "--json")
    pushed = _stdout("push", run, "--to", "stdout", "--format", "jsonl", "--quiet", "0")
    lines = [json.loads(line) for line in pushed.splitlines()]
    yield "push", lines if len(lines) <= FEW_STEPS else [*lines[::PUSHED_EVERY], lines[-1]]


def _of_tools(root: Path, name: str) -> Iterator[tuple[str, Any]]:
    tools = RunTools(Root(root))
    listed = tools.runs()
    yield "mcp_runs", listed | {"runs": [one for one in listed["runs"] if one["run"] == name]}
    yield "mcp_summary", tools.summary(name)
    yield "mcp_steps", tools.steps(name, ["reward/mean", "length/chars_mean"], 3)
    yield "mcp_metrics", {"metrics": [one["key"] for one in tools.metrics(name)["metrics"]]}
    first = tools.rollouts(name, "step >= 1", "-response_chars", 3, ["reward", "response"])
    yield "mcp_rollouts", first
    rollout = first["rollouts"][0]["rollout"]
    yield "mcp_rollout", tools.rollout(name, rollout)
    if metrics := tools.summary(name)["token_metrics"]:
        yield "mcp_extreme_tokens", tools.extreme_tokens(name, rollout, _name(metrics[0]), 5)
    sql = "SELECT step, count(*) AS n, avg(reward) AS mean, max(length(response)) AS longest FROM rollouts GROUP BY step ORDER BY step"
    yield "mcp_query", tools.query(name, sql)
    yield "mcp_findings", {"findings": [one["kind"] for one in tools.findings(name)["findings"]]}


def _name(metric: Any) -> str:
    return metric if isinstance(metric, str) else next(iter(metric.values()))


def _printed(*arguments: str) -> Any:
    return json.loads(_stdout(*arguments))


def _stdout(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    if result.exit_code > 1:  # 1 is a run with faults, which is an answer
        raise AssertionError(f"{' '.join(arguments)} ended with {result.exit_code}:\n{result.output}") from result.exception
    return result.stdout


def differences(golden: Any, now: Any, path: str = "") -> Iterator[str]:
    """A line for each place where two documents differ: numbers to 1e-9, all else exactly, the order of keys and lists, too."""
    if isinstance(golden, float) and isinstance(now, float):
        if not math.isclose(golden, now, rel_tol=REL, abs_tol=ABS) and not (math.isnan(golden) and math.isnan(now)):
            yield f"{path}: {golden!r} became {now!r}"
    elif type(golden) is not type(now):
        yield f"{path}: {_short(golden)} became {_short(now)}"
    elif isinstance(golden, dict):
        yield from _of_objects(golden, now, path)
    elif isinstance(golden, list):
        if len(golden) != len(now):
            yield f"{path}: a list of {len(golden)} became one of {len(now)}"
        for at, (one, other) in enumerate(zip(golden, now, strict=False)):
            yield from differences(one, other, f"{path}[{at}]")
    elif golden != now:
        yield f"{path}: {_short(golden)} became {_short(now)}"


def _of_objects(golden: dict[str, Any], now: dict[str, Any], path: str) -> Iterator[str]:
    yield from (f"{path}.{key}: {_short(golden[key])} is gone" for key in golden if key not in now)
    yield from (f"{path}.{key}: new, {_short(now[key])}" for key in now if key not in golden)
    both = [key for key in golden if key in now]
    if both != (order := [key for key in now if key in golden]):
        yield f"{path}: keys in the order {both} became {order}"
    for key in both:
        yield from differences(golden[key], now[key], f"{path}.{key}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def pretty(value: Any, indent: int = 0) -> str:
    """JSON in which what fits on a line stands on one, so that a diff is short and readable."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= LINE or not isinstance(value, dict | list):
        return flat
    pad, end = " " * (indent + 1), " " * indent
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {pretty(one, indent + 1)}" for key, one in value.items()]
        return "{\n" + ",\n".join(pad + part for part in parts) + f"\n{end}}}"
    if all(isinstance(one, int | float | str | None) for one in value):
        return "[\n" + "\n".join(_filled([json.dumps(one, ensure_ascii=False) for one in value], pad)) + f"\n{end}]"
    return "[\n" + ",\n".join(pad + pretty(one, indent + 1) for one in value) + f"\n{end}]"


def _filled(parts: list[str], pad: str) -> Iterator[str]:
    """Lines of several parts each, all but the last ending in a comma."""
    line = pad
    for at, part in enumerate(parts):
        word = part + ("," if at + 1 < len(parts) else "")
        if line != pad and len(line) + len(word) > LINE:
            yield line.rstrip()
            line = pad
        line += f"{word} "
    yield line.rstrip()


def write_golden(names: list[str]) -> None:
    """Write what the board answers now about these runs in place of what is committed."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / "runs"
        os.environ |= {"HOME": temporary, "RL_BOARD_CACHE": f"{temporary}/cache"}
        place_runs(root, *names)
        for name in names:
            shutil.rmtree(GOLDEN / name, ignore_errors=True)
            (GOLDEN / name).mkdir(parents=True)
            for reply, answer in replies(root, name):
                (GOLDEN / name / f"{reply}.json").write_text(f"{pretty(answer)}\n", encoding="utf-8")
        hashes = {name: digest(write_generated(Path(temporary) / "inputs", name)) for name in RUNS}
        INPUTS.write_text(f"{pretty(hashes)}\n", encoding="utf-8")


if __name__ == "__main__":
    write_golden(sys.argv[1:] or list(PARTNERS))
