"""Make one of the runs that ship with the board: `python -m examples.tiny_ppo.train --recipe learns --out FOLDER --seed 0`.

Pretrains, starts the data-parallel ranks, lets them sample, record and learn, and compresses the shards they wrote.
"""

import argparse
import copy
import gzip
import logging
import os
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from board.recorder import RolloutRecorder
from board.recorder.writer import account_path
from examples.tiny_ppo import evaluate
from examples.tiny_ppo.model import Critic, ModelConfig
from examples.tiny_ppo.ppo import Learner, PPOConfig
from examples.tiny_ppo.pretrain import make_tokenizer, pretrain
from examples.tiny_ppo.rewards import loose_reward, rhyme_reward
from examples.tiny_ppo.rollouts import Experience, Reward, Setting, collect, draw_prompts, record

logger = logging.getLogger(__name__)

CHECKPOINTS: Final = Path(__file__).parent / "checkpoints"


@dataclass(frozen=True)
class Recipe:
    """What tells one run from another."""

    reward: Reward
    beta: float
    """Weight of the KL penalty in the token rewards, reward per nat."""
    steps: int
    ppo: PPOConfig = field(default_factory=PPOConfig)
    pretrain_steps: int = 1000
    ranks: int = 2
    prompts: int = 12
    """Prompts per rank and step."""
    group: int = 2
    """Responses per prompt."""
    limit: int = 64
    """Longest response, tokens; an honest one has about 33."""
    checkpoint_every: int = 10


RECIPES: Final = {
    "learns": Recipe(rhyme_reward, beta=0.03, steps=120),
    "hacked": Recipe(loose_reward, beta=0.01, steps=80, ppo=PPOConfig(policy_rate=3e-4)),
}


def train(recipe: Recipe, out: Path, seed: int, checkpoints: Path) -> None:
    """One whole run: `out` gets one shard per rank, `checkpoints` the pretrained model and the policy every few steps."""
    checkpoints.mkdir(parents=True, exist_ok=True)
    model = pretrain(make_tokenizer(seed), seed=seed, steps=recipe.pretrain_steps)
    torch.save(model.state_dict(), evaluate.checkpoint(checkpoints, 0))
    with tempfile.TemporaryDirectory() as meeting:
        arguments = (recipe, out, seed, checkpoints, Path(meeting) / "ranks")
        mp.spawn(run_rank, arguments, nprocs=recipe.ranks)  # type: ignore[attr-defined, no-untyped-call]


def run_rank(rank: int, recipe: Recipe, out: Path, seed: int, checkpoints: Path, meeting: Path) -> None:
    """The training loop of one data-parallel rank: sample, record, learn."""
    logging.basicConfig(level=logging.INFO, format=f"rank {rank}: %(message)s")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=recipe.ranks)
    setting = Setting(
        tokenizer := make_tokenizer(seed),
        recipe.reward,
        recipe.beta,
        recipe.ppo.gamma,
        recipe.ppo.lam,
        recipe.prompts,
        recipe.group,
        recipe.limit,
    )
    reference = evaluate.load_policy(evaluate.checkpoint(checkpoints, 0), ModelConfig(len(tokenizer)))
    learner = Learner(copy.deepcopy(reference), Critic(copy.deepcopy(reference)), recipe.ppo)
    text_rng = random.Random(f"prompts {seed} {rank}")
    rng = torch.Generator().manual_seed(1000 * seed + rank)
    with RolloutRecorder(out, rank=rank) as recorder:
        for step in range(recipe.steps):
            prompts = draw_prompts(text_rng, setting)
            experience = collect(prompts, learner.policy, reference, learner.critic, setting, rng)
            record(recorder, step, experience, setting)
            learner.update(experience.batch, experience.targets, rng)
            log_step(step, experience)
            if rank == 0 and ((step + 1) % recipe.checkpoint_every == 0 or step + 1 == recipe.steps):
                torch.save(learner.policy.state_dict(), evaluate.checkpoint(checkpoints, step + 1))
    dist.destroy_process_group()


def log_step(step: int, experience: Experience) -> None:
    """One line on this rank's rollouts: mean reward, tokens and log-ratio, and the first response."""
    count = len(experience.rewards)
    log_ratio = sum(float((row["logprobs"] - row["ref_logprobs"]).sum()) for row in experience.arrays) / count
    tokens = experience.batch.mask.sum().item() / count
    text = experience.responses[0].replace("\n", " / ")
    logger.info("step %d: reward %.2f, %.0f tokens, KL %.1f: %s", step, sum(experience.rewards) / count, tokens, log_ratio, text)


def compress(out: Path) -> None:
    """Replace every shard and its account by the shard's gzip, without a date and a process in it: the same rows give the same files."""
    for shard in sorted(out.glob("*.jsonl")):
        shard.with_name(f"{shard.name.partition('.')[0]}.jsonl.gz").write_bytes(gzip.compress(shard.read_bytes(), mtime=0))
        shard.unlink()
        account_path(shard).unlink()


def leave_plain(out: Path) -> None:
    """Call the only shard `data.jsonl`, without its account: a run to look at with an editor."""
    (shard,) = out.glob("*.jsonl")
    account_path(shard).unlink()
    shard.rename(out / "data.jsonl")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.tiny_ppo.train", description=__doc__)
    parser.add_argument("--recipe", choices=[*RECIPES, "eval"], required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder of the run; must not hold one already")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="fewer or more steps than the recipe's")
    parser.add_argument("--checkpoints", type=Path, default=CHECKPOINTS, help="where policies are kept, for eval to read")
    chosen = parser.parse_args(arguments)
    if chosen.out.exists() and any(chosen.out.iterdir()):
        parser.error(f"{chosen.out} is not empty; a run is never written over another")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    started = time.perf_counter()
    trained = "learns" if chosen.recipe == "eval" else chosen.recipe
    checkpoints = chosen.checkpoints / f"{trained}_seed_{chosen.seed}"
    if chosen.recipe == "eval":
        evaluate.evaluate(checkpoints, make_tokenizer(chosen.seed), chosen.out, chosen.seed)
        leave_plain(chosen.out)
    else:
        recipe = RECIPES[chosen.recipe]
        train(replace(recipe, steps=chosen.steps or recipe.steps), chosen.out, chosen.seed, checkpoints)
        compress(chosen.out)
    logger.info("%s written in %.0f s", chosen.out, time.perf_counter() - started)


if __name__ == "__main__":
    main()
