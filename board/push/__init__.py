"""A run's metrics handed to a tracker, step by step: what `rl-logging-board push` does. Knows no screen and no command line."""
