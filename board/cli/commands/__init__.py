"""The commands with their options and their printing, no computing; `board.cli.main` finds them in the modules."""
