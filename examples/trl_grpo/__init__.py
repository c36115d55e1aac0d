"""Recording what TRL's GRPO trainer samples. Nothing in `board` imports it."""
