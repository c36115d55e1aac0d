"""W&B itself writes tables as people and trainers log them: one of Atropos' columns, one with other names, and one of NeMo Gym's.

    WANDB_MODE=offline WANDB_DIR=OUT python tests/writers/wandb_rows_log.py ROLLOUTS.jsonl          # with wandb installed

`ROLLOUTS.jsonl` are rollouts of NeMo Gym. Needs wandb, and knows nothing of the board.
"""

import sys
from pathlib import Path

import wandb


def main(rollouts: str) -> None:
    """Log three tables, and one that holds no rollouts."""
    run = wandb.init(project="tables")
    run.log({"train/rollouts": wandb.Table(columns=["text", "score"], data=[["2+2? 4", 1.0], ["2+2? 5", 0.0]])}, step=3)
    columns = ["Global Step", "Prompt", "Model Response", "Total Reward", "Ground Truth"]
    run.log({"samples": wandb.Table(columns=columns, data=[[7, "2+2?", "4", 0.5, "4"], [7, "3+3?", "7", -1.0, "6"]])}, step=7)
    lines = Path(rollouts).read_text(encoding="utf-8").splitlines()[:2]
    run.log({"Rollouts": wandb.Table(columns=["Rollout"], data=[[line] for line in lines])}, step=9)
    run.log({"histogram": wandb.Table(columns=["bin", "count"], data=[[0, 3]])}, step=9)
    run.finish()


if __name__ == "__main__":
    main(sys.argv[1])
