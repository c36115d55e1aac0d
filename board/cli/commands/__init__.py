"""The commands, a module each of the command's name, which holds it; `board.cli.main` finds them by themselves."""
