"""lm-evaluation-harness itself writes samples: a generation with two filters, one with several samples, and a multiple choice.

    python tests/writers/lm_eval_log.py OUT          # with lm_eval installed

The model says what it is told to. Needs lm_eval, and knows nothing of the board.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

SUMS = [{"question": "2+2?", "answer": "4"}, {"question": "3+3?", "answer": "6"}]
GENERATED = {
    "output_type": "generate_until",
    "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": ["\n"]},
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}
DIGITS = {"function": "regex", "regex_pattern": "([0-9]+)"}
FIRST = {"function": "take_first"}
TASKS: dict[str, dict[str, Any]] = {
    "sums": {
        **GENERATED,
        "filter_list": [{"name": "strict", "filter": [FIRST]}, {"name": "flexible", "filter": [DIGITS, FIRST]}],
    },
    "sums_repeated": {**GENERATED, "repeats": 2, "filter_list": [{"name": "first", "filter": [FIRST]}]},
    "capitals": {
        "output_type": "multiple_choice",
        "doc_to_text": "Capital of {{country}}:",
        "doc_to_choice": ["Paris", "Madrid"],
        "doc_to_target": "{{right}}",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    },
}


class Told(LM):  # type: ignore[misc]
    """A model that knows its answers."""

    def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
        """Right to the first question, wrong to the second."""
        return ["4" if "2+2" in one.args[0] else "It is 7." for one in requests]

    def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
        """Paris is likelier, whatever the country."""
        return [(-0.5, True) if "Paris" in one.args[1] else (-1.5, False) for one in requests]

    def loglikelihood_rolling(self, requests: list[Any], **_: Any) -> list[float]:
        """Never asked for."""
        return [0.0 for _ in requests]


def main(out: str) -> None:
    """Run the tasks on data beside them and save the samples."""
    data = Path(out).resolve()
    data.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[dict[str, Any]]] = {
        "sums": SUMS,
        "capitals": [{"country": "France", "right": 0}, {"country": "Spain", "right": 1}],
    }
    for name, found in rows.items():
        (data / f"{name}.data").write_text("".join(f"{json.dumps(row)}\n" for row in found))
    tasks = []
    for name, config in TASKS.items():
        files = {"test": str(data / f"{name.partition('_')[0]}.data")}
        tasks.append(
            {"task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": files}, "test_split": "test", **config}
        )
    tracker = EvaluationTracker(output_path=str(data))
    tracker.general_config_tracker.model_name_sanitized = "told"
    results = simple_evaluate(model=Told(), tasks=tasks, log_samples=True, bootstrap_iters=0, task_manager=TaskManager())
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name, found in samples.items():
        tracker.save_results_samples(task_name=name, samples=found)


if __name__ == "__main__":
    main(sys.argv[1])
