"""A run's metrics handed to a tracker, step by step: what `rl-logging-board push` does."""
