"""The command `rl-logging-board`, a module per command. Computes nothing itself."""
