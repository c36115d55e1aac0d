"""GRPO by TRL on a CPU in a minute: a two-layer model with random weights, a tokenizer made on the spot, nothing downloaded.

    python -m examples.trl_grpo.run_tiny --out runs/trl_tiny --steps 5 [--chat] [--mask-truncated]

`--out/rollouts` is the recorded run; `--out/trainer/completions` is TRL's own log of the same rollouts.
"""

import argparse
from pathlib import Path
from typing import Any

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig

from board.recorder import RolloutRecorder
from examples.trl_grpo.recording import RecordingGRPOTrainer

PROMPTS = ("Say a number:", "Count to ten:", "How old is the moon?", "Give me a digit, please:")
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
CORPUS = (*PROMPTS, *(f"{number} apples and {number + 1} pears for {number * 7} owls" for number in range(200)))


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of 400 tokens, with a chat template."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<pad>", "<eos>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", padding_side="left", chat_template=CHAT_TEMPLATE
    )


def make_model(tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    """A two-layer transformer that knows nothing."""
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return Qwen2ForCausalLM(config)


def said(completion: str | list[dict[str, str]]) -> str:
    """What a completion says: TRL hands over messages where the data set is conversational."""
    return completion if isinstance(completion, str) else completion[0]["content"]


def digits(completions: list[Any], **_: Any) -> list[float]:
    """Share of characters that are digits."""
    return [sum(character.isdigit() for character in text) / max(1, len(text)) for text in map(said, completions)]


def starts_with_digit(completions: list[Any], **_: Any) -> list[float | None]:
    """1 or 0; nothing is said of a completion that starts with white space."""
    return [None if text[:1].isspace() else float(text[:1].isdigit()) for text in map(said, completions)]


def as_chat(prompt: str) -> list[dict[str, str]]:
    """A prompt as a conversational data set has it."""
    return [{"role": "system", "content": "Answer with a number."}, {"role": "user", "content": prompt}]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.trl_grpo.run_tiny", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chat", action="store_true", help="prompts and completions are messages")
    parser.add_argument("--mask-truncated", action="store_true", help="truncated completions are not trained on")
    chosen = parser.parse_args()
    set_seed(chosen.seed)
    tokenizer = make_tokenizer()
    start = chosen.out / "model"  # a folder, because TRL loads the reference from where the policy came
    make_model(tokenizer).save_pretrained(start)
    settings = GRPOConfig(
        output_dir=str(chosen.out / "trainer"),
        max_steps=chosen.steps,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        num_generations=4,
        max_completion_length=16,
        learning_rate=1e-3,
        beta=0.04,
        mask_truncated_completions=chosen.mask_truncated,
        reward_weights=[1.0, 0.5],
        logging_steps=1,
        log_completions=True,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
        seed=chosen.seed,
    )
    trainer = RecordingGRPOTrainer(
        model=str(start),
        reward_funcs=[digits, starts_with_digit],
        args=settings,
        train_dataset=Dataset.from_list([{"prompt": as_chat(prompt) if chosen.chat else prompt} for prompt in PROMPTS]),
        processing_class=tokenizer,
        recorder=RolloutRecorder(chosen.out / "rollouts"),
    )
    trainer.train()


if __name__ == "__main__":
    main()
