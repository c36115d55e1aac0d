"""Options that several commands have. Knows no command and no run."""

from pathlib import Path

import click

MAPPING = click.option(
    "--mapping",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_MAPPING",
    help="A TOML file that maps the rollouts' keys to our names; rollouts.toml beside them is found by itself.",
)

TOKENIZER = click.option(
    "--tokenizer",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_TOKENIZER",
    help="A tokenizer.json that makes text of token ids where rollouts have no more; RL_BOARD_TOKENIZER is the same.",
)
