"""A small but true PPO on CPU, which wrote the runs under `rollout_samples/`. Nothing in `board` imports it."""
