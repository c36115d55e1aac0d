"""The commands, a module each with its options and its printing, no computing; `board.cli.main` finds them by their module's name."""
