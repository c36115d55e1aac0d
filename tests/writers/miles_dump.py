"""miles itself writes the rollout dumps of two steps and an evaluation: its samples, and its method that saves them.

    PYTHONPATH=WHERE/miles-rl/IS python tests/writers/miles_dump.py OUT          # with torch; miles-rl without what it requires

Its module of rollouts needs the libraries of a GPU to be imported, so that one method is taken out of its source. Knows nothing of the board.
"""

import ast
import importlib.util
import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from miles.utils.types import Sample

METHOD = "_save_debug_rollout_data"


def saver() -> Any:
    """The method of miles that writes a dump."""
    package = importlib.util.find_spec("miles")
    assert package is not None
    assert package.submodule_search_locations
    source = (Path(package.submodule_search_locations[0]) / "ray/rollout.py").read_text(encoding="utf-8")
    (method,) = (one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.FunctionDef) and one.name == METHOD)
    names: dict[str, Any] = {"Path": Path, "torch": torch, "logger": logging.getLogger("miles")}
    exec(compile(ast.Module([method], []), "rollout.py", "exec"), names)  # noqa: S102  # of the release that is asked for
    return names[METHOD]


def sample(index: int, answer: str, reward: float, **fields: Any) -> Sample:
    """One of two answers to a prompt of two tokens."""
    tokens = [1, 17, *map(ord, answer)]
    return Sample(
        group_index=index // 2,
        index=index,
        prompt=[{"role": "user", "content": "2+2?"}],
        tokens=tokens,
        response=answer,
        response_length=len(answer),
        label="4",
        reward=reward,
        rollout_log_probs=[-0.25] * len(answer),
        status=Sample.Status.COMPLETED,
        **fields,
    )


def main(out: Path) -> None:
    """Dumps as `--save-debug-rollout-data` names them; one answer of each step is removed by the trainer."""
    manager = SimpleNamespace(args=SimpleNamespace(save_debug_rollout_data=f"{out}/rollout_data/{{rollout_id}}.pt"))
    for step in range(2):
        samples = [sample(0, "4", 1.0), sample(1, "five", 0.0, remove_sample=True), sample(2, "4!", 0.5), sample(3, "3", 0.0)]
        saver()(manager, samples, rollout_id=step, evaluation=False)
    saver()(manager, {"sums": {"samples": [sample(0, "4", 1.0, remove_sample=True)]}}, rollout_id=1, evaluation=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
