"""lighteval itself writes details: a generation, one with two samples, and a multiple choice.

    python tests/writers/lighteval_log.py OUT          # with lighteval installed

Its tracker is told of documents and responses; no model runs. Needs lighteval, and knows nothing of the board.
"""

import sys

from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.dummy.dummy_model import DummyModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

ASKED = [{"role": "user", "content": "2+2?"}]


def main(out: str) -> None:
    """Log one document a task, and a second one that was answered wrongly."""
    tracker = EvaluationTracker(output_dir=out, save_details=True)
    tracker.general_config_logger.model_name, tracker.general_config_logger.model_config = "told/model", DummyModelConfig()
    sums = Doc(query="2+2?", choices=["4"], gold_index=0, id="0", task_name="sums|0", instruction="Add.")
    other = Doc(query="3+3?", choices=["6"], gold_index=0, id="1", task_name="sums|0")
    said = ModelResponse(input=ASKED, input_tokens=[1, 17, 10, 17], text=["<think>x</think>4"], output_tokens=[[19, 2]])
    said.text_post_processed = ["4"]
    log = tracker.details_logger.log
    log("sums|0", sums, said, {"extractive_match": 1.0, "length": 1.0})
    log(
        "sums|0",
        other,
        ModelResponse(
            input=[{"role": "user", "content": "3+3?"}], text=["7"], output_tokens=[[20, 2]], text_post_processed=["7"]
        ),
        {"extractive_match": 0.0, "length": 1.0},
    )
    several = Doc(query="2+2?", choices=["4"], gold_index=0, id="0", task_name="sums_avg|0", num_samples=2)
    log("sums_avg|0", several, ModelResponse(input="2+2?", text=["4", "5"], output_tokens=[[19], [20]]), {"avg@n:n=2": 0.5})
    choice = Doc(query="Capital of Spain:", choices=["Paris", "Madrid"], gold_index=1, id="0", task_name="capitals|0")
    log("capitals|0", choice, ModelResponse(input="Capital of Spain:", logprobs=[-0.5, -1.5]), {"acc": 0})
    tracker.save()


if __name__ == "__main__":
    main(sys.argv[1])
