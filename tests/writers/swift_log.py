"""ms-swift itself keeps a log: a small training by the Trainer of transformers, logged by the callback that ms-swift puts in its place.

    python tests/writers/swift_log.py OUT          # with ms-swift installed

Needs ms-swift, and knows nothing of the board. The model is a single number; what is of interest is its log.
"""

import sys
from pathlib import Path

import swift.trainers.patcher  # noqa: F401  # its import is what replaces the callback
import torch
from swift.trainers import TrainingArguments
from transformers import Trainer


class Number(torch.nn.Module):  # type: ignore[misc, unused-ignore]  # without torch its base is unknown
    """Learns one number."""

    def __init__(self) -> None:
        super().__init__()
        self.number = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """The squared distance to what it is shown."""
        return {"loss": ((x - self.number) ** 2).mean(), "logits": x}


def train(out: Path) -> None:
    """Three steps with an evaluation each, logged to `out/logging.jsonl`."""
    rows = [{"x": torch.tensor([float(at)])} for at in range(6)]
    arguments = TrainingArguments(
        output_dir=str(out),
        max_steps=3,
        per_device_train_batch_size=2,
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        gradient_checkpointing=False,
        seed=7,
    )
    Trainer(model=Number(), args=arguments, train_dataset=rows, eval_dataset=rows[:2]).train()


if __name__ == "__main__":
    torch.manual_seed(7)
    train(Path(sys.argv[1]))
